"""Finds allowances that an account gave by the logs of tokens and Permit2, and reads what stands now.

A log only leads to asking; what stands is what the token answers at the pinned block. Registered tokens are searched
by themselves: anybody can write logs of a made-up token that name the account, so others come after them and are
bounded. An allowance that was spent, has ended, or was taken back is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import GolemError
from tools_app.standards import erc20, permit2
from tools_app.standards.erc721 import APPROVAL_EVENT, APPROVAL_FOR_ALL_EVENT, GET_APPROVED, OWNER_OF, operator_call
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import LogEntry, LogQuery

MOST_RANGES: Final = 50
"""So many ranges of blocks, as wide as a node gives logs for, are searched backwards from the head."""
MOST_OF_STRANGERS: Final = 200
"""So many pairs of tokens that are not registered are asked for, the newest first."""
UNLIMITED_FROM: Final = 2**128
"""No token has so many base units that an allowance of this size is a limit."""


@dataclass(frozen=True, slots=True)
class Given:
    """What `spender` may take now. `amount` is in base units, None for items of a collection: for `item` alone, or for
    every one where that is None too.

    `through` is permit2 where Permit2 takes it: that ends with `expires_at` (unix seconds), and with the token's own
    allowance to Permit2.
    """

    token: str
    spender: str
    amount: int | None
    through: str = ""
    expires_at: int | None = None
    item: int | None = None

    @property
    def is_unlimited(self) -> bool:
        """Whether all there is, and all to come, may be taken."""
        if self.amount is None:
            return self.item is None
        return self.amount >= (2**160 - 1 if self.through else UNLIMITED_FROM)


@dataclass(frozen=True, slots=True)
class GivenFound:
    """Allowances that stand, allowances that are over, the first block that was searched, and the tokens that were
    not looked at.
    """

    standing: tuple[Given, ...]
    ended: tuple[Given, ...]
    since_block: int
    gaps: tuple[str, ...] = ()


def find_given_allowances(*, chain: ChainReader, account: str) -> GivenFound:
    """Every allowance that the logs lead to. Raises the node's errors.

    A search among all contracts that a node refuses is told as a gap: the registered tokens have been searched.
    """
    head, size = chain.block.number, KNOWN_NETWORKS[chain.chain_id].max_log_range
    lowest = max(0, head - size * MOST_RANGES + 1)
    ranges = [(start, min(start + size - 1, head)) for start in range(lowest, head + 1, size)]
    registered = tuple(each.address for each in chain.registered_tokens() if not each.is_native)
    named = "0x" + account[2:].lower().rjust(64, "0")
    gaps: list[str] = []
    own = _read_logs(chain, registered, (event_topic(erc20.APPROVAL_EVENT), named), ranges)
    through = _read_logs(chain, (permit2.PERMIT2,), (_PERMIT2_TOPICS, named), ranges)
    try:
        others = _read_logs(
            chain, (), ((event_topic(erc20.APPROVAL_EVENT), event_topic(APPROVAL_FOR_ALL_EVENT)), named), ranges
        )
    except GolemError as error:
        others = []
        gaps.append(f"{error.code}: tokens that are not registered here were not searched")
    pairs = dict.fromkeys(_list_pairs(own))
    known = set(registered)
    foreign = dict.fromkeys(
        pair for pair in reversed(list(_list_pairs(others))) if pair[0] not in known and pair[0] != permit2.PERMIT2
    )
    operators = dict.fromkeys(reversed(list(_list_operators(others))))
    single = dict.fromkeys(reversed(list(_list_items(others))))
    if max(len(foreign), len(operators), len(single)) > MOST_OF_STRANGERS:
        gaps.append(f"TOO_MANY: of tokens that are not registered here the newest {MOST_OF_STRANGERS} were looked at")
    pairs.update(dict.fromkeys(list(foreign)[:MOST_OF_STRANGERS]))
    standing, ended = _ask_tokens(chain, account, list(pairs))
    more, over = _ask_permit2(chain, account, list(dict.fromkeys(_list_permit2(through))))
    every = _ask_operators(chain, account, list(operators)[:MOST_OF_STRANGERS])
    items = _ask_items(chain, account, list(single)[:MOST_OF_STRANGERS])
    if lowest:
        gaps.append(f"NOT_SEARCHED: what was given before block {lowest}")
    return GivenFound((*standing, *more, *every, *items), (*ended, *over), lowest, tuple(gaps))


_PERMIT2_PERMIT: Final = (
    "event Permit(address indexed owner, address indexed token, address indexed spender,"
    " uint160 amount, uint48 expiration, uint48 nonce)"
)
_PERMIT2_TOPICS: Final = (event_topic(permit2.APPROVAL_EVENT), event_topic(_PERMIT2_PERMIT))


def _read_logs(
    chain: ChainReader,
    addresses: tuple[str, ...],
    topics: tuple[str | tuple[str, ...] | None, ...],
    ranges: Iterable[tuple[int, int]],
) -> list[LogEntry]:
    """In the order of the chain, all ranges in one round trip."""
    asked = list(ranges)
    chain.preload_logs([LogQuery(addresses, topics, start, end) for start, end in asked])
    return [
        log
        for start, end in asked
        for log in chain.logs(address=addresses or None, topics=list(topics), from_block=start, to_block=end)
    ]


def _list_pairs(logs: Iterable[LogEntry]) -> Iterable[tuple[str, str]]:
    """Token and spender of the logs in the shape of ERC-20; an item's approval has one topic more."""
    for log in logs:
        told = decode_log(erc20.APPROVAL_EVENT, log)
        if told is not None:
            yield log.address, told["spender"]


def _list_operators(logs: Iterable[LogEntry]) -> Iterable[tuple[str, str]]:
    for log in logs:
        told = decode_log(APPROVAL_FOR_ALL_EVENT, log)
        if told is not None:
            yield log.address, told["operator"]


def _list_items(logs: Iterable[LogEntry]) -> Iterable[tuple[str, int]]:
    """Collection and item of the logs in the shape of ERC-721."""
    for log in logs:
        told = decode_log(APPROVAL_EVENT, log)
        if told is not None:
            yield log.address, told["tokenId"]


def _list_permit2(logs: Iterable[LogEntry]) -> Iterable[tuple[str, str]]:
    for log in logs:
        told = decode_log(permit2.APPROVAL_EVENT, log) or decode_log(_PERMIT2_PERMIT, log)
        if told is not None:
            yield told["token"], told["spender"]


def _ask_tokens(
    chain: ChainReader, account: str, pairs: list[tuple[str, str]]
) -> tuple[tuple[Given, ...], tuple[Given, ...]]:
    answers = chain.call_many([erc20.allowance_call(token, account, spender) for token, spender in pairs])
    found = [
        Given(token, spender, int(answer.values[0]) if answer.ok else 0)
        for (token, spender), answer in zip(pairs, answers, strict=True)
    ]
    return tuple(each for each in found if each.amount), tuple(each for each in found if not each.amount)


def _ask_permit2(
    chain: ChainReader, account: str, pairs: list[tuple[str, str]]
) -> tuple[tuple[Given, ...], tuple[Given, ...]]:
    """What can be taken through Permit2: no more than the token lets Permit2 take, and not after it ended."""
    asked = [ReadCall(permit2.PERMIT2, permit2.ALLOWANCE, (account, token, spender)) for token, spender in pairs]
    tokens = list(dict.fromkeys(token for token, _ in pairs))
    answers = chain.call_many([*asked, *(erc20.allowance_call(token, account, permit2.PERMIT2) for token in tokens)])
    rooms = {
        token: int(answer.values[0]) if answer.ok else 0
        for token, answer in zip(tokens, answers[len(asked) :], strict=True)
    }
    found = []
    for (token, spender), answer in zip(pairs, answers, strict=False):
        amount, expires, nonce = answer.values if answer.ok else (0, 0, 0)
        right = permit2.Permit2Allowance(int(amount), int(expires), int(nonce))
        usable = min(right.usable_at(chain.block.timestamp), rooms[token])
        found.append(Given(token, spender, usable, through="permit2", expires_at=right.expiration))
    return tuple(each for each in found if each.amount), tuple(each for each in found if not each.amount)


def _ask_operators(chain: ChainReader, account: str, pairs: list[tuple[str, str]]) -> tuple[Given, ...]:
    answers = chain.call_many([operator_call(token, account, operator) for token, operator in pairs])
    return tuple(
        Given(token, operator, None)
        for (token, operator), answer in zip(pairs, answers, strict=True)
        if answer.ok and answer.values[0]
    )


def _ask_items(chain: ChainReader, account: str, pairs: list[tuple[str, int]]) -> tuple[Given, ...]:
    """Who may take one item that is the account's still; a transfer ends it, and so does approving another."""
    asked = [ReadCall(token, signature, (item,)) for token, item in pairs for signature in (OWNER_OF, GET_APPROVED)]
    answers = iter(chain.call_many(asked))
    found = []
    for token, item in pairs:
        owner, taker = next(answers), next(answers)
        if owner.ok and taker.ok and owner.values[0] == account and int(taker.values[0], 16):
            found.append(Given(token, taker.values[0], None, item=item))
    return tuple(found)

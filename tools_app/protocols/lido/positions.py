"""Reads what an account has at Lido: stETH, wstETH and places in the queue, as ether; and the way out.

Legs are in the chain's coin, which is what comes back and what feeds price. So a rebase is more ether in a position,
which is yield, and no token balance that changed by itself. Anybody may ask for a withdrawal in the name of an account:
of one that was buried under more than can be read, those that hints name and the newest are, and one more position says
that there are others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.core.stored_json import read_stored
from tools_app.protocols.lido import reads
from tools_app.protocols.lido.addresses import NAME, LidoContracts, contracts_on
from tools_app.protocols.lido.math import BPS, StakedPool
from tools_app.protocols.lido.reads import Oracle, Queue
from tools_app.standards import erc20, erc721
from tools_app.toolkit.context import AbiValue, AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.positions import (
    REQUEST_KIND,
    Act,
    ExitStep,
    Leg,
    Locked,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    Stuck,
    Wait,
    gather,
)
from tools_app.toolkit.views import NATIVE, LogEntry

STAKE: Final = "stake"
STETH, WSTETH = "steth", "wsteth"
LATE_SECONDS: Final = 60 * 86_400
"""A request that is not final after so long is stuck: people have to look."""
_MOST_IDS: Final = 20
"""So many amounts or ids go into one call."""
MOST_REQUESTS: Final = 1_000
"""So many requests of an account are read, besides those that hints name."""
_STEP_OF_NEWEST: Final = 64
"""The first of the newest is a multiple of it, so that a plan that opens a request hardly ever moves it."""
BEYOND: Final = "beyond"
"""The id under which the requests that are not read are told."""


def stake_ref(chain_id: int, key: str) -> PositionRef:
    """Names what is held of stETH or wstETH."""
    return PositionRef(NAME, STAKE, chain_id, key)


def request_ref(chain_id: int, request_id: int) -> PositionRef:
    """Names a place in the queue."""
    return PositionRef(NAME, REQUEST_KIND, chain_id, str(request_id))


class LidoPositions:
    """Lists what an account has; one batch without requests, three with."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position: one batch for who has none, two for a stake, three for requests, four for final ones.

        Raises PositionsUnreadable.
        """
        at = contracts_on(chain_id)
        if at is None:
            return ()
        head = reads.pool_calls(at)
        own = [
            ReadCall(at.steth, reads.SHARES_OF, (account,)),
            erc20.balance_call(at.wsteth, account),
            ReadCall(at.queue, reads.REQUESTS_OF, (account,)),
        ]
        line = [
            ReadCall(at.queue, reads.UNFINALIZED),
            ReadCall(at.queue, reads.LEAST_REQUEST),
            ReadCall(at.queue, reads.MOST_REQUEST),
            ReadCall(at.queue, reads.QUEUE_PAUSED),
            ReadCall(at.queue, reads.BUNKER),
            ReadCall(at.steth, reads.BUFFERED),
            ReadCall(at.queue, reads.LAST_CHECKPOINT),
        ]
        *held, listed = yield own
        shares, wrapped = (each[0] for each in _values(held))
        ids, has_more = _choose(listed, [ref for ref in hints if ref.kind == REQUEST_KIND])
        if not (shares or wrapped or ids or has_more):
            return ()
        told_head, told_line = yield from gather(head, line)
        pool, oracle = reads.parse_pool(_values(told_head))
        queued, least, most, paused, bunker, buffered, last = (each[0] for each in _values(told_line))
        queue = Queue(int(queued), int(buffered), int(least), int(most), bool(paused), bool(bunker))
        found = []
        if shares:
            found.append(_stake(chain_id, at, STETH, int(shares), pool, queue))
        if wrapped:
            found.append(_stake(chain_id, at, WSTETH, int(wrapped), pool, queue))
        if ids:
            found += yield from self._requests(chain_id, at, account, ids, int(last), pool, queue, oracle)
        if has_more:
            ref = PositionRef(NAME, REQUEST_KIND, chain_id, BEYOND)
            found.append(Position(ref, "more Lido withdrawal requests, not read", (), is_whole=False))
        return tuple(found)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Requests that came to the account."""
        at = contracts_on(chain_id)
        moves = erc721.MOVED.list(log for log in logs if at is not None and log.address == at.queue)
        ids = [moved.token_id for moved in moves if moved.to == account]
        return tuple(request_ref(chain_id, each) for each in dict.fromkeys(ids))

    def _requests(
        self,
        chain_id: int,
        at: LidoContracts,
        account: str,
        ids: Sequence[int],
        last: int,
        pool: StakedPool,
        queue: Queue,
        oracle: Oracle,
    ) -> Reads[tuple[Position, ...]]:
        parts = [ids[start : start + _MOST_IDS] for start in range(0, len(ids), _MOST_IDS)]
        told, hinted = yield from gather(
            [ReadCall(at.queue, reads.STATUS_OF, (part,)) for part in parts],
            [ReadCall(at.queue, reads.HINTS_OF, (part, 1, last)) for part in parts],
        )
        statuses = [status for (part,) in _values(told) for status in part]
        hints = [hint for (part,) in _values(hinted) for hint in part]
        # What hints name may have been claimed or sent away since.
        mine = [
            (each, hint, status)
            for each, hint, status in zip(ids, hints, statuses, strict=True)
            if not status[5] and checksum(status[2]) == account
        ]
        final = [(each, hint) for each, hint, status in mine if status[4]]
        claimable: dict[int, int] = {}
        if final:
            parts_of_final = [final[start : start + _MOST_IDS] for start in range(0, len(final), _MOST_IDS)]
            outcomes = yield [
                ReadCall(at.queue, reads.CLAIMABLE, tuple(map(list, zip(*part, strict=True))))
                for part in parts_of_final
            ]
            amounts = [amount for (part,) in _values(outcomes) for amount in part]
            claimable = {each: int(amount) for (each, _), amount in zip(final, amounts, strict=True)}
        ready = queue.ready_at(oracle)
        return tuple(
            _request(chain_id, at, each, status, claimable.get(each), pool, ready, oracle) for each, _, status in mine
        )


@dataclass(frozen=True, slots=True)
class _StakeFacts:
    st_eth: int
    dust: int
    least_request: int
    most_request: int
    is_paused: bool
    wst_eth: str = ""


@dataclass(frozen=True, slots=True)
class _RequestFacts:
    is_final: bool
    asked_at: int


class LidoExits:
    """Unwrap, ask for withdrawal, wait, claim."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """What to do next; dust below the queue's least amount counts as nothing."""
        chain_id = position.ref.chain_id
        if position.ref.id == BEYOND:
            return Stuck("there are more withdrawal requests than can be read; name those to claim")
        if position.ref.kind == REQUEST_KIND:
            return _leave_request(position, now)
        facts = read_stored(_StakeFacts, position.facts)
        if position.ref.id == WSTETH:
            if facts.st_eth < facts.least_request + facts.dust:
                return None
            return Act("lido_unwrap", {"amount": facts.wst_eth, "chain_id": chain_id}, "wstETH becomes stETH")
        amounts = split_amount(facts.st_eth, facts.least_request, facts.most_request)
        if not amounts:
            return None
        if facts.is_paused:
            return Wait(None, "the queue takes no requests while it is paused")
        asked = {"amounts": [str(each) for each in amounts], "token": "stETH", "chain_id": chain_id}
        return Act("lido_unstake", asked, "stETH joins the withdrawal queue")


def _choose(listed: ReadOutcome, hints: Sequence[PositionRef]) -> tuple[list[int], bool]:
    """The requests to read, in their order, and whether there are others. A list too long to be told tells none."""
    named = {int(ref.id) for ref in hints if ref.id.isdecimal()}
    if not listed.ok:
        return sorted(named), True
    ids = sorted(int(each) for each in listed.values[0])
    if len(ids) <= MOST_REQUESTS:
        return ids, False
    first = min(-(-(len(ids) - MOST_REQUESTS) // _STEP_OF_NEWEST) * _STEP_OF_NEWEST, len(ids) - 1)
    chosen = sorted({*ids[first:], *named.intersection(ids)})
    return chosen, len(chosen) < len(ids)


def split_amount(total: int, least: int, most: int) -> list[int]:
    """`total` in amounts that the queue takes, at most twenty at a time; a rest below its least stays."""
    amounts: list[int] = []
    while total >= least and len(amounts) < _MOST_IDS:
        amounts.append(min(total, most))
        total -= amounts[-1]
    return amounts


def _leave_request(position: Position, now: int) -> ExitStep:
    facts = read_stored(_RequestFacts, position.facts)
    if facts.is_final:
        asked = {"request_ids": [position.ref.id], "chain_id": position.ref.chain_id}
        return Act("lido_claim_withdrawal", asked, "the request is final")
    if now > facts.asked_at + LATE_SECONDS:
        return Stuck(f"withdrawal request {position.ref.id} is not final after {LATE_SECONDS // 86_400} days")
    until = position.legs[0].free_at
    return Wait(max(until, now + 1) if until is not None else None, "the queue has not come to the request yet")


def _stake(chain_id: int, at: LidoContracts, key: str, shares: int, pool: StakedPool, queue: Queue) -> Position:
    ether = pool.ether_of(shares)
    # wstETH comes back through stETH, which costs a rounding; it is told as what there is.
    facts: dict[str, object] = {
        "shares": str(shares),
        "share_rate": str(pool.rate),
        "st_eth": str(ether),
        "dust": str(pool.dust),
        "least_request": str(queue.least),
        "most_request": str(queue.most),
        "is_paused": queue.is_paused,
        **({"wst_eth": str(shares)} if key == WSTETH else {}),
    }
    return Position(
        ref=stake_ref(chain_id, key),
        label="wstETH (Lido)" if key == WSTETH else "stETH (Lido)",
        legs=(Leg(NATIVE, ether),),
        claim_tokens=frozenset({at.tokens[key]}),
        facts=facts,
        locked=(Locked(NATIVE, ether, "queue"),) if queue.is_paused and ether >= queue.least else (),
        leaving_seconds=None,
    )


def _request(
    chain_id: int,
    at: LidoContracts,
    request_id: int,
    status: Sequence[AbiValue],
    claimable: int | None,
    pool: StakedPool,
    ready: int | None,
    oracle: Oracle,
) -> Position:
    asked, shares, _, asked_at, is_final, _ = status
    # Never more than was asked for, and less where the pool lost since.
    ether = claimable if claimable is not None else min(int(asked), pool.ether_of(int(shares)))
    # While nobody can say when, it is not to be had for longer than anybody waits.
    free_at = None if is_final else ready if ready is not None else int(asked_at) + LATE_SECONDS
    return Position(
        ref=request_ref(chain_id, request_id),
        label=f"Lido withdrawal request {request_id}",
        legs=(Leg(NATIVE, ether, free_at=free_at),),
        claim_tokens=frozenset({at.queue}),
        facts={
            "is_final": bool(is_final),
            "asked_at": int(asked_at),
            "late_at": int(asked_at) + LATE_SECONDS,
            "st_eth": str(asked),
            "estimated_at": ready,
            "next_report_at": oracle.next_report_at,
            "loss_bps": str(max(0, (int(asked) - ether) * BPS // int(asked))) if asked else "0",
        },
    )


def _values(outcomes: Sequence[ReadOutcome]) -> list[AbiValues]:
    for outcome in outcomes:
        if not outcome.ok:
            raise PositionsUnreadable(f"a contract of the protocol does not answer: {outcome.revert_reason}")
    return [outcome.values for outcome in outcomes]

"""Reads what is told of deposits, delegation and the queue: whose they are, what slashes left of them, when they are
free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.eigenlayer.addresses import DELEGATION, MAGNITUDES, strategies
from tools_app.protocols.eigenlayer.math import WAD, first_free_block
from tools_app.toolkit.context import AbiValues, ReadCall
from tools_app.toolkit.positions import PositionsUnreadable, Reads

WITHDRAWAL: Final = (
    "(address staker, address delegatedTo, address withdrawer, uint256 nonce, uint32 startBlock,"
    " address[] strategies, uint256[] scaledShares)"
)
DEPOSITED: Final = "function getDepositedShares(address staker) view returns (address[] strategies, uint256[] shares)"
WITHDRAWABLE: Final = (
    "function getWithdrawableShares(address staker, address[] strategies) view returns (uint256[] withdrawable,"
    " uint256[] deposited)"
)
DELEGATED_TO: Final = "function delegatedTo(address staker) view returns (address)"
QUEUED: Final = (
    f"function getQueuedWithdrawals(address staker) view returns ({WITHDRAWAL}[] withdrawals, uint256[][] shares)"
)
ROOTS: Final = "function getQueuedWithdrawalRoots(address staker) view returns (bytes32[] roots)"
DELAY: Final = "function minWithdrawalDelayBlocks() view returns (uint32)"
PAUSED: Final = "function paused() view returns (uint256)"
MAGNITUDE: Final = "function getMaxMagnitude(address operator, address strategy) view returns (uint64)"
UNDERLYING: Final = "function underlyingToken() view returns (address)"
TO_UNDERLYING: Final = "function sharesToUnderlyingView(uint256 shares) view returns (uint256)"
SHARES_DEPOSITED: Final = "event Deposit(address staker, address strategy, uint256 shares)"
WITHDRAWAL_QUEUED: Final = (
    f"event SlashingWithdrawalQueued(bytes32 withdrawalRoot, {WITHDRAWAL} withdrawal, uint256[] sharesToWithdraw)"
)


@dataclass(frozen=True, slots=True)
class SharesPutIn:
    """Shares that a deposit made."""

    shares: int


@dataclass(frozen=True, slots=True)
class LoggedWithdrawal:
    """A withdrawal of `staker` that `withdrawer` gets, and the block it was queued in."""

    staker: str
    withdrawer: str
    start_block: int


@dataclass(frozen=True, slots=True)
class WithdrawalLogged:
    """A withdrawal that went into the queue under its root."""

    withdrawal_root: bytes
    withdrawal: LoggedWithdrawal


PUT_IN: Final = AbiEvent(SHARES_DEPOSITED, SharesPutIn)
ENTERED: Final = AbiEvent(WITHDRAWAL_QUEUED, WithdrawalLogged)
NOBODY: Final = "0x0000000000000000000000000000000000000000"
NO_DELEGATION: Final = 1
NO_QUEUE: Final = 2
NO_EXIT: Final = 4
"""Flags of `paused` of the delegation: new delegations, new withdrawals, their completion."""
NO_DEPOSIT: Final = 1
NO_WITHDRAWAL: Final = 2
"""Flags of `paused` of a strategy."""


@dataclass(frozen=True, slots=True)
class Deposited:
    """Shares in one strategy: as deposited, as they can be withdrawn after slashes, and what those are of `token`.

    `taken` is what slashes took of it, in the token; `kept` what they left of 10^18 of the operator's.
    """

    strategy: str
    token: str
    deposited: int
    withdrawable: int
    worth: int
    paused: int
    taken: int = 0
    kept: int = WAD


@dataclass(frozen=True, slots=True)
class Part:
    """What a withdrawal takes out of one strategy: shares as queued, as slashes left them, and what those are now."""

    strategy: str
    token: str
    scaled: int
    shares: int
    worth: int
    paused: int

    @property
    def kept(self) -> int:
        """What slashes of the operator left of 10^18, those of the time before the withdrawal with them."""
        return self.shares * WAD // self.scaled if self.scaled else WAD


@dataclass(frozen=True, slots=True)
class Waiting:
    """A withdrawal in the queue. It can be completed from `free_block` on, and slashed before."""

    root: str
    staker: str
    operator: str | None
    withdrawer: str
    nonce: int
    start_block: int
    free_block: int
    parts: tuple[Part, ...]

    @property
    def as_argument(self) -> tuple[object, ...]:
        """The struct that completing it hands back, as the contract keeps it."""
        return (
            self.staker,
            self.operator or NOBODY,
            self.withdrawer,
            self.nonce,
            self.start_block,
            [part.strategy for part in self.parts],
            [part.scaled for part in self.parts],
        )


@dataclass(frozen=True, slots=True)
class Restaked:
    """All an account has: deposits, the operator it is delegated to, what waits, and what is paused."""

    operator: str | None
    deposits: tuple[Deposited, ...]
    waiting: tuple[Waiting, ...]
    delay_blocks: int
    paused: int


def ask_restaked(at: Mapping[str, str], account: str) -> Reads[Restaked]:
    """One batch for who has nothing, two more for who has. Raises PositionsUnreadable.

    Only strategies of the deployment are asked: code of a stranger's strategy is never run for its word.
    """
    delegation, known = at[DELEGATION], frozenset(strategies(at))
    asked = (DEPOSITED, DELEGATED_TO, QUEUED, ROOTS)
    first = yield [
        *(ReadCall(delegation, each, (account,)) for each in asked),
        ReadCall(delegation, DELAY),
        ReadCall(delegation, PAUSED),
    ]
    if not all(each.ok for each in first):
        raise PositionsUnreadable("EigenLayer does not tell deposits, or what waits in its queue")
    deposited, delegated, queued, roots, delay, paused = (each.values for each in first)
    operator = _somebody(str(delegated[0]))
    held = [(str(one), int(raw)) for one, raw in zip(*deposited, strict=True) if str(one) in known]
    delay_blocks = int(delay[0])
    places = _places(queued, roots[0], known)
    named = sorted({one for one, _ in held} | {one for _, entry, _ in places for one in map(str, entry[5])})
    if not named:
        return Restaked(operator, (), (), delay_blocks, int(paused[0]))
    asked_of = [one for one, _ in held] if operator is not None else []
    second = yield [
        ReadCall(delegation, WITHDRAWABLE, (account, [one for one, _ in held])),
        *(ReadCall(one, view) for one in named for view in (UNDERLYING, PAUSED)),
        *(ReadCall(at[MAGNITUDES], MAGNITUDE, (operator, one)) for one in asked_of),
    ]
    if not all(each.ok for each in second):
        raise PositionsUnreadable("EigenLayer does not tell what slashes left, or what a strategy is of")
    left = dict(zip((one for one, _ in held), map(int, second[0].values[0]), strict=True))
    told = [each.values[0] for each in second[1:]]
    kept = dict(zip(asked_of, map(int, told[2 * len(named) :]), strict=True))
    tokens = {one: str(told[2 * index]) for index, one in enumerate(named)}
    stops = {one: int(told[2 * index + 1]) for index, one in enumerate(named)}
    amounts = [(one, shares) for one, raw in held for shares in (left[one], max(0, raw - left[one]))]
    amounts += [(str(one), int(raw)) for _, entry, shares in places for one, raw in zip(entry[5], shares, strict=True)]
    third = yield [ReadCall(one, TO_UNDERLYING, (raw,)) for one, raw in amounts]
    if not all(each.ok for each in third):
        raise PositionsUnreadable("a strategy of EigenLayer does not tell what its shares stand for")
    worth = iter([int(each.values[0]) for each in third])
    deposits = tuple(
        Deposited(one, tokens[one], raw, left[one], next(worth), stops[one], taken=next(worth), kept=kept.get(one, WAD))
        for one, raw in held
    )
    waiting = []
    for root, entry, shares in places:
        parts = tuple(
            Part(str(one), tokens[str(one)], int(scaled), int(raw), next(worth), stops[str(one)])
            for one, scaled, raw in zip(entry[5], entry[6], shares, strict=True)
        )
        start = int(entry[4])
        waiting.append(
            Waiting(
                root,
                str(entry[0]),
                _somebody(str(entry[1])),
                str(entry[2]),
                int(entry[3]),
                start,
                first_free_block(start, delay_blocks),
                parts,
            )
        )
    return Restaked(operator, deposits, tuple(waiting), delay_blocks, int(paused[0]))


def _places(
    queued: AbiValues, roots: Sequence[bytes], known: frozenset[str]
) -> list[tuple[str, AbiValues, Sequence[int]]]:
    """Withdrawals of known strategies alone, with their roots: the contract tells both in one order."""
    entries, shares = queued
    return [
        ("0x" + bytes(root).hex(), entry, raw)
        for root, entry, raw in zip(roots, entries, shares, strict=True)
        if known.issuperset(map(str, entry[5]))
    ]


def _somebody(address: str) -> str | None:
    return None if address == NOBODY else address

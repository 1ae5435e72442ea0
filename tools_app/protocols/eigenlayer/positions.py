"""Reads what an account has at EigenLayer: deposits by strategy after slashes, and withdrawals that wait; and the way
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.networks import MULTICALL3
from tools_app.core.stored_json import read_stored
from tools_app.protocols.eigenlayer.addresses import DELEGATION, NAME, deployments
from tools_app.protocols.eigenlayer.math import SLOT_SECONDS, free_at
from tools_app.protocols.eigenlayer.reads import (
    ENTERED,
    NO_EXIT,
    NO_QUEUE,
    NO_WITHDRAWAL,
    Deposited,
    Restaked,
    Waiting,
    ask_restaked,
)
from tools_app.toolkit.context import ReadCall
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
    Slashable,
    Wait,
)
from tools_app.toolkit.views import LogEntry

KIND: Final = "restake"
BLOCK: Final = "function getBlockNumber() view returns (uint256)"
TIME: Final = "function getCurrentBlockTimestamp() view returns (uint256)"
DUST_SHARES: Final = 1_000
"""So few shares stay: rounding may give nothing for them, and nobody can add to somebody else's deposit."""


def deposit_ref(chain_id: int, strategy: str) -> PositionRef:
    """Names what is deposited in a strategy."""
    return PositionRef(NAME, KIND, chain_id, strategy)


def withdrawal_ref(chain_id: int, root: str) -> PositionRef:
    """Names a withdrawal that waits, whoever queued it: the operator can, by putting the staker out."""
    return PositionRef(NAME, REQUEST_KIND, chain_id, root)


class RestakedPositions:
    """Deposits and withdrawals of known strategies, at what slashes left of them."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position. Raises PositionsUnreadable."""
        at = deployments(chain_id)
        if at is None:
            return ()
        restaked = yield from ask_restaked(at, account)
        found = [_deposit(chain_id, restaked, each) for each in restaked.deposits]
        if restaked.waiting:
            told = yield [ReadCall(MULTICALL3, BLOCK), ReadCall(MULTICALL3, TIME)]
            if not all(each.ok for each in told):
                raise PositionsUnreadable("the chain does not tell its block, which decides when withdrawals are free")
            block, now = (int(each.values[0]) for each in told)
            found += [_waiting(chain_id, at, restaked, each, block, now) for each in restaked.waiting]
        return tuple(found)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Withdrawals that were queued for the account, so that each is followed to its end. To find them nothing has
        to be remembered: the queue tells what waits, whoever put it there.
        """
        delegation = (deployments(chain_id) or {}).get(DELEGATION)
        told = ENTERED.list(log for log in logs if log.address == delegation)
        return tuple(
            withdrawal_ref(chain_id, "0x" + each.withdrawal_root.hex())
            for each in told
            if each.withdrawal.staker == each.withdrawal.withdrawer == account
        )


@dataclass(frozen=True, slots=True)
class _RequestFacts:
    free_at: int
    is_stopped: bool


@dataclass(frozen=True, slots=True)
class _DepositFacts:
    withdrawable: int
    deposited: str
    is_stopped: bool


class RestakedExits:
    """Queue every deposit, wait out the blocks, complete. A pause is waited for: what it holds is not lost."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step; dust stays."""
        chain_id = position.ref.chain_id
        if position.ref.kind == REQUEST_KIND:
            request = read_stored(_RequestFacts, position.facts)
            if request.free_at > now:
                return Wait(request.free_at, "it waits in the queue, and can be slashed until then")
            if request.is_stopped:
                return Wait(None, "EigenLayer has paused completing withdrawals")
            asked = {"withdrawal_root": position.ref.id, "chain_id": chain_id}
            return Act("eigenlayer_complete_withdrawal", asked, "the blocks of the queue have passed")
        deposit = read_stored(_DepositFacts, position.facts)
        if deposit.withdrawable <= DUST_SHARES:
            return None
        if deposit.is_stopped:
            return Wait(None, "EigenLayer has paused new withdrawals")
        asked = {"strategies": [position.ref.id], "shares": [deposit.deposited], "chain_id": chain_id}
        return Act("eigenlayer_queue_withdrawal", asked, "what is deposited leaves by the queue")


def _deposit(chain_id: int, restaked: Restaked, held: Deposited) -> Position:
    is_stopped = bool(restaked.paused & NO_QUEUE)
    return Position(
        ref=deposit_ref(chain_id, held.strategy),
        label="Restaked at EigenLayer",
        legs=(Leg(held.token, held.worth),) if held.worth else (),
        facts={
            "deposited": str(held.deposited),
            "withdrawable": str(held.withdrawable),
            "operator": restaked.operator,
            "delay_blocks": str(restaked.delay_blocks),
            "is_stopped": is_stopped,
        },
        locked=(Locked(held.token, held.worth, "paused"),) if is_stopped and held.worth else (),
        slashable=(Slashable(held.token, held.worth, restaked.operator, held.kept, taken=held.taken),)
        if restaked.operator is not None
        else (),
        leaving_seconds=restaked.delay_blocks * SLOT_SECONDS,
    )


def _waiting(
    chain_id: int, at: Mapping[str, str], restaked: Restaked, waiting: Waiting, block: int, now: int
) -> Position:
    # The chain asks for a later block than the one that is told here, in which a call is tried.
    free = free_at(waiting.free_block, block=block, now=now)
    is_stopped = bool(restaked.paused & NO_EXIT) or any(part.paused & NO_WITHDRAWAL for part in waiting.parts)
    return Position(
        ref=withdrawal_ref(chain_id, waiting.root),
        label="Withdrawal from EigenLayer",
        legs=tuple(
            Leg(part.token, part.worth, free_at=free if free > now else None) for part in waiting.parts if part.worth
        ),
        facts={
            "operator": waiting.operator,
            "free_block": str(waiting.free_block),
            "free_at": str(free),
            "scaled_shares": [str(part.scaled) for part in waiting.parts],
            "shares": [str(part.shares) for part in waiting.parts],
            "is_stopped": is_stopped,
        },
        locked=tuple(Locked(part.token, part.worth, "paused") for part in waiting.parts if is_stopped and part.worth),
        relies_on=frozenset({at[DELEGATION]}),
        slashable=tuple(Slashable(part.token, part.worth, waiting.operator, part.kept) for part in waiting.parts)
        if waiting.operator is not None
        else (),
    )

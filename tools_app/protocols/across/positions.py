"""Reads what is under way to an account on the chain where it is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools_app.protocols.across.addresses import pool_on
from tools_app.protocols.across.transfers import PAID, STATUS, Transfer, read_own
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import ExitStep, Leg, Position, PositionRef, PositionsUnreadable, Reads, Stuck, Wait
from tools_app.toolkit.views import LogEntry


class TransferPositions:
    """Of each transfer its name says everything but whether it was paid out."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """One batch. Raises PositionsUnreadable."""
        pool, found = pool_on(chain_id), [Transfer.parse(each.id) for each in hints]
        told = yield [ReadCall(pool, STATUS, (each.hash(account, chain_id),)) for each in found]
        if not all(each.ok for each in told):
            raise PositionsUnreadable("the bridge does not tell what it paid out")
        return tuple(
            _position(ref, transfer, is_paid=int(status.values[0]) == PAID)
            for ref, transfer, status in zip(hints, found, told, strict=True)
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """What logs say was sent to another chain."""
        found = (read_own(log, account, chain_id) for log in logs)
        return tuple(each[1].ref(each[0]) for each in found if each is not None)


def _position(ref: PositionRef, transfer: Transfer, *, is_paid: bool) -> Position:
    return Position(
        ref=ref,
        label=f"Transfer {transfer.number} from chain {transfer.origin}",
        legs=() if is_paid else (Leg(transfer.arrives, transfer.least, free_at=transfer.until),),
        is_settled=is_paid,
    )


class TransferExits:
    """It comes by itself, or is given back by the bridge on the chain that it left, hours later."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Wait until its time is over; then its owner looks where it left."""
        if position.is_settled:
            return None
        transfer = Transfer.parse(position.ref.id)
        if now <= transfer.until:
            return Wait(transfer.until, "a relayer of Across")
        return Stuck(transfer.late_words)

"""What is under way to an account over the bridge, read on the chain where it is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools_app.chain.abi import decode_log
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import ExitStep, Leg, Position, PositionRef, PositionsUnreadable, Reads, Stuck, Wait
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED

NAME = "made_up_bridge"
FILLED = "function filled(uint256,uint256) view returns (bool)"
SENT = (
    "event Sent(uint256 indexed id, address indexed account, uint256 toChain, address toToken, uint256 least,"
    " address recipient, uint256 fillBy)"
)


class BridgePositions:
    """Of each transfer its name says everything: where it was sent, its number, the token, how much, and until when."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """One batch: which of them were paid."""
        parts = [each.id.split("-") for each in hints]
        bridge = DEPLOYED[chain_id]["bridge"]
        told = yield [ReadCall(bridge, FILLED, (int(part[0]), int(part[1]))) for part in parts]
        if not all(each.ok for each in told):
            raise PositionsUnreadable("the bridge does not answer")
        return tuple(
            Position(
                ref=ref,
                label=f"Transfer {part[1]} from chain {part[0]}",
                legs=() if paid.values[0] else (Leg(part[2], int(part[3]), free_at=int(part[4])),),
                is_settled=bool(paid.values[0]),
            )
            for ref, part, paid in zip(hints, parts, told, strict=True)
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """What logs say was sent to another chain."""
        found = []
        for log in logs:
            told = decode_log(SENT, log)
            if told is None or told["account"] != account:
                continue
            name = f"{chain_id}-{told['id']}-{told['toToken']}-{told['least']}-{told['fillBy']}"
            found.append(PositionRef(NAME, "request", int(told["toChain"]), name))
        return tuple(found)


class BridgeExits:
    """It comes by itself, or never."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Wait until its time is over."""
        if position.is_settled:
            return None
        until = position.legs[0].free_at or 0
        return Wait(until, "its relayer") if now <= until else Stuck("no relayer paid it in its time")

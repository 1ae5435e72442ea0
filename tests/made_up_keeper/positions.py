"""What an account has at the keepers': orders that stand, and lots that they became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools_app.chain.abi import decode_log, event_topic
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.orders import OrderEnd, OrderFate
from tools_app.toolkit.positions import (
    ORDER_KIND,
    Act,
    ExitStep,
    Leg,
    OrderStanding,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    Trail,
)
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED

NAME = "made_up_keeper"
ORDERS_OF = "function ordersOf(address) view returns (uint256[])"
LOTS_OF = "function lotsOf(address) view returns (uint256[])"
ORDER = (
    "function orders(uint256) view returns (address, address, uint256, uint256, uint256, uint256, uint256, uint256,"
    " uint256)"
)
LOT = "function lots(uint256) view returns (address, uint256)"
PLACED = (
    "event Placed(uint256 indexed id, address indexed owner, address heir, uint256 give, uint256 want, uint256 until)"
)
_FATES = (OrderFate.UNKNOWN, OrderFate.OPEN, OrderFate.EXECUTED, OrderFate.CANCELLED, OrderFate.EXPIRED)

SILENT: list[str] = []
"""When it holds something, the protocol's reader says nothing of what became of an order."""


def order_ref(chain_id: int, number: int) -> PositionRef:
    """An order by its number."""
    return PositionRef(NAME, ORDER_KIND, chain_id, str(number))


def lot_ref(chain_id: int, number: int) -> PositionRef:
    """A lot by its number."""
    return PositionRef(NAME, "lot", chain_id, str(number))


class KeeperPositions:
    """Two batches: what there is, and what is in it."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Orders and lots."""
        at = DEPLOYED[chain_id]
        told = yield [ReadCall(at["keeper"], signature, (account,)) for signature in (ORDERS_OF, LOTS_OF)]
        if not all(each.ok for each in told):
            raise PositionsUnreadable("the keepers do not answer")
        orders, lots = (each.values[0] for each in told)
        asked = [ReadCall(at["keeper"], ORDER, (each,)) for each in orders]
        found = yield [*asked, *(ReadCall(at["keeper"], LOT, (each,)) for each in lots)]
        standing, held = found[: len(orders)], found[len(orders) :]
        return (
            *(_tell_order(chain_id, number, told.values, at) for number, told in zip(orders, standing, strict=True)),
            *(
                Position(lot_ref(chain_id, number), f"Lot {number}", (Leg(at["loan"], told.values[1]),))
                for number, told in zip(lots, held, strict=True)
            ),
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Orders that logs tell of."""
        told = (decode_log(PLACED, log) for log in logs if log.topics and log.topics[0] == event_topic(PLACED))
        return tuple(order_ref(chain_id, each["id"]) for each in told if each is not None)


def _tell_order(chain_id: int, number: int, told: tuple[object, ...], at: Mapping[str, str]) -> Position:
    _, heir, give, want, until, _, _, _, lot = told
    return Position(
        order_ref(chain_id, number),
        f"Order {number}",
        (Leg(at["cash"], int(str(give))),),
        standing=OrderStanding(
            heir=str(heir),
            awaits="any keeper carries it out, whole or in parts",
            until=int(str(until)),
            brings=(Leg(at["loan"], int(str(want))),),
            successor=lot_ref(chain_id, int(str(lot))) if lot else None,
        ),
    )


class KeeperOrders:
    """What became of an order the contract says itself."""

    def trails(self, ref: PositionRef, account: str) -> Sequence[Trail]:
        """No log is needed."""
        return ()

    def end(self, ref: PositionRef, account: str, logs: Sequence[LogEntry]) -> Reads[OrderEnd]:
        """By the contract's own word."""
        at = DEPLOYED[ref.chain_id]
        [told] = yield [ReadCall(at["keeper"], ORDER, (int(ref.id),))]
        if SILENT:
            return OrderEnd(OrderFate.OPEN)
        if not told.ok:
            return OrderEnd(OrderFate.UNKNOWN)
        _, _, _, _, _, fate, back, ended_in, lot = told.values
        return OrderEnd(
            _FATES[fate],
            came=(Leg(at["cash"], back),) if back else (),
            block=ended_in or None,
            successor=lot_ref(ref.chain_id, lot) if lot else None,
        )

    def cancel(self, position: Position, now: int) -> ExitStep:
        """By its number."""
        return Act("keeper_cancel", {"order_id": position.ref.id}, "nobody may carry it out any more")


class KeeperExits:
    """Cancel, and take a lot out."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step each."""
        if position.ref.kind == ORDER_KIND:
            return Act("keeper_cancel", {"order_id": position.ref.id}, "an order is taken back first")
        return Act("keeper_close", {"lot_id": position.ref.id}, "the lot is taken out")

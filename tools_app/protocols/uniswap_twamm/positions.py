"""What an account has in orders over time: what is not sold yet, and what was bought and not paid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tools_app.chain.abi import decode_log
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.uniswap_twamm.addresses import ENTRY, NAME, contract_on, deployments
from tools_app.protocols.uniswap_twamm.reads import OPEN_OF, SUBMITTED, OrderRead, make_order, order_call
from tools_app.standards.paused_tokens import StillReads
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.orders import OrderEnd, OrderFate
from tools_app.toolkit.positions import (
    LOCKED_WORDS,
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
    Wait,
    gather,
)
from tools_app.toolkit.views import LogEntry


def ref_of(chain_id: int, number: int) -> PositionRef:
    """Names an order by its number."""
    return PositionRef(NAME, ORDER_KIND, chain_id, str(number))


class TwammPositions:
    """Open orders, in two batches; none costs one question."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every open order. Raises PositionsUnreadable."""
        at = deployments(chain_id)
        if at is None:
            return ()
        (told,) = yield [ReadCall(at[ENTRY], OPEN_OF, (account,))]
        if not told.ok:
            raise PositionsUnreadable("the orders over time do not tell which are open")
        numbers = told.values[0]
        if not numbers:
            return ()
        # Which tokens lie there is told with the orders: all that can stand still are asked with them.
        known = load_deployment(KNOWN_NETWORKS[chain_id])
        ways = ((token.address, each) for token in known.tokens for each in (at[ENTRY], account))
        still_reads = StillReads.of(chain_id, ways)
        found, stopped = yield from gather([order_call(at[ENTRY], number) for number in numbers], still_reads.calls)
        if not all(each.ok for each in found):
            raise PositionsUnreadable("an open order over time does not tell its terms")
        orders = [make_order(number, each.values) for number, each in zip(numbers, found, strict=True)]
        still, told_of = still_reads.read(stopped), (_tell(chain_id, each) for each in orders)
        return tuple(replace(each, locked=still.lock(each.legs, at[ENTRY], account)) for each in told_of)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Orders that the account submitted, so that they are followed from then on."""
        at = deployments(chain_id)
        if at is None:
            return ()
        told = [decode_log(SUBMITTED, log) for log in logs if log.address == at[ENTRY]]
        mine = [each for each in told if each is not None and each["owner"] == account]
        return tuple(ref_of(chain_id, each["id"]) for each in mine)


class TwammOrders:
    """What became of an order, by the contract's own word."""

    def trails(self, ref: PositionRef, account: str) -> Sequence[Trail]:
        """No log is needed."""
        return ()

    def end(self, ref: PositionRef, account: str, logs: Sequence[LogEntry]) -> Reads[OrderEnd]:
        """Its fate and what it paid out; one of somebody else is not known."""
        (told,) = yield [order_call(contract_on(ref.chain_id), int(ref.id))]
        if not told.ok:
            return OrderEnd(OrderFate.UNKNOWN)
        order = make_order(int(ref.id), told.values)
        if order.owner != account:
            return OrderEnd(OrderFate.UNKNOWN)
        if order.fate is OrderFate.OPEN:
            return OrderEnd(OrderFate.OPEN)
        return OrderEnd(order.fate, came=_legs(order), block=order.ended_in or None)

    def cancel(self, position: Position, now: int) -> ExitStep:
        """By closing it, which pays out what was bought too."""
        return _leave(position)


class TwammExits:
    """Close the order."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """One step, at any time; but while one of its tokens stands still."""
        return _leave(position)


def _leave(position: Position) -> ExitStep:
    if position.locked:
        return Wait(None, LOCKED_WORDS[position.locked[0].reason])
    return _close(position)


def _close(position: Position) -> Act:
    asked = {"order_id": position.ref.id, "chain_id": position.ref.chain_id}
    return Act("uniswap_lp_cancel_twamm_order", asked, "what is not sold and what was bought come back")


def _tell(chain_id: int, order: OrderRead) -> Position:
    rest = order.least * order.left // order.amount
    return Position(
        ref_of(chain_id, order.number),
        f"Order over time {order.number}",
        _legs(order),
        facts={"sold": str(order.sold), "bought": str(order.bought), "amount": str(order.amount)},
        standing=OrderStanding(
            heir=order.owner,
            awaits="fillers buy what falls due, at the order's least price or better",
            until=order.until,
            brings=(Leg(order.token_out, rest),) if rest else (),
        ),
    )


def _legs(order: OrderRead) -> tuple[Leg, ...]:
    pairs = ((order.token_in, order.left), (order.token_out, order.bought))
    return tuple(Leg(token, raw) for token, raw in pairs if raw)

"""`safety_estimate_unwind_cost`: in which order positions are left, how long that takes, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from tools_app.portfolio.holdings import HeldPosition, PriceBook
from tools_app.subsystems.safety.account_measurement import OnChain, measure_account, name_position
from tools_app.subsystems.safety.exit_options import WayOut, find_way_out
from tools_app.subsystems.safety.family import ChainOrAll, board
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.params import Address
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import UsdAmount

UnwindCategory = Annotated[
    Literal["Lending", "Loops", "Perps", "Options", "All"],
    Field(description="Lending: at lenders; Loops: with a debt against collateral; All: every position."),
]
Urgency = Annotated[
    Literal["Normal", "Urgent"],
    Field(description="Normal: fees of now; Urgent: twice the base fee, so that a rising fee keeps nothing back."),
]
STEP_GAS = 400_000
"""Gas units of one step out: an approval and a repayment or withdrawal, with room."""
_SLIPPAGE_BPS = 50
"""What a trade for a missing token is taken to cost."""
_ORDER = ("act", "trade", "wait", "stuck")


@dataclass(frozen=True, slots=True)
class PositionUnwind:
    """One position. `kind`: act (a step leads out now), trade (a token is missing), wait, or stuck.

    `steps` is at least so many transactions; `cost_usd` is their gas and what buying the missing token is taken to
    cost, null where gas has no price; `wait_seconds` is what it waits from now on, or from that step, null where nobody
    knows.
    """

    position: str
    label: str
    chain_id: int
    kind: str
    reason: str
    tool: str | None
    params: Mapping[str, object] | None
    steps: int
    cost_usd: UsdAmount | None
    wait_seconds: int | None


@dataclass(frozen=True, slots=True)
class UnwindCost:
    """Leaving everything of a kind, in the best order. The time is null where nobody knows how long one waits."""

    account: str
    category: str
    positions: tuple[PositionUnwind, ...]
    total_unwind_cost_usd: UsdAmount | None
    estimated_total_time: int | None
    optimal_order: tuple[str, ...]
    gas_per_step: int
    not_counted: tuple[str, ...]


@board.read(
    query="unwind_cost",
    snippet=(
        "unwind_cost: what leaving an account's positions would cost in gas and trades, which can be left now, which"
        " wait and until when, and the order to leave them in."
    ),
    guidelines=("Leave in the order it names: debts in danger first, what waits is begun early, what is stuck last.",),
)
def safety_estimate_unwind_cost(
    ctx: ReadContext,
    kind: UnwindCategory = "All",
    account: Address | None = None,
    chain_id: ChainOrAll | None = None,
    urgency: Urgency = "Normal",
) -> UnwindCost:
    """Estimate what leaving an account's positions costs, how long it takes, and in which order to leave them.

    Use before a way out is needed. Debts come first, the nearest to liquidation before the others, then what can leave
    now, what has to wait, and what is stuck. A preview gives each step's exact cost.
    `kind` is answered as `category`: the word `category` of query_state chooses tools.
    Does not act, and does not count what a large trade moves a pool's price.
    """
    ctx.step("Reading positions")
    measured = measure_account(ctx, account, chain_id)
    ctx.step("Asking each protocol for its way out")
    chosen = [(place, held) for place, held in measured.list_positions() if _is_of(held, kind)]
    found = sorted(((place, held, find_way_out(place, held)) for place, held in chosen), key=_rank)
    prices = {place.chain_id: _price_step(place.reader, urgency) for place, _, _ in found}
    rows = tuple(_describe(place, held, way, prices[place.chain_id]) for place, held, way in found)
    costs = [row.cost_usd for row in rows]
    known = [each.micro for each in costs if each is not None]
    waits = [row.wait_seconds for row in rows]
    told = [each for each in waits if each is not None]
    return UnwindCost(
        account=measured.account,
        category=kind,
        positions=rows,
        total_unwind_cost_usd=UsdAmount(sum(known)) if len(known) == len(costs) and measured.is_known else None,
        estimated_total_time=max(told, default=0) if len(told) == len(waits) else None,
        optimal_order=tuple(row.position for row in rows),
        gas_per_step=STEP_GAS,
        not_counted=measured.not_counted,
    )


def _is_of(held: HeldPosition, category: str) -> bool:
    protocol = SHELF.get(held.ref.protocol)
    if category == "Lending":
        return protocol is not None and protocol.lending is not None
    if category == "Loops":
        return held.position.has_debt and any(leg.raw > 0 and leg.cover_bps for leg in held.position.legs)
    # No protocol of the shelf trades perpetuals or options.
    return category == "All"


def _rank(row: tuple[OnChain, HeldPosition, WayOut]) -> tuple[int, int, int, str]:
    """Order positions: debts by their health, then those that can leave now by amount, then those that wait by date,
    and stuck ones last.
    """
    place, held, way = row
    if held.health_bps is not None:
        return (0, held.health_bps, 0, str(held.ref))
    until = way.until if way.until is not None else 2**62
    return (1, _ORDER.index(way.kind), until if way.kind == "wait" else -(held.micro_usd or 0), str(held.ref))


def _describe(place: OnChain, held: HeldPosition, way: WayOut, step_price: int | None) -> PositionUnwind:
    legs = len(held.position.legs)
    steps = 0 if way.kind == "stuck" else max(1, legs) + (1 if way.kind == "trade" else 0)
    trade = _price_missing(place, way)
    cost = None if step_price is None or trade is None else UsdAmount(steps * step_price + trade)
    waits = held.position.leaving_seconds if way.kind == "act" else 0
    if way.kind == "wait":
        waits = None if way.until is None else max(0, way.until - place.now)
    elif way.kind == "stuck":
        waits = None
    return PositionUnwind(
        position=str(held.ref),
        label=name_position(held),
        chain_id=place.chain_id,
        kind=way.kind,
        reason=way.reason,
        tool=way.tool,
        params=way.params,
        steps=steps,
        cost_usd=cost,
        wait_seconds=waits,
    )


def _price_step(reader: ChainReader, urgency: str) -> int | None:
    """Micro-USD of one step's gas; None where the chain's coin has no price."""
    fees = reader.fees()
    each = fees.base_fee * (2 if urgency == "Urgent" else 1) + fees.priority_fee
    return _value(reader, reader.native().address, STEP_GAS * each)


def _price_missing(place: OnChain, way: WayOut) -> int | None:
    """Micro-USD that buying what is missing is taken to cost; None where it has no price."""
    if way.missing_token is None:
        return 0
    value = _value(place.reader, way.missing_token, way.missing_raw)
    return None if value is None else value * _SLIPPAGE_BPS // 10_000


def _value(reader: ChainReader, token: str, raw: int) -> int | None:
    return PriceBook(reader).weigh(token, raw).micro_usd

"""What is left after a plan and everything beside it: other permits may take from the same place, each alone within it.

A plan promises a change. Two that are simulated on one block each find all of it there: two withdrawals of 11,000 and
10,000 out of 20,000 both pass, and where a call takes out first and borrows then, the second is a debt that nobody
agreed to. So what the plan leaves behind is judged once more without what others may still take: what is held in a
position, the health of its debts, and the balance of the account. What others may bring is not counted, since it may
never come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from permits_app.errors import SimulationFailed, TakenBeside
from permits_app.hook_rejection import Reject
from permits_app.safety.call_records import OpenSpend, UnderWay
from permits_app.safety.classify_action import list_deeper_debts
from permits_app.safety.format_rule_figures import format_amount, format_ratio
from permits_app.safety.hook import HookCall
from permits_app.safety.position_rules import DUST, Moved, list_moved
from tools_app.core.errors import Recovery
from tools_app.portfolio.health import ValueOf, measure_health
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import LEAVING, RiskLayer
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Leg, Position
from tools_app.toolkit.protocol import SHELF, Trait

DEEPER_DEBT: Final = "simulator.halt_debt"
"""The rule by which a halt does not sign what would leave more owed than before."""
RETRY_AFTER_SECONDS: Final = 5
_DRIFT: Final = 1_000_000
"""One part in so many of what was there may be missing where debts are known: the interest of a block."""
_LOOSE: Final = 100
"""One part in so many where none are: fees that each of two plans expects are there once, and nothing is ever owed."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What others may take of one token of one position, positive, and who they are."""

    raw: int
    permits: tuple[str, ...]


def judge_levels(
    call: HookCall,
    plan: TxPlan,
    simulation: SimulationResult,
    *,
    beside: Sequence[UnderWay],
    open_spends: Sequence[OpenSpend],
    value_of: ValueOf,
    chain: ChainReader,
) -> Reject | None:
    """What the plan lowers would be lower than it may be, once the permits beside it did what they promised.

    What raises a level always passes. Raises what `value_of` raises.
    """
    if not beside and not open_spends:
        return None
    is_borrowing = call.tool.risk_layer is RiskLayer.UNBOUNDED
    for each in list_moved(simulation):
        refusal = _judge_held(each, beside, is_borrowing, chain) or _judge_cover(call, each, beside, value_of)
        if refusal is not None:
            return refusal
    return None if call.action_class in LEAVING else _judge_balances(plan, simulation, beside, open_spends)


def judge_no_debt_grew(simulation: SimulationResult) -> Reject | None:
    """A debt is larger than before. What a halt signs is judged by this, whatever its plan says of itself."""
    deeper = list_deeper_debts(simulation.positions_before or (), simulation.positions_after or ())
    if not deeper:
        return None
    return Reject(
        rule=DEEPER_DEBT,
        reason=f"the simulation measured a larger debt in {deeper[0]}, and a halt signs nothing that borrows",
        observed=f"a debt that grows in {deeper[0]}",
        limit="no debt larger than before",
        would_pass="a way out that takes no more than is there; another one is its owner's to choose",
        error=SimulationFailed,
        data={"position": str(deeper[0])},
    )


def may_lower(plan: TxPlan | None) -> bool:
    """Whether a plan takes anything from anywhere, so that what is beside it matters."""
    return plan is not None and bool(plan.spends or any(change.bound <= 0 for change in plan.changes))


def _judge_held(moved: Moved, beside: Sequence[UnderWay], is_borrowing: bool, chain: ChainReader) -> Reject | None:
    """More is taken out of a position than it has: it fails, or becomes a debt."""
    for token, change in moved.list_changes().items():
        if change >= 0:
            continue
        # Of what borrows, others that borrow were agreed to as that; of what leaves, everything counts.
        taken = _sum_taken(moved, token, [each for each in beside if not (is_borrowing and each.is_borrowing)])
        left = _held_of(moved.after, token)
        if taken.raw > left + _room(moved, token):
            meta = chain.token(token)
            return _refuse(
                rule="simulator.level",
                reason=(
                    f"{moved.ref} has {format_amount(left, meta)} left after this action, and other permits may take"
                    f" {format_amount(taken.raw, meta)} of it; together they take more than is there"
                ),
                observed=format_amount(taken.raw, meta),
                limit=f"what is left, {format_amount(left, meta)}",
                remaining=format_amount(max(0, _held_of(moved.before, token) - taken.raw), meta),
                permits=taken.permits,
                data={"position": str(moved.ref), "token": token},
            )
    return None


def _judge_cover(call: HookCall, moved: Moved, beside: Sequence[UnderWay], value_of: ValueOf) -> Reject | None:
    """A debt would stand on less than it may, once others took what covers it or borrowed besides."""
    if moved.after is None or not _knows_debts(moved):
        return None
    others = [each for each in beside if any(change.ref == moved.ref and change.bound <= 0 for change in each.changes)]
    if not others:
        return None
    before, after = measure_health(moved.before, value_of), measure_health(moved.after, value_of)
    is_lowered = any(change < 0 for change in moved.list_changes().values())
    if not is_lowered and (after is None or before is None or after >= before):
        return None
    together = measure_health(_let_happen(moved.after, others, value_of), value_of)
    if together is None or (after is not None and together >= after):
        return None
    floor = call.cage.min_health_bps
    least = floor if call.action_class not in LEAVING else min(floor, before or floor)
    if together >= least:
        return None
    return _refuse(
        rule="simulator.level_health",
        reason=(
            f"the health of {moved.ref} would be {format_ratio(together)} once this action and the permits beside it"
            f" are carried out (1.00 is liquidation); at least {format_ratio(least)} is asked"
        ),
        observed=format_ratio(together),
        limit=f"at least {format_ratio(least)}",
        remaining=format_ratio(max(0, (after or together) - least)),
        permits=tuple(each.permit_id for each in others),
        data={"position": str(moved.ref), "health_bps": str(together), "least_health_bps": str(least)},
    )


def _judge_balances(
    plan: TxPlan, simulation: SimulationResult, beside: Sequence[UnderWay], open_spends: Sequence[OpenSpend]
) -> Reject | None:
    """The account spends more of a token than it has, by what each plan expects to spend."""
    for flow in plan.spends:
        spent: list[tuple[int, tuple[str, ...]]] = [
            (other.expected, (each.permit_id,))
            for each in beside
            for other in each.spends
            if other.token.address == flow.token.address
        ]
        spent += [(each.raw, each.permit_ids) for each in open_spends if each.token == flow.token.address]
        left = simulation.balances_after.get((simulation.account, flow.token.address))
        taken = sum(raw for raw, _ in spent)
        if left is not None and taken > max(0, left):
            return _refuse(
                rule="simulator.level_balance",
                reason=(
                    f"{format_amount(max(0, left), flow.token)} would be left in the account, and other permits spend"
                    f" {format_amount(taken, flow.token)}; together they spend more than it has"
                ),
                observed=format_amount(taken, flow.token),
                limit=f"what is left, {format_amount(max(0, left), flow.token)}",
                remaining=format_amount(max(0, left + flow.expected - taken), flow.token),
                permits=tuple(permit for _, permits in spent for permit in permits),
                data={"token": flow.token.address},
            )
    return None


def _sum_taken(moved: Moved, token: str, beside: Iterable[UnderWay]) -> _Taken:
    found = [
        (-change.bound, each.permit_id)
        for each in beside
        for change in each.changes
        if change.ref == moved.ref and change.token == token and change.expected < 0 and change.counts
    ]
    return _Taken(sum(raw for raw, _ in found), tuple(dict.fromkeys(permit for _, permit in found)))


def _held_of(position: Position | None, token: str) -> int:
    legs = position.legs if position is not None else ()
    return sum(leg.raw for leg in legs if leg.token == token and leg.raw > 0)


def _room(moved: Moved, token: str) -> int:
    return DUST + _held_of(moved.before, token) // (_DRIFT if _knows_debts(moved) else _LOOSE)


def _knows_debts(moved: Moved) -> bool:
    """Whether something may be owed in a position. Of a protocol that knows no debts nothing is read that tells one."""
    protocol = SHELF.get(moved.ref.protocol)
    return protocol is None or Trait.LEVERAGE in protocol.traits


def _let_happen(position: Position, others: Sequence[UnderWay], value_of: ValueOf) -> Position:
    """The position once others took what they may. The protocol's own word falls as cover and debt do at our feeds."""
    legs = list(position.legs)
    for each in others:
        for change in each.changes:
            if change.ref != position.ref or change.bound > 0 or not change.counts:
                continue
            if change.expected == 0:
                # It stays where it is, and may not cover anything any more.
                legs = [replace(leg, cover_bps=0) if leg.token == change.token else leg for leg in legs]
                continue
            missing = -change.bound
            for index, leg in enumerate(legs):
                if leg.token == change.token and leg.raw > 0:
                    taken = min(missing, leg.raw)
                    legs[index] = leg.with_raw(leg.raw - taken)
                    missing -= taken
            owed = next((i for i, leg in enumerate(legs) if leg.token == change.token and leg.raw < 0), None)
            if missing and owed is not None:
                legs[owed] = legs[owed].with_raw(legs[owed].raw - missing)
            elif missing:
                legs.append(Leg(change.token, -missing))
    told = position.health_bps
    if told is not None and position.is_margin:
        # What stands on a margin falls with all that is in it.
        was_worth, worth = (sum(value_of(leg.token, leg.raw) for leg in some) for some in (position.legs, legs))
        told = told * max(0, worth) // was_worth if was_worth > 0 else 0
    elif told is not None:
        was, is_now = _weigh(position.legs, value_of), _weigh(legs, value_of)
        # 10,000 parts of cover over debt, before and after.
        told = told * is_now[0] * was[1] // (was[0] * is_now[1]) if was[0] and is_now[1] else 0
    return replace(position, legs=tuple(leg for leg in legs if leg.raw), health_bps=told)


def _weigh(legs: Iterable[Leg], value_of: ValueOf) -> tuple[int, int]:
    """Cover, weighted, and debt."""
    listed = list(legs)
    cover = sum(value_of(leg.token, leg.raw) * leg.cover_bps for leg in listed if leg.raw > 0 and leg.cover_bps)
    return cover, -sum(value_of(leg.token, leg.raw) for leg in listed if leg.raw < 0)


def _refuse(
    *,
    rule: str,
    reason: str,
    observed: str,
    limit: str,
    remaining: str,
    permits: Sequence[str],
    data: dict[str, object],
) -> Reject:
    return Reject(
        rule=rule,
        reason=reason,
        observed=observed,
        limit=limit,
        remaining=remaining,
        would_pass="less of it now; or the same once the permits named under `waits_for` have ended or are cancelled",
        error=TakenBeside,
        data={
            **data,
            "recovery": Recovery.WAIT,
            "retry_after_seconds": RETRY_AFTER_SECONDS,
            "waits_for": list(dict.fromkeys(permits)),
        },
    )

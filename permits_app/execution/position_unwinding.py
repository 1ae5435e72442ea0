"""Under a halt, when its owner chose that: what the golem has at protocols is taken back into its wallet.

Each position is left as its protocol says, one step at a time, each step a plan of its own made by the tool that an
agent would use; after every step the protocol is asked again, so it goes on wherever it was stopped. One that fails
keeps no other from being left. Debts are left first, then what is worth most: what strangers sent waits for that, and
takes no gas from it. What nobody can take out now comes last, and is tried again with each look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from django.db.models import Q

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.custody.signing_route import SigningRoute
from permits_app.errors import SimulationFailed
from permits_app.execution.halt_debt_sales import does_sell, plan_sale
from permits_app.execution.halt_permits import TOOL_NAME, HaltPlan, execute_halt_plan
from permits_app.execution.halt_plan_check import may_sign
from permits_app.halts.halt_choices import UNWIND_ACTION
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits.other_chain_holdings import name_chain
from permits_app.safety.balances_after_open_permits import DEEPER_DEBT
from permits_app.safety.health_between_calls import LIQUIDATION_BPS, judge_way
from permits_app.safety.hooks.simulator import judge_allowances, judge_flows, judge_reverts, judge_surprises
from permits_app.safety.position_rules import by_prices_or_lender, judge_changes, judge_gauges, judge_health
from permits_app.safety.positions_to_simulate import Run
from permits_app.safety.rights_without_logs_rules import judge_asked_rights
from tools_app import runner
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_units
from tools_app.portfolio.holdings import PriceBook, read_balances
from tools_app.portfolio.position_priority import list_foremost
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.standards.retiring_sales import RetiringUnsold
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.golem_chains import list_chains, place_params
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import Act, ExitStep, NeedsTrade, Position, PositionRef, Stuck, Wait
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.valuation_rules import UNCOUNTED_WORDS

ACTION_TYPE = UNWIND_ACTION
NOTHING_LEFT = "nothing is left in it"
DUST_STAYS = "so little that its way out does not take it, or costs more than it brings"
OWNER_NEEDED = "its owner is needed"
DANGERS = frozenset({"simulator.health", "simulator.health_on_the_way", DEEPER_DEBT})
"""Rules by which a step is not taken that would leave a loan to be liquidated, or more owed than before."""
MOST_ATTEMPTS = 3
"""A position whose unwinding was mined and reverted this often in a row is left to its owner."""
MOST_STEPS = 12
"""So many steps out of one position are taken in one go; the next look goes on."""
MOST_ROUNDS = 5
"""So often what there is is listed anew in one go, while steps are taken."""
_BUDGET_MS = 10_000


def list_open_positions(*, golem: Golem, now: datetime) -> list[JsonObject]:
    """What the golem has at protocols on all its chains: ref, venue, words, what it holds, what the next step out is.

    Raises node errors, PositionsUnreadable.
    """
    lines = []
    for chain_id in list_chains(golem):
        chain = open_chain(chain_id, now)
        held = _read_held(golem, chain)
        lines += [
            {**_describe(each), "holds": say_holds(each, chain), **_describe_next(each, held, chain)}
            for each in _find_open(golem, chain)
        ]
    return lines


def say_holds(position: Position, chain: ChainReader) -> str:
    """What is in it to the last unit: `0.5 WETH, 0.00045 DAI owed`; an unknown token is told by its address. What never
    counts stands behind it.
    """
    told = []
    for leg in position.legs:
        try:
            meta = chain.token(leg.token)
            amount = format_units(abs(leg.raw), meta.decimals, meta.symbol)
        except GolemError:
            amount = f"{abs(leg.raw)} of {leg.token}"
        told += [f"{amount} owed" if leg.raw < 0 else amount] if leg.raw else []
    told += [format_units(each.raw, each.decimals, each.symbol) for each in position.uncounted if each.raw]
    return ", ".join(told)


def _describe_next(position: Position, held: Mapping[str, int], chain: ChainReader) -> dict[str, object]:
    step = _ask(position, held, chain)
    return {**_describe_step(step), **(_describe_rest(position, chain) if step is None else {})}


def _describe_rest(position: Position, chain: ChainReader) -> dict[str, str]:
    """What stays in a position whose way out is over, and why so; nothing where it is empty."""
    holds = say_holds(position, chain)
    if not holds:
        return {}
    words = dict.fromkeys(UNCOUNTED_WORDS.get(each.reason, each.reason) for each in position.uncounted if each.raw)
    counted = [DUST_STAYS] if any(leg.raw for leg in position.legs) else []
    return {"stays": holds, "why_it_stays": "; ".join((*counted, *words))}


def unwind_positions(
    *, golem: Golem, epoch: int, actor: str, now: datetime, goes_on: Callable[[], bool] = lambda: True
) -> tuple[list[JsonObject], bool]:
    """Leave every position as far as it goes; what came of each, and whether nothing is left to do under this halt.

    `goes_on` is asked before each step: an owner who stops it between two has the next one not taken. A chain that
    cannot be read keeps no other from being left: it has a line of its own, and is tried again.
    Raises the node's errors of finding them, PositionsUnreadable; what goes wrong with one is in its line.
    """
    lines, is_over, chains = [], True, list_chains(golem)
    for chain_id in chains:
        try:
            left, is_done = _unwind_on(chain_id, golem, epoch, actor, now, goes_on)
        except GolemError as error:
            if len(chains) == 1:
                raise
            left = [{"label": name_chain(chain_id), "failed": error.code, "outcome": error.detail}]
            is_done = False
        lines += left
        is_over = is_over and is_done
    return lines, is_over


def _unwind_on(
    chain_id: int, golem: Golem, epoch: int, actor: str, now: datetime, goes_on: Callable[[], bool]
) -> tuple[list[dict[str, object]], bool]:
    told: dict[PositionRef, dict[str, object]] = {}
    over: dict[PositionRef, bool] = {}
    failed: set[PositionRef] = set()
    for _ in range(MOST_ROUNDS):
        has_acted = False
        # A step out of one position may open another or add to it: what is unwrapped, a place in a queue.
        for position in _find_foremost(golem, open_chain(chain_id, now)):
            if position.ref in failed:
                continue
            line, over[position.ref] = _leave(golem, epoch, position, actor, now, goes_on)
            told[position.ref] = {**told.get(position.ref, _describe(position)), **line}
            has_acted = has_acted or "permit_id" in line
            if "failed" in line or line.get("outcome") == PermitStatus.REVERTED:
                failed.add(position.ref)
        if not has_acted:
            break
    return list(told.values()), all(over.values())


def _leave(
    golem: Golem, epoch: int, position: Position, actor: str, now: datetime, goes_on: Callable[[], bool]
) -> tuple[dict[str, object], bool]:
    """Step by step until the protocol says that there is nothing to do; the line to tell, and whether it is over."""
    tried = _count_attempts(golem, epoch, position)
    if tried >= MOST_ATTEMPTS:
        return {"outcome": f"left as it is: {tried} attempts reverted"}, True
    done: dict[str, object] = {}
    hashes: list[str] = []
    here: Position | None = position
    for _ in range(MOST_STEPS):
        if not goes_on():
            return {**done, "outcome": "its owner stopped this"}, True
        try:
            # A reader of its own: the block moved with the step before.
            chain = open_chain(position.ref.chain_id, now)
            if done:
                here = next((each for each in _find_open(golem, chain) if each.ref == position.ref), None)
            step = _ask(here, _read_held(golem, chain), chain) if here is not None else None
            if step is None:
                rest = _describe_rest(here, chain) if here is not None else {}
                return {**done, "outcome": done.get("outcome", NOTHING_LEFT), **rest}, True
            sale = _find_sale(golem, here or position, step, chain, now)
            if sale is None and not isinstance(step, Act):
                # What waits is looked at again; what needs a trade or is stuck is its owner's.
                return {**done, **_describe_step(step)}, not isinstance(step, Wait)
            take = partial(_take_step, golem, epoch, position, chain=chain, actor=actor, now=now)
            if sale is not None:
                permit, reason = take(*sale, step.reason), step.reason
            else:
                permit, reason = _take_whole_or_part(golem, step, take, chain, now)
        except GolemError as error:
            if error.data.get("rule") in DANGERS or isinstance(error, RetiringUnsold):
                # As it is planned it is not signed, or never will be; another way is its owner's to choose.
                return {**done, "outcome": OWNER_NEEDED, "reason": error.detail}, True
            return {**done, "failed": error.code, "outcome": error.detail}, False
        hashes += permit.transactions.order_by("call_index").values_list("tx_hash", flat=True)
        done = {
            "permit_id": str(permit.pk),
            "tx_hashes": list(hashes),
            "outcome": str(permit.status),
            "reason": reason,
        }
        if permit.status != PermitStatus.COMMITTED:
            return done, False
    return done, False


def _ask(position: Position, held: Mapping[str, int], chain: ChainReader) -> ExitStep | None:
    protocol = SHELF.get(position.ref.protocol)
    if protocol is None or protocol.exits is None:
        return Stuck("this product knows no way out of it")
    return protocol.exits.next_step(position, held, chain.block.timestamp)


def _find_sale(
    golem: Golem, position: Position, step: ExitStep, chain: ChainReader, now: datetime
) -> tuple[TxPlan, str] | None:
    """What is sold for a step that needs a trade, where the owner chose that."""
    short = step.or_trade if isinstance(step, Act) else step
    if not isinstance(short, NeedsTrade) or not does_sell(golem):
        return None
    is_needed = short is step
    try:
        return plan_sale(
            golem=golem,
            position=position,
            step=short,
            is_needed=is_needed,
            chain=chain,
            now=now,
            may_sign=partial(may_sign, golem),
        )
    except (PriceStale, PriceUnavailable):
        if is_needed:
            raise
        # The step itself needs no price.
        return None


def _take_whole_or_part(
    golem: Golem, step: ExitStep, take: Callable[[TxPlan, str, str], ActionPermit], chain: ChainReader, now: datetime
) -> tuple[ActionPermit, str]:
    """The step, or where that would revert the smaller one that it names; with the reason of what was taken.

    Raises what planning and taking raise.
    """
    try:
        return take(*_plan_step(golem, step, chain, now), step.reason), step.reason
    except SimulationFailed:
        if not isinstance(step, Act) or step.in_part is None:
            raise
        part = step.in_part
        return take(*_plan_step(golem, part, chain, now), part.reason), part.reason


def _plan_step(golem: Golem, step: ExitStep, chain: ChainReader, now: datetime) -> tuple[TxPlan, str]:
    tool = REGISTRY.get(step.tool) if isinstance(step, Act) else None
    if not isinstance(step, Act) or not isinstance(tool, WriteTool):
        raise TypeError(f"{step!r} is no write")
    placed = place_params(tool, step.params, chain_id=chain.chain_id)
    params = runner.check_params(tool=tool, params=placed)
    plan = runner.build_plan(tool=tool, params=params, golem=view_golem(golem), now=now, chain=chain)
    return plan, tool.name


def _take_step(
    golem: Golem,
    epoch: int,
    position: Position,
    plan: TxPlan,
    tool_name: str,
    reason: str,
    *,
    chain: ChainReader,
    actor: str,
    now: datetime,
) -> ActionPermit:
    wanted = HaltPlan(
        plan=plan,
        action_type=ACTION_TYPE,
        params={"position": str(position.ref), "tool": tool_name},
        event="HaltUnwindingStarted",
        facts={**_describe(position), "tool": tool_name, "reason": reason},
        check=lambda simulation, calls: check_halt_plan(plan, simulation, calls, chain),
        check_way=partial(_check_way, plan, chain),
    )
    return execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)


def check_halt_plan(plan: TxPlan, simulation: SimulationResult, calls: Sequence[Call], chain: ChainReader) -> None:
    """The promises of the plan, as hook 5 judges them, and that no loan which stays open is left to be liquidated: none
    is asked to stand on more than before. Raises SimulationFailed, HealthTooLow.
    """
    # What a way out promises of health is a floor that a block's interest falls short of: no reason to stay in.
    unpromised = replace(plan, changes=tuple(replace(each, least_health_bps=None) for each in plan.changes))
    refusal = (
        judge_reverts(calls=calls, simulation=simulation)
        or judge_flows(plan=plan, simulation=simulation, native=chain.native())
        or judge_allowances(plan=plan, simulation=simulation)
        or judge_surprises(plan=plan, simulation=simulation)
        or judge_changes(plan=plan, simulation=simulation, chain=chain)
        or judge_gauges(plan=plan, simulation=simulation)
        or judge_asked_rights(plan=plan, simulation=simulation)
        or by_prices_or_lender(
            chain,
            lambda value_of: judge_health(
                plan=unpromised, simulation=simulation, floor_bps=LIQUIDATION_BPS, value_of=value_of, is_raising=False
            ),
        )
    )
    if refusal is not None:
        raise refusal.as_error("simulator")


def _check_way(plan: TxPlan, chain: ChainReader, route: SigningRoute, request: SimulationRequest, run: Run) -> None:
    """What lies between the calls, by the rule of every way out. Raises HealthTooLow."""
    refusal = by_prices_or_lender(
        chain,
        lambda value_of: judge_way(
            plan=plan,
            route=route,
            request=request,
            run=run,
            floor_bps=LIQUIDATION_BPS,
            value_of=value_of,
            is_raising=False,
        ),
    )
    if refusal is not None:
        raise refusal.as_error("simulator")


def _find_open(golem: Golem, chain: ChainReader) -> tuple[Position, ...]:
    if not golem.address:
        return ()
    hints = list_hints(chain_id=chain.chain_id, account=golem.address)
    return read_positions(chain=chain, account=golem.address, hints=hints)


def _find_foremost(golem: Golem, chain: ChainReader) -> list[Position]:
    """The same, what counts first before the rest, and last what owes nothing and cannot be taken out now."""
    found, book = _find_open(golem, chain), PriceBook(chain)
    book.preload(leg.token for position in found for leg in position.legs)
    ranked = [each.position for each in list_foremost(book.weigh_position(position) for position in found)]
    return sorted(ranked, key=lambda each: _is_shut(each, chain.block.timestamp))


def _is_shut(position: Position, at: int) -> bool:
    """Whether nothing of it can be had now: all is locked, or waits. A debt is tried in its turn: it may be paid."""
    locked: dict[str, int] = {}
    for each in position.locked:
        locked[each.token] = locked.get(each.token, 0) + each.raw
    held = [leg for leg in position.legs if leg.raw > 0]
    waits = (leg.free_at is not None and leg.free_at > at or locked.get(leg.token, 0) >= leg.raw for leg in held)
    return bool(held) and not position.has_health and all(waits)


def _read_held(golem: Golem, chain: ChainReader) -> Mapping[str, int]:
    tokens = (chain.native(), *chain.registered_tokens())
    return read_balances(chain=chain, account=golem.address, tokens=tokens) if golem.address else {}


def _describe(position: Position) -> dict[str, object]:
    ref = position.ref
    is_simulated = SHELF.is_simulated(ref.protocol, ref.chain_id)
    return {"position": str(ref), "venue": ref.protocol, "label": position.label, "is_simulated": is_simulated}


def _describe_step(step: ExitStep | None) -> dict[str, object]:
    match step:
        case None:
            return {"next_step": NOTHING_LEFT}
        case Act(tool=tool, reason=reason):
            return {"next_step": tool, "reason": reason}
        case Wait(until=until, reason=reason):
            return {"outcome": "waits", "reason": reason, "until": until}
        case NeedsTrade(token=token, raw=raw, reason=reason):
            return {"outcome": OWNER_NEEDED, "reason": reason, "token": token, "missing": str(raw)}
        case Stuck(reason=reason):
            return {"outcome": OWNER_NEEDED, "reason": reason}


def _count_attempts(golem: Golem, epoch: int, position: Position) -> int:
    """How often in a row: a step that got through forgets what failed before it."""
    # Permits of before refs named a position by the id of its NFT alone.
    named = Q(params__position=str(position.ref)) | Q(params__position_id=position.ref.id)
    ended = ActionPermit.objects.filter(
        named,
        golem=golem,
        halt_epoch=epoch,
        tool_name=TOOL_NAME,
        action_type=ACTION_TYPE,
        status__in=[PermitStatus.REVERTED, PermitStatus.COMMITTED],
    ).order_by("-created_at")
    newest = list(ended.values_list("status", flat=True)[:MOST_ATTEMPTS])
    return next((at for at, status in enumerate(newest) if status == PermitStatus.COMMITTED), len(newest))


def open_chain(chain_id: int, now: datetime) -> ChainReader:
    return runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))

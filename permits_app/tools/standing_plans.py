"""`golem_propose_standing_plan`, `golem_get_standing_plans`, `golem_end_standing_plan`: equal trades that owners agreed
to once, and that the heartbeat carries out at their times.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count as CountRows
from django.db.models import Max
from pydantic import BeforeValidator, Field

from archetypes_app.models import Heartbeat
from permits_app.actions.carry_out_wish import carry_out_wish
from permits_app.actions.end_standing_plans import end_standing_plans
from permits_app.actions.request_change import WISH
from permits_app.errors import StandingPlanNotFound
from permits_app.models import ActionRecord, ChangeRequest, StandingPlan
from permits_app.models.action_record import ActionState
from permits_app.models.standing_plan import STANDING_PLAN, PlanKind, list_open_plans
from tools_app.core.clock import tell_time
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.portfolio.markets import list_markets
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import Category, Requirement, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import Count, RawAmount, SlippageBps, Token, check_whole
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.short_text import shorten

plans = ToolFamily(prefix="golem", venue="golem", category=Category.TRADING, requires=frozenset({Requirement.WALLET}))

LONGEST_DAYS: Final = 365
LONGEST_PAUSE_HOURS: Final = 31 * 24

_MOST_WORDS = StandingPlan._meta.get_field("words").max_length or 0

EveryHours = Annotated[
    int, Field(ge=1, le=LONGEST_PAUSE_HOURS, description="Hours between two times."), BeforeValidator(check_whole)
]
EndsInDays = Annotated[
    int, Field(ge=1, le=LONGEST_DAYS, description="Days until the plan ends by itself."), BeforeValidator(check_whole)
]
Share = Annotated[
    int,
    Field(ge=1, le=99, description="Keep token_in at this percent of both; without it token_in is given each time."),
    BeforeValidator(check_whole),
]
TradesAt = Annotated[
    str, Field(pattern=r"^[a-z0-9_-]{1,64}$", description="Where it trades; by default the chain's first market.")
]
PlanId = Annotated[
    str,
    Field(
        pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description="A plan by its id, as standing_plans lists them.",
    ),
]


@dataclass(frozen=True, slots=True)
class PlanTold:
    """One plan; `amount` is base units of `token_in`. `done` counts the times it was carried out; `next_at` is null
    where it is over or was ended.
    """

    plan_id: str
    words: str
    kind: str
    trades_at: str
    token_in: str
    token_out: str
    amount: str
    every_hours: int
    times: int
    done: int
    share_percent: int | None
    last_done_at: str | None
    next_at: str | None
    ends_at: str
    ended_at: str | None
    ended_by: str | None


@dataclass(frozen=True, slots=True)
class PlansTold:
    """Those that stand, the oldest first. `is_carried_out`: the golem's heartbeat is on and looks after them."""

    plans: tuple[PlanTold, ...]
    is_carried_out: bool


@dataclass(frozen=True, slots=True)
class PlanAgreed:
    """What the owners agreed to, from now on."""

    plan: PlanTold


@dataclass(frozen=True, slots=True)
class PlanEnded:
    """What is carried out no more."""

    plan_id: str
    words: str


def preview_plan(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    every_hours: EveryHours,
    times: Count,
    ends_in_days: EndsInDays,
    share_percent: Share | None = None,
    trades_at: TradesAt | None = None,
    slippage_bps: SlippageBps = 50,
) -> LocalEffect:
    """The plan in words, and what its owners are asked for. Raises InvalidParams, TokenNotFound."""
    chain = ctx.chain()
    sold, bought = chain.token(token_in), chain.token(token_out)
    if sold.address == bought.address:
        raise InvalidParams("a plan trades two tokens", fields={"token_out": "another than token_in"})
    markets = sorted(list_markets(ctx.golem.home_chain_id))
    where = trades_at or next(iter(markets), "")
    if where not in markets:
        raise InvalidParams(
            "there is no such market", fields={"trades_at": f"one of {', '.join(markets)}"}, allowed=markets
        )
    ends_at = ctx.now + timedelta(days=ends_in_days)
    units = format_units(amount, sold.decimals, sold.symbol)
    does = (
        f"give {units} for {bought.symbol}"
        if share_percent is None
        else f"keep {sold.symbol} at {share_percent}% of it and {bought.symbol}, trading at most {units} or its worth,"
    )
    words = f"{does} at {where} every {every_hours} hours, {times} times at most, until {ends_at:%Y-%m-%d %H:%M} UTC"
    arguments = {
        "kind": (PlanKind.PURCHASE if share_percent is None else PlanKind.REBALANCE).value,
        "venue": where,
        "token_in": sold.address,
        "token_out": bought.address,
        "words": shorten(words, _MOST_WORDS),
        "amount_raw": str(amount),
        "every_hours": str(every_hours),
        "times": str(times),
        "slippage_bps": str(slippage_bps),
        "share_percent": "" if share_percent is None else str(share_percent),
        "ends_at": ends_at.isoformat(),
    }
    return LocalEffect(
        f"asks the owners to agree to this plan: {words}", {WISH: {"name": STANDING_PLAN, "arguments": arguments}}
    )


@plans.local_write(
    budget=TickBudget.FAST,
    in_database=True,
    risk=RiskLayer.BOUNDED,
    preview=preview_plan,
    privileged=True,
    snippet=(
        "propose_standing_plan: ask your owners once for equal trades at set times (buying regularly, keeping a share);"
        " the heartbeat carries them out, and no guard takes them for a loop."
    ),
    guidelines=(
        "Propose a plan instead of repeating a swap: the fifth equal call within an hour is refused.",
        "Each time is a permit of its own under the limits of then; a halt ends all plans.",
    ),
)
def golem_propose_standing_plan(
    ctx: WriteContext,
    capability: Capability,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    every_hours: EveryHours,
    times: Count,
    ends_in_days: EndsInDays,
    share_percent: Share | None = None,
    trades_at: TradesAt | None = None,
    slippage_bps: SlippageBps = 50,
) -> PlanAgreed:
    """Propose a schedule of equal trades: amount, pair, market, times and end, which the golem's owners agree to once.

    Use for buying regularly or for rebalancing. Always needs the owners' approval. Does not trade by itself: the
    golem's heartbeat does, at each time under the limits of then, and nothing while it is off.
    """
    ctx.step("Keeping the plan")
    with transaction.atomic():
        request = ChangeRequest.objects.select_related("golem").get(permit_id=capability.permit_id)
        carry_out_wish(request=request, now=ctx.now)
        row = list_open_plans(ctx.golem.id).order_by("-created_at", "-id")[0]
    return PlanAgreed(_tell(ctx, row))


@plans.read(
    budget=TickBudget.FAST,
    snippet="standing_plans: the plans your owners agreed to, how often each was carried out and when it is due next.",
    guidelines=("Where is_carried_out is false nobody carries them out: ask your owner for a heartbeat.",),
)
def golem_get_standing_plans(ctx: ReadContext) -> PlansTold:
    """List the golem's standing plans, with what was done of each and when the next time is.

    Use before proposing one. Does not list those that were ended.
    """
    ctx.step("Reading the plans")
    return PlansTold(
        plans=tuple(_tell(ctx, row) for row in list_open_plans(ctx.golem.id)),
        is_carried_out=Heartbeat.objects.filter(golem_id=ctx.golem.id, is_on=True).exists(),
    )


def preview_end(ctx: WriteContext, plan_id: PlanId) -> LocalEffect:
    """The plan that would end, in words. Raises StandingPlanNotFound."""
    row = _find(ctx, plan_id)
    return LocalEffect(f"ends this plan: {row.words}", {"plan_id": str(row.pk)})


@plans.local_write(
    budget=TickBudget.FAST,
    in_database=True,
    preview=preview_end,
    snippet="end_standing_plan: end a plan that your owners agreed to; it is carried out no more.",
    guidelines=("End a plan that no longer fits before you propose another one.",),
)
def golem_end_standing_plan(ctx: WriteContext, capability: Capability, plan_id: PlanId) -> PlanEnded:
    """End a standing plan of the golem.

    Use when a plan no longer fits. Does not undo what was traded, and needs no approval: it only does less.
    """
    row = _find(ctx, plan_id)
    ctx.step("Ending the plan")
    end_standing_plans(golem_id=ctx.golem.id, actor=f"golem:{ctx.golem.id}", now=ctx.now, plan_ids=[row.pk])
    return PlanEnded(str(row.pk), row.words)


def _find(ctx: ReadContext, plan_id: str) -> StandingPlan:
    row = list_open_plans(ctx.golem.id).filter(pk=UUID(plan_id)).first()
    if row is None:
        raise StandingPlanNotFound("this golem has no such plan that stands", plan_id=plan_id)
    return row


def _tell(ctx: ReadContext, row: StandingPlan) -> PlanTold:
    carried = ActionRecord.objects.filter(golem_id=ctx.golem.id, wish_key=row.wish_key, state=ActionState.EXECUTED)
    done, last = carried.aggregate(done=CountRows("id"), last=Max("created_at")).values()
    next_at = ctx.now if last is None else last + timedelta(hours=row.every_hours)
    is_over = row.ended_at is not None or done >= row.times or next_at >= row.ends_at
    return PlanTold(
        plan_id=str(row.pk),
        words=row.words,
        kind=row.kind,
        trades_at=row.venue,
        token_in=row.token_in,
        token_out=row.token_out,
        amount=str(int(row.amount_raw)),
        every_hours=row.every_hours,
        times=row.times,
        done=done,
        share_percent=row.share_percent,
        last_done_at=tell_time(last),
        next_at=None if is_over else tell_time(next_at),
        ends_at=row.ends_at.isoformat(),
        ended_at=tell_time(row.ended_at),
        ended_by=row.ended_by or None,
    )

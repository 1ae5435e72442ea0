"""A runway: so much a day of an owner's own money, by which the golem pays what it costs to live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.core.clock import tell_unix_time
from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.core.units import format_units
from tools_app.protocols.metamask.addresses import CHAINS, MANAGER, NAME, place_on
from tools_app.protocols.metamask.delegations import encode_redeem
from tools_app.protocols.metamask.received import Delegations
from tools_app.standards.paused_tokens import TokenStandsStill
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, Phase, Requirement, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.others_money import PrincipalFlow, RightsBook, RightStanding, RightUsed, RightView
from tools_app.toolkit.params import PLAIN, RawAmount
from tools_app.toolkit.plan import Call, PlanOutcome, TokenFlow, TxPlan
from tools_app.toolkit.result import TokenAmount

metamask = ToolFamily(
    prefix="metamask",
    category=Category.WALLET,
    chains=CHAINS,
    picks_chain=True,
    venue=NAME,
    requires=frozenset({Requirement.WALLET}),
)

OWN_DELEGATIONS: Final = Delegations()
TRANSFER: Final = "function transfer(address to, uint256 amount)"
SHARE_PERCENT: Final = {Phase.THRIVING: 100, Phase.CAUTIOUS: 100, Phase.DEFENSIVE: 50, Phase.SURVIVAL: 10}
"""How much of what is left today a golem draws by itself in each phase; in TERMINAL nothing."""
LOW_PERCENT: Final = 25
"""With less than this left of the period's amount, or of the right's days, a runway is low."""
CRITICAL_DAYS: Final = 3
DAY: Final = 86_400

GolemId = Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$", description="This golem's own id, or left out."), PLAIN]


class NoRunway(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="This golem has no runway to draw from"):
    """Nobody gave this golem a runway that stands."""


class RunwayClosed(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="Nothing can be drawn from the runway now",
    cleared_by="the next period of the right begins, or its giver's account holds more",
):
    """Nothing may be drawn now: nothing is left in the period, or the golem's phase draws none."""


class Redeemed(Told):
    """What was drawn; `remaining` is what the right has left in its present period, as planned."""

    redeemed: TokenAmount
    remaining: TokenAmount
    phase: str
    principal: str


class RunwayHealth(OfChain):
    """`health` is healthy, low, critical or revoked. Amounts are in the right's own token; null without a right."""

    health: str
    reason: str
    principal: str | None
    remaining_today: TokenAmount | None
    days_remaining: int
    total_remaining: TokenAmount | None
    last_redemption_at: str | None
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class _Details:
    available: int
    phase: str
    principal: str


def report(outcome: PlanOutcome) -> Redeemed:
    """The amount from the golem's balance."""
    [drawn] = outcome.plan.receives
    amount = outcome.deltas.get(drawn.token.address, 0)
    details = read_details(_Details, outcome)
    return Redeemed(
        redeemed=TokenAmount(amount, drawn.token),
        remaining=TokenAmount(max(0, details.available - amount), drawn.token),
        phase=details.phase,
        principal=details.principal,
    )


@metamask.write(
    risk=RiskLayer.BOUNDED,
    report=report,
    action_class=ActionClass.DECREASE_POSITION,
    snippet=(
        "redeem_runway: draw from the allowance that an owner gave this golem to live on, so much a day; without an"
        " amount, what its phase draws of what is left today."
    ),
    guidelines=(
        "It is its owner's money: draw what the next days cost, and no more because it is there.",
        "What is not drawn in a period is not saved up; in DEFENSIVE half of it is drawn, in SURVIVAL a tenth.",
    ),
)
def metamask_redeem_runway(
    ctx: WriteContext,
    golem_id: GolemId | None = None,
    amount: RawAmount | None = None,
) -> TxPlan:
    """Draw operating funds from an owner's delegation to the golem's own account.

    Use when the golem runs low on what it lives on. `amount` is base units of the token of the right; left out, it is
    what is left in the period times the share of the golem's phase: all, half in DEFENSIVE, a tenth in SURVIVAL.
    Does not draw for another golem, does not ask an owner for more, and does not draw beyond what was granted.
    """
    reader = ctx.begin("Reading the runway")
    check_own(ctx, golem_id)
    right, standing = find_standing(ctx, reader)
    check_gives(right, standing)
    token, phase = reader.token(right.token), Phase(ctx.golem.phase)
    most = standing.available * SHARE_PERCENT.get(phase, 0) // 100
    if not most:
        raise RunwayClosed(
            f"{format_units(standing.available, token.decimals, token.symbol)} are left in this period,"
            f" and a golem draws {SHARE_PERCENT.get(phase, 0)}% of it in {phase}",
            available=str(standing.available),
            resets_at=_next_period(right, reader),
        )
    drawn = most if amount is None else amount
    if drawn > most:
        raise InvalidParams(
            f"{format_units(drawn, token.decimals, token.symbol)} are more than the"
            f" {format_units(most, token.decimals, token.symbol)} that can be drawn now in {phase}",
            fields={"amount": f"at most {most}, or left out for all of that"},
            most=str(most),
        )
    ctx.step("Building the call")
    data = encode_redeem(
        bytes.fromhex(str(right.terms["context"])[2:]),
        target=right.token,
        data=encode_call(TRANSFER, ctx.account, drawn),
    )
    shown = format_units(drawn, token.decimals, token.symbol)
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(Call(place_on(reader.chain_id)[MANAGER], data, 0, f"Draw {shown} from the runway"),),
        receives=(TokenFlow(token, drawn, drawn),),
        action_class=ActionClass.DECREASE_POSITION,
        recipients=(ctx.account,),
        principals=(PrincipalFlow(NAME, right.reference, right.principal, token, drawn, right.limit),),
        details={
            "venue": NAME,
            "principal": right.principal,
            "available": str(standing.available),
            "phase": phase.value,
        },
    )


@metamask.read(
    query="permission_health",
    budget=TickBudget.FAST,
    snippet="permission_health: whether an owner's runway for this golem stands, what is left of it today and in days.",
    guidelines=("Tell the owner while it is low; when it is critical there are three days or less.",),
)
def metamask_check_permission_health(ctx: ReadContext, golem_id: GolemId | None = None) -> RunwayHealth:
    """Read whether the golem's runway stands and how long it lasts, from the delegation's own contracts.

    Use before drawing, and to warn the owner in time: healthy, low (under a quarter of a period's amount), critical
    (three days or less), revoked (there is none that stands).
    Does not look at other golems and does not ask for a new one.
    """
    reader = ctx.begin("Reading the runway")
    check_own(ctx, golem_id)
    try:
        right, standing = find_standing(ctx, reader)
    except NoRunway as error:
        return RunwayHealth("revoked", error.detail, None, None, 0, None, None, None)
    token, now = reader.token(right.token), reader.block.timestamp
    days = max(0, right.limit.ends_at - now) // DAY
    whole = max(0, right.limit.most_until_end(now) - (right.limit.most - min(standing.available, right.limit.most)))
    used: RightUsed = ctx.service(RightsBook).used(right)  # type: ignore[type-abstract]
    health, reason = "healthy", "it stands"
    if standing.reason:
        health, reason = "low", standing.reason
    elif standing.available * 100 < right.limit.most * LOW_PERCENT:
        health, reason = "low", f"less than {LOW_PERCENT}% of the period's amount is left"
    if days <= CRITICAL_DAYS:
        health, reason = "critical", f"it ends in {days} days"
    return RunwayHealth(
        health=health,
        reason=reason,
        principal=right.principal,
        remaining_today=TokenAmount(standing.available, token),
        days_remaining=days,
        total_remaining=TokenAmount(whole, token),
        last_redemption_at=used.last_at.isoformat() if used.last_at else None,
        expires_at=tell_unix_time(right.limit.ends_at),
    )


def check_own(ctx: ReadContext, golem_id: str | None) -> None:
    """Raises InvalidParams for another golem's id."""
    if golem_id is not None and golem_id != str(ctx.golem.id):
        raise InvalidParams(
            "a golem looks, draws, asks and gives up for itself alone",
            fields={"golem_id": "this golem's own, or left out"},
            fill={"golem_id": {"one_of": [str(ctx.golem.id)]}},
        )


def check_gives(right: RightView, standing: RightStanding) -> None:
    """Raises TokenStandsStill where a right that stands gives nothing now."""
    if standing.reason:
        raise TokenStandsStill(f"nothing is drawn or handed on of the right: {standing.reason}", token=right.token)


def find_standing(
    ctx: ReadContext, reader: ChainReader, reference: str | None = None
) -> tuple[RightView, RightStanding]:
    """The right that ends first of those that stand, or the one of that hash. Raises NoRunway."""
    place_on(reader.chain_id)
    book = ctx.service(RightsBook)  # type: ignore[type-abstract]
    now, why = reader.block.timestamp, "no owner gave it one on this chain"
    if reference is not None:
        why = f"none of the hash {reference} stands in its book; session_get_keys tells those that do"
    for right in book.list(golem_id=ctx.golem.id, chain_id=reader.chain_id, protocol=NAME):
        if reference is not None and right.reference != reference:
            continue
        if right.holder != ctx.golem.address:
            why = f"it was given to {right.holder}, which is not this golem's account any more"
        elif not right.limit.starts_at <= now < right.limit.ends_at:
            why = "its time is over, or has not begun"
        else:
            standing = OWN_DELEGATIONS.judge(right, reader.call_many(OWN_DELEGATIONS.ask(right)))
            if standing.stands:
                return right, standing
            why = standing.reason
    raise NoRunway(f"this golem has no runway to draw from: {why}")


def _next_period(right: RightView, reader: ChainReader) -> str:
    following = right.limit.find_period(reader.block.timestamp) + right.limit.period_seconds
    return tell_unix_time(min(following, right.limit.ends_at))

"""Tools of the bar: SUSHI goes in for xSUSHI, and comes back with what was earned."""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_units
from tools_app.protocols.sushi_bar.addresses import CHAINS, NAME, Place, place_on
from tools_app.protocols.sushi_bar.math import MOST_LOSS_BPS, Bar
from tools_app.protocols.sushi_bar.positions import KIND, ref_of
from tools_app.protocols.sushi_bar.reads import ask_bar
from tools_app.standards.erc4626 import SharePriceUnsafe, SharesMissing
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import EVERYTHING, RawAmount, RawAmountOrMax
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import PositionChange, drive
from tools_app.toolkit.result import TokenAmount

sushi_bar = ToolFamily(prefix="sushi_bar", category=Category.STAKING, chains=CHAINS, venue=NAME, picks_chain=True)

ENTER: Final = "function enter(uint256 amount)"
LEAVE: Final = "function leave(uint256 share)"


class MovedShares(Told):
    """What an entry or an exit moved; `shares` are base units of xSUSHI that came or went, as planned."""

    amount: TokenAmount
    shares: str


class Held(OfChain):
    """What is held in the bar at `block_number`; `worth` is what the shares give now."""

    shares: str
    worth: TokenAmount
    share_of_bar_bps: int


def report(outcome: PlanOutcome) -> MovedShares:
    """The amount from balances."""
    flows = (*outcome.plan.spends, *outcome.plan.receives)
    token = flows[0].token
    return MovedShares(
        amount=TokenAmount(abs(outcome.deltas.get(token.address, 0)), token),
        shares=str(outcome.plan.details["shares"]),
    )


@sushi_bar.write(
    action_type="enter_bar",
    risk=RiskLayer.BOUNDED,
    report=report,
    snippet="enter_bar: put SUSHI into SushiBar for xSUSHI, whose worth in SUSHI grows with the fees of SushiSwap.",
    guidelines=("There is no queue and no fee: leave_bar gives all back at any time.",),
)
def sushi_bar_enter(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Put SUSHI into SushiBar for xSUSHI.

    Use to earn a part of SushiSwap's fees. `amount` is base units of SUSHI; what the shares are worth is measured, so a
    price that a donation blew up is refused.
    Does not buy SUSHI and does not enter for another account.
    """
    reader = ctx.begin("Reading the bar")
    place, bar = _read(reader, ctx.account)
    token, after = reader.token(place.token), bar.after_entry(amount)
    gained, least = after.worth_of(after.held) - bar.worth_of(bar.held), amount - amount * MOST_LOSS_BPS // 10_000 - 1
    if gained < least or after.held == bar.held:
        raise SharePriceUnsafe(
            f"{_shown(amount, place, reader)} would give shares worth {_shown(max(0, gained), place, reader)}",
            shares=str(after.held - bar.held),
            worth=str(gained),
        )
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.pay(reader, token, amount, to=place.bar)
    draft.call(Call(place.bar, encode_call(ENTER, amount), 0, f"Put {_shown(amount, place, reader)} into SushiBar"))
    draft.changes.append(PositionChange(NAME, KIND, token.address, gained, least, ref=ref_of(reader.chain_id)))
    kind = ActionClass.INCREASE_POSITION if bar.held else ActionClass.NEW_POSITION
    return draft.finish(action_class=kind, details={"venue": NAME, "shares": str(after.held - bar.held)})


@sushi_bar.write(
    action_type="leave_bar",
    risk=RiskLayer.LOW,
    report=report,
    snippet="leave_bar: give xSUSHI back to SushiBar for the SUSHI it stands for; max gives back all of it.",
    guidelines=("Leaving is open at any time and costs nothing but gas.",),
)
def sushi_bar_leave(ctx: WriteContext, shares: RawAmountOrMax) -> TxPlan:
    """Give xSUSHI back for the SUSHI it stands for.

    Use to leave the bar or to take a part out. `shares` are base units of xSUSHI, or max.
    Does not sell xSUSHI on a market and does not give back shares of others.
    """
    reader = ctx.begin("Reading the bar")
    place, bar = _read(reader, ctx.account)
    given = bar.held if shares == EVERYTHING else shares
    worth = bar.worth_of(given)
    if given > bar.held or not worth:
        raise SharesMissing(f"the account holds {bar.held} shares of the bar", available=str(bar.held))
    ctx.step("Building calls")
    after = bar.after_leaving(given)
    gone = bar.worth_of(bar.held) - after.worth_of(after.held)
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(Call(place.bar, encode_call(LEAVE, given), 0, f"Take {_shown(worth, place, reader)} out of SushiBar"))
    # Nothing lowers what a share gives: every rounding of the bar is for those who stay.
    draft.receive(reader.token(place.token), worth)
    draft.changes.append(PositionChange(NAME, KIND, place.token, -gone, -gone - 2, ref=ref_of(reader.chain_id)))
    kind = ActionClass.DECREASE_POSITION if after.held else ActionClass.CLOSE_POSITION
    return draft.finish(action_class=kind, details={"venue": NAME, "shares": str(given)})


@sushi_bar.read(
    query="bar_position",
    budget=TickBudget.FAST,
    snippet="bar_position: how much xSUSHI the golem holds, and what it gives now; reads the bar, changes nothing.",
    guidelines=("What it gives grows with every fee that comes in; compare with what was put in.",),
)
def sushi_bar_get_position(ctx: ReadContext) -> Held:
    """The golem's shares of SushiBar and what they give now.

    Use before leaving, or to see what was earned since entering.
    Does not say what was put in.
    """
    reader = ctx.begin("Reading the bar")
    place, bar = _read(reader, ctx.golem.address or "0x" + "00" * 19 + "01")
    worth = TokenAmount(bar.worth_of(bar.held), reader.token(place.token))
    share = bar.held * 10_000 // bar.shares if bar.shares else 0
    return Held(str(bar.held), worth, share)


# ---- below ----------------------------------------------------------------------------------------------------------


def _read(reader: ChainReader, account: str) -> tuple[Place, Bar]:
    place = place_on(reader.chain_id)
    return place, drive(ask_bar(place, account), reader.call_many)


def _shown(amount: int, place: Place, reader: ChainReader) -> str:
    token = reader.token(place.token)
    return format_units(amount, token.decimals, token.symbol)

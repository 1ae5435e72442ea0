"""Tools of the jar: what lies in it, and giving up what it takes to empty it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_micro_usd, format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.firepit.addresses import CHAINS, COIN, NAME
from tools_app.protocols.firepit.errors import BurnAskedWrong, BurnNotWorthIt, JarHoldsNone
from tools_app.protocols.firepit.reads import Terms, read_contents, read_terms
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import Token
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

firepit = ToolFamily(prefix="firepit", category=Category.FEES, chains=CHAINS, venue=NAME, picks_chain=True)

RELEASE: Final = "function release(uint256 _nonce, address[] assets, address recipient)"
RELEASED: Final = "event Released(uint256 indexed nonce, address indexed recipient, address[] assets)"

JarAssets = Annotated[
    list[Token],
    Field(min_length=1, max_length=20, description="Tokens or the chain's coin that lie in the jar, each once."),
    Meaning.ANY_ORDER,
]


class InJar(Told):
    """One asset of the jar; dollars are null where it has no price."""

    token: TokenMeta
    amount: TokenAmount
    value_usd: UsdAmount | None


class JarBalances(OfChain):
    """The jar at `block_number`, and what emptying it takes.

    `surplus_usd` is what is told of it less what is given up; null where that has no price. `note` says what the list
    leaves out.
    """

    jar: str
    releaser: str
    nonce: str
    resource: TokenMeta
    threshold: TokenAmount
    balances: tuple[InJar, ...]
    total_usd: UsdAmount
    surplus_usd: UsdAmount | None
    most_assets: int
    note: str


class Burned(Told):
    """What was given up, and what came of each asset, from balances."""

    nonce: str
    burned: TokenAmount
    released: tuple[InJar, ...]


def report_burn(outcome: PlanOutcome) -> Burned:
    """Amounts from balances; a token's worth is that of the preview's prices."""
    given, worth = outcome.plan.spends[0].token, outcome.plan.details["value_usd"]
    came = [(flow.token, outcome.deltas.get(flow.token.address, 0)) for flow in outcome.plan.receives]
    return Burned(
        nonce=str(outcome.plan.details["nonce"]),
        burned=TokenAmount(-outcome.deltas.get(given.address, 0), given),
        released=tuple(
            InJar(
                token,
                TokenAmount(raw, token),
                None if worth[token.address] is None else UsdAmount(int(worth[token.address])),
            )
            for token, raw in came
        ),
    )


@firepit.read(
    aliases=("get_tokenjar_balances",),
    snippet="tokenjar_balances: what lies in Uniswap's jar of fees, what it costs to empty it, and the surplus.",
    guidelines=(
        "A surplus is anybody's: another may empty the jar first, and then a burn reverts and costs gas alone.",
    ),
)
def firepit_get_tokenjar_balances(ctx: ReadContext, tokens: JarAssets | None = None) -> JarBalances:
    """What lies in Uniswap's jar of fees, and what has to be given up to empty it.

    Use before burn. The jar lists nothing: without `tokens` those of the chain's list are asked for.
    Does not find tokens that nobody names, and does not say who will be first.
    """
    reader = ctx.begin("Reading the jar")
    terms = read_terms(reader)
    asked = _resolve(reader.token, tokens) if tokens else [reader.native(), *reader.registered_tokens()]
    found = read_contents(reader, terms.place, list(dict.fromkeys(asked)))
    prices = PriceBook(reader)
    for token, _ in found:
        prices.learn(token)
    prices.preload([terms.resource.address, *(token.address for token, raw in found if raw)])
    shown = tuple(_weigh(prices, token, raw) for token, raw in found if raw or tokens)
    total = sum(each.value_usd.micro for each in shown if each.value_usd is not None)
    cost = prices.weigh(terms.resource.address, terms.threshold).micro_usd
    return JarBalances(
        jar=terms.place.jar,
        releaser=terms.place.releaser,
        nonce=str(terms.nonce),
        resource=terms.resource,
        threshold=TokenAmount(terms.threshold, terms.resource),
        balances=shown,
        total_usd=UsdAmount(total),
        surplus_usd=None if cost is None else UsdAmount(total - cost),
        most_assets=terms.most,
        note="only the tokens that were asked for are told; the jar itself lists none",
    )


@firepit.write(
    aliases=("execute_burn",),
    risk=RiskLayer.BOUNDED,
    report=report_burn,
    action_class=ActionClass.REBALANCE,
    snippet="burn at firepit: give up the fixed amount of UNI and get all the jar holds of the assets that are named.",
    guidelines=(
        "What is given up is gone for good; it is refused unless what comes is worth more at the feeds.",
        "The preview binds the jar's number: whoever is second pays nothing but gas. Preview again then.",
    ),
)
def firepit_burn(ctx: WriteContext, assets: JarAssets) -> TxPlan:
    """Give up the fixed amount of UNI for all that Uniswap's jar of fees holds of `assets`.

    Use when tokenjar_balances tells a surplus that is worth the gas. The number of the release is that of the
    preview, so nobody who was quicker leaves the golem with an empty jar.
    Does not sell what comes, and does not take assets that have no price into its judgement.
    """
    reader = ctx.begin("Reading the jar")
    terms = read_terms(reader)
    wanted = _resolve(reader.token, assets)
    _check_list(terms, wanted)
    found = read_contents(reader, terms.place, wanted)
    for token, raw in found:
        if not raw:
            raise JarHoldsNone(f"the jar holds no {token.symbol or token.address}", asset=token.address)
    prices = PriceBook(reader)
    for token in (terms.resource, *wanted):
        prices.learn(token)
    prices.preload([each.address for each in (terms.resource, *wanted)])
    cost = prices.value_of(terms.resource.address, terms.threshold)
    worth = {token.address: prices.weigh(token.address, raw).micro_usd for token, raw in found}
    total = sum(each for each in worth.values() if each is not None)
    if total <= cost:
        raise BurnNotWorthIt(
            f"what comes is worth {format_micro_usd(total)} dollars and what is given up {format_micro_usd(cost)}",
            cost=str(cost),
            worth=str(total),
            next={"query": "tokenjar_balances", "chain_id": reader.chain_id},
        )
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.pay(reader, terms.resource, terms.threshold, to=terms.place.releaser)
    names = [COIN if token.is_native else token.address for token in wanted]
    shown = format_units(terms.threshold, terms.resource.decimals, terms.resource.symbol)
    label = f"Give up {shown} for {len(names)} asset{'s' if len(names) > 1 else ''} of the jar of fees"
    draft.call(Call(terms.place.releaser, encode_call(RELEASE, terms.nonce, names, ctx.account), 0, label))
    for token, raw in found:
        # Until the next release, which uses this one's number up, the jar only fills.
        draft.receive(token, raw)
    return draft.finish(
        action_class=ActionClass.REBALANCE,
        details={
            "venue": NAME,
            "nonce": str(terms.nonce),
            "value_usd": {address: None if micro is None else str(micro) for address, micro in worth.items()},
        },
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _resolve(token_of: Callable[[str], TokenMeta], names: list[str]) -> list[TokenMeta]:
    return [token_of(each) for each in names]


def _check_list(terms: Terms, wanted: list[TokenMeta]) -> None:
    if len({token.address for token in wanted}) != len(wanted):
        raise BurnAskedWrong("an asset is named twice; a release pays each once")
    if len(wanted) > terms.most:
        raise BurnAskedWrong(f"a release takes at most {terms.most} assets and {len(wanted)} are named")
    if any(token.address == terms.resource.address for token in wanted):
        raise BurnAskedWrong(f"{terms.resource.symbol} is what is given up; leave it out of the assets")


def _weigh(prices: PriceBook, token: TokenMeta, raw: int) -> InJar:
    micro = prices.weigh(token.address, raw).micro_usd
    return InJar(token, TokenAmount(raw, token), None if micro is None else UsdAmount(micro))

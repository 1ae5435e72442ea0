"""`uniswap_execute_swap`: the calls of one swap, with exactly the approval it needs, and what they must do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from tools_app.core.ratio import bps_as_percent, excess_bps, shortfall_bps
from tools_app.core.units import format_units
from tools_app.protocols.uniswap.addresses import UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.balances import Holding, allowance_calls, read_holdings
from tools_app.protocols.uniswap.paths import V4
from tools_app.protocols.uniswap.quoting import RouteQuote
from tools_app.protocols.uniswap.routing import Routes, find_routes, least_out, most_in, pool_token
from tools_app.protocols.uniswap.splitting import Part, Split, find_split
from tools_app.protocols.uniswap.swap_calls import build_swap_call, find_router, name_version
from tools_app.protocols.uniswap.tools.family import deadline_after, uniswap
from tools_app.protocols.uniswap.tools.quotes import describe_parts, describe_route, effective_price
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.toolkit.answer import Told
from tools_app.toolkit.callable_contracts import may_call
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import DeadlineSeconds, Flag, RawAmount, SlippageBps, SwapRoute, Token
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta


class SwapReport(Told):
    """What a committed swap did, from its receipt and the wallet's balance differences."""

    token_in: TokenMeta
    token_out: TokenMeta
    amount_in: TokenAmount
    amount_out: TokenAmount
    effective_price: str
    price_impact_pct: str
    slippage_actual_bps: int


def report_swap(outcome: PlanOutcome) -> SwapReport:
    """Amounts from the balance differences; `slippage_actual_bps` against the quote, zero when it was met or beaten."""
    spent, received = outcome.plan.spends[0], outcome.plan.receives[0]
    amount_in = -outcome.deltas.get(spent.token.address, 0)
    amount_out = outcome.deltas.get(received.token.address, 0)
    slippage = max(
        shortfall_bps(ideal=received.expected, actual=amount_out), excess_bps(ideal=spent.expected, actual=amount_in)
    )
    return SwapReport(
        token_in=spent.token,
        token_out=received.token,
        amount_in=TokenAmount(amount_in, spent.token),
        amount_out=TokenAmount(amount_out, received.token),
        effective_price=effective_price(amount_in, amount_out, spent.token, received.token),
        price_impact_pct=bps_as_percent(outcome.plan.price_impact_bps or 0),
        slippage_actual_bps=slippage,
    )


@uniswap.write(
    action_type="swap",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_swap,
    schema_version=3,
    aliases=("execute_swap",),
    snippet=(
        "swap: exchange one token for another on Uniswap V2, V3 or V4, whichever gives more, with a minimum that must"
        " arrive in the golem's own wallet or the transaction reverts."
    ),
    guidelines=(
        "Get a quote first and look at its price impact; split or shrink a swap whose impact is above 1%.",
        "Amounts are base units: 500 USDC with 6 decimals is 500000000.",
        "Keep some of the chain's coin for gas; never swap all of it away.",
        "In DEFENSIVE or SURVIVAL only swaps into the base asset are allowed.",
        "In TERMINAL only swaps into the base asset are allowed, each a step of leaving whole.",
    ),
)
def uniswap_execute_swap(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
    exact_output: Flag = False,
    route: SwapRoute | None = None,
) -> TxPlan:
    """Swap one token for another through the best Uniswap V2, V3 or V4 route.

    Use to trade at once at the pool's price; `ETH` or the native address means the chain's own coin. `amount`
    is what is spent, or what must be received when `exact_output` is true. At most the slippage is lost
    against the best quote, or the transaction reverts; the tokens always go to the golem's own wallet. A large
    amount goes two ways at once where that brings more after gas; each part has its own minimum.
    `route` takes another of the routes a quote names, if it costs no more than that slippage or its own @bps; a V4
    pool with a hook is only taken so, by its id, where the owner lists the hook.
    Does not send to another address, does not bridge, does not wrap or unwrap the coin, and does not place
    UniswapX or limit orders.
    """
    reader = ctx.begin("Reading tokens")
    deployment = deployment_on(reader.chain_id)
    sold, bought = reader.token(token_in), reader.token(token_out)
    ctx.step("Quoting pools")
    routers = (deployment.v2_router, deployment.v3_router, PERMIT2)
    reader.expect(calls=allowance_calls(ctx.account, [sold, bought], spenders=routers))
    routes = find_routes(
        reader,
        deployment,
        token_in=sold,
        token_out=bought,
        amount=amount,
        is_exact_out=exact_output,
        preferred=route,
        slippage_bps=slippage_bps,
        may_call=partial(may_call, ctx, reader.chain_id),
    )
    quote = routes.taken
    split = find_split(reader, deployment, routes, token_out=bought) if route is None else None
    parts = split.parts if split is not None else (Part(quote, routes.name),)
    # Of the router of V4 pools, Permit2 takes the tokens for it.
    spenders = {each.quote.version: _find_spender(deployment, each.quote) for each in parts}
    held = {each: read_holdings(reader, ctx.account, [sold, bought], spender=each) for each in spenders.values()}
    holding, wanted = held[spenders[parts[0].quote.version]]
    # Counted from the best route: to prefer another one loosens neither bound.
    at_most, at_least = most_in(routes.best, slippage_bps), least_out(routes.best, slippage_bps)
    if split is not None:
        at_most, at_least = split.amount_in, sum(least_out(each.quote, slippage_bps) for each in parts)
    check_enough(sold, balance=holding.balance, needed=at_most if sold.is_native else quote.amount_in)
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, deadline)
    draft = PlanDraft(reader.chain_id, ctx.account)
    # Two parts through one router are approved together.
    to_approve = Counter[str]()
    for each in parts:
        to_approve[spenders[each.quote.version]] += at_most if split is None else each.quote.amount_in
    for each in parts:
        spender = spenders[each.quote.version]
        _add_swap(
            draft,
            deployment,
            each.quote,
            token_in=sold,
            token_out=bought,
            limit=at_most if exact_output else at_least if split is None else least_out(each.quote, slippage_bps),
            approved=to_approve.pop(spender, 0),
            allowance=held[spender][0].allowance,
            until=until,
        )
    amount_in, amount_out = (quote.amount_in, quote.amount_out) if split is None else (at_most, split.amount_out)
    draft.spend(sold, amount_in, at_most=at_most)
    draft.receive(bought, amount_out, at_least=at_least)
    return draft.finish(
        action_class=classify_swap(ctx, reader, deployment, sold=holding, bought=wanted, spent=amount_in),
        slippage_bps=slippage_bps,
        price_impact_bps=(split or quote).price_impact_bps,
        deadline=until,
        hooks=tuple(hop.pool.hooks for each in parts for hop in each.quote.hops if hop.pool.hooks is not None),
        details=_details(routes, split, sold, bought, deployment, at_most=at_most, at_least=at_least),
    )


def _add_swap(
    draft: PlanDraft,
    deployment: UniswapDeployment,
    quote: RouteQuote,
    *,
    token_in: TokenMeta,
    token_out: TokenMeta,
    limit: int,
    approved: int,
    allowance: int,
    until: int,
) -> None:
    """The call of one quoted way, behind the approval of `approved` base units (none for 0)."""
    swap = build_swap_call(
        deployment,
        quote,
        token_in=token_in,
        token_out=token_out,
        limit=limit,
        recipient=draft.account,
        deadline=until,
    )
    router = find_router(deployment, quote)
    if not approved:
        draft.call(swap)
        return
    if quote.version == V4 and not token_in.is_native:
        draft.approve_through_permit2(
            token_in,
            spender=router,
            amount=approved,
            allowance=allowance,
            until=until,
            is_used_up=not quote.is_exact_out,
        )
        draft.call(swap)
        return
    is_approved = draft.approve(token_in, spender=router, amount=approved, allowance=allowance)
    draft.call(swap)
    if is_approved and quote.is_exact_out:
        # What an exact output did not use of its approval is taken back, so that nothing is left standing.
        draft.revoke(token_in, spender=router)


def _find_spender(deployment: UniswapDeployment, quote: RouteQuote) -> str:
    return PERMIT2 if quote.version == V4 else find_router(deployment, quote)


def classify_swap(
    ctx: WriteContext, reader: ChainReader, deployment: UniswapDeployment, *, sold: Holding, bought: Holding, spent: int
) -> ActionClass:
    """What a swap does to the golem's exposure, measured against its base asset; the coin and its wrapped form are one.

    Into the base asset it decreases, or closes when it is the whole balance; out of it it opens a position, or
    increases one that exists; between two others it rebalances.
    """
    base = _base_address(ctx, reader.registered_tokens())
    if base == pool_token(deployment, bought.token):
        return ActionClass.CLOSE_POSITION if spent >= sold.balance else ActionClass.DECREASE_POSITION
    if base == pool_token(deployment, sold.token):
        return ActionClass.INCREASE_POSITION if bought.balance > 0 else ActionClass.NEW_POSITION
    return ActionClass.REBALANCE


def _base_address(ctx: WriteContext, registered: Sequence[TokenMeta]) -> str:
    wanted = ctx.golem.base_asset.lower()
    for token in registered:
        if wanted in (token.symbol.lower(), token.address.lower()):
            return token.address
    return ctx.golem.base_asset


def _details(
    routes: Routes,
    split: Split | None,
    token_in: TokenMeta,
    token_out: TokenMeta,
    deployment: UniswapDeployment,
    *,
    at_most: int,
    at_least: int,
) -> dict[str, object]:
    parts = split.parts if split is not None else (Part(routes.taken, routes.name),)
    amount_in = sum(part.quote.amount_in for part in parts)
    amount_out = sum(part.quote.amount_out for part in parts)
    told = split or routes.taken
    names = {part.name for part in parts}
    return {
        "venue": "uniswap " + "+".join(sorted({name_version(part.quote) for part in parts})),
        "router": find_router(deployment, parts[0].quote),
        "token_in": token_in.symbol,
        "token_out": token_out.symbol,
        "amount_in": str(amount_in),
        "amount_in_units": format_units(amount_in, token_in.decimals, token_in.symbol),
        "amount_out": str(amount_out),
        "amount_out_units": format_units(amount_out, token_out.decimals, token_out.symbol),
        "maximum_amount_in": str(at_most),
        "minimum_amount_out": str(at_least),
        "effective_price": effective_price(amount_in, amount_out, token_in, token_out),
        "price_impact_pct": bps_as_percent(told.price_impact_bps),
        "lp_fee_bps": told.lp_fee_bps,
        "transfer_fee_in_bps": routes.taken.fees.token_in_bps,
        "transfer_fee_out_bps": routes.taken.fees.token_out_bps,
        "gas_estimate": told.gas,
        "route": [hop for part in parts for hop in describe_route(part.quote)],
        "route_name": routes.name if split is None else split.name,
        "other_routes": [name for name in routes.names if name not in names],
        **({"parts": describe_parts(split)} if split is not None else {}),
    }

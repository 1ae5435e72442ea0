"""Writes the router's call of a quoted route: which contract, which bytes, and what they say for people. Pure."""

from __future__ import annotations

from tools_app.core.units import format_units
from tools_app.protocols.uniswap.addresses import UniswapDeployment
from tools_app.protocols.uniswap.paths import MIXED, V4
from tools_app.protocols.uniswap.quoting import RouteQuote
from tools_app.protocols.uniswap.v2 import plans as v2_plans
from tools_app.protocols.uniswap.v3 import plans as v3_plans
from tools_app.protocols.uniswap.v4 import plans as v4_plans
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.quotes import list_steps
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import TokenMeta


def find_router(deployment: UniswapDeployment, quote: RouteQuote) -> str:
    """The contract that carries a quoted route out."""
    v4 = v4_on(deployment.chain_id) if quote.version == V4 else None
    if v4 is not None:
        return v4.router
    return deployment.v2_router if quote.version == "v2" else deployment.v3_router


def build_swap_call(
    deployment: UniswapDeployment,
    quote: RouteQuote,
    *,
    token_in: TokenMeta,
    token_out: TokenMeta,
    limit: int,
    recipient: str,
    deadline: int,
) -> Call:
    """The router call of a quoted route. `limit` is the least received, or the most spent for an exact output."""
    amounts = f"{format_units(quote.amount_in, token_in.decimals, token_in.symbol)} for " + format_units(
        quote.amount_out, token_out.decimals, token_out.symbol
    )
    label = f"Swap {amounts} on Uniswap {name_version(quote)}"
    if quote.version == V4:
        steps = list_steps([(hop.pool, hop.token_in) for hop in quote.hops], deployment.wrapped_native)
        return v4_plans.swap(
            router=find_router(deployment, quote),
            wrapped=deployment.wrapped_native,
            steps=steps or (),
            amount=quote.amount_out if quote.is_exact_out else quote.amount_in,
            limit=limit,
            is_exact_out=quote.is_exact_out,
            recipient=recipient,
            deadline=deadline,
            coin_in=token_in.is_native,
            coin_out=token_out.is_native,
            label=label,
        )
    if quote.version == MIXED:
        return v3_plans.swap_mixed(
            router=deployment.v3_router,
            legs=[v3_plans.PathLeg(hop.token_in, hop.token_out, hop.pool.fee, hop.pool.version) for hop in quote.hops],
            amount_in=quote.amount_in,
            minimum_out=limit,
            recipient=recipient,
            deadline=deadline,
            coin_in=token_in.is_native,
            coin_out=token_out.is_native,
            label=label,
        )
    if quote.version == "v3":
        return v3_plans.swap(
            router=deployment.v3_router,
            path=quote.path,
            fees=[hop.pool.fee for hop in quote.hops],
            amount=quote.amount_out if quote.is_exact_out else quote.amount_in,
            limit=limit,
            is_exact_out=quote.is_exact_out,
            recipient=recipient,
            deadline=deadline,
            coin_in=token_in.is_native,
            coin_out=token_out.is_native,
            label=label,
        )
    if quote.is_exact_out:
        return v2_plans.swap_exact_out(
            router=deployment.v2_router,
            path=quote.path,
            amount_out=quote.amount_out,
            maximum_in=limit,
            recipient=recipient,
            deadline=deadline,
            coin_in=token_in.is_native,
            coin_out=token_out.is_native,
            label=label,
        )
    return v2_plans.swap_exact_in(
        router=deployment.v2_router,
        path=quote.path,
        amount_in=quote.amount_in,
        minimum_out=limit,
        recipient=recipient,
        deadline=deadline,
        coin_in=token_in.is_native,
        coin_out=token_out.is_native,
        has_transfer_fee=quote.fees.any,
        label=label,
    )


def name_version(quote: RouteQuote) -> str:
    """Which Uniswap a route goes through, as people say it."""
    return "v2+v3" if quote.version == MIXED else quote.version

"""`uniswap_get_quote` and `uniswap_check_allowance`."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial

from tools_app.chain.node_errors import CallReverted, ContractOutputUnexpected
from tools_app.core.errors import GolemError
from tools_app.core.hashing import hash_canonical
from tools_app.core.ratio import Ratio, bps_as_percent, ratio_text
from tools_app.core.units import BPS, value_in_micro_usd
from tools_app.protocols.uniswap.addresses import UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.balances import read_holdings
from tools_app.protocols.uniswap.quoting import RouteQuote
from tools_app.protocols.uniswap.routing import find_routes, least_out, most_in
from tools_app.protocols.uniswap.splitting import Split, find_split
from tools_app.protocols.uniswap.swap_calls import build_swap_call
from tools_app.protocols.uniswap.tools.family import deadline_after, uniswap
from tools_app.select_tool_for_venue import WalletNotConfigured
from tools_app.standards import permit2
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.answer import Told
from tools_app.toolkit.callable_contracts import may_call
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext
from tools_app.toolkit.enums import Requirement, TickBudget
from tools_app.toolkit.params import Address, Flag, RawAmount, SlippageBps, SwapRoute, Token
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

QUOTE_LIFE_SECONDS = 300
PERMIT_LIFE_SECONDS = 1_800
ROUTE_TYPE = "CLASSIC"


class RouteHop(Told):
    """One pool of a route; `fee_tier` in hundredths of a basis point."""

    pool: str
    token_in: str
    token_out: str
    fee_tier: int
    version: str


class QuotePart(Told):
    """What goes one way where a swap is split: its route's name, and base units in and out as decimal text."""

    route_name: str
    amount_in: str
    amount_out: str


class QuotedCall(Told):
    """The router's call, to be simulated; a token that is sold needs an approval first. `value` is wei of the coin."""

    to: str
    data: str
    value: str


class Quote(Told):
    """What `uniswap_get_quote` answers. Percentages and prices are decimal text, the deadline Unix seconds.

    `parts` are the two ways of a swap that is split, empty for one that is not; `route` has the pools of both. `call`
    is there where it was asked for.
    """

    quote_id: str
    chain_id: int
    block_number: int
    token_in: TokenMeta
    token_out: TokenMeta
    amount_in: TokenAmount
    amount_out: TokenAmount
    minimum_amount_out: TokenAmount
    maximum_amount_in: TokenAmount
    effective_price: str
    price_impact_pct: str
    price_impact_bps: int
    lp_fee_bps: int
    gas_estimate: int
    gas_estimate_usd: UsdAmount | None
    gas_estimate_usd_reason: str | None
    route: tuple[RouteHop, ...]
    route_name: str
    other_routes: tuple[str, ...]
    parts: tuple[QuotePart, ...]
    route_type: str
    deadline: int
    call: QuotedCall | None


@uniswap.read(
    aliases=("get_quote",),
    snippet=(
        "quote: what a Uniswap swap would give at this block, with its route, price impact, pool fee and gas cost;"
        " works for an exact input or output and changes nothing."
    ),
    guidelines=(
        "Amounts are base units: look up the token's decimals before you write one.",
        "Quote again when the last quote is older than 30 seconds or a block has changed the pool.",
        "In DEFENSIVE, SURVIVAL or TERMINAL quote only swaps into the base asset; others will be refused.",
    ),
    schema_version=3,
)
def uniswap_get_quote(
    ctx: ReadContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    slippage_bps: SlippageBps = 50,
    exact_output: Flag = False,
    route: SwapRoute | None = None,
    call: Flag = False,
) -> Quote:
    """Quote a swap over Uniswap V2, V3 and V4 pools, exact at the current block.

    Use before previewing a swap, or to compare sizes and pairs. `amount` is what goes in, or what must come
    out when `exact_output` is true. The best of direct routes and routes over one hub token is answered, also
    between V2 and V3 when the input is exact; a large amount is split over two of them where that brings more after
    gas. `route` quotes that one, such as a V4 pool with a hook by its id. `call` quotes one way and adds the
    router's call of the golem's wallet, for safety_simulate_transaction; previews build their own.
    Does not execute anything, does not count the gas of an approval, and does not ask UniswapX.
    """
    reader = ctx.begin("Reading tokens")
    sold, bought = reader.token(token_in), reader.token(token_out)
    ctx.step("Quoting pools")
    deployment = deployment_on(reader.chain_id)
    routes = find_routes(
        reader,
        deployment,
        token_in=sold,
        token_out=bought,
        amount=amount,
        is_exact_out=exact_output,
        preferred=route,
        slippage_bps=BPS if route else 0,
        may_call=partial(may_call, ctx, reader.chain_id),
    )
    split = find_split(reader, deployment, routes, token_out=bought) if route is None and not call else None
    found, told = routes.taken, split or routes.taken
    minimum = least_out(found, slippage_bps)
    if split is not None:
        minimum = sum(least_out(part.quote, slippage_bps) for part in split.parts)
    hops = list_hops(found) if split is None else tuple(hop for part in split.parts for hop in list_hops(part.quote))
    names = {routes.name} if split is None else {part.name for part in split.parts}
    usd, reason = price_gas(reader, told.gas)
    until = deadline_after(ctx, reader, QUOTE_LIFE_SECONDS)
    written = None
    if call:
        limit = most_in(found, slippage_bps) if exact_output else minimum
        written = _write_call(ctx, deployment, found, token_in=sold, token_out=bought, limit=limit, until=until)
    return Quote(
        quote_id=hash_canonical(
            {
                "block": reader.block.hash,
                "route": [asdict(hop) for hop in hops],
                "in": told.amount_in,
                "out": told.amount_out,
            }
        ),
        chain_id=reader.chain_id,
        block_number=reader.block.number,
        token_in=sold,
        token_out=bought,
        amount_in=TokenAmount(told.amount_in, sold),
        amount_out=TokenAmount(told.amount_out, bought),
        minimum_amount_out=TokenAmount(minimum, bought),
        maximum_amount_in=TokenAmount(most_in(found, slippage_bps) if split is None else split.amount_in, sold),
        effective_price=effective_price(told.amount_in, told.amount_out, sold, bought),
        price_impact_pct=bps_as_percent(told.price_impact_bps),
        price_impact_bps=told.price_impact_bps,
        lp_fee_bps=told.lp_fee_bps,
        gas_estimate=told.gas,
        gas_estimate_usd=usd,
        gas_estimate_usd_reason=reason,
        route=hops,
        route_name=routes.name if split is None else split.name,
        other_routes=tuple(name for name in routes.names if name not in names),
        parts=() if split is None else tuple(_list_parts(split)),
        route_type=ROUTE_TYPE,
        deadline=until,
        call=written,
    )


def _write_call(
    ctx: ReadContext,
    deployment: UniswapDeployment,
    found: RouteQuote,
    *,
    token_in: TokenMeta,
    token_out: TokenMeta,
    limit: int,
    until: int,
) -> QuotedCall:
    if ctx.golem.address is None:
        raise WalletNotConfigured("a router's call belongs to a wallet, and this golem has none")
    made = build_swap_call(
        deployment,
        found,
        token_in=token_in,
        token_out=token_out,
        limit=limit,
        recipient=ctx.golem.address,
        deadline=until,
    )
    return QuotedCall(made.to, "0x" + made.data.hex(), str(made.value))


def _list_parts(split: Split) -> list[QuotePart]:
    return [QuotePart(part.name, str(part.quote.amount_in), str(part.quote.amount_out)) for part in split.parts]


def describe_parts(split: Split) -> list[dict[str, object]]:
    """The two ways of a split, JSON-ready."""
    return [asdict(part) for part in _list_parts(split)]


class Permit2Right(Told):
    """What the spender may take through Permit2 besides, until `expiration` (Unix seconds).

    `typed_data` is JSON that the account's owner may sign for the amount asked about, where that is not allowed yet.
    """

    allowance: TokenAmount
    expiration: int
    nonce: int
    sufficient: bool
    typed_data: str | None


class Allowance(Told):
    """What `uniswap_check_allowance` answers; `permit2` is None without Permit2 on the chain, and of Permit2 itself."""

    token: TokenMeta
    owner: str
    spender: str
    spender_name: str
    allowance: TokenAmount
    balance: TokenAmount
    sufficient: bool
    needs_approval: bool
    permit2: Permit2Right | None


@uniswap.read(
    query="allowance",
    budget=TickBudget.FAST,
    requires=(Requirement.WALLET,),
    snippet=(
        "allowance: how much of a token a spender, such as a Uniswap router or Permit2, may take from the golem's"
        " wallet, and whether that is enough."
    ),
    guidelines=("A swap approves exactly what it needs by itself; check only to explain or to find old allowances.",),
    schema_version=2,
)
def uniswap_check_allowance(
    ctx: ReadContext,
    token: Token,
    spender: Address | None = None,
    amount: RawAmount | None = None,
) -> Allowance:
    """Read how much of a token a spender may take from the golem's wallet.

    Use to see whether a swap would need an approval first, or to find a standing allowance. `spender` is by
    default Uniswap's SwapRouter02; `sufficient` is meant against `amount`, or the whole balance without one.
    `permit2` says the same of Permit2, with the message an owner would sign there. Does not change an allowance or
    sign anything; what is signed elsewhere counts in no limit.
    """
    if ctx.golem.address is None:
        raise WalletNotConfigured("an allowance belongs to a wallet, and this golem has none")
    reader = ctx.begin("Reading the allowance")
    deployment = deployment_on(reader.chain_id)
    meta = reader.token(token)
    known = {
        deployment.v3_router: "Uniswap SwapRouter02",
        deployment.v2_router: "Uniswap V2 Router02",
        deployment.v3_position_manager: "Uniswap V3 position manager",
        PERMIT2: "Permit2",
    }
    allowed = spender or deployment.v3_router
    has_right = not meta.is_native and allowed != PERMIT2
    if has_right:
        reader.expect(calls=[ReadCall(PERMIT2, permit2.ALLOWANCE, (ctx.golem.address, meta.address, allowed))])
    holding = read_holdings(reader, ctx.golem.address, [meta], spender=allowed)[0]
    wanted = amount if amount is not None else holding.balance
    sufficient = holding.allowance >= wanted
    return Allowance(
        token=meta,
        owner=ctx.golem.address,
        spender=allowed,
        spender_name=known.get(allowed, "unknown"),
        allowance=TokenAmount(holding.allowance, meta),
        balance=TokenAmount(holding.balance, meta),
        sufficient=sufficient,
        needs_approval=not sufficient,
        permit2=_read_permit2(reader, meta, ctx.golem.address, allowed, wanted) if has_right else None,
    )


def _read_permit2(reader: ChainReader, token: TokenMeta, owner: str, spender: str, wanted: int) -> Permit2Right | None:
    try:
        given = permit2.allowance(reader, token=token, owner=owner, spender=spender)
    except (CallReverted, ContractOutputUnexpected):
        return None
    now = reader.block.timestamp
    usable = given.usable_at(now)
    asked = permit2.build_permit(
        chain_id=reader.chain_id,
        token=token,
        spender=spender,
        amount=min(wanted, 2**160 - 1),
        expiration=now + PERMIT_LIFE_SECONDS,
        nonce=given.nonce,
        signed_until=now + PERMIT_LIFE_SECONDS,
    )
    return Permit2Right(
        allowance=TokenAmount(usable, token),
        expiration=given.expiration,
        nonce=given.nonce,
        sufficient=usable >= wanted,
        typed_data=None if usable >= wanted else json.dumps(asked, separators=(",", ":")),
    )


def effective_price(amount_in: int, amount_out: int, token_in: TokenMeta, token_out: TokenMeta) -> str:
    """Units of the bought token per unit of the sold one, as decimal text."""
    if amount_in <= 0:
        return "0"
    return ratio_text(Ratio(amount_out, amount_in), base_decimals=token_in.decimals, quote_decimals=token_out.decimals)


def list_hops(quote: RouteQuote) -> tuple[RouteHop, ...]:
    """The pools of a route in order."""
    return tuple(
        RouteHop(hop.pool.id, hop.token_in, hop.token_out, hop.pool.fee, hop.pool.version) for hop in quote.hops
    )


def describe_route(quote: RouteQuote) -> list[dict[str, object]]:
    """The pools of a route in order, JSON-ready."""
    return [asdict(hop) for hop in list_hops(quote)]


def price_gas(reader: ChainReader, gas: int) -> tuple[UsdAmount | None, str | None]:
    """USD of `gas` units at the next block's fees, or None and why. A layer-2 chain's data fee is not in it."""
    try:
        coin = reader.native()
        feed = reader.price(coin)
        fees = reader.fees()
    except GolemError as error:
        return None, f"{error.code}: no USD price of the chain's coin"
    wei = gas * (fees.base_fee + fees.priority_fee)
    micro = value_in_micro_usd(raw=wei, token_decimals=coin.decimals, price=feed.answer, price_decimals=feed.decimals)
    return UsdAmount(micro), None

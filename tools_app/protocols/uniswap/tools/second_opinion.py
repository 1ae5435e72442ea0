"""`uniswap_get_second_opinion` and `uniswap_sdk_swap`: what Uniswap's own SDKs say of a swap, held to the chain."""

from __future__ import annotations

from functools import partial
from typing import Final

from tools_app.core.errors import InvalidParams
from tools_app.core.units import BPS
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.paths import TransferFees
from tools_app.protocols.uniswap.quoting import quote_paths
from tools_app.protocols.uniswap.routing import find_pools_between, find_routes, name_path, pool_token
from tools_app.protocols.uniswap.sdk.opinions import ask_calldata, ask_route
from tools_app.protocols.uniswap.sdk.pool_states import ToldPools, tell_pools
from tools_app.protocols.uniswap.tools.family import uniswap
from tools_app.protocols.uniswap.tools.swaps import report_swap, uniswap_execute_swap
from tools_app.protocols.uniswap.trading_api.match_swap_effects import ask_for_less, hold_to_plan
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.callable_contracts import may_call
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import RiskLayer, TickBudget
from tools_app.toolkit.official_sdk import OfficialSdk, SdkFallbackUnavailable
from tools_app.toolkit.params import DeadlineSeconds, RawAmount, SlippageBps, Token
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

MAKER: Final = "Uniswap's SDK"


class Opinion(Told):
    """A route as swap takes it, and what the chain's own quoter says it gives."""

    route: str
    amount_out: TokenAmount


class SecondOpinion(OfChain):
    """Our route beside the SDK's, both asked of the chain at `block_number`.

    `sdk` is null where the SDK finds no way; `sdk_said` is its own figure. `sdk_gives_more_bps` is negative where ours
    gives more. `pools_compared` is how many pools the SDK was told of.
    """

    ours: Opinion
    sdk: Opinion | None
    sdk_said: TokenAmount | None
    sdk_gives_more_bps: int | None
    pools_compared: int
    note: str


@uniswap.read(
    budget=TickBudget.SLOW,
    snippet="second_opinion: the route that Uniswap's own SDKs would take for a swap, beside ours, both quoted.",
    guidelines=("Ask it before a large swap; where the SDK's route gives more, pass it to swap as route.",),
)
def uniswap_get_second_opinion(ctx: ReadContext, token_in: Token, token_out: Token, amount: RawAmount) -> SecondOpinion:
    """Compare our route for an exact input with that of Uniswap's official SDKs, over the same pools at one block.

    Use before a large swap. What the SDK says is checked with the chain's quoter; where it does not run the code is
    SDK_FALLBACK_UNAVAILABLE, and quote and swap work without it.
    Does not tell V4 pools of the coin or with hooks to the SDK, and changes nothing.
    """
    reader = ctx.begin("Reading tokens")
    deployment = deployment_on(reader.chain_id)
    sold, bought = reader.token(token_in), reader.token(token_out)
    ctx.step("Quoting pools")

    routes = find_routes(
        reader,
        deployment,
        token_in=sold,
        token_out=bought,
        amount=amount,
        may_call=partial(may_call, ctx, reader.chain_id),
    )
    told = _tell(reader, sold, bought)
    ctx.step("Asking the SDK")
    first, last = pool_token(deployment, sold), pool_token(deployment, bought)
    found = ask_route(ctx.service(OfficialSdk), reader, told, first=first, last=last, amount=amount)  # type: ignore[type-abstract]
    ours = Opinion(routes.names[0], TokenAmount(routes.best.amount_out, bought))
    theirs = said = None
    more = None
    if found is not None:
        path, claimed = found
        quotes = quote_paths(reader, deployment, [path], amount, is_exact_out=False, fees=TransferFees())
        symbols = {token.address: token.symbol for token in reader.registered_tokens()}
        given = quotes[0].amount_out if quotes else 0
        theirs, said = Opinion(name_path(path, symbols), TokenAmount(given, bought)), TokenAmount(claimed, bought)
        more = (given - routes.best.amount_out) * BPS // routes.best.amount_out
    return SecondOpinion(
        ours=ours,
        sdk=theirs,
        sdk_said=said,
        sdk_gives_more_bps=more,
        pools_compared=len(told.pools),
        note="V4 pools of the coin, with hooks or with a protocol's part of the fee are not told to the SDK",
    )


@uniswap.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_swap,
    snippet="sdk_swap: as swap, with calldata that Uniswap's own SDK makes and our own plan bounds by what it does.",
    guidelines=("Prefer swap, which asks nobody; take this one to have calldata of another maker.",),
)
def uniswap_sdk_swap(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Swap an exact input with calldata of Uniswap's official SDK for the Universal Router, held to our own plan.

    Use to have the bytes made by Uniswap's code. They are taken only if all of them can be read here, no more leaves,
    no less comes, the golem alone is paid and they end in time; else the code is FOREIGN_CALL_REFUSED.
    Does not take the chain's coin: name the wrapped one. Does not split, and mixes no versions.
    """
    own = uniswap_execute_swap(ctx, token_in, token_out, amount, slippage_bps, deadline)
    reader = ctx.chain(own.chain_id)
    (given,), (wanted,) = own.spends, own.receives
    if given.token.is_native or wanted.token.is_native:
        raise InvalidParams("the SDK swaps tokens; name the wrapped coin", fields={"token_in": "a token"})
    v4 = v4_on(own.chain_id)
    ctx.step("Asking the SDK")
    made = (
        None
        if v4 is None
        else ask_calldata(
            ctx.service(OfficialSdk),  # type: ignore[type-abstract]
            reader,
            _tell(reader, given.token, wanted.token),
            first=given.token.address,
            last=wanted.token.address,
            amount=amount,
            recipient=ctx.account,
            slippage_bps=ask_for_less(slippage_bps),
            deadline=own.deadline or 0,
        )
    )
    if made is None or v4 is None:
        raise SdkFallbackUnavailable("the SDK finds no way within one version of Uniswap", reason="no answer")
    call = Call(v4.router, bytes.fromhex(made.data[2:]), int(made.value), "")
    return hold_to_plan(reader, own, call, account=ctx.account, details={"calldata_by": MAKER}, maker=MAKER)


# ---- below ----------------------------------------------------------------------------------------------------------


def _tell(reader: ChainReader, sold: TokenMeta, bought: TokenMeta) -> ToldPools:
    return tell_pools(
        reader, find_pools_between(reader, deployment_on(reader.chain_id), token_in=sold, token_out=bought)
    )

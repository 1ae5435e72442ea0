"""`intel_discover_token`: what is known of a token, with a score whose sum anybody can do again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.ratio import decimal_text
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import markets_on
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.safety.token_tools import TokenCheck, check_token, find_depth
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.params import ChainId, Token
from tools_app.toolkit.result import UsdAmount
from tools_app.toolkit.views import TokenMeta

_MOST: Final = 100
_CAUTION: Final = 15
_DANGER: Final = 60
_RATINGS: Final = ((80, "SAFE"), (60, "CAUTION"), (40, "WARNING"))
_FORMULA: Final = "100 less 60 for each danger and 15 for each caution, at least 0"
_SOURCES: Final = (
    "this server's registry of tokens",
    "pools of the protocols it knows",
    "a trial of buying and selling in a simulation",
    "the token's code and owner",
)


@dataclass(frozen=True, slots=True)
class MarketData:
    """The token's deepest pool. `price_usd` is one whole token by that pool, null where its other side has no price."""

    price_usd: str | None
    pool: str | None
    liquidity_usd: UsdAmount


@dataclass(frozen=True, slots=True)
class DiscoveredToken:
    """`risk_rating` is SAFE from 80, CAUTION from 60, WARNING from 40, else DANGER. `name` and `symbol` of a token that
    is not registered are its own words: `untrusted_words`.
    """

    token_address: str
    name: str
    symbol: str
    decimals: int
    untrusted_words: bool
    risk_rating: str
    risk_score: int
    formula: str
    risk_factors: tuple[str, ...]
    sources: tuple[str, ...]
    market_data: MarketData


@intel.read(
    snippet=(
        "discover_token: one token's address, name, price, depth and a risk score from 0 to 100 with what took from it."
    ),
    guidelines=("Below 60 do not buy without your owner; read risk_factors, the score is only their sum.",),
)
def intel_discover_token(ctx: ReadContext, token: Token, chain_id: ChainId | None = None) -> DiscoveredToken:
    """Look a token up by symbol or address and score its risk from what four sources of this server show.

    Use for a token that you meet for the first time. Does not read lists or audits from outside.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Reading the token")
    meta = reader.token(token)
    if meta.is_native:
        raise InvalidParams("the chain's own coin is no token", fields={"token": "name a token"})
    check = check_token(ctx, reader, meta)
    ctx.step("Pricing it")
    score = _score(check)
    return DiscoveredToken(
        token_address=meta.address,
        name=check.name,
        symbol=check.symbol,
        decimals=check.decimals,
        untrusted_words=check.untrusted_words,
        risk_rating=next((name for least, name in _RATINGS if score >= least), "DANGER"),
        risk_score=score,
        formula=_FORMULA,
        risk_factors=check.warnings,
        sources=_SOURCES,
        market_data=_read_market(reader, meta, check),
    )


def _score(check: TokenCheck) -> int:
    cautions = len(check.warnings) - check.dangers
    return max(0, _MOST - _DANGER * check.dangers - _CAUTION * cautions)


def _read_market(reader: ChainReader, meta: TokenMeta, check: TokenCheck) -> MarketData:
    depth = find_depth(reader, meta)
    if depth is None:
        return MarketData(None, None, check.liquidity_usd)
    markets = markets_on(reader.chain_id)
    asset = markets.asset(meta)
    try:
        other = TokenPricer(reader, markets).price(depth.pool.other(asset))
    except GolemError:
        other = None
    if other is None:
        return MarketData(None, depth.pool.id, check.liquidity_usd)
    spot = depth.pool.spot_from(asset)
    micro = 10**meta.decimals * spot.numerator * other.numerator // (spot.denominator * other.denominator)
    return MarketData(decimal_text(micro, 10**6), depth.pool.id, check.liquidity_usd)

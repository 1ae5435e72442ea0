"""What the chain tells of a market of Pendle that is on no list, for an operator who names it to the server.

That a factory of Pendle's made it says nothing of the yield below it, which anybody writes: who names a market trusts
its yield. What is asked here is whether the product could count it: a registered asset that goes in and comes out as it
is, no reward that nobody reads, and an average price.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from tools_app.protocols.pendle.addresses import (
    LIMIT_ROUTER,
    ORACLE,
    REWARD,
    ROUTER,
    Place,
    Symbols,
    deployments,
    factories_on,
    find_place,
    is_called,
    places_on,
    write_place,
)
from tools_app.protocols.pendle.errors import PendleMarketNotFound
from tools_app.protocols.pendle.market_state import ASSET, IS_MARKET, IS_TOKEN, PT_RATE, TOKENS
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.operator_named_places import Nameable

EXPIRY: Final = "function expiry() view returns (uint256)"
FACTORY: Final = "function factory() view returns (address)"
SYMBOL: Final = "function symbol() view returns (string)"
DECIMALS: Final = "function decimals() view returns (uint8)"
REWARDS: Final = "function getRewardTokens() view returns (address[])"
TAKES: Final = "function isValidTokenIn(address token) view returns (bool)"
GIVES: Final = "function isValidTokenOut(address token) view returns (bool)"


@dataclass(frozen=True, slots=True)
class _FactoryMarket:
    """What the factory that made a market wrote into it."""

    version: str
    sy: str
    pt: str
    yt: str
    expiry: int
    rewards: tuple[str, ...]


def ask_market(reader: ChainReader, address: str) -> Nameable:
    """Whether it could be named, and as what. Raises MarketNotFound, ChainNotSupported and the node's errors."""
    places_on(reader.chain_id)
    made = _ask_factories(reader, address)
    if find_place(reader.chain_id, made.pt) is not None:
        raise _refused(address, "its claims are known here already, in another market")
    place, average = _ask_tokens(reader, address, made)
    due = datetime.fromtimestamp(made.expiry, tz=UTC).date()
    ready = "it has an average price of fifteen minutes"
    return Nameable(
        write_place(place, made.version),
        (
            f"market of Pendle, {place.symbols.pt}, due on {due.isoformat()}",
            f"its claims are due in {reader.token(place.asset).symbol}, which is registered here ({place.asset})",
            f"the yield below it is {place.sy}: anybody may write one, so look at its code before you name this market",
            ready if average else f"{ready.replace('has', 'has not', 1)} yet: nothing can be bought there until it has",
        ),
    )


def describe_unnamed(reader: ChainReader, address: str) -> str:
    """Why an address is not known here, for whoever asked for it."""
    try:
        about = ask_market(reader, address).about[0]
    except PendleMarketNotFound as error:
        return str(error.data["why"])
    return f"it is a {about}, and nobody named it to this server; its operator may, with manage.py name_place"


def _ask_factories(reader: ChainReader, address: str) -> _FactoryMarket:
    """Raises MarketNotFound where none of them made a market there that is not over."""
    factories = factories_on(reader.chain_id)
    *valid, tokens, expiry, rewards = reader.call_many(
        [
            *(ReadCall(markets, IS_MARKET, (address,)) for _, markets, _ in factories),
            *(ReadCall(address, each) for each in (TOKENS, EXPIRY, REWARDS)),
        ]
    )
    versions = [each[0] for each, told in zip(factories, valid, strict=True) if told.ok and told.values[0]]
    if not versions or not (tokens.ok and expiry.ok and rewards.ok):
        raise _refused(address, "no factory of Pendle made a market there")
    ends = int(expiry.values[0])
    if ends <= reader.block.timestamp:
        raise _refused(address, f"it is a market of Pendle that is over since {ends}")
    sy, pt, yt = (str(each) for each in tokens.values)
    return _FactoryMarket(versions[0], sy, pt, yt, ends, tuple(str(each) for each in rewards.values[0]))


def _ask_tokens(reader: ChainReader, address: str, made: _FactoryMarket) -> tuple[Place, bool]:
    """The market as it would be known, and whether its oracle tells an average. Raises MarketNotFound."""
    at = deployments(reader.chain_id) or {}
    found = {version: (markets, yields) for version, markets, yields in factories_on(reader.chain_id)}
    markets, yields = found[made.version]
    factory, symbol, pt_decimals, yt_decimals, info, rewards, average = reader.call_many(
        [
            ReadCall(made.yt, FACTORY),
            ReadCall(made.pt, SYMBOL),
            ReadCall(made.pt, DECIMALS),
            ReadCall(made.yt, DECIMALS),
            ReadCall(made.sy, ASSET),
            ReadCall(made.sy, REWARDS),
            ReadCall(at[ORACLE], PT_RATE, (address, AVERAGE_SECONDS)),
        ]
    )
    if not all(each.ok for each in (factory, symbol, pt_decimals, yt_decimals, info, rewards)):
        raise _refused(address, "its tokens do not tell what they are")
    (kind, asset, decimals), called = info.values, str(symbol.values[0]).removeprefix("PT-")
    takes, gives = reader.call_many([ReadCall(made.sy, each, (asset,)) for each in (TAKES, GIVES)])
    given = _listed(reader, str(asset))
    for is_so, why in (
        (str(factory.values[0]) == yields, "its yield tokens are of another factory than its market"),
        (kind == IS_TOKEN, "its yield stands for a pool and not for a token"),
        (given, f"its claims are due in {asset}, which is no registered token"),
        (takes.ok and takes.values[0] and gives.ok and gives.values[0], "its asset goes in or out by other tokens"),
        (
            pt_decimals.values[0] == yt_decimals.values[0] == decimals,
            "its claims have other decimals than what they are due in",
        ),
        (not rewards.values[0], "its yield pays rewards of its own, which nobody reads here"),
        (made.rewards in ((), (at[REWARD],)), "its market pays rewards that nobody reads here"),
        (is_called(called), "its claims have no symbol that could be shown"),
    ):
        if not is_so:
            raise _refused(address, f"it is a market of Pendle, and {why}")
    place = Place(
        market=address,
        sy=made.sy,
        pt=made.pt,
        yt=made.yt,
        asset=str(asset),
        decimals=int(decimals),
        router=at[ROUTER],
        limit_router=at[LIMIT_ROUTER],
        oracle=at[ORACLE],
        market_factory=markets,
        yield_factory=yields,
        reward=at[REWARD],
        symbols=Symbols.of(called),
    )
    return place, average.ok


def _listed(reader: ChainReader, token: str) -> bool:
    return any(each.address == token for each in reader.registered_tokens())


def _refused(address: str, why: str) -> PendleMarketNotFound:
    return PendleMarketNotFound(f"{address} cannot be named: {why}", why=why)

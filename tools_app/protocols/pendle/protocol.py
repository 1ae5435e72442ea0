"""Pendle V2 as the product knows it: a router, and tokens that stand for claims, yield and a part of a market."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.pendle.addresses import (
    CHAINS,
    LIMIT_ROUTER,
    LOCAL_CHAIN_ID,
    MARKET,
    NAME,
    PT,
    ROUTER,
    SY,
    YT,
    deployments,
    find_places,
    keys_of,
)
from tools_app.protocols.pendle.effects import PendleEffects
from tools_app.protocols.pendle.naming import ask_market
from tools_app.protocols.pendle.positions import PendleExits, PendlePositions
from tools_app.protocols.pendle.prices import find_price
from tools_app.protocols.pendle.promises import PendlePromises
from tools_app.protocols.pendle.signatures import (
    ADD_LP,
    BUY_PT,
    BUY_YT,
    CANCEL_ORDER,
    CLAIM,
    REDEEM,
    REDEEM_SHARES,
    REMOVE_LP,
    SELL_PT,
    SELL_YT,
)
from tools_app.protocols.pendle.yields import list_yields
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, NOTHING_HELD, Contract, LeavingCall, ProtocolDef, Trait

_OF_ROUTER: Final = (BUY_PT, SELL_PT, BUY_YT, SELL_YT, ADD_LP, REMOVE_LP, REDEEM, CLAIM)


def _list_markets() -> tuple[tuple[tuple[str, str, str, str], str], ...]:
    """What the tokens of each known market are called in `deployments`, and what it is called by people."""
    local = (MARKET, SY, PT, YT)
    named = {
        keys_of(place.market): place.symbols.pt.removeprefix("PT-")
        for chain_id in sorted(CHAINS)
        for place in find_places(chain_id)
        if (deployments(chain_id) or {}).get(MARKET) != place.market
    }
    return ((local, "DAI"), *named.items())


def _list_tokens(keys: tuple[str, str, str, str], called: str) -> tuple[Contract, ...]:
    market, sy, pt, yt = keys
    return (
        Contract(market, f"Pendle market of {called}", (), NOT_UNDER_A_CAGE, is_token=True),
        Contract(pt, f"Pendle PT of {called}", (), NOT_UNDER_A_CAGE, is_token=True),
        Contract(yt, f"Pendle YT of {called}", (), NOT_UNDER_A_CAGE, is_token=True),
        Contract(
            sy,
            f"Pendle SY of {called}",
            (REDEEM_SHARES,),
            NOT_UNDER_A_CAGE,
            own={REDEEM_SHARES: ((0,),)},
            tokens={REDEEM_SHARES: ((2,),)},
        ),
    )


def describe_protocol() -> ProtocolDef:
    """The protocol with the markets that are known now."""
    markets = _list_markets()
    return ProtocolDef(
        name=NAME,
        label="Pendle",
        deployments=deployments,
        entry=ROUTER,
        contracts=(
            Contract(
                ROUTER,
                "Pendle router",
                (),
                NOT_UNDER_A_CAGE,
                besides=_OF_ROUTER,
                takes_tokens=True,
            ),
            Contract(
                LIMIT_ROUTER,
                "Pendle limit orders",
                (),
                NOTHING_HELD,
                besides=(CANCEL_ORDER,),
                takes_tokens=True,
                takes_signed=True,
            ),
            *(each for keys, called in markets for each in _list_tokens(keys, called)),
        ),
        positions=PendlePositions(),
        exits=PendleExits(),
        leaving=(
            *(LeavingCall(ROUTER, each, own=((0,),)) for each in (REMOVE_LP, SELL_PT, SELL_YT, REDEEM, CLAIM)),
            *(LeavingCall(keys[1], REDEEM_SHARES, own=((0,),)) for keys, _ in markets),
            # An order that is taken back gives nothing.
            LeavingCall(LIMIT_ROUTER, CANCEL_ORDER, own=((0, 6),)),
        ),
        effects=PendleEffects(),
        promises=PendlePromises(),
        yields=list_yields,
        listed_as=("pendle",),
        prices=find_price,
        naming=ask_market,
        traits=frozenset({Trait.ASYNC, Trait.POOLED}),
        simulated_on=frozenset({LOCAL_CHAIN_ID}),
        events=(
            "event Swap(address indexed caller, address indexed receiver, int256 netPtOut, int256 netSyOut,"
            " uint256 netSyFee, uint256 netSyToReserve)",
            "event UpdateImpliedRate(uint256 indexed timestamp, uint256 lnLastImpliedRate)",
            "event RedeemInterest(address indexed user, uint256 interestOut)",
            "event OrderCanceled(address indexed maker, bytes32 indexed orderHash)",
        ),
        errors=(
            "error MarketExpired()",
            "error MarketProportionTooHigh(int256 proportion, int256 maxProportion)",
            "error MarketExchangeRateBelowOne(int256 exchangeRate)",
            "error OracleTargetTooOld(uint32 target, uint32 oldest)",
            "error YCExpired()",
        ),
        uncaged=(
            "claims count at an average of fifteen minutes, because one block moves their price; a market whose memory"
            " is short tells none, and a valuer that asked it would stop every batch of the cage, the way out too"
        ),
    )


PROTOCOL: Final = describe_protocol()

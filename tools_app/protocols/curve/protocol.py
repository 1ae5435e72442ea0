"""Curve as the product knows it, and Convex over it: what is staked there is the same shares."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.curve.addresses import (
    BOOSTER,
    CONVEX_REWARDS,
    GAUGE,
    LOCAL_CHAIN_ID,
    LP,
    MINTER,
    NAME,
    POOL,
    deployments,
)
from tools_app.protocols.curve.effects import EFFECTS
from tools_app.protocols.curve.positions import CurveExits, CurvePositions
from tools_app.protocols.curve.venues import CurveVenues
from tools_app.protocols.curve.yields import list_yields
from tools_app.toolkit.exit_conditions import IsContract
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, NOTHING_HELD, Contract, LeavingCall, ProtocolDef, Trait

_ADD: Final = "function add_liquidity(uint256[3],uint256)"
_REMOVE: Final = "function remove_liquidity(uint256,uint256[3])"
_REMOVE_ONE: Final = "function remove_liquidity_one_coin(uint256,int128,uint256)"
_STAKE: Final = "function deposit(uint256)"
_UNSTAKE: Final = "function withdraw(uint256)"
_MINT: Final = "function mint(address)"
_STAKE_AT_CONVEX: Final = "function deposit(uint256,uint256,bool)"
_UNSTAKE_AT_CONVEX: Final = "function withdrawAndUnwrap(uint256,bool)"
_CLAIM_AT_CONVEX: Final = "function getReward(address,bool)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Curve",
    deployments=deployments,
    entry=POOL,
    contracts=(
        Contract(POOL, "Curve 3pool", (_ADD, _REMOVE, _REMOVE_ONE), NOT_UNDER_A_CAGE, takes_tokens=True),
        Contract(LP, "Curve 3Crv", (), NOT_UNDER_A_CAGE),
        Contract(GAUGE, "Curve 3pool gauge", (_STAKE, _UNSTAKE), NOT_UNDER_A_CAGE, takes_tokens=True),
        Contract(MINTER, "Curve's minter", (_MINT,), NOTHING_HELD),
        Contract(BOOSTER, "Convex", (_STAKE_AT_CONVEX,), NOT_UNDER_A_CAGE, takes_tokens=True),
        Contract(
            CONVEX_REWARDS,
            "Convex 3pool rewards",
            (_UNSTAKE_AT_CONVEX, _CLAIM_AT_CONVEX),
            NOT_UNDER_A_CAGE,
            own={_CLAIM_AT_CONVEX: ((0,),)},
        ),
    ),
    positions=CurvePositions(),
    exits=CurveExits(),
    # Pool, gauge, minter and Convex pay who calls them, or whom a claim names.
    leaving=(
        LeavingCall(CONVEX_REWARDS, _UNSTAKE_AT_CONVEX),
        LeavingCall(CONVEX_REWARDS, _CLAIM_AT_CONVEX, own=((0,),)),
        LeavingCall(GAUGE, _UNSTAKE),
        LeavingCall(POOL, _REMOVE),
        LeavingCall(POOL, _REMOVE_ONE),
        LeavingCall(MINTER, _MINT, only=(IsContract((0,), (GAUGE,)),)),
    ),
    effects=EFFECTS,
    venues=CurveVenues(),
    yields=list_yields,
    listed_as=("curve-dex", "convex-finance"),
    traits=frozenset({Trait.POOLED}),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(
        "event AddLiquidity(address indexed provider, uint256[3] token_amounts, uint256[3] fees, uint256 invariant,"
        " uint256 token_supply)",
        "event RemoveLiquidity(address indexed provider, uint256[3] token_amounts, uint256[3] fees,"
        " uint256 token_supply)",
        "event RemoveLiquidityOne(address indexed provider, uint256 token_amount, uint256 coin_amount)",
        "event TokenExchange(address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id,"
        " uint256 tokens_bought)",
        "event Minted(address indexed recipient, address gauge, uint256 minted)",
    ),
    uncaged=(
        "an LP token counts at the lowest of its coins' feeds, of which a valuer of shares knows one, what it brings in"
        " a coin is moved by one trade, and what is staked at the gauge or at Convex is in no balance of LP tokens"
    ),
)

"""Uniswap V2, V3 and V4 as one protocol of the shelf."""

from __future__ import annotations

from tools_app.protocols.uniswap import event_and_error_names
from tools_app.protocols.uniswap.addresses import NAME, contracts_on
from tools_app.protocols.uniswap.effects import UniswapEffects
from tools_app.protocols.uniswap.liquidity_mining import plans as mining
from tools_app.protocols.uniswap.markets import UniswapMarkets
from tools_app.protocols.uniswap.permit_carrier import ManagerCarrier, RouterCarrier
from tools_app.protocols.uniswap.positions import UniswapExits, UniswapPositions
from tools_app.protocols.uniswap.positions_in_logs import is_v4_ref, trails
from tools_app.protocols.uniswap.v2 import plans as v2
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.protocols.uniswap.v4 import liquidity_plans as v4_liquidity
from tools_app.protocols.uniswap.v4 import plans as v4
from tools_app.protocols.uniswap.v4 import position_permits
from tools_app.protocols.uniswap.v4.hooked_pools import V4HookedPools
from tools_app.protocols.uniswap.v4.position_effects import OnlyTakesOut
from tools_app.protocols.uniswap.venues import UniswapVenues
from tools_app.standards.erc721_approvals import describe_item_rights
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, NOTHING_HELD, Contract, LeavingCall, ProtocolDef, Trait, Valuer


def _ask_manager(chain_id: int) -> Reads[tuple[object, ...]]:
    yield []
    return ((contracts_on(chain_id) or {})["v3_position_manager"],)


_V2_SWAPS = (v2.TOKENS_IN, v2.TOKENS_IN_FEE, v2.TOKENS_OUT)

PROTOCOL = ProtocolDef(
    name=NAME,
    label="Uniswap",
    deployments=contracts_on,
    entry="v3_position_manager",
    contracts=(
        Contract(
            key="v2_router",
            label="Uniswap V2 router",
            functions=(v2.TOKENS_IN, v2.TOKENS_IN_FEE, v2.TOKENS_OUT, v2.REMOVE),
            # Shares of a pair lie with the pair: the router only passes on.
            valued_at=NOTHING_HELD,
            takes_tokens=True,
            own={**dict.fromkeys(_V2_SWAPS, ((3,),)), v2.REMOVE: ((5,),)},
            tokens={**dict.fromkeys(_V2_SWAPS, ((2,),)), v2.REMOVE: ((0,), (1,))},
        ),
        Contract(
            key="v3_router",
            label="Uniswap SwapRouter02",
            functions=(
                v3.MULTICALL_UNTIL,
                v3.EXACT_IN_SINGLE,
                v3.EXACT_IN,
                v3.EXACT_OUT_SINGLE,
                v3.EXACT_OUT,
                v3.V2_TOKENS_IN,
            ),
            besides=(v3.UNWRAP, v3.REFUND),
            valued_at=NOTHING_HELD,
            takes_tokens=True,
            own={
                **dict.fromkeys((v3.EXACT_IN_SINGLE, v3.EXACT_OUT_SINGLE), ((0, 3),)),
                **dict.fromkeys((v3.EXACT_IN, v3.EXACT_OUT), ((0, 1),)),
                v3.V2_TOKENS_IN: ((3,),),
            },
            tokens={
                **dict.fromkeys((v3.EXACT_IN_SINGLE, v3.EXACT_OUT_SINGLE), ((0, 0), (0, 1))),
                **dict.fromkeys((v3.EXACT_IN, v3.EXACT_OUT), ((0, 0),)),
                v3.V2_TOKENS_IN: ((2,),),
            },
        ),
        Contract(
            key="v3_position_manager",
            label="Uniswap V3 positions",
            functions=(v3.MULTICALL, v3.MINT, v3.INCREASE, v3.DECREASE, v3.COLLECT),
            besides=(v3.UNWRAP, v3.SWEEP, mining.HAND_IN),
            takes_tokens=True,
            valued_at="v3_position_manager",
            own={v3.MINT: ((0, 9),), v3.COLLECT: ((0, 1),)},
            tokens={v3.MINT: ((0, 0), (0, 1))},
        ),
        Contract(
            key="universal_router",
            label="Uniswap Universal Router",
            functions=(),
            besides=(v4.EXECUTE,),
            valued_at=NOT_UNDER_A_CAGE,
            takes_tokens=True,
            runs_hooks=True,
        ),
        Contract(
            key="v4_position_manager",
            label="Uniswap V4 positions",
            functions=(),
            besides=(
                v4_liquidity.MODIFY,
                position_permits.MULTICALL,
                position_permits.SINGLE,
                position_permits.BATCH,
            ),
            valued_at=NOT_UNDER_A_CAGE,
            takes_tokens=True,
            runs_hooks=True,
        ),
        Contract(
            key="v3_staker",
            label="Uniswap V3 staker",
            functions=(),
            besides=(mining.MULTICALL, mining.STAKE, mining.UNSTAKE, mining.CLAIM, mining.WITHDRAW),
            valued_at=NOT_UNDER_A_CAGE,
        ),
        Contract(
            key="claim_list",
            label="Uniswap's list of claims",
            functions=(mining.CLAIM_LISTED,),
            valued_at=NOTHING_HELD,
            own={mining.CLAIM_LISTED: ((1,),)},
        ),
    ),
    uncaged=(
        "what the Universal Router and V4's position manager are told is bytes within bytes, in which no rule of a cage"
        " finds who is paid, and neither V4's manager nor the staker lists anybody's positions, so that no valuer finds"
        " them; V2 and V3 are traded through their own routers instead, and liquidity is put into V3 and not staked"
    ),
    valuers=(
        Valuer(
            subject="v3_position_manager",
            code="V3PositionValuer",
            constructor="constructor(address manager_)",
            arguments=_ask_manager,
            views=("function manager() view returns (address)",),
        ),
    ),
    positions=UniswapPositions(),
    trails=trails,
    is_only_in_logs=is_v4_ref,
    exits=UniswapExits(),
    leaving=(
        LeavingCall("v2_router", v2.REMOVE, own=((5,),)),
        LeavingCall("v3_position_manager", v3.MULTICALL, steps=0),
        LeavingCall("v3_position_manager", v3.DECREASE),
        LeavingCall("v3_position_manager", v3.COLLECT, own=((0, 1),)),
        LeavingCall("v4_position_manager", v4_liquidity.MODIFY, only=(OnlyTakesOut(),)),
        LeavingCall("v3_staker", mining.MULTICALL, steps=0),
        LeavingCall("v3_staker", mining.UNSTAKE),
        LeavingCall("v3_staker", mining.CLAIM, own=((1,),)),
        LeavingCall("v3_staker", mining.WITHDRAW, own=((1,),)),
        LeavingCall("claim_list", mining.CLAIM_LISTED, own=((1,),)),
    ),
    selling=(
        LeavingCall("v2_router", v2.TOKENS_IN, own=((3,),)),
        LeavingCall("v2_router", v2.TOKENS_IN_FEE, own=((3,),)),
        LeavingCall("v3_router", v3.MULTICALL_UNTIL, steps=1),
        LeavingCall("v3_router", v3.EXACT_IN_SINGLE, own=((0, 3),)),
        LeavingCall("v3_router", v3.EXACT_IN, own=((0, 1),)),
        LeavingCall("v3_router", v3.V2_TOKENS_IN, own=((3,),)),
    ),
    effects=UniswapEffects(),
    permit_carriers=(RouterCarrier(), ManagerCarrier()),
    markets=UniswapMarkets(),
    venues=UniswapVenues(),
    hooked=V4HookedPools(),
    rights=(
        *describe_item_rights(
            "v3_position_manager", one="may move a Uniswap V3 position", every="may move every Uniswap V3 position"
        ),
        *describe_item_rights(
            "v4_position_manager", one="may move a Uniswap V4 position", every="may move every Uniswap V4 position"
        ),
    ),
    traits=frozenset({Trait.POOLED}),
    events=event_and_error_names.EVENTS,
    errors=event_and_error_names.ERRORS,
    inner_calls=event_and_error_names.INNER_CALLS,
)

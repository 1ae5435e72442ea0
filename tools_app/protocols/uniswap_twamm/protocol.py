"""Orders over time as the product knows them."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap_twamm.addresses import ENTRY, LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.uniswap_twamm.effects import EFFECTS
from tools_app.protocols.uniswap_twamm.positions import TwammExits, TwammOrders, TwammPositions
from tools_app.protocols.uniswap_twamm.reads import SUBMITTED
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef, Trait

_SUBMIT: Final = "function submit(address,address,uint256,uint256,uint256)"
_CLOSE: Final = "function close(uint256)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Uniswap orders over time",
    deployments=deployments,
    entry=ENTRY,
    contracts=(
        Contract(
            ENTRY,
            "Uniswap orders over time",
            (_SUBMIT, _CLOSE),
            NOT_UNDER_A_CAGE,
            takes_tokens=True,
            tokens={_SUBMIT: ((0,), (1,))},
        ),
    ),
    positions=TwammPositions(),
    exits=TwammExits(),
    orders=TwammOrders(),
    # What is closed comes to the order's owner, whoever closes it.
    leaving=(LeavingCall(ENTRY, _CLOSE),),
    effects=EFFECTS,
    traits=frozenset({Trait.ASYNC, Trait.POOLED}),
    uncaged="what an order over time holds is up to those who fill it, and no valuer counts it",
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(
        SUBMITTED,
        "event OrderFilled(uint256 indexed id, uint256 sold, uint256 paid)",
        "event OrderClosed(uint256 indexed id, uint256 fate, uint256 left, uint256 bought)",
    ),
    errors=(
        "error NothingOrdered()",
        "error NotOpen(uint256 id)",
        "error NotDue(uint256 due)",
        "error TooLittle(uint256 least)",
        "error NotYours(uint256 id)",
    ),
)

"""UniswapX as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap_x.addresses import ENTRY, LABEL, NAME, deployments
from tools_app.protocols.uniswap_x.effects import UniswapXEffects
from tools_app.protocols.uniswap_x.promises import FILLED, UniswapXPromises
from tools_app.standards.permit2 import ALLOWANCE
from tools_app.standards.permit2_calls import APPROVE, LOCKDOWN
from tools_app.standards.permit2_nonces import INVALIDATE, INVALIDATED
from tools_app.toolkit.protocol import NOTHING_HELD, AskedRight, Contract, LeavingCall, ProtocolDef, Trait

_TAKING: Final = AskedRight(
    ENTRY,
    gives=APPROVE,
    taker=1,
    # Permit2 tells by a log that it was given, and by none that it was used up.
    asks=lambda account, arguments: (ALLOWANCE, (account, *arguments[:2])),
    ends=LOCKDOWN,
    end=lambda arguments: arguments if len(arguments) == 1 else ([tuple(arguments[:2])],),
    label="may take a token of the account through Permit2",
    is_signed_inside=True,
)

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label=LABEL,
    deployments=deployments,
    entry=ENTRY,
    # What is signed there stays in the account until it is filled.
    contracts=(
        Contract(
            ENTRY,
            "Permit2 (orders of UniswapX)",
            (INVALIDATE,),
            NOTHING_HELD,
            takes_tokens=True,
            takes_signed=True,
            besides=(APPROVE, LOCKDOWN),
        ),
    ),
    asked_rights=(_TAKING,),
    effects=UniswapXEffects(),
    promises=UniswapXPromises(),
    # A used nonce takes back what was signed with it, and gives nothing.
    leaving=(LeavingCall(ENTRY, INVALIDATE),),
    traits=frozenset({Trait.ASYNC}),
    events=(FILLED, INVALIDATED),
    errors=(
        "error InvalidNonce()",
        "error SignatureExpired(uint256 signatureDeadline)",
        "error InvalidCosignature()",
        "error NoExclusiveOverride()",
        "error DeadlineReached()",
        "error InvalidReactor()",
    ),
)

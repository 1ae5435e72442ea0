"""UniswapX as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap_x.addresses import ENTRY, LABEL, NAME, deployments
from tools_app.protocols.uniswap_x.effects import UniswapXEffects
from tools_app.protocols.uniswap_x.promises import FILLED, INVALIDATED, UniswapXPromises
from tools_app.toolkit.protocol import NOTHING_HELD, Contract, LeavingCall, ProtocolDef, Trait

INVALIDATE: Final = "function invalidateUnorderedNonces(uint256,uint256)"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label=LABEL,
    deployments=deployments,
    entry=ENTRY,
    # What is signed there stays in the account until it is filled.
    contracts=(Contract(ENTRY, "Permit2 (orders of UniswapX)", (INVALIDATE,), NOTHING_HELD, takes_tokens=True),),
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

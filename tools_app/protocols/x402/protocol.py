"""x402 as the product knows it: nothing there is ever called, and nothing is held there."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.x402.addresses import EXACT, LABEL, LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.x402.promises import Payments
from tools_app.standards.permit2_nonces import INVALIDATED
from tools_app.toolkit.protocol import ProtocolDef, Trait

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label=LABEL,
    deployments=deployments,
    entry=EXACT,
    promises=Payments(),
    traits=frozenset({Trait.ASYNC}),
    events=(INVALIDATED,),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
)

"""MetaMask's delegation framework as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.metamask.addresses import DELEGATOR, MANAGER, NAME, deployments
from tools_app.protocols.metamask.delegations import DISABLE, REDEEM
from tools_app.protocols.metamask.effects import RedemptionEffects
from tools_app.protocols.metamask.handed_on import Redelegations
from tools_app.protocols.metamask.received import Delegations
from tools_app.toolkit.protocol import NOTHING_HELD, Contract, LeavingCall, ProtocolDef

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="MetaMask delegations",
    deployments=deployments,
    entry=MANAGER,
    # Under a cage nothing is drawn: whose money it is no cage can tell.
    contracts=(Contract(MANAGER, "DelegationManager", (), NOTHING_HELD, besides=(REDEEM, DISABLE)),),
    effects=RedemptionEffects(),
    # What the account handed on, taken back: its own word alone, and a halt's.
    leaving=(LeavingCall(MANAGER, DISABLE, own=((0, 1),)),),
    received=Delegations(),
    promises=Redelegations(),
    account_code=DELEGATOR,
)

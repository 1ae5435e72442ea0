"""Generic ERC-4626 vaults as the product knows them."""

from __future__ import annotations

from tools_app.protocols.erc4626.addresses import ENTRY, NAME, deployments, find_vault
from tools_app.protocols.erc4626.effects import VaultEffects
from tools_app.protocols.erc4626.positions import POSITIONS, VaultExits
from tools_app.protocols.erc4626.yields import list_yields
from tools_app.standards.erc4626 import DEPOSIT_EVENT, TO_ASSETS, WITHDRAW_EVENT
from tools_app.standards.share_valuer import describe_share_valuer
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef

_DEPOSIT = "function deposit(uint256,address)"
_REDEEM = "function redeem(uint256,address,address)"
_VAULT = Contract(
    ENTRY,
    "ERC-4626 vault",
    (_DEPOSIT, _REDEEM),
    takes_tokens=True,
    valued_at=ENTRY,
    own={_DEPOSIT: ((1,),), _REDEEM: ((1,), (2,))},
)


def _underlying_of(chain_id: int, vault: str) -> str | None:
    found = find_vault(chain_id, vault)
    return None if found is None else found.asset


PROTOCOL = ProtocolDef(
    name=NAME,
    label="ERC-4626 vaults",
    deployments=deployments,
    entry=ENTRY,
    contracts=(_VAULT,),
    valuers=(describe_share_valuer(deployments, ENTRY, _underlying_of, worth_of=TO_ASSETS),),
    positions=POSITIONS,
    exits=VaultExits(),
    leaving=(LeavingCall(ENTRY, _REDEEM, own=((1,), (2,))),),
    effects=VaultEffects(),
    yields=list_yields,
    events=(DEPOSIT_EVENT, WITHDRAW_EVENT),
)

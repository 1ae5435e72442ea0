"""Yearn V3 as the product knows it."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.yearn.addresses import LOCAL_CHAIN_ID, NAME, USDC, deployments, find_vault
from tools_app.protocols.yearn.effects import VaultEffects
from tools_app.protocols.yearn.positions import POSITIONS, VaultExits
from tools_app.protocols.yearn.yields import list_yields
from tools_app.standards.cage_share_valuer import describe_share_valuer
from tools_app.standards.erc4626 import DEPOSIT_EVENT, TO_ASSETS, WITHDRAW_EVENT
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef

_DEPOSIT: Final = "function deposit(uint256,address)"
_REDEEM: Final = "function redeem(uint256,address,address,uint256)"


def _underlying_of(chain_id: int, vault: str) -> str | None:
    found = find_vault(chain_id, vault)
    return None if found is None else found.asset


PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Yearn V3",
    deployments=deployments,
    entry=USDC,
    contracts=(
        Contract(
            USDC,
            "Yearn V3 USDC vault",
            (_DEPOSIT, _REDEEM),
            takes_tokens=True,
            valued_at=USDC,
            own={_DEPOSIT: ((1,),), _REDEEM: ((1,), (2,))},
        ),
    ),
    valuers=(describe_share_valuer(deployments, USDC, _underlying_of, worth_of=TO_ASSETS),),
    has_doors=True,
    positions=POSITIONS,
    exits=VaultExits(),
    leaving=(LeavingCall(USDC, _REDEEM, own=((1,), (2,))),),
    effects=VaultEffects(),
    yields=list_yields,
    listed_as=("yearn-finance",),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(
        DEPOSIT_EVENT,
        WITHDRAW_EVENT,
        "event StrategyReported(address indexed strategy, uint256 gain, uint256 loss, uint256 current_debt,"
        " uint256 protocol_fees, uint256 total_fees, uint256 total_refunds)",
    ),
)
"""It reverts with sentences, not with errors."""

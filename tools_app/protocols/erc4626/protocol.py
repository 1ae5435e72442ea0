"""Generic ERC-4626 vaults as the product knows them."""

from __future__ import annotations

from tools_app.protocols.erc4626.addresses import ENTRY, NAME, REQUEST, SAVINGS, deployments, find_vault
from tools_app.protocols.erc4626.effects import VaultEffects
from tools_app.protocols.erc4626.positions import POSITIONS, VaultExits
from tools_app.protocols.erc4626.yields import list_yields
from tools_app.standards.cage_share_valuer import describe_share_valuer
from tools_app.standards.erc4626 import DEPOSIT_EVENT, TO_ASSETS, WITHDRAW_EVENT
from tools_app.standards.erc7540 import ASKED_IN_EVENT, ASKED_OUT_EVENT
from tools_app.standards.erc7540_takings import TAKEN_BACK_EVENT, RequestTakings
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef, Trait

_DEPOSIT = "function deposit(uint256,address)"
_REDEEM = "function redeem(uint256,address,address)"
_ASK_IN = "function requestDeposit(uint256,address,address)"
_ASK_OUT = "function requestRedeem(uint256,address,address)"
_CLAIM_IN = "function deposit(uint256,address,address)"
_TAKE_BACK = "function cancelRequestDeposit()"
_VAULTS = tuple(
    Contract(
        key,
        label,
        (_DEPOSIT, _REDEEM),
        takes_tokens=True,
        valued_at=key,
        own={_DEPOSIT: ((1,),), _REDEEM: ((1,), (2,))},
    )
    for key, label in ((ENTRY, "ERC-4626 vault"), (SAVINGS, "Sky sUSDS"))
)
_REQUEST_VAULT = Contract(
    REQUEST,
    "Vault by request",
    (_ASK_IN, _ASK_OUT, _CLAIM_IN, _REDEEM, _TAKE_BACK),
    takes_tokens=True,
    valued_at=NOT_UNDER_A_CAGE,
    own=dict.fromkeys((_ASK_IN, _ASK_OUT, _CLAIM_IN, _REDEEM), ((1,), (2,))),
)


def _underlying_of(chain_id: int, vault: str) -> str | None:
    found = find_vault(chain_id, vault)
    return None if found is None else found.asset


PROTOCOL = ProtocolDef(
    name=NAME,
    label="ERC-4626 vaults",
    deployments=deployments,
    entry=ENTRY,
    contracts=(*_VAULTS, _REQUEST_VAULT),
    valuers=tuple(describe_share_valuer(deployments, each.key, _underlying_of, worth_of=TO_ASSETS) for each in _VAULTS),
    has_doors=True,
    positions=POSITIONS,
    exits=VaultExits(),
    leaving=(
        *(LeavingCall(each.key, _REDEEM, own=((1,), (2,))) for each in _VAULTS),
        *(LeavingCall(REQUEST, each, own=((1,), (2,))) for each in (_ASK_OUT, _CLAIM_IN, _REDEEM)),
        # What is taken back comes to who asked.
        LeavingCall(REQUEST, _TAKE_BACK),
    ),
    effects=VaultEffects(),
    takings=RequestTakings(find_vault),
    yields=list_yields,
    listed_as=("sky-lending",),
    traits=frozenset({Trait.ASYNC}),
    events=(DEPOSIT_EVENT, WITHDRAW_EVENT, ASKED_IN_EVENT, ASKED_OUT_EVENT, TAKEN_BACK_EVENT),
    errors=(
        "error OnlyOneRequestAllowed()",
        "error RequestNotCancelable(uint256 requestId)",
        "error RequestIdNotClaimable()",
        "error OnlySyncDepositAllowed()",
        "error NotWhitelisted()",
        "error NotOpen(uint8 currentState)",
        "error EnforcedPause()",
    ),
    uncaged=(
        "at a vault by request what was asked for is in no balance of shares until it is claimed: a valuer of shares"
        " would count a request as a loss, and its end as a gain"
    ),
)

"""What the `eigenlayer_*` tools do on the local chain, whose strategies start with a guest's deposit."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.eigenlayer.addresses import DELEGATION, LOCAL_CHAIN_ID, MAGNITUDES, deployments
from tools_app.toolkit.case import Case, Look, ReadCase, Told
from tools_app.toolkit.enums import ActionClass

_WAD: Final = 10**18
_DAI: Final = 1_000 * _WAD
_OPERATOR: Final = "OPERATOR"
_AT: Final = deployments(LOCAL_CHAIN_ID) or {}
_STRATEGY: Final = _AT["strategy_dai"]
_NOBODY: Final = "0x" + "11" * 20

CASES: Final = (
    Case(
        "eigenlayer_deposit_lst",
        {"token": "DAI", "amount": str(_DAI)},
        ActionClass.NEW_POSITION,
        moves={"DAI": -_DAI},
        holds={"DAI": _DAI},
        tells={"shares_received": str(_DAI), "delegated_to": None, "slashing_risk": "none", "strategy": _STRATEGY},
        refuses=(
            ({"token": "USDC"}, "RESTAKING_STRATEGY_UNKNOWN"),
            ({"amount": "0"}, "INVALID_PARAMS"),
            ({"amount": str(10**25)}, "INSUFFICIENT_BALANCE"),
        ),
    ),
    Case(
        "eigenlayer_queue_withdrawal",
        {"strategies": [_STRATEGY], "shares": [str(_DAI // 2)]},
        ActionClass.DECREASE_POSITION,
        after=("eigenlayer_deposit_lst",),
        refuses=(
            ({"shares": [str(2 * _DAI)]}, "VAULT_SHARES_MISSING"),
            ({"shares": ["1", "1"]}, "VAULT_SHARES_MISSING"),
            ({"strategies": [_NOBODY]}, "VAULT_SHARES_MISSING"),
        ),
    ),
)

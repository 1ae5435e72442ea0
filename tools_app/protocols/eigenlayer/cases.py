"""Describes, case by case, what the `eigenlayer_*` tools do on the local chain, whose strategies start with a guest's
deposit.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.eigenlayer.addresses import DELEGATION, LOCAL_CHAIN_ID, deployments
from tools_app.toolkit.case import About, Case, FromReport, Leave, Look, PutIn, ReadCase, Together
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.enums import ActionClass

_WAD: Final = 10**18
_DAI: Final = 1_000 * _WAD
_OPERATOR: Final = "0x9EA558293A565E8fa0b70E554B3f7985f8DB1b98"
_PICKY: Final = "0xf32485908d43bb39ad90B35EE4295cF238407456"
_SERVICE: Final = "0xacEC24b8CB2a83B102AF6eB99783CDf6F22f382F"
"""Two operators and a service of the local chain: one operator takes anybody, the other whom it signed for."""
_STRATEGY: Final = (deployments(LOCAL_CHAIN_ID) or {})["strategy_dai"]
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
            ({"amount": str(10**25)}, "INSUFFICIENT_BALANCE"),
        ),
    ),
    Case(
        "eigenlayer_delegate",
        {"operator": _OPERATOR},
        ActionClass.REBALANCE,
        after=("eigenlayer_deposit_lst",),
        tells={"operator": _OPERATOR, "avs_count": 1},
        refuses=(
            ({"operator": _NOBODY}, "RESTAKING_OPERATOR_REFUSED"),
            ({"operator": _PICKY}, "RESTAKING_OPERATOR_REFUSED"),
        ),
    ),
    Case(
        "eigenlayer_undelegate",
        {},
        ActionClass.DECREASE_POSITION,
        after=("eigenlayer_delegate",),
        tells={"operator": None},
        refuses=(({"new_operator": _OPERATOR}, "RESTAKING_ALREADY_DELEGATED"),),
    ),
    Case(
        "eigenlayer_undelegate",
        {},
        ActionClass.DECREASE_POSITION,
        name="eigenlayer_undelegate_nobody",
        after=("eigenlayer_deposit_lst",),
        refused="RESTAKING_NOT_DELEGATED",
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
    Case(
        "eigenlayer_complete_withdrawal",
        {"withdrawal_root": FromReport("withdrawal_root")},
        ActionClass.CLOSE_POSITION,
        after=("eigenlayer_queue_withdrawal",),
        given=("sixty blocks have passed",),
        moves={"DAI": About(_DAI // 2, 1)},
        holds={"DAI": About(-_DAI // 2, 1)},
        refuses=(({"withdrawal_root": "0x" + "22" * 32}, "RESTAKING_WITHDRAWAL_UNKNOWN"),),
    ),
)

TOGETHER: Final = (
    Together(
        "eigenlayer_queue_withdrawal",
        {"shares": [str(600 * _WAD)]},
        {"shares": [str(700 * _WAD)]},
        {"shares": [str(300 * _WAD)]},
        before="eigenlayer_deposit_lst",
    ),
)
WALK: Final = (
    PutIn("eigenlayer_deposit_lst", "DAI", {"token": "DAI"}),
    Leave("eigenlayer_delegate", "DAI", {"operator": _OPERATOR}, parameter=""),
    Leave(
        "eigenlayer_queue_withdrawal",
        "DAI",
        {"strategies": [_STRATEGY]},
        parameter="shares",
        shaped=lambda raw: [raw],
    ),
    Leave("eigenlayer_undelegate", "DAI", parameter=""),
)


def _held(look: Look, key: str) -> AbiValue:
    view = f"function {key}(address) view returns (address[],uint256[])"
    return look.call(look.at(DELEGATION), view, look.account)[1][0]


READS: Final = (
    ReadCase(
        "eigenlayer_get_position",
        tells={
            "strategies.0.strategy": _STRATEGY,
            "strategies.0.shares": lambda look: _held(look, "getDepositedShares"),
            "delegated_to": None,
            "points_earned": None,
        },
        after=("eigenlayer_deposit_lst",),
        most_exchanges=8,
    ),
    ReadCase(
        "eigenlayer_get_operators",
        {"avs_filter": [_SERVICE]},
        {
            "operators.#": 1,
            "operators.0.address": _OPERATOR,
            "operators.0.avs_participation.0": _SERVICE,
            "operators.0.commission_rate": None,
        },
        most_exchanges=10,
    ),
    ReadCase(
        "eigenlayer_get_avs_list",
        tells={
            "avs_services[address=0xacEC24b8CB2a83B102AF6eB99783CDf6F22f382F].operator_count": 1,
        },
        most_exchanges=8,
    ),
)

"""Describes, case by case, what the `lrt_*` tools do on the local chain. All of it is ether in one form or another."""

from __future__ import annotations

from typing import Any, Final

from tools_app.toolkit.case import About, Case, FromReport, Look, PutIn, ReadCase, TakeOut, Together
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import decimals_text

_ETH: Final = 10**18
_FEW_WEI: Final = 16
_ALL_PAID: Final = "issuers of restaked ether paid every request"
_IN: Final = (
    ({"amount": str(500 * _ETH)}, "INSUFFICIENT_BALANCE"),
    ({"input_token": "USDC"}, "RESTAKING_INPUT_REFUSED"),
)
_OUT: Final = (({"amount": str(500 * _ETH)}, "INSUFFICIENT_BALANCE"),)


def _deposit(issuer: str, **more: Any) -> Case:  # Any: further fields of the case
    return Case(
        "lrt_deposit",
        {"amount": str(10 * _ETH), "protocol": issuer},
        ActionClass.NEW_POSITION,
        name=f"lrt_deposit_{issuer}",
        moves={"ETH": -10 * _ETH},
        holds={"ETH": 10 * _ETH},
        refuses=_IN,
        rounding=_FEW_WEI,
        **more,
    )


def _ask(issuer: str, tokens: int, **more: Any) -> Case:  # Any: further fields of the case
    return Case(
        "lrt_withdraw",
        {"amount": str(tokens), "protocol": issuer, "mode": "queue"},
        ActionClass.DECREASE_POSITION,
        name=f"lrt_withdraw_{issuer}",
        after=(f"lrt_deposit_{issuer}",),
        tells={"way": "queued", "eth_received": None, "fee_bps": 0},
        refuses=(*_OUT, *more.pop("refuses", ())),
        rounding=_FEW_WEI,
        **more,
    )


def _claim(issuer: str, ether: int) -> Case:
    return Case(
        "lrt_claim_withdrawal",
        {"request_id": FromReport("request_id")},
        ActionClass.CLOSE_POSITION,
        name=f"lrt_claim_{issuer}",
        after=(f"lrt_withdraw_{issuer}",),
        given=(_ALL_PAID,),
        moves={"ETH": About(ether, 1)},
        holds={"ETH": About(-ether, 1)},
        refuses=(({"request_id": f"{issuer}-999999"}, "RESTAKING_REQUEST_UNKNOWN"),),
        rounding=_FEW_WEI,
    )


CASES: Final = (
    _deposit("etherfi", tells={"lrt_token": "weETH", "exchange_rate": "1.08", "current_apy": None}),
    _deposit(
        "kelp",
        tells={"lrt_token": "rsETH", "exchange_rate": "1.06"},
        meaningless={
            ("depositETH(uint256,string)", 0): "a base unit less would do is within what the rate may move until then"
        },
    ),
    _deposit("renzo", tells={"lrt_token": "ezETH", "exchange_rate": "1.07"}),
    _ask(
        "etherfi",
        5 * _ETH,
        meaningless={
            ("unwrap(uint256)", 0): "weETH and eETH are one position: what is unwrapped and not asked back stays in it"
        },
    ),
    _ask("kelp", 5 * _ETH, refuses=(({"mode": "instant"}, "RESTAKING_NOT_PAID_AT_ONCE"),)),
    _ask("renzo", 5 * _ETH, refuses=(({"mode": "instant"}, "RESTAKING_NOT_PAID_AT_ONCE"),)),
    _claim("etherfi", 54 * _ETH // 10),
    _claim("kelp", 53 * _ETH // 10),
    _claim("renzo", 535 * _ETH // 100),
    Case(
        "lrt_withdraw",
        {"amount": str(5 * _ETH), "protocol": "etherfi"},
        ActionClass.DECREASE_POSITION,
        name="lrt_withdraw_at_once",
        after=("lrt_deposit_etherfi",),
        moves={"ETH": About(53838 * _ETH // 10_000, 1)},
        holds={"ETH": About(-54 * _ETH // 10, 1)},
        tells={"way": "redeemed", "request_id": None, "fee_bps": 30},
        loses_bps=40,
        rounding=_FEW_WEI,
    ),
)

TOGETHER: Final = (
    Together(
        "lrt_withdraw_kelp",
        {"amount": str(5 * _ETH)},
        {"amount": str(6 * _ETH)},
        {"amount": str(2 * _ETH)},
        before="lrt_deposit_kelp",
    ),
)
WALK: Final = (
    PutIn("lrt_deposit", "ETH", {"protocol": "kelp"}),
    TakeOut("lrt_withdraw", "rseth", "amount", {"protocol": "kelp", "mode": "queue"}),
)

_BALANCE: Final = "function balanceOf(address) view returns (uint256)"
_RATES: Final = {
    "weETH": ("weeth", "function getRate() view returns (uint256)"),
    "rsETH": ("kelp_oracle", "function rsETHPrice() view returns (uint256)"),
    "ezETH": ("renzo_manager", "function getRate() view returns (uint256)"),
}


def _rate(look: Look, symbol: str) -> int:
    key, view = _RATES[symbol]
    return int(look.call(look.at(key), view))


def _rate_text(look: Look, symbol: str) -> str:
    return decimals_text(_rate(look, symbol), _ETH, 18).rstrip("0")


def _worth(look: Look, symbol: str) -> int:
    return int(look.call(look.at(symbol.lower()), _BALANCE, look.account)) * _rate(look, symbol) // _ETH


READS: Final = (
    ReadCase(
        "lrt_get_apy",
        tells={
            "apys.#": 3,
            "apys[protocol=etherfi].exchange_rate": lambda look: _rate_text(look, "weETH"),
            "apys[protocol=kelp].exchange_rate": lambda look: _rate_text(look, "rsETH"),
            "apys[protocol=renzo].exchange_rate": lambda look: _rate_text(look, "ezETH"),
            "apys.0.restaking_apy": None,
        },
        most_exchanges=20,
    ),
    ReadCase(
        "lrt_get_position",
        tells={
            "holdings.#": 2,
            "holdings[protocol=kelp].balance_eth": lambda look: _worth(look, "rsETH"),
            "holdings[protocol=renzo].balance_eth": lambda look: _worth(look, "ezETH"),
            "holdings.0.points_earned": None,
            "pending_withdrawals.#": 1,
            "pending_withdrawals.0.eth": About(53 * _ETH // 10, 1),
            "pending_withdrawals.0.is_claimable": False,
        },
        after=("lrt_withdraw_kelp", "lrt_deposit_renzo"),
        most_exchanges=20,
    ),
    ReadCase(
        "lrt_get_depeg_risk",
        {"protocol": "kelp"},
        {
            "lrt_symbol": "rsETH",
            "exchange_rate": lambda look: _rate_text(look, "rsETH"),
            "risk_level": "low",
            "withdrawal_queue_depth": "0",
            "slashing_exposure.#": 0,
        },
        most_exchanges=25,
    ),
)

"""The calls to Morpho Blue, and what each promises to change in the account's position.

Promises leave room for what happens until the transaction runs: interest of `SETTLING_SECONDS` at twice the rate, and
a base unit or two of rounding.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_units
from tools_app.protocols.morpho_blue import math
from tools_app.protocols.morpho_blue.addresses import NAME
from tools_app.protocols.morpho_blue.market import Market, MarketParams
from tools_app.protocols.morpho_blue.positions import KIND, ref_of
from tools_app.protocols.morpho_blue.reads import PARAMS
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.views import TokenMeta

SUPPLY: Final = f"function supply({PARAMS} marketParams, uint256 assets, uint256 shares, address onBehalf, bytes data)"
WITHDRAW: Final = (
    f"function withdraw({PARAMS} marketParams, uint256 assets, uint256 shares, address onBehalf, address receiver)"
)
BORROW: Final = (
    f"function borrow({PARAMS} marketParams, uint256 assets, uint256 shares, address onBehalf, address receiver)"
)
REPAY: Final = f"function repay({PARAMS} marketParams, uint256 assets, uint256 shares, address onBehalf, bytes data)"
PLEDGE: Final = f"function supplyCollateral({PARAMS} marketParams, uint256 assets, address onBehalf, bytes data)"
RELEASE: Final = (
    f"function withdrawCollateral({PARAMS} marketParams, uint256 assets, address onBehalf, address receiver)"
)
LIQUIDATE: Final = (
    f"function liquidate({PARAMS} marketParams, address borrower, uint256 seizedAssets, uint256 repaidShares,"
    " bytes data)"
)

SETTLING_SECONDS: Final = 3_600
ROUNDING: Final = 2


def settle(market: Market, assets: int) -> int:
    """The most that so much may grow by until the transaction runs."""
    return math.growth(assets, 2 * market.rate, SETTLING_SECONDS) + ROUNDING


def supply(morpho: str, params: MarketParams, token: TokenMeta, amount: int, account: str) -> Call:
    """Lend `amount` of the loan token."""
    return _call(morpho, SUPPLY, params, amount, 0, account, b"", label=f"Lend {_shown(amount, token)} at Morpho")


def withdraw(morpho: str, params: MarketParams, token: TokenMeta, *, amount: int, shares: int, account: str) -> Call:
    """Take back what is lent: `amount` base units, or all of `shares`."""
    label = f"Take back {_shown(amount, token)} lent at Morpho" if amount else f"Take back all {token.symbol} lent"
    return _call(morpho, WITHDRAW, params, amount, shares, account, account, label=label)


def borrow(morpho: str, params: MarketParams, token: TokenMeta, amount: int, account: str) -> Call:
    """Borrow `amount` of the loan token."""
    label = f"Borrow {_shown(amount, token)} at Morpho"
    return _call(morpho, BORROW, params, amount, 0, account, account, label=label)


def repay(morpho: str, params: MarketParams, token: TokenMeta, *, amount: int, shares: int, account: str) -> Call:
    """Pay back `amount` base units, or all of `shares`."""
    label = f"Repay {_shown(amount, token)} at Morpho" if amount else f"Repay all {token.symbol} owed at Morpho"
    return _call(morpho, REPAY, params, amount, shares, account, b"", label=label)


def pledge(morpho: str, params: MarketParams, token: TokenMeta, amount: int, account: str) -> Call:
    """Put in `amount` of collateral."""
    label = f"Put {_shown(amount, token)} as collateral into Morpho"
    return _call(morpho, PLEDGE, params, amount, account, b"", label=label)


def release(morpho: str, params: MarketParams, token: TokenMeta, amount: int, account: str) -> Call:
    """Take out `amount` of collateral."""
    label = f"Take {_shown(amount, token)} of collateral out of Morpho"
    return _call(morpho, RELEASE, params, amount, account, account, label=label)


def liquidate(morpho: str, params: MarketParams, token: TokenMeta, seized: int, borrower: str) -> Call:
    """Pay a borrower's debt for so much of the borrower's collateral."""
    label = f"Liquidate {borrower} for {_shown(seized, token)} at Morpho"
    return _call(morpho, LIQUIDATE, params, borrower, seized, 0, b"", label=label)


def change(
    chain_id: int, market: Market, token: str, expected: int, bound: int, *, least_health_bps: int | None = None
) -> PositionChange:
    """What is promised of the account's position in `market`, in base units of a token, signed as its legs are."""
    return PositionChange(
        protocol=NAME,
        kind=KIND,
        token=token,
        expected=expected,
        bound=bound,
        ref=ref_of(chain_id, market.id),
        least_health_bps=least_health_bps,
    )


def _call(morpho: str, signature: str, params: MarketParams, *arguments: int | str | bytes, label: str) -> Call:
    return Call(morpho, encode_call(signature, params.as_tuple, *arguments), 0, label)


def _shown(amount: int, token: TokenMeta) -> str:
    return format_units(amount, token.decimals, token.symbol)

"""Signatures of Moonwell's contracts, which are those of Compound V2 with rates by the second, and their scales."""

from __future__ import annotations

from typing import Final

MINT: Final = "function mint(uint256 amount) returns (uint256)"
REDEEM: Final = "function redeem(uint256 tokens) returns (uint256)"
REDEEM_UNDERLYING: Final = "function redeemUnderlying(uint256 amount) returns (uint256)"
BORROW: Final = "function borrow(uint256 amount) returns (uint256)"
REPAY: Final = "function repayBorrow(uint256 amount) returns (uint256)"
ENTER: Final = "function enterMarkets(address[] markets) returns (uint256[])"
CLAIM: Final = "function claimReward(address holder, address[] markets)"

OWED: Final = "function borrowBalanceStored(address account) view returns (uint256)"
ASSETS_IN: Final = "function getAssetsIn(address account) view returns (address[])"
# Not views at the contract: asked without a transaction they bring interest up to date and keep none of it.
RATE_NOW: Final = "function exchangeRateCurrent() returns (uint256)"
OWED_NOW: Final = "function borrowBalanceCurrent(address account) returns (uint256)"
CASH: Final = "function getCash() view returns (uint256)"
BORROWED: Final = "function totalBorrows() view returns (uint256)"
RESERVES: Final = "function totalReserves() view returns (uint256)"
SUPPLY_RATE: Final = "function supplyRatePerTimestamp() view returns (uint256)"
BORROW_RATE: Final = "function borrowRatePerTimestamp() view returns (uint256)"
ABOUT: Final = "function markets(address market) view returns (bool isListed, uint256 collateralFactorMantissa)"
PRICE: Final = "function getUnderlyingPrice(address market) view returns (uint256)"
SUPPLY_CAP: Final = "function supplyCaps(address market) view returns (uint256)"
BORROW_CAP: Final = "function borrowCaps(address market) view returns (uint256)"
MINT_PAUSED: Final = "function mintGuardianPaused(address market) view returns (bool)"
BORROW_PAUSED: Final = "function borrowGuardianPaused(address market) view returns (bool)"
REWARDS_DUE: Final = (
    "function getOutstandingRewardsForUser(address market, address user) view returns"
    " ((address emissionToken, uint256 totalAmount, uint256 supplySide, uint256 borrowSide)[] due)"
)

EVENTS: Final = (
    "event Mint(address minter, uint256 mintAmount, uint256 mintTokens)",
    "event Redeem(address redeemer, uint256 redeemAmount, uint256 redeemTokens)",
    "event Borrow(address borrower, uint256 borrowAmount, uint256 accountBorrows, uint256 totalBorrows)",
    "event RepayBorrow(address payer, address borrower, uint256 repayAmount, uint256 accountBorrows,"
    " uint256 totalBorrows)",
    "event MarketEntered(address mToken, address account)",
    "event Failure(uint256 error, uint256 info, uint256 detail)",
)

EVERYTHING: Final = 2**256 - 1
FACTOR: Final = 10**18
SECONDS_PER_YEAR: Final = 31_536_000

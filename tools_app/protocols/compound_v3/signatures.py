"""Signatures of Compound V3's contracts, and the scales of what they tell."""

from __future__ import annotations

from typing import Final

SUPPLY: Final = "function supply(address asset, uint256 amount)"
WITHDRAW: Final = "function withdraw(address asset, uint256 amount)"
CLAIM: Final = "function claim(address comet, address src, bool shouldAccrue)"

BALANCE: Final = "function balanceOf(address account) view returns (uint256)"
OWED: Final = "function borrowBalanceOf(address account) view returns (uint256)"
COVER: Final = "function collateralBalanceOf(address account, address asset) view returns (uint128)"
BASIC: Final = (
    "function userBasic(address account) view returns (int104 principal, uint64 baseTrackingIndex,"
    " uint64 baseTrackingAccrued, uint16 assetsIn, uint8 _reserved)"
)
REWARD_OWED: Final = "function getRewardOwed(address comet, address account) returns ((address token, uint256 owed))"
COUNT: Final = "function numAssets() view returns (uint8)"
ASSET: Final = (
    "function getAssetInfo(uint8 i) view returns ((uint8 offset, address asset, address priceFeed, uint64 scale,"
    " uint64 borrowCollateralFactor, uint64 liquidateCollateralFactor, uint64 liquidationFactor, uint128 supplyCap))"
)
COVERS: Final = "function totalsCollateral(address asset) view returns (uint128 totalSupplyAsset, uint128 _reserved)"
PRICE: Final = "function getPrice(address priceFeed) view returns (uint256)"
BASE_FEED: Final = "function baseTokenPriceFeed() view returns (address)"
UTILIZATION: Final = "function getUtilization() view returns (uint256)"
SUPPLY_RATE: Final = "function getSupplyRate(uint256 utilization) view returns (uint64)"
BORROW_RATE: Final = "function getBorrowRate(uint256 utilization) view returns (uint64)"
SUPPLIED: Final = "function totalSupply() view returns (uint256)"
BORROWED: Final = "function totalBorrow() view returns (uint256)"
SUPPLY_PAUSED: Final = "function isSupplyPaused() view returns (bool)"
WITHDRAW_PAUSED: Final = "function isWithdrawPaused() view returns (bool)"
BASE_SCALE: Final = "function baseScale() view returns (uint256)"
LEAST_DEBT: Final = "function baseBorrowMin() view returns (uint256)"
SUPPLY_SPEED: Final = "function baseTrackingSupplySpeed() view returns (uint256)"

EVENTS: Final = (
    "event Supply(address indexed from, address indexed dst, uint256 amount)",
    "event Withdraw(address indexed src, address indexed to, uint256 amount)",
    "event SupplyCollateral(address indexed from, address indexed dst, address indexed asset, uint256 amount)",
    "event WithdrawCollateral(address indexed src, address indexed to, address indexed asset, uint256 amount)",
    "event AbsorbDebt(address indexed absorber, address indexed borrower, uint256 basePaidOut, uint256 usdValue)",
    "event AbsorbCollateral(address indexed absorber, address indexed borrower, address indexed asset,"
    " uint256 collateralAbsorbed, uint256 usdValue)",
    "event RewardClaimed(address indexed src, address indexed recipient, address indexed token, uint256 amount)",
)
ERRORS: Final = (
    "error BadAsset()",
    "error BorrowTooSmall()",
    "error NotCollateralized()",
    "error Paused()",
    "error SupplyCapExceeded()",
    "error TransferInFailed()",
    "error TransferOutFailed()",
    "error Unauthorized()",
)

EVERYTHING: Final = 2**256 - 1
FACTOR: Final = 10**18
SECONDS_PER_YEAR: Final = 31_536_000

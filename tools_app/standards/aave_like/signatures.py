"""Signatures of Aave V3's contracts that stay the same over all its versions, and the words of its bitmaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SUPPLY: Final = "function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)"
WITHDRAW: Final = "function withdraw(address asset, uint256 amount, address to) returns (uint256)"
BORROW: Final = (
    "function borrow(address asset, uint256 amount, uint256 interestRateMode, uint16 referralCode, address onBehalfOf)"
)
REPAY: Final = (
    "function repay(address asset, uint256 amount, uint256 interestRateMode, address onBehalfOf) returns (uint256)"
)
USE_AS_COLLATERAL: Final = "function setUserUseReserveAsCollateral(address asset, bool useAsCollateral)"
EXECUTE_OPERATION: Final = (
    "function executeOperation(address asset, uint256 amount, uint256 premium, address initiator, bytes params)"
    " view returns (bool)"
)
FLASH_LOAN_SIMPLE: Final = (
    "function flashLoanSimple(address receiverAddress, address asset, uint256 amount,"
    " bytes params, uint16 referralCode)"
)
APPROVE_DELEGATION: Final = "function approveDelegation(address delegatee, uint256 amount)"

RESERVES_LIST: Final = "function getReservesList() view returns (address[])"
RESERVE_BY_ID: Final = "function getReserveAddressById(uint16 id) view returns (address)"
ACCOUNT_DATA: Final = (
    "function getUserAccountData(address user) view returns (uint256 totalCollateralBase, uint256 totalDebtBase,"
    " uint256 availableBorrowsBase, uint256 currentLiquidationThreshold, uint256 ltv, uint256 healthFactor)"
)
USER_E_MODE: Final = "function getUserEMode(address user) view returns (uint256)"
USER_CONFIGURATION: Final = "function getUserConfiguration(address user) view returns (uint256)"
E_MODE: Final = (
    "function getEModeCategoryData(uint8 id) view returns ((uint16 ltv, uint16 liquidationThreshold,"
    " uint16 liquidationBonus, address priceSource, string label) category)"
)
E_MODE_COLLATERALS: Final = "function getEModeCategoryCollateralBitmap(uint8 id) view returns (uint128)"
E_MODE_BORROWABLES: Final = "function getEModeCategoryBorrowableBitmap(uint8 id) view returns (uint128)"
RESERVE: Final = (
    "function getReserveData(address asset) view returns ((uint256 configuration, uint128 liquidityIndex,"
    " uint128 currentLiquidityRate, uint128 variableBorrowIndex, uint128 currentVariableBorrowRate,"
    " uint128 currentStableBorrowRate, uint40 lastUpdateTimestamp, uint16 id, address aToken, address stableDebt,"
    " address variableDebt, address strategy, uint128 accruedToTreasury, uint128 unbacked,"
    " uint128 isolationModeTotalDebt) data)"
)
FLASH_PREMIUM: Final = "function FLASHLOAN_PREMIUM_TOTAL() view returns (uint128)"
RESERVE_TOTALS: Final = (
    "function getReserveData(address asset) view returns (uint256 unbacked, uint256 accruedToTreasuryScaled,"
    " uint256 totalAToken, uint256 totalStableDebt, uint256 totalVariableDebt, uint256 liquidityRate,"
    " uint256 variableBorrowRate, uint256 stableBorrowRate, uint256 averageStableBorrowRate, uint256 liquidityIndex,"
    " uint256 variableBorrowIndex, uint40 lastUpdateTimestamp)"
)
USER_RESERVE: Final = (
    "function getUserReserveData(address asset, address user) view returns (uint256 currentATokenBalance,"
    " uint256 currentStableDebt, uint256 currentVariableDebt, uint256 principalStableDebt, uint256 scaledVariableDebt,"
    " uint256 stableBorrowRate, uint256 liquidityRate, uint40 stableRateLastUpdated, bool usageAsCollateralEnabled)"
)
IS_COLLATERAL: Final = 8
"""The place of that answer in what USER_RESERVE reads."""
ASSET_PRICE: Final = "function getAssetPrice(address asset) view returns (uint256)"
ASSET_SOURCE: Final = "function getSourceOfAsset(address asset) view returns (address)"

RATES_UPDATED: Final = (
    "event ReserveDataUpdated(address indexed reserve, uint256 liquidityRate, uint256 stableBorrowRate,"
    " uint256 variableBorrowRate, uint256 liquidityIndex, uint256 variableBorrowIndex)"
)
EVENTS: Final = (
    "event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,"
    " uint16 indexed referralCode)",
    "event Withdraw(address indexed reserve, address indexed user, address indexed to, uint256 amount)",
    "event Borrow(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,"
    " uint8 interestRateMode, uint256 borrowRate, uint16 indexed referralCode)",
    "event Repay(address indexed reserve, address indexed user, address indexed repayer, uint256 amount,"
    " bool useATokens)",
    "event ReserveUsedAsCollateralEnabled(address indexed reserve, address indexed user)",
    "event ReserveUsedAsCollateralDisabled(address indexed reserve, address indexed user)",
    "event LiquidationCall(address indexed collateralAsset, address indexed debtAsset, address indexed user,"
    " uint256 debtToCover, uint256 liquidatedCollateralAmount, address liquidator, bool receiveAToken)",
    RATES_UPDATED,
)
SUPPLIED, WITHDRAWN, BORROWED, REPAID = EVENTS[:4]
DELEGATED: Final = "BorrowAllowanceDelegated(address,address,address,uint256)"

EVERYTHING: Final = 2**256 - 1
STABLE, VARIABLE = 1, 2
MODES: Final = {"stable": STABLE, "variable": VARIABLE}
RAY: Final = 10**27
WAD: Final = 10**18
BASE_UNIT: Final = 10**8
"""The oracle's US dollars have 8 decimals."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A reserve's bitmap. Fractions are basis points, caps whole tokens, the debt ceiling hundredths of a dollar."""

    data: int

    def _bits(self, start: int, length: int) -> int:
        return self.data >> start & (1 << length) - 1

    @property
    def ltv_bps(self) -> int:
        return self._bits(0, 16)

    @property
    def threshold_bps(self) -> int:
        return self._bits(16, 16)

    @property
    def decimals(self) -> int:
        return self._bits(48, 8)

    @property
    def is_active(self) -> bool:
        return bool(self._bits(56, 1))

    @property
    def is_frozen(self) -> bool:
        return bool(self._bits(57, 1))

    @property
    def is_borrowable(self) -> bool:
        return bool(self._bits(58, 1))

    @property
    def has_stable_rate(self) -> bool:
        return bool(self._bits(59, 1))

    @property
    def is_paused(self) -> bool:
        return bool(self._bits(60, 1))

    @property
    def is_borrowable_in_isolation(self) -> bool:
        return bool(self._bits(61, 1))

    @property
    def has_flash_loans(self) -> bool:
        return bool(self._bits(63, 1))

    @property
    def borrow_cap(self) -> int:
        return self._bits(80, 36)

    @property
    def supply_cap(self) -> int:
        return self._bits(116, 36)

    @property
    def e_mode(self) -> int:
        """The category of the versions in which a reserve has one of its own."""
        return self._bits(168, 8)

    @property
    def debt_ceiling(self) -> int:
        return self._bits(212, 40)

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ICometAsset {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface ICometFeed {
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80);
}

/// @title A simulated contract: a market of Compound V3 for the local chain (31337), with the interface of the real one
/// @notice One asset is lent, and others cover debts in it. `supply` of the base asset repays and then lends, `withdraw`
/// of it takes out and then borrows; of the base asset the largest number means all that is owed, or all that is lent.
contract SimulatedComet {
    struct AssetInfo {
        uint8 offset;
        address asset;
        address priceFeed;
        uint64 scale;
        uint64 borrowCollateralFactor;
        uint64 liquidateCollateralFactor;
        uint64 liquidationFactor;
        uint128 supplyCap;
    }

    struct UserBasic {
        int104 principal;
        uint64 baseTrackingIndex;
        uint64 baseTrackingAccrued;
        uint16 assetsIn;
        uint8 _reserved;
    }

    struct TotalsCollateral {
        uint128 totalSupplyAsset;
        uint128 _reserved;
    }

    uint256 private constant INDEX_SCALE = 1e15;
    uint256 private constant FACTOR_SCALE = 1e18;
    uint256 public constant trackingIndexScale = 1e15;
    /// @dev Yearly rates of the base asset where nothing and where all of it is lent out, per second and 1e18.
    uint256 private constant RATE_LOW = 317_097_919;
    uint256 private constant RATE_SLOPE = 1_585_489_599;
    uint256 private constant RATE_STEEP = 31_709_791_983;
    uint256 private constant KINK = 9e17;
    uint256 private constant SUPPLY_PART = 9e17;

    address public immutable governor;
    address public immutable baseToken;
    address public immutable baseTokenPriceFeed;
    uint256 public immutable baseScale;
    uint256 public immutable baseBorrowMin;
    uint256 public immutable baseTrackingSupplySpeed;
    uint256 public immutable baseTrackingBorrowSpeed;
    uint8 public immutable numAssets;

    AssetInfo[] private assets;
    uint256 private baseSupplyIndex = INDEX_SCALE;
    uint256 private baseBorrowIndex = INDEX_SCALE;
    uint256 private trackingSupplyIndex;
    uint256 private trackingBorrowIndex;
    uint256 private totalSupplyBase;
    uint256 private totalBorrowBase;
    uint256 private lastAccrualTime;
    bool public isSupplyPaused;
    bool public isWithdrawPaused;

    mapping(address account => UserBasic) public userBasic;
    mapping(address account => mapping(address asset => uint128)) private covers;
    mapping(address asset => TotalsCollateral) public totalsCollateral;
    mapping(address owner => mapping(address manager => bool)) public isAllowed;

    event Supply(address indexed from, address indexed dst, uint256 amount);
    event Withdraw(address indexed src, address indexed to, uint256 amount);
    event SupplyCollateral(address indexed from, address indexed dst, address indexed asset, uint256 amount);
    event WithdrawCollateral(address indexed src, address indexed to, address indexed asset, uint256 amount);

    error BadAsset();
    error BorrowTooSmall();
    error InvalidInt104();
    error InvalidUInt128();
    error NotCollateralized();
    error Paused();
    error SupplyCapExceeded();
    error TransferInFailed();
    error TransferOutFailed();
    error Unauthorized();

    constructor(
        address baseToken_,
        address feed,
        uint256 baseScale_,
        uint256 borrowMin,
        uint256 supplySpeed,
        uint256 borrowSpeed,
        AssetInfo[] memory assets_
    ) {
        (governor, baseToken, baseTokenPriceFeed) = (msg.sender, baseToken_, feed);
        (baseScale, baseBorrowMin) = (baseScale_, borrowMin);
        (baseTrackingSupplySpeed, baseTrackingBorrowSpeed) = (supplySpeed, borrowSpeed);
        numAssets = uint8(assets_.length);
        for (uint256 i = 0; i < assets_.length; ++i) {
            assets.push(assets_[i]);
        }
        lastAccrualTime = block.timestamp;
    }

    function pause(bool supplyPaused, bool transferPaused, bool withdrawPaused, bool, bool) external {
        if (msg.sender != governor) revert Unauthorized();
        transferPaused;
        (isSupplyPaused, isWithdrawPaused) = (supplyPaused, withdrawPaused);
    }

    function allow(address manager, bool isAllowed_) external {
        isAllowed[msg.sender][manager] = isAllowed_;
    }

    function supply(address asset, uint256 amount) external {
        if (isSupplyPaused) revert Paused();
        if (asset == baseToken) {
            if (amount == type(uint256).max) amount = borrowBalanceOf(msg.sender);
            accrueAccount(msg.sender);
            uint128 put = _narrow(amount);
            _take(asset, amount);
            _setBalance(msg.sender, _presentOf(msg.sender) + int256(uint256(put)));
            emit Supply(msg.sender, msg.sender, amount);
            return;
        }
        AssetInfo memory info = getAssetInfoByAddress(asset);
        uint128 put = _narrow(amount);
        TotalsCollateral storage totals = totalsCollateral[asset];
        totals.totalSupplyAsset += put;
        if (totals.totalSupplyAsset > info.supplyCap) revert SupplyCapExceeded();
        _take(asset, amount);
        covers[msg.sender][asset] += put;
        userBasic[msg.sender].assetsIn |= uint16(1) << info.offset;
        emit SupplyCollateral(msg.sender, msg.sender, asset, amount);
    }

    function withdraw(address asset, uint256 amount) external {
        if (isWithdrawPaused) revert Paused();
        if (asset == baseToken) {
            if (amount == type(uint256).max) amount = balanceOf(msg.sender);
            accrueAccount(msg.sender);
            int256 left = _presentOf(msg.sender) - int256(uint256(_narrow(amount)));
            _setBalance(msg.sender, left);
            if (left < 0) {
                if (uint256(-left) < baseBorrowMin) revert BorrowTooSmall();
                if (!isBorrowCollateralized(msg.sender)) revert NotCollateralized();
            }
            _give(asset, amount);
            emit Withdraw(msg.sender, msg.sender, amount);
            return;
        }
        AssetInfo memory info = getAssetInfoByAddress(asset);
        accrueAccount(msg.sender);
        uint128 taken = _narrow(amount);
        covers[msg.sender][asset] -= taken;
        totalsCollateral[asset].totalSupplyAsset -= taken;
        if (covers[msg.sender][asset] == 0) userBasic[msg.sender].assetsIn &= ~(uint16(1) << info.offset);
        if (!isBorrowCollateralized(msg.sender)) revert NotCollateralized();
        _give(asset, amount);
        emit WithdrawCollateral(msg.sender, msg.sender, asset, amount);
    }

    function accrueAccount(address account) public {
        _accrue();
        UserBasic storage basic = userBasic[account];
        uint256 index = basic.principal >= 0 ? trackingSupplyIndex : trackingBorrowIndex;
        basic.baseTrackingAccrued = uint64(_trackedOf(account));
        basic.baseTrackingIndex = uint64(index);
    }

    function balanceOf(address account) public view returns (uint256) {
        (uint256 index,) = _indices();
        int104 principal = userBasic[account].principal;
        return principal > 0 ? uint256(int256(principal)) * index / INDEX_SCALE : 0;
    }

    function borrowBalanceOf(address account) public view returns (uint256) {
        (, uint256 index) = _indices();
        int104 principal = userBasic[account].principal;
        return principal < 0 ? uint256(-int256(principal)) * index / INDEX_SCALE : 0;
    }

    function collateralBalanceOf(address account, address asset) external view returns (uint128) {
        return covers[account][asset];
    }

    function totalSupply() public view returns (uint256) {
        (uint256 index,) = _indices();
        return totalSupplyBase * index / INDEX_SCALE;
    }

    function totalBorrow() public view returns (uint256) {
        (, uint256 index) = _indices();
        return totalBorrowBase * index / INDEX_SCALE;
    }

    function getAssetInfo(uint8 i) public view returns (AssetInfo memory) {
        if (i >= assets.length) revert BadAsset();
        return assets[i];
    }

    function getAssetInfoByAddress(address asset) public view returns (AssetInfo memory) {
        for (uint256 i = 0; i < assets.length; ++i) {
            if (assets[i].asset == asset) return assets[i];
        }
        revert BadAsset();
    }

    function getPrice(address priceFeed) public view returns (uint256) {
        (, int256 answer,,,) = ICometFeed(priceFeed).latestRoundData();
        return uint256(answer);
    }

    function getUtilization() public view returns (uint256) {
        uint256 supplied = totalSupply();
        return supplied == 0 ? 0 : totalBorrow() * FACTOR_SCALE / supplied;
    }

    function getBorrowRate(uint256 utilization) public pure returns (uint64) {
        uint256 low = utilization < KINK ? utilization : KINK;
        uint256 rate = RATE_LOW + RATE_SLOPE * low / FACTOR_SCALE;
        if (utilization > KINK) rate += RATE_STEEP * (utilization - KINK) / FACTOR_SCALE;
        return uint64(rate);
    }

    function getSupplyRate(uint256 utilization) public pure returns (uint64) {
        return uint64(uint256(getBorrowRate(utilization)) * utilization / FACTOR_SCALE * SUPPLY_PART / FACTOR_SCALE);
    }

    function isBorrowCollateralized(address account) public view returns (bool) {
        return _isCovered(account, true);
    }

    function isLiquidatable(address account) external view returns (bool) {
        return !_isCovered(account, false);
    }

    /// @dev What the rewards contract asks for, in millionths of a token.
    function baseTrackingAccrued(address account) external view returns (uint64) {
        return userBasic[account].baseTrackingAccrued;
    }

    function _isCovered(address account, bool toBorrow) private view returns (bool) {
        uint256 owed = borrowBalanceOf(account);
        if (owed == 0) return true;
        uint256 debt = owed * getPrice(baseTokenPriceFeed) * FACTOR_SCALE / baseScale;
        uint256 cover = 0;
        for (uint256 i = 0; i < assets.length; ++i) {
            uint256 held = covers[account][assets[i].asset];
            if (held == 0) continue;
            uint256 factor = toBorrow ? assets[i].borrowCollateralFactor : assets[i].liquidateCollateralFactor;
            cover += held * getPrice(assets[i].priceFeed) / assets[i].scale * factor;
        }
        return cover >= debt;
    }

    function _indices() private view returns (uint256 supplyIndex, uint256 borrowIndex) {
        (supplyIndex, borrowIndex) = (baseSupplyIndex, baseBorrowIndex);
        uint256 elapsed = block.timestamp - lastAccrualTime;
        if (elapsed == 0 || totalSupplyBase == 0) return (supplyIndex, borrowIndex);
        uint256 utilization =
            totalBorrowBase * borrowIndex / INDEX_SCALE * FACTOR_SCALE / (totalSupplyBase * supplyIndex / INDEX_SCALE);
        supplyIndex += supplyIndex * getSupplyRate(utilization) * elapsed / FACTOR_SCALE;
        borrowIndex += borrowIndex * getBorrowRate(utilization) * elapsed / FACTOR_SCALE;
    }

    function _accrue() private {
        uint256 elapsed = block.timestamp - lastAccrualTime;
        if (elapsed == 0) return;
        (uint256 supplyIndex, uint256 borrowIndex) = _indices();
        if (totalSupplyBase != 0) trackingSupplyIndex += baseTrackingSupplySpeed * elapsed * baseScale / totalSupplyBase;
        if (totalBorrowBase != 0) trackingBorrowIndex += baseTrackingBorrowSpeed * elapsed * baseScale / totalBorrowBase;
        (baseSupplyIndex, baseBorrowIndex, lastAccrualTime) = (supplyIndex, borrowIndex, block.timestamp);
    }

    /// @dev Right after `_accrue`, with six decimals.
    function _trackedOf(address account) private view returns (uint256) {
        UserBasic storage basic = userBasic[account];
        bool lends = basic.principal >= 0;
        uint256 size = uint256(lends ? int256(basic.principal) : -int256(basic.principal));
        uint256 grown = (lends ? trackingSupplyIndex : trackingBorrowIndex) - basic.baseTrackingIndex;
        return basic.baseTrackingAccrued + size * grown / trackingIndexScale * 1e6 / baseScale;
    }

    function _presentOf(address account) private view returns (int256) {
        int256 principal = userBasic[account].principal;
        return principal >= 0
            ? principal * int256(baseSupplyIndex) / int256(INDEX_SCALE)
            : principal * int256(baseBorrowIndex) / int256(INDEX_SCALE);
    }

    /// @dev What is lent rounds down, what is owed up.
    function _setBalance(address account, int256 present) private {
        UserBasic storage basic = userBasic[account];
        int256 before = basic.principal;
        if (before > 0) totalSupplyBase -= uint256(before);
        else totalBorrowBase -= uint256(-before);
        int256 principal = present >= 0
            ? present * int256(INDEX_SCALE) / int256(baseSupplyIndex)
            : -((-present * int256(INDEX_SCALE) + int256(baseBorrowIndex) - 1) / int256(baseBorrowIndex));
        if (principal > 0) totalSupplyBase += uint256(principal);
        else totalBorrowBase += uint256(-principal);
        if (principal != int104(principal)) revert InvalidInt104();
        basic.principal = int104(principal);
        if ((before >= 0) != (principal >= 0)) {
            basic.baseTrackingIndex = uint64(principal >= 0 ? trackingSupplyIndex : trackingBorrowIndex);
        }
    }

    /// @dev A number that does not fit is refused, never cut short.
    function _narrow(uint256 amount) private pure returns (uint128 same) {
        same = uint128(amount);
        if (same != amount) revert InvalidUInt128();
    }

    function _take(address asset, uint256 amount) private {
        if (!ICometAsset(asset).transferFrom(msg.sender, address(this), amount)) revert TransferInFailed();
    }

    function _give(address asset, uint256 amount) private {
        if (!ICometAsset(asset).transfer(msg.sender, amount)) revert TransferOutFailed();
    }
}

/// @title A simulated contract: what Compound V3 pays beside interest, for the local chain (31337)
contract SimulatedCometRewards {
    struct RewardOwed {
        address token;
        uint256 owed;
    }

    address public immutable market;
    address public immutable token;
    uint256 public immutable unit;
    mapping(address comet => mapping(address account => uint256)) public rewardsClaimed;

    event RewardClaimed(address indexed src, address indexed recipient, address indexed token, uint256 amount);

    error NotSupported(address comet);
    error TransferOutFailed(address to, uint256 amount);

    /// @param unit_ base units of the reward for a millionth of a token that the market counts.
    constructor(address market_, address token_, uint256 unit_) {
        (market, token, unit) = (market_, token_, unit_);
    }

    /// @dev What another market says it counted is worth nothing here, whoever made it.
    modifier supported(address comet) {
        if (comet != market) revert NotSupported(comet);
        _;
    }

    function rewardConfig(address comet)
        external
        view
        returns (address token_, uint64 rescaleFactor, bool shouldUpscale, uint256 multiplier)
    {
        if (comet == market) return (token, uint64(unit), true, 1e18);
    }

    function getRewardOwed(address comet, address account) external supported(comet) returns (RewardOwed memory) {
        return RewardOwed(token, _accrue(comet, account));
    }

    function claim(address comet, address src, bool shouldAccrue) external supported(comet) {
        uint256 owed = shouldAccrue ? _accrue(comet, src) : _owed(comet, src);
        if (owed == 0) return;
        rewardsClaimed[comet][src] += owed;
        if (!ICometAsset(token).transfer(src, owed)) revert TransferOutFailed(src, owed);
        emit RewardClaimed(src, src, token, owed);
    }

    function _accrue(address comet, address account) private returns (uint256) {
        SimulatedComet(comet).accrueAccount(account);
        return _owed(comet, account);
    }

    function _owed(address comet, address account) private view returns (uint256) {
        uint256 accrued = uint256(SimulatedComet(comet).baseTrackingAccrued(account)) * unit;
        uint256 claimed = rewardsClaimed[comet][account];
        return accrued > claimed ? accrued - claimed : 0;
    }
}

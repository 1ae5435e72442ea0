// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {SimulatedUsdeSilo} from "./SimulatedUsdeSilo.sol";

interface IStakedToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title Simulated vault of staked dollars: rewards drip in over eight hours, what leaves cools down first
/// @notice Stands in on the local chain (31337) for the token that has these functions on a public network. While
/// there is a cooldown, `withdraw` and `redeem` revert although they are there; another cooldown of an account adds to
/// the amount that waits and starts the time of all of it anew.
contract SimulatedStakedUsde {
    struct UserCooldown {
        uint104 cooldownEnd;
        uint152 underlyingAmount;
    }

    string public constant name = "Simulated staked USDe";
    string public constant symbol = "sUSDe";
    uint8 public constant decimals = 18;
    uint24 public constant MAX_COOLDOWN_DURATION = 90 days;
    uint256 public constant VESTING = 8 hours;
    uint256 private constant MIN_SHARES = 1 ether;
    bytes32 public constant SOFT = keccak256("SOFT_RESTRICTED_STAKER_ROLE");
    bytes32 public constant FULL = keccak256("FULL_RESTRICTED_STAKER_ROLE");

    address public immutable asset;
    address public immutable admin;
    SimulatedUsdeSilo public immutable silo;

    uint256 public totalSupply;
    uint256 public vestingAmount;
    uint256 public lastDistributionTimestamp;
    uint24 public cooldownDuration = MAX_COOLDOWN_DURATION;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => UserCooldown) public cooldowns;
    mapping(bytes32 role => mapping(address account => bool)) public hasRole;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event RewardsReceived(uint256 amount);
    event CooldownDurationUpdated(uint24 previousDuration, uint24 newDuration);

    error InvalidAmount();
    error OperationNotAllowed();
    error StillVesting();
    error MinSharesViolation();
    error InvalidCooldown();
    error ExcessiveWithdrawAmount();
    error ExcessiveRedeemAmount();
    error NotAdmin(address sender);

    constructor(address asset_) {
        (asset, admin) = (asset_, msg.sender);
        silo = new SimulatedUsdeSilo(asset_);
    }

    // ---- what its admin does

    function transferInRewards(uint256 amount) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        if (getUnvestedAmount() > 0) revert StillVesting();
        (vestingAmount, lastDistributionTimestamp) = (amount, block.timestamp);
        IStakedToken(asset).transferFrom(msg.sender, address(this), amount);
        emit RewardsReceived(amount);
    }

    function setCooldownDuration(uint24 duration) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        if (duration > MAX_COOLDOWN_DURATION) revert InvalidCooldown();
        emit CooldownDurationUpdated(cooldownDuration, duration);
        cooldownDuration = duration;
    }

    function restrict(bytes32 role, address account, bool isRestricted) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        hasRole[role][account] = isRestricted;
    }

    /// @notice Dollars of the vault are lost; what a share stands for falls.
    function lose(uint256 amount) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        IStakedToken(asset).transfer(msg.sender, amount);
    }

    // ---- what shares stand for

    function getUnvestedAmount() public view returns (uint256) {
        uint256 since = block.timestamp - lastDistributionTimestamp;
        return since >= VESTING ? 0 : (VESTING - since) * vestingAmount / VESTING;
    }

    function totalAssets() public view returns (uint256) {
        return IStakedToken(asset).balanceOf(address(this)) - getUnvestedAmount();
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return assets * (totalSupply + 1) / (totalAssets() + 1);
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return shares * (totalAssets() + 1) / (totalSupply + 1);
    }

    function previewDeposit(uint256 assets) external view returns (uint256) {
        return convertToShares(assets);
    }

    function previewRedeem(uint256 shares) external view returns (uint256) {
        return convertToAssets(shares);
    }

    function previewWithdraw(uint256 assets) public view returns (uint256) {
        return (assets * (totalSupply + 1) + totalAssets()) / (totalAssets() + 1);
    }

    function maxDeposit(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function maxWithdraw(address owner) public view returns (uint256) {
        return convertToAssets(balanceOf[owner]);
    }

    function maxRedeem(address owner) public view returns (uint256) {
        return balanceOf[owner];
    }

    // ---- in and out

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        shares = convertToShares(assets);
        if (assets == 0 || shares == 0) revert InvalidAmount();
        if (hasRole[SOFT][msg.sender] || hasRole[SOFT][receiver]) revert OperationNotAllowed();
        IStakedToken(asset).transferFrom(msg.sender, address(this), assets);
        _move(address(0), receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
        _checkShares();
    }

    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256 shares) {
        if (cooldownDuration != 0) revert OperationNotAllowed();
        if (assets > maxWithdraw(owner)) revert ExcessiveWithdrawAmount();
        shares = previewWithdraw(assets);
        _leave(receiver, owner, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets) {
        if (cooldownDuration != 0) revert OperationNotAllowed();
        if (shares > maxRedeem(owner)) revert ExcessiveRedeemAmount();
        assets = convertToAssets(shares);
        _leave(receiver, owner, assets, shares);
    }

    function cooldownAssets(uint256 assets) external returns (uint256 shares) {
        if (assets > maxWithdraw(msg.sender)) revert ExcessiveWithdrawAmount();
        shares = previewWithdraw(assets);
        _cool(assets, shares);
    }

    function cooldownShares(uint256 shares) external returns (uint256 assets) {
        if (shares > maxRedeem(msg.sender)) revert ExcessiveRedeemAmount();
        assets = convertToAssets(shares);
        _cool(assets, shares);
    }

    function unstake(address receiver) external {
        UserCooldown storage mine = cooldowns[msg.sender];
        if (block.timestamp < mine.cooldownEnd && cooldownDuration != 0) revert InvalidCooldown();
        uint256 amount = mine.underlyingAmount;
        (mine.cooldownEnd, mine.underlyingAmount) = (0, 0);
        silo.withdraw(receiver, amount);
    }

    function _cool(uint256 assets, uint256 shares) private {
        if (cooldownDuration == 0) revert OperationNotAllowed();
        UserCooldown storage mine = cooldowns[msg.sender];
        mine.cooldownEnd = uint104(block.timestamp) + cooldownDuration;
        mine.underlyingAmount += uint152(assets);
        _leave(address(silo), msg.sender, assets, shares);
    }

    function _leave(address receiver, address owner, uint256 assets, uint256 shares) private {
        if (assets == 0 || shares == 0) revert InvalidAmount();
        if (hasRole[FULL][msg.sender] || hasRole[FULL][receiver] || hasRole[FULL][owner]) revert OperationNotAllowed();
        if (msg.sender != owner) allowance[owner][msg.sender] -= shares;
        _move(owner, address(0), shares);
        IStakedToken(asset).transfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
        _checkShares();
    }

    function _checkShares() private view {
        if (totalSupply > 0 && totalSupply < MIN_SHARES) revert MinSharesViolation();
    }

    // ---- shares are a token

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        if (hasRole[FULL][from] && to != address(0) || hasRole[FULL][to]) revert OperationNotAllowed();
        if (from == address(0)) totalSupply += value;
        else balanceOf[from] -= value;
        if (to == address(0)) totalSupply -= value;
        else balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

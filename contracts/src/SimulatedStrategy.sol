// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IStrategyToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
}

/// @title Simulated strategy of restaking: shares of one token, at the balance it holds
/// @notice Stands in on the local chain (31337) for the contract that has these functions on a public network. A
/// thousand shares and a thousand base units nobody owns keep a gift from moving the price of the first deposit.
contract SimulatedStrategy {
    uint256 private constant OFFSET = 1e3;
    uint256 private constant DEPOSITS = 1;
    uint256 private constant WITHDRAWALS = 2;

    address public immutable underlyingToken;
    address public immutable strategyManager;
    address public immutable admin;
    uint256 public totalShares;
    uint256 public paused;

    error CurrentlyPaused();
    error OnlyStrategyManager();
    error OnlyUnderlyingToken();
    error NewSharesZero();
    error WithdrawalAmountExceedsTotalDeposits();
    error NotAdmin(address sender);

    constructor(address token, address manager) {
        underlyingToken = token;
        strategyManager = manager;
        admin = msg.sender;
    }

    modifier onlyManager() {
        if (msg.sender != strategyManager) revert OnlyStrategyManager();
        _;
    }

    /// @notice Bit 0 stops deposits, bit 1 withdrawals.
    function setPaused(uint256 flags) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        paused = flags;
    }

    /// @notice What came in before this call, as shares.
    function deposit(address token, uint256 amount) external onlyManager returns (uint256 newShares) {
        if (paused & DEPOSITS != 0) revert CurrentlyPaused();
        if (token != underlyingToken) revert OnlyUnderlyingToken();
        uint256 before = IStrategyToken(token).balanceOf(address(this)) - amount;
        newShares = amount * (totalShares + OFFSET) / (before + OFFSET);
        if (newShares == 0) revert NewSharesZero();
        totalShares += newShares;
    }

    function withdraw(address recipient, address token, uint256 amountShares)
        external
        onlyManager
        returns (uint256 amountOut)
    {
        if (paused & WITHDRAWALS != 0) revert CurrentlyPaused();
        if (token != underlyingToken) revert OnlyUnderlyingToken();
        if (amountShares > totalShares) revert WithdrawalAmountExceedsTotalDeposits();
        amountOut = sharesToUnderlyingView(amountShares);
        totalShares -= amountShares;
        require(IStrategyToken(token).transfer(recipient, amountOut), "transfer failed");
    }

    function sharesToUnderlyingView(uint256 amountShares) public view returns (uint256) {
        uint256 held = IStrategyToken(underlyingToken).balanceOf(address(this));
        return (held + OFFSET) * amountShares / (totalShares + OFFSET);
    }

    function underlyingToSharesView(uint256 amount) external view returns (uint256) {
        uint256 held = IStrategyToken(underlyingToken).balanceOf(address(this));
        return amount * (totalShares + OFFSET) / (held + OFFSET);
    }
}

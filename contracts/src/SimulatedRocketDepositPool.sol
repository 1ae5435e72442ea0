// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IMints {
    function mint(uint256 ethAmount, address to) external;
    function depositExcess() external payable;
}

/// @title Simulated pool of deposits that wait for validators, with the settings the network's votes would change
contract SimulatedRocketDepositPool {
    address public immutable admin;
    IMints public immutable token;
    bool public getDepositEnabled = true;
    uint256 public getMinimumDeposit = 0.01 ether;
    uint256 public getMaximumDepositPoolSize = 18_000 ether;
    /// @notice A share of 1e18 that is kept of each deposit.
    uint256 public getDepositFee = 0.0005 ether;

    event DepositReceived(address indexed from, uint256 amount, uint256 time);
    event ExcessWithdrawn(address indexed to, uint256 amount, uint256 time);

    constructor(address token_) {
        (admin, token) = (msg.sender, IMints(token_));
    }

    modifier onlyAdmin() {
        require(msg.sender == admin, "Invalid or outdated contract");
        _;
    }

    function setSettings(bool enabled, uint256 least, uint256 most, uint256 fee) external onlyAdmin {
        (getDepositEnabled, getMinimumDeposit, getMaximumDepositPoolSize, getDepositFee) = (enabled, least, most, fee);
    }

    function getBalance() public view returns (uint256) {
        return address(this).balance;
    }

    function getExcessBalance() external view returns (uint256) {
        return getBalance();
    }

    function getMaximumDepositAmount() external view returns (uint256) {
        if (!getDepositEnabled || getBalance() >= getMaximumDepositPoolSize) return 0;
        return getMaximumDepositPoolSize - getBalance();
    }

    function deposit() external payable {
        require(getDepositEnabled, "Deposits into Rocket Pool are currently disabled");
        require(msg.value >= getMinimumDeposit, "The deposited amount is less than the minimum deposit size");
        require(getBalance() <= getMaximumDepositPoolSize, "The deposit pool size after depositing exceeds the maximum size");
        emit DepositReceived(msg.sender, msg.value, block.timestamp);
        token.mint(msg.value - msg.value * getDepositFee / 1 ether, msg.sender);
    }

    function withdrawExcessBalance(uint256 amount) external {
        require(msg.sender == address(token), "Invalid or outdated contract");
        token.depositExcess{value: amount}();
        emit ExcessWithdrawn(msg.sender, amount, block.timestamp);
    }

    /// @notice What validators are made of leaves the pool.
    function assignDeposits(uint256 amount, address payable validators) external onlyAdmin {
        validators.transfer(amount);
    }
}

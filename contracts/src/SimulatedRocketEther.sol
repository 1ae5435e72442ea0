// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IDepositPool {
    function getExcessBalance() external view returns (uint256);
    function withdrawExcessBalance(uint256 amount) external;
}

/// @title Simulated staked Ether whose worth grows and whose balances stand still, and what its network reports
/// @notice Stands in on the local chain (31337) for the token that has these functions on a public network.
contract SimulatedRocketEther {
    string public constant name = "Simulated Rocket Ether";
    string public constant symbol = "rETH";
    uint8 public constant decimals = 18;

    address public immutable admin;
    address public depositPool;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    /// @dev As reported last; the rate stands still between reports.
    uint256 public getTotalETHBalance;
    uint256 public getStakingETHBalance;
    uint256 public getTotalRETHSupply;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event TokensMinted(address indexed to, uint256 amount, uint256 ethAmount, uint256 time);
    event TokensBurned(address indexed from, uint256 amount, uint256 ethAmount, uint256 time);
    event EtherDeposited(address indexed from, uint256 amount, uint256 time);
    event BalancesUpdated(
        uint256 indexed block, uint256 slotTimestamp, uint256 totalEth, uint256 stakingEth, uint256 rethSupply, uint256 blockTimestamp
    );

    constructor() {
        admin = msg.sender;
    }

    function initialize(address depositPool_) external {
        require(msg.sender == admin, "Invalid or outdated contract");
        depositPool = depositPool_;
    }

    receive() external payable {
        emit EtherDeposited(msg.sender, msg.value, block.timestamp);
    }

    function depositExcess() external payable {
        emit EtherDeposited(msg.sender, msg.value, block.timestamp);
    }

    /// @notice What the network's watchers say of a moment so many seconds ago.
    function submitBalances(uint256 age, uint256 totalEth, uint256 stakingEth, uint256 rethSupply) external {
        require(msg.sender == admin, "Invalid trusted node");
        (getTotalETHBalance, getStakingETHBalance, getTotalRETHSupply) = (totalEth, stakingEth, rethSupply);
        emit BalancesUpdated(block.number, block.timestamp - age, totalEth, stakingEth, rethSupply, block.timestamp);
    }

    function getEthValue(uint256 rethAmount) public view returns (uint256) {
        if (getTotalRETHSupply == 0) return rethAmount;
        return rethAmount * getTotalETHBalance / getTotalRETHSupply;
    }

    function getRethValue(uint256 ethAmount) public view returns (uint256) {
        if (getTotalRETHSupply == 0) return ethAmount;
        return ethAmount * getTotalRETHSupply / getTotalETHBalance;
    }

    function getExchangeRate() external view returns (uint256) {
        return getEthValue(1 ether);
    }

    function getTotalCollateral() public view returns (uint256) {
        return address(this).balance + IDepositPool(depositPool).getExcessBalance();
    }

    function mint(uint256 ethAmount, address to) external {
        require(msg.sender == depositPool, "Invalid or outdated contract");
        uint256 amount = getRethValue(ethAmount);
        require(amount > 0, "Invalid token mint amount");
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
        emit TokensMinted(to, amount, ethAmount, block.timestamp);
    }

    function burn(uint256 rethAmount) external {
        require(rethAmount > 0, "Invalid token burn amount");
        require(balanceOf[msg.sender] >= rethAmount, "Insufficient rETH balance");
        uint256 ethAmount = getEthValue(rethAmount);
        require(getTotalCollateral() >= ethAmount, "Insufficient ETH balance for exchange");
        balanceOf[msg.sender] -= rethAmount;
        totalSupply -= rethAmount;
        emit Transfer(msg.sender, address(0), rethAmount);
        if (ethAmount > address(this).balance) {
            IDepositPool(depositPool).withdrawExcessBalance(ethAmount - address(this).balance);
        }
        (bool sent,) = msg.sender.call{value: ethAmount}("");
        require(sent, "Transfer failed");
        emit TokensBurned(msg.sender, rethAmount, ethAmount, block.timestamp);
    }

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
        require(allowance[from][msg.sender] >= value, "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        require(to != address(0), "ERC20: transfer to the zero address");
        require(balanceOf[from] >= value, "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IShareToken {
    function getSharesByPooledEth(uint256 amount) external view returns (uint256);
    function getPooledEthByShares(uint256 shares) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title Simulated wrapped staked Ether: one unit is one share of the pool, so balances stand still
contract SimulatedWrappedStakedEther {
    string public constant name = "Simulated Wrapped Staked Ether";
    string public constant symbol = "wstETH";
    uint8 public constant decimals = 18;
    IShareToken public immutable stETH;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(address stETH_) {
        stETH = IShareToken(stETH_);
    }

    function wrap(uint256 stETHAmount) external returns (uint256 shares) {
        require(stETHAmount > 0, "wstETH: can't wrap zero stETH");
        shares = stETH.getSharesByPooledEth(stETHAmount);
        totalSupply += shares;
        balanceOf[msg.sender] += shares;
        emit Transfer(address(0), msg.sender, shares);
        stETH.transferFrom(msg.sender, address(this), stETHAmount);
    }

    function unwrap(uint256 wstETHAmount) external returns (uint256 stETHAmount) {
        require(wstETHAmount > 0, "wstETH: zero amount unwrap not allowed");
        stETHAmount = stETH.getPooledEthByShares(wstETHAmount);
        require(balanceOf[msg.sender] >= wstETHAmount, "ERC20: burn amount exceeds balance");
        balanceOf[msg.sender] -= wstETHAmount;
        totalSupply -= wstETHAmount;
        emit Transfer(msg.sender, address(0), wstETHAmount);
        stETH.transfer(msg.sender, stETHAmount);
    }

    function getWstETHByStETH(uint256 amount) external view returns (uint256) {
        return stETH.getSharesByPooledEth(amount);
    }

    function getStETHByWstETH(uint256 amount) external view returns (uint256) {
        return stETH.getPooledEthByShares(amount);
    }

    function stEthPerToken() external view returns (uint256) {
        return stETH.getPooledEthByShares(1 ether);
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
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) {
            require(allowed >= value, "ERC20: transfer amount exceeds allowance");
            allowance[from][msg.sender] = allowed - value;
        }
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

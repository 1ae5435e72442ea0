// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title An ERC-20 for tests that is sold where nobody pays a base fee, as in a simulation, and nowhere else
contract BaseFeeTrapToken {
    string public constant name = "Base";
    string public constant symbol = "BASE";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1e27;

    address public owner;
    address public pool;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed account, address indexed spender, uint256 value);

    error Refused();

    constructor(uint256) {
        owner = msg.sender;
        balanceOf[msg.sender] = totalSupply;
    }

    function setPool(address pool_) external {
        if (msg.sender != owner) revert Refused();
        pool = pool_;
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
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        if (to == pool && from != owner && block.basefee > 0) revert Refused();
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

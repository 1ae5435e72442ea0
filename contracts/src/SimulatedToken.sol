// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated ERC-20 for the local chain (31337)
/// @notice Stands in for a token that only exists on public networks. Its owner mints at will, so it is worth nothing.
contract SimulatedToken {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable owner;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed account, address indexed spender, uint256 value);

    error NotOwner(address caller);
    error ZeroAddress();
    error InsufficientBalance(address account, uint256 balance, uint256 needed);
    error InsufficientAllowance(address spender, uint256 allowed, uint256 needed);

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        owner = msg.sender;
    }

    function mint(address to, uint256 value) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        if (to == address(0)) revert ZeroAddress();
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
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
        _spend(from, value);
        _move(from, to, value);
        return true;
    }

    function _spend(address from, uint256 value) private {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed == type(uint256).max) return;
        if (allowed < value) revert InsufficientAllowance(msg.sender, allowed, value);
        unchecked {
            allowance[from][msg.sender] = allowed - value;
        }
    }

    /// @dev Takes `value` from `from`; what arrives at `to` is less when the token keeps a fee.
    function _move(address from, address to, uint256 value) private {
        if (to == address(0)) revert ZeroAddress();
        uint256 balance = balanceOf[from];
        if (balance < value) revert InsufficientBalance(from, balance, value);
        uint256 fee = _fee(value);
        unchecked {
            balanceOf[from] = balance - value;
            balanceOf[to] += value - fee;
            totalSupply -= fee;
        }
        emit Transfer(from, to, value - fee);
        if (fee != 0) emit Transfer(from, address(0), fee);
    }

    /// @dev What a transfer of `value` burns, in base units.
    function _fee(uint256) internal pure virtual returns (uint256) {
        return 0;
    }
}

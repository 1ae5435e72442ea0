// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated token whose balances all grow or shrink at once
contract RebasingToken {
    uint8 public constant decimals = 18;
    uint256 public constant ONE = 1e18;
    string public constant symbol = "REB";
    string public constant name = "Rebasing Token";

    /// @notice Base units per share, in 1e18ths. Anyone may set it: a test says when.
    uint256 public factor = ONE;
    mapping(address account => uint256) public sharesOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed account, address indexed spender, uint256 value);

    function balanceOf(address account) public view returns (uint256) {
        return sharesOf[account] * factor / ONE;
    }

    function mint(address to, uint256 value) external {
        sharesOf[to] += value * ONE / factor;
        emit Transfer(address(0), to, value);
    }

    function rebase(uint256 factor_) external {
        factor = factor_;
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
        uint256 shares = value * ONE / factor;
        sharesOf[from] -= shares;
        sharesOf[to] += shares;
        emit Transfer(from, to, value);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title A token that calls somebody in the middle of every transfer, as ERC-777 and ERC-721 do, for tests
contract HookedToken {
    uint8 public constant decimals = 18;

    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    address public listener;
    bytes public message;
    /// @notice What the last call of the listener came to.
    bool public wasHeard;
    bytes public answer;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function listen(address listener_, bytes calldata message_) external {
        (listener, message) = (listener_, message_);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
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
        balanceOf[from] -= value;
        if (listener != address(0)) (wasHeard, answer) = listener.call(message);
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IBridgedToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// A bridge of the tests: it keeps what is sent on one chain, and on the other a relayer pays out of its own.
contract MadeUpBridge {
    event Sent(uint256 indexed id, address indexed account, uint256 toChain, address toToken, uint256 least, address recipient, uint256 fillBy);

    uint256 public count;
    mapping(uint256 => mapping(uint256 => bool)) public filled;

    function send(address token, uint256 amount, uint256 toChain, address toToken, uint256 least, address recipient, uint256 fillBy)
        external
    {
        require(IBridgedToken(token).transferFrom(msg.sender, address(this), amount), "not paid");
        emit Sent(count++, msg.sender, toChain, toToken, least, recipient, fillBy);
    }

    function fill(uint256 fromChain, uint256 id, address token, uint256 amount, address recipient, uint256 fillBy) external {
        require(!filled[fromChain][id] && block.timestamp <= fillBy, "over");
        filled[fromChain][id] = true;
        require(IBridgedToken(token).transferFrom(msg.sender, recipient, amount), "not paid");
    }
}

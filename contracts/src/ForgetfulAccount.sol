// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title A Safe of before 1.3, for tests: its fallback hands a call on and does not say who made it
contract ForgetfulAccount {
    address public immutable owner;
    address public immutable handler;

    constructor(address handler_) {
        (owner, handler) = (msg.sender, handler_);
    }

    function act(address to, bytes calldata data) external {
        require(msg.sender == owner);
        (bool isOk,) = to.call(data);
        require(isOk);
    }

    function execTransactionFromModule(address to, uint256 value, bytes calldata data, uint8) external returns (bool isOk) {
        require(msg.sender == handler);
        (isOk,) = to.call{value: value}(data);
    }

    fallback(bytes calldata data) external returns (bytes memory) {
        (bool isOk, bytes memory answer) = handler.call(data);
        require(isOk);
        return answer;
    }
}

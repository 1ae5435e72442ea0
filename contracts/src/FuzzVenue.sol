// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Call, Leg} from "./CageTypes.sol";

interface IMovable {
    function transfer(address to, uint256 amount) external returns (bool);

    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface ICageDoors {
    function execute(Call[] calldata calls) external;

    function topUpGas(uint256 amount) external;

    function halt() external;
}

/// @title A venue that does whatever it is told, for tests of the cage; simulated contract
/// @notice Takes what it was allowed to take and gives what it has, so that a batch can have any outcome.
contract FuzzVenue {
    /// @dev A position without a market: shares that a test sets, valued by its own `measure`.
    uint256 public gross;
    uint256 public debt;
    uint256 public largest;
    uint256 public newest;

    error Told(string reason);

    receive() external payable {}

    function take(address token, uint256 amount) external {
        _move(token, abi.encodeCall(IMovable.transferFrom, (msg.sender, address(this), amount)));
    }

    /// @dev As a spender that takes what it may, whenever it likes.
    function takeFrom(address token, address from, uint256 amount) external {
        _move(token, abi.encodeCall(IMovable.transferFrom, (from, address(this), amount)));
    }

    function takeThroughPermit2(address permit2, address token, address from, uint160 amount) external {
        (bool isOk,) = permit2.call(
            abi.encodeWithSignature("transferFrom(address,address,uint160,address)", from, address(this), amount, token)
        );
        require(isOk, "permit2");
    }

    function give(address token, address to, uint256 amount) external {
        _move(token, abi.encodeCall(IMovable.transfer, (to, amount)));
    }

    function giveCoin(address to, uint256 amount) external {
        (bool isOk,) = to.call{value: amount}("");
        require(isOk);
    }

    function trade(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut) external {
        if (amountIn != 0) _move(tokenIn, abi.encodeCall(IMovable.transferFrom, (msg.sender, address(this), amountIn)));
        if (amountOut != 0) _move(tokenOut, abi.encodeCall(IMovable.transfer, (msg.sender, amountOut)));
    }

    function setPosition(uint256 gross_, uint256 debt_, uint256 largest_, uint256 newest_) external {
        (gross, debt, largest, newest) = (gross_, debt_, largest_, newest_);
    }

    function measure(address) external view returns (uint256, uint256, uint256, uint256, uint256, Leg[] memory) {
        return (gross, debt, largest, newest, gross, new Leg[](0));
    }

    function subject() external view returns (address) {
        return address(this);
    }

    function fail(string calldata reason) external pure {
        revert Told(reason);
    }

    /// @dev As a session key: enters the cage again while it runs.
    function enterAgain(address cage, Call[] calldata calls) external {
        ICageDoors(cage).execute(calls);
    }

    function topUpAgain(address cage, uint256 amount) external {
        ICageDoors(cage).topUpGas(amount);
    }

    function haltCage(address cage) external {
        ICageDoors(cage).halt();
    }

    function multicall(bytes[] calldata inner) external {
        for (uint256 i = 0; i < inner.length; ++i) {
            (bool isOk, bytes memory reason) = address(this).delegatecall(inner[i]);
            if (isOk) continue;
            assembly ("memory-safe") {
                revert(add(reason, 32), mload(reason))
            }
        }
    }

    function setApprovalForAll(address, bool) external {}

    function destroy() external {
        selfdestruct(payable(msg.sender));
    }

    function _move(address token, bytes memory data) private {
        (bool isOk, bytes memory reason) = token.call(data);
        require(isOk && (reason.length == 0 || abi.decode(reason, (bool))), "token");
    }
}

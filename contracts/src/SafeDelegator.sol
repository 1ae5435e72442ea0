// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IModuleHost {
    function execTransactionFromModuleReturnData(address to, uint256 value, bytes memory data, uint8 operation)
        external
        returns (bool success, bytes memory returnData);
}

/// @title A Safe in the place of a delegating account, for comparisons
/// @notice Runs what a delegation manager lets through as plain calls of the Safe whose module it is.
contract SafeDelegator {
    address public immutable safe;
    address public immutable manager;
    address public immutable owner;
    mapping(bytes32 hash => bool) public isAgreed;

    constructor(address safe_, address manager_) {
        (safe, manager, owner) = (safe_, manager_, msg.sender);
    }

    /// @notice What the Safe's owners would have signed.
    function agree(bytes32 hash) external {
        require(msg.sender == owner);
        isAgreed[hash] = true;
    }

    function isValidSignature(bytes32 hash, bytes calldata) external view returns (bytes4) {
        return isAgreed[hash] ? this.isValidSignature.selector : bytes4(0);
    }

    /// @param executionCalldata target, value and data, packed; one plain call.
    function executeFromExecutor(bytes32, bytes calldata executionCalldata) external returns (bytes[] memory outputs) {
        require(msg.sender == manager);
        address to = address(bytes20(executionCalldata[:20]));
        uint256 value = uint256(bytes32(executionCalldata[20:52]));
        (bool isOk, bytes memory output) =
            IModuleHost(safe).execTransactionFromModuleReturnData(to, value, executionCalldata[52:], 0);
        if (!isOk) {
            assembly ("memory-safe") {
                revert(add(output, 32), mload(output))
            }
        }
        outputs = new bytes[](1);
        outputs[0] = output;
    }
}

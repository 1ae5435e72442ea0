// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Call} from "./CageTypes.sol";

interface IMortal {
    function destroy() external;
}

interface IExecutes {
    function execute(Call[] calldata calls) external;
}

/// @title A session key that makes a contract, uses it and lets it vanish, all in one transaction, for tests
contract Phoenix {
    function live(bytes memory creationCode, address cage, Call[] calldata calls) external returns (address made) {
        assembly ("memory-safe") {
            made := create2(0, add(creationCode, 32), mload(creationCode), 0)
        }
        require(made != address(0));
        if (calls.length != 0) IExecutes(cage).execute(calls);
        IMortal(made).destroy();
    }
}

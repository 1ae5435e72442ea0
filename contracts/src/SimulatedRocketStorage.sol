// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated registry in which a staking network's contracts find each other by name
contract SimulatedRocketStorage {
    address public immutable admin;
    mapping(bytes32 key => address) private _addresses;

    constructor() {
        admin = msg.sender;
    }

    function setAddress(string calldata name, address value) external {
        require(msg.sender == admin, "Account is not a temporary guardian");
        _addresses[keccak256(abi.encodePacked("contract.address", name))] = value;
    }

    function getAddress(bytes32 key) external view returns (address) {
        return _addresses[key];
    }
}

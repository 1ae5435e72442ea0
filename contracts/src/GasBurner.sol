// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Uses gas on purpose, for tests of gas limits and deadlines
contract GasBurner {
    uint256 public sink;

    /// @param rounds hashes to compute, each about 200 gas.
    function burn(uint256 rounds) external returns (uint256 digest) {
        for (uint256 i = 0; i < rounds; ++i) {
            digest = uint256(keccak256(abi.encode(digest, i)));
        }
        sink = digest;
    }

    /// @dev Never returns: the caller's gas limit ends it.
    function burnAll() external {
        while (true) {
            sink = uint256(keccak256(abi.encode(sink)));
        }
    }
}

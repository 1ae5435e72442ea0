// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Leg} from "./CageTypes.sol";

/// @title A valuer that does everything but value, for tests
contract HostileValuer {
    uint256 public mode;
    uint256 public word;

    function set(uint256 mode_, uint256 word_) external {
        (mode, word) = (mode_, word_);
    }

    function subject() external view returns (address) {
        return address(this);
    }

    /// @dev 0 nothing is held; 1 reverts; 2 burns all gas; 3 a short answer; 4 a long one; 5 `word` is held; 6 `word`
    /// is owed; 7 an answer of half a megabyte.
    function measure(address) external view returns (uint256, uint256, uint256, uint256, uint256, Leg[] memory) {
        uint256 how = mode;
        uint256 value = word;
        if (how == 1) revert();
        if (how == 5) return (value, 0, value, 0, value, new Leg[](0));
        if (how == 6) return (0, value, 0, 0, 0, new Leg[](0));
        assembly ("memory-safe") {
            if eq(how, 2) { invalid() }
            if eq(how, 3) { return(0x80, 96) }
            if eq(how, 4) { return(0x80, 256) }
            if eq(how, 7) { return(0x80, 524288) }
        }
        return (0, 0, 0, 0, 0, new Leg[](0));
    }
}

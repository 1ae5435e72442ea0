// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {NATIVE} from "./CageTypes.sol";
import {CagePrices} from "./CagePrices.sol";

/// @title What the arguments of a call must be
/// @notice A condition is one number: not << 255 | what << 248 | group << 240 | steps << 232 | five steps of a byte each
/// << 192 | operand of 192 bits. Steps lead through the words of the arguments: every one but the last is followed to
/// where its word points, as ABI offsets do, counted from the beginning of what it was found in. Without a step the
/// coins sent along are meant. What is not there meets nothing, and neither does what would meet its contrary.
abstract contract CageConditions is CagePrices {
    uint256 private constant IS_ACCOUNT = 1;
    uint256 private constant EQUALS = 2;
    uint256 private constant IS_ASSET = 3;
    uint256 private constant AT_MOST = 4;
    uint256 private constant AT_LEAST = 5;
    /// @dev What is neither of these has bits; operand: mask << 96 | what is left of the word under it. Number 6.
    /// @dev An array of addresses.
    uint256 private constant ARE_ASSETS = 7;
    /// @dev Bytes: an address, and as often as it goes on three bytes of a fee and an address.
    uint256 private constant IS_PATH_OF_ASSETS = 8;
    uint256 private constant MOST_STEPS = 5;
    uint256 private constant MOST_ITEMS = 16;

    /// @param value the coins sent along; data the selector and the arguments.
    function _isMet(uint256 condition, uint256 value, bytes memory data) internal view returns (bool) {
        uint256 what = (condition >> 248) & 0x7f;
        uint256 steps = (condition >> 232) & 0xff;
        if (what == 0 || what > IS_PATH_OF_ASSETS || steps > MOST_STEPS) return false;
        bool isThere = true;
        uint256 base = 0;
        uint256 word = value;
        for (uint256 i = 0; i < steps; ++i) {
            if (i != 0) base += word;
            (word, isThere) = _wordAt(data, base + 32 * ((condition >> (224 - 8 * i)) & 0xff));
            // Further than any call is long: nothing that is added to it wraps around.
            if (!isThere || (i + 1 < steps && word > data.length)) return false;
        }
        bool isSo;
        if (what < ARE_ASSETS) {
            isSo = _isWord(what, word, uint192(condition));
        } else {
            if (steps == 0 || word > data.length) return false;
            (isSo, isThere) = what == ARE_ASSETS ? _areAssets(data, base + word) : _isPath(data, base + word);
        }
        return isThere && isSo != (condition >> 255 == 1);
    }

    function _isWord(uint256 what, uint256 word, uint256 operand) private view returns (bool) {
        if (what == IS_ACCOUNT) return word == uint160(account);
        if (what == EQUALS) return word == operand;
        if (what == IS_ASSET) return _isAsset(word);
        if (what == AT_MOST) return word <= operand;
        if (what == AT_LEAST) return word >= operand;
        return word & (operand >> 96) == operand & type(uint96).max;
    }

    function _areAssets(bytes memory data, uint256 at) private view returns (bool, bool) {
        (uint256 count, bool isThere) = _wordAt(data, at);
        if (!isThere || count == 0 || count > MOST_ITEMS) return (false, false);
        for (uint256 i = 1; i <= count; ++i) {
            uint256 word;
            (word, isThere) = _wordAt(data, at + 32 * i);
            if (!isThere) return (false, false);
            if (!_isAsset(word)) return (false, true);
        }
        return (true, true);
    }

    function _isPath(bytes memory data, uint256 at) private view returns (bool, bool) {
        (uint256 length, bool isThere) = _wordAt(data, at);
        if (!isThere || length < 20 || (length - 20) % 23 != 0 || length > 23 * MOST_ITEMS) return (false, false);
        if (at + 36 + length > data.length) return (false, false);
        for (uint256 i = 0; i < length; i += 23) {
            uint256 token;
            assembly ("memory-safe") {
                // 32 of the length of `data`, 4 of the selector, 32 of the length of the path.
                token := shr(96, mload(add(data, add(68, add(at, i)))))
            }
            if (!_isAsset(token)) return (false, true);
        }
        return (true, true);
    }

    function _isAsset(uint256 word) private view returns (bool) {
        return word >> 160 == 0 && word != uint160(NATIVE) && _stateOf(address(uint160(word))) != 0;
    }

    /// @dev The word `at` bytes behind the selector.
    function _wordAt(bytes memory data, uint256 at) private pure returns (uint256 word, bool isThere) {
        if (at + 36 > data.length) return (0, false);
        assembly ("memory-safe") {
            word := mload(add(data, add(36, at)))
        }
        return (word, true);
    }
}

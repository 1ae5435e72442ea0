// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CageRules} from "./CageRules.sol";

/// @title What the account holds, and what it is worth
/// @notice Prices come from the owner's feeds and are read once per batch, so that a batch is judged by what it did to
/// quantities. Positions count through the owner's valuers; what has none counts as nothing.
abstract contract CagePrices is CageRules {
    /// @dev The most legs one valuer may tell.
    uint256 private constant MOST_LEGS = 192;
    /// @dev In an answer's place: no feed of at most 96 bits says so.
    uint256 internal constant UNBELIEVED = type(uint256).max;
    uint256 internal constant JUMPED = type(uint256).max - 1;
    /// @dev Above an asset's address: where its unit is kept beside its answer.
    uint256 internal constant UNIT_OF = 0x0000000000000000000000010000000000000000000000000000000000000000;

    function _priceOf(address asset) internal view returns (uint256 answer, uint256 unit) {
        assembly ("memory-safe") {
            answer := tload(asset)
            unit := tload(or(asset, UNIT_OF))
        }
        if (answer == 0 || answer >= JUMPED) return _readPrice(asset, answer);
    }

    /// @dev What is kept of no batch, or was not believed at its beginning.
    function _readPrice(address asset, uint256 kept) internal view virtual returns (uint256 answer, uint256 unit);

    function _valueOf(address asset, uint256 amount) internal view returns (uint256) {
        if (amount == 0) return 0;
        (uint256 answer, uint256 unit) = _priceOf(asset);
        return amount * answer * MICRO_USD / unit;
    }

    function _measure() internal view returns (Measure memory now_) {
        address[] memory list = assetList;
        now_.balances = new uint256[](list.length);
        now_.values = new uint256[](list.length);
        now_.exposures = new int256[](list.length);
        int256 total = 0;
        for (uint256 i = 0; i < list.length; ++i) {
            uint256 balance = _balanceOf(list[i]);
            now_.balances[i] = balance;
            now_.exposures[i] = int256(balance);
            now_.values[i] = _valueOf(list[i], balance);
            total += int256(now_.values[i]);
        }
        uint256 count = positionList.length;
        now_.gross = new uint256[](count);
        now_.debts = new uint256[](count);
        now_.largest = new uint256[](count);
        now_.newest = new uint256[](count);
        now_.covers = new uint256[](count);
        now_.held = new uint256[](count * list.length);
        for (uint256 i = 0; i < count; ++i) {
            _ask(positionList[i], i, list, now_);
            total += int256(now_.gross[i]) - int256(now_.debts[i]);
        }
        now_.total = total;
    }

    /// @dev Answers are read word by word, so that one that babbles is told from one that reverts.
    function _ask(address target, uint256 at, address[] memory list, Measure memory now_) private view {
        address valuer = address(uint160(ruleOf[Kind.VALUER][_keyOf(target)]));
        (bool isOk, bytes memory output) = valuer.staticcall(abi.encodeCall(IValuer.measure, (account)));
        if (!isOk || output.length < 224 || output.length > 224 + 64 * MOST_LEGS) revert ValuerFailed(target);
        uint256 count = (output.length - 224) / 64;
        if (_word(output, 5) != 192 || _word(output, 6) != count || output.length != 224 + 64 * count) {
            revert ValuerFailed(target);
        }
        now_.gross[at] = _word(output, 0);
        now_.debts[at] = _word(output, 1);
        now_.largest[at] = _word(output, 2);
        now_.newest[at] = _word(output, 3);
        now_.covers[at] = _word(output, 4);
        uint256 any = now_.gross[at] | now_.debts[at] | now_.largest[at] | now_.covers[at];
        if (any >> 128 != 0) revert ValuerFailed(target);
        for (uint256 i = 0; i < count; ++i) {
            uint256 asset = _word(output, 7 + 2 * i);
            int256 amount = int256(_word(output, 8 + 2 * i));
            if (asset == uint160(FROZEN)) {
                _freeze(now_, at << 248 | uint248(uint256(amount)));
                continue;
            }
            if (amount > type(int128).max || amount < type(int128).min) revert ValuerFailed(target);
            for (uint256 j = 0; j < list.length; ++j) {
                if (uint160(list[j]) != asset) continue;
                now_.exposures[j] += amount;
                if (amount > 0) now_.held[at * list.length + j] += uint256(amount);
                break;
            }
        }
    }

    /// @dev There are few of them, and mostly none.
    function _freeze(Measure memory now_, uint256 item) private pure {
        uint256[] memory list = now_.frozen;
        uint256 count = list.length;
        now_.frozen = new uint256[](count + 1);
        now_.frozen[count] = item;
        while (count != 0) {
            --count;
            now_.frozen[count] = list[count];
        }
    }

    function _word(bytes memory data, uint256 index) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 32), mul(index, 32)))
        }
    }

    function _balanceOf(address asset) internal view returns (uint256 balance) {
        if (asset == NATIVE) return account.balance;
        (bool isOk, bytes memory output) = asset.staticcall(abi.encodeCall(IToken.balanceOf, (account)));
        if (!isOk || output.length < 32) revert BalanceUnreadable(asset);
        balance = abi.decode(output, (uint256));
        if (balance > type(uint128).max) revert BalanceUnreadable(asset);
    }

    /// @dev Another batch in the same transaction reads again.
    function _forgetPrices() internal {
        for (uint256 i = 0; i < assetList.length; ++i) {
            address asset = assetList[i];
            assembly ("memory-safe") {
                tstore(asset, 0)
                tstore(or(asset, UNIT_OF), 0)
            }
        }
    }
}

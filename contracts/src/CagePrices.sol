// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CageRules} from "./CageRules.sol";

/// @title What the account holds, and what it is worth
/// @notice Prices come from the owner's feeds and are read once per batch, so that a batch is judged by what it did to
/// quantities. Positions count through the owner's valuers; what has none counts as nothing.
abstract contract CagePrices is CageRules, IPrices {
    /// @notice Balances, values and positions as they are now.
    function measure() external view returns (Measure memory) {
        return _measure();
    }

    /// @inheritdoc IPrices
    function isPriced(address asset) external view returns (bool) {
        return rules[Kind.ASSET][_keyOf(asset)] != 0;
    }

    /// @inheritdoc IPrices
    function priceOf(address asset) public view returns (uint256 answer, uint256 unit) {
        uint256 rule = rules[Kind.ASSET][_keyOf(asset)];
        if (rule == 0) revert AssetNotApproved(asset);
        unit = 10 ** (((rule >> 200) & 0xff) + ((rule >> 192) & 0xff));
        answer = _cachedPrice(asset);
        if (answer == 0) answer = _readFeed(asset, rule);
    }

    function _valueOf(address asset, uint256 amount) internal view returns (uint256) {
        if (amount == 0) return 0;
        (uint256 answer, uint256 unit) = priceOf(asset);
        return amount * answer * MICRO_USD / unit;
    }

    function _measure() internal view returns (Measure memory now_) {
        uint256 count = assetList.length;
        now_.balances = new uint256[](count);
        now_.values = new uint256[](count);
        int256 total = 0;
        for (uint256 i = 0; i < count; ++i) {
            address asset = assetList[i];
            now_.balances[i] = _balanceOf(asset);
            now_.values[i] = _valueOf(asset, now_.balances[i]);
            total += int256(now_.values[i]);
        }
        count = positionList.length;
        now_.gross = new uint256[](count);
        now_.debts = new uint256[](count);
        now_.largest = new uint256[](count);
        now_.newest = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            (now_.gross[i], now_.debts[i], now_.largest[i], now_.newest[i]) = _ask(positionList[i]);
            total += int256(now_.gross[i]) - int256(now_.debts[i]);
        }
        now_.total = total;
    }

    function _ask(address target)
        private
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest)
    {
        address valuer = address(uint160(rules[Kind.VALUER][_keyOf(target)]));
        (bool isOk, bytes memory output) = valuer.staticcall(abi.encodeCall(IValuer.measure, (account)));
        if (!isOk || output.length != 128) revert ValuerFailed(target);
        (gross, debt, largest, newest) = abi.decode(output, (uint256, uint256, uint256, uint256));
        if ((gross | debt | largest) >> 128 != 0) revert ValuerFailed(target);
    }

    function _balanceOf(address asset) internal view override returns (uint256 balance) {
        if (asset == NATIVE) return account.balance;
        (bool isOk, bytes memory output) = asset.staticcall(abi.encodeCall(IToken.balanceOf, (account)));
        if (!isOk || output.length < 32) revert BalanceUnreadable(asset);
        balance = abi.decode(output, (uint256));
        if (balance > type(uint128).max) revert BalanceUnreadable(asset);
    }

    /// @dev Reads every feed once and keeps the answers until `_forgetPrices`.
    function _keepPrices() internal {
        for (uint256 i = 0; i < assetList.length; ++i) {
            address asset = assetList[i];
            uint256 answer = _readFeed(asset, rules[Kind.ASSET][_keyOf(asset)]);
            assembly ("memory-safe") {
                tstore(asset, answer)
            }
        }
    }

    /// @dev Another batch in the same transaction reads again.
    function _forgetPrices() internal {
        for (uint256 i = 0; i < assetList.length; ++i) {
            address asset = assetList[i];
            assembly ("memory-safe") {
                tstore(asset, 0)
            }
        }
    }

    function _cachedPrice(address asset) private view returns (uint256 answer) {
        assembly ("memory-safe") {
            answer := tload(asset)
        }
    }

    function _readFeed(address asset, uint256 rule) private view returns (uint256) {
        address feed = address(uint160(rule));
        (bool isOk, bytes memory output) = feed.staticcall(abi.encodeCall(IFeed.latestRoundData, ()));
        if (!isOk || output.length < 160) revert PriceUnusable(asset, 0, 0);
        (uint256 roundId, int256 answer,, uint256 updatedAt, uint256 answeredIn) =
            abi.decode(output, (uint256, int256, uint256, uint256, uint256));
        if (answer <= 0 || answer > type(int96).max) revert PriceUnusable(asset, answer, updatedAt);
        if (updatedAt == 0 || updatedAt > block.timestamp || answeredIn < roundId) {
            revert PriceUnusable(asset, answer, updatedAt);
        }
        (isOk, output) = feed.staticcall(abi.encodeCall(IFeed.decimals, ()));
        if (!isOk || output.length < 32 || abi.decode(output, (uint256)) != (rule >> 192) & 0xff) {
            revert PriceUnusable(asset, answer, updatedAt);
        }
        uint256 age = block.timestamp - updatedAt;
        uint256 most = (rule >> 160) & 0xffffffff;
        if (age > most) revert PriceStale(asset, age, most);
        return uint256(answer);
    }
}

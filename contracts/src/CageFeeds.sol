// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CagePrices} from "./CagePrices.sol";

/// @title Which prices a batch begins with
/// @notice A feed is believed within the owner's bounds, when the sequencer of its chain has been up for a while, and when
/// it says about what it said at the last batch. One that jumped stops the batches that hold or move its asset, until
/// somebody notes the new price and an hour has passed, or the account notes it.
abstract contract CageFeeds is CagePrices {
    uint256 private constant SETTLING = 1 hours;
    uint256 private constant TIME_AT = 200;

    /// @return answer the feed's own; unit what the asset's base units times it are divided by, for whole dollars.
    function priceOf(address asset) external view returns (uint256 answer, uint256 unit) {
        return _priceOf(asset);
    }

    /// @notice Take prices that jumped for those of the last batch.
    function notePrices() external {
        if (entered) revert Reentered();
        uint256 was = lastPrices;
        bool isOwners = msg.sender == account;
        uint256 prices = was & ((1 << TIME_AT) - 1);
        bool isAny = isOwners && was >> TIME_AT > block.timestamp;
        for (uint256 i = 0; i < assetList.length; ++i) {
            uint256 rule = ruleOf[Kind.ASSET][_keyOf(assetList[i])];
            (uint256 answer,,,) = _askFeed(rule);
            uint256 last = (prices >> (i * PRICE_BITS)) & PRICE_MASK;
            if (answer == 0 || !_isJump(rule, last, answer)) continue;
            prices ^= (last ^ _pack(answer)) << (i * PRICE_BITS);
            isAny = true;
        }
        if (!isAny) revert NothingChanges();
        uint256 settledAt = isOwners ? 0 : block.timestamp + SETTLING;
        prices |= settledAt << TIME_AT;
        lastPrices = prices;
        emit PricesNoted(msg.sender, prices, settledAt);
    }

    /// @dev Reads every feed once and keeps the answers until `_forgetPrices`. One that cannot be believed or that jumped is
    /// kept as that: it stops the batch when something of its asset is held or moved, and not before.
    function _keepPrices() internal {
        _checkSequencer();
        uint256 was = lastPrices;
        if (block.timestamp < was >> TIME_AT) revert PricesNotSettled(block.timestamp, was >> TIME_AT);
        uint256 prices = was;
        for (uint256 i = 0; i < assetList.length; ++i) {
            address asset = assetList[i];
            uint256 rule = ruleOf[Kind.ASSET][_keyOf(asset)];
            (uint256 answer,,,) = _askFeed(rule);
            if (answer == 0) {
                answer = UNBELIEVED;
            } else if (uint8(rule >> 216) != 0) {
                uint256 last = (was >> (i * PRICE_BITS)) & PRICE_MASK;
                if (_isJump(rule, last, answer)) answer = JUMPED;
                else prices ^= (last ^ _pack(answer)) << (i * PRICE_BITS);
            }
            uint256 unit = _unitOf(rule);
            assembly ("memory-safe") {
                tstore(asset, answer)
                tstore(or(asset, UNIT_OF), unit)
            }
        }
        if (prices != was) lastPrices = prices;
    }

    function _readPrice(address asset, uint256 kept) internal view override returns (uint256, uint256) {
        if (kept == JUMPED) revert PriceJumped(asset);
        uint256 rule = ruleOf[Kind.ASSET][_keyOf(asset)];
        if (rule == 0) revert AssetNotApproved(asset);
        (uint256 answer, bool isStale, int256 one, uint256 other) = _askFeed(rule);
        // What could not be believed when the batch began is of no use by now.
        if (answer != 0 && kept == 0) return (answer, _unitOf(rule));
        if (answer != 0) revert PriceUnusable(asset, 0, 0);
        if (isStale) revert PriceStale(asset, uint256(one), other);
        revert PriceUnusable(asset, one, other);
    }

    function _unitOf(uint256 rule) private pure returns (uint256) {
        return 10 ** (((rule >> 200) & 0xff) + ((rule >> 192) & 0xff));
    }

    /// @return the answer; or 0, and that it is too old with its age and the most, or what it said and when.
    function _askFeed(uint256 rule) private view returns (uint256, bool, int256, uint256) {
        address feed = address(uint160(rule));
        (bool isOk, bytes memory output) = feed.staticcall(abi.encodeCall(IFeed.latestRoundData, ()));
        if (!isOk || output.length < 160) return (0, false, 0, 0);
        (uint256 roundId, int256 answer,, uint256 updatedAt, uint256 answeredIn) =
            abi.decode(output, (uint256, int256, uint256, uint256, uint256));
        // An aggregator that may not say less than its least answer says that one, whatever the price has become.
        bool isSound = answer > int256(_boundOf(rule >> 224)) && answer <= type(int96).max && updatedAt != 0
            && updatedAt <= block.timestamp && answeredIn >= roundId
            && (rule >> 240 == 0 || answer < int256(_boundOf(rule >> 240)));
        if (isSound) {
            (isOk, output) = feed.staticcall(abi.encodeCall(IFeed.decimals, ()));
            isSound = isOk && output.length >= 32 && abi.decode(output, (uint256)) == (rule >> 192) & 0xff;
        }
        if (!isSound) return (0, false, answer, updatedAt);
        uint256 age = block.timestamp - updatedAt;
        uint256 most = (rule >> 160) & 0xffffffff;
        if (age > most) return (0, true, int256(age), most);
        return (uint256(answer), false, 0, 0);
    }

    function _boundOf(uint256 bound) private pure returns (uint256) {
        return (bound & 0x1ff) << ((bound >> 9) & 0x7f);
    }

    /// @dev What is packed is at most a four-thousandth below the price.
    function _isJump(uint256 rule, uint256 last, uint256 answer) private pure returns (bool) {
        uint256 most = uint8(rule >> 216);
        if (last == 0 || most == 0) return false;
        last = (last & 0x1fff) << (last >> 13);
        return (answer > last ? answer - last : last - answer) * 100 > last * most;
    }

    /// @return packed the answer rounded down to 13 bits, and how many bits it lost.
    function _pack(uint256 answer) private pure returns (uint256 packed) {
        assembly ("memory-safe") {
            let rest := shr(13, answer)
            let bits := shl(6, gt(rest, 0xffffffffffffffff))
            bits := or(bits, shl(5, gt(shr(bits, rest), 0xffffffff)))
            bits := or(bits, shl(4, gt(shr(bits, rest), 0xffff)))
            bits := or(bits, shl(3, gt(shr(bits, rest), 0xff)))
            bits := or(bits, shl(2, gt(shr(bits, rest), 0xf)))
            bits := or(bits, shl(1, gt(shr(bits, rest), 3)))
            bits := or(bits, gt(shr(bits, rest), 1))
            bits := add(bits, iszero(iszero(rest)))
            packed := or(shl(13, bits), shr(bits, answer))
        }
    }

    /// @dev After a stop of the sequencer its chain goes on before feeds and owners have caught up.
    function _checkSequencer() private view {
        uint256 rule = ruleOf[Kind.SEQUENCER][0];
        if (rule == 0) return;
        (bool isOk, bytes memory output) = address(uint160(rule)).staticcall(abi.encodeCall(IFeed.latestRoundData, ()));
        if (!isOk || output.length < 160) revert SequencerNotUp(0, 0);
        (, int256 answer, uint256 startedAt,,) = abi.decode(output, (uint256, int256, uint256, uint256, uint256));
        bool isUp = answer == 0 && startedAt != 0 && startedAt <= block.timestamp;
        if (!isUp || block.timestamp - startedAt < rule >> 160) revert SequencerNotUp(answer, startedAt);
    }
}

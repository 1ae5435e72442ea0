// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CageRights} from "./CageRights.sol";
import {Window} from "./CageWindow.sol";

/// @title What a batch may have done
/// @notice Compares what the account held before and after, at the same prices.
abstract contract CageJudge is CageRights {
    /// @dev Of what is not an asset's outflow: losses, rebalances, coins given to the session key, what went into pools.
    address internal constant LOSSES = address(1);
    address internal constant REBALANCES = address(2);
    address internal constant TOP_UPS = address(3);
    address internal constant POOLED = address(4);

    mapping(address what => Window) internal windows;

    /// @dev Micro-USD; `given` is the worth of the rights that outlive the batch, `pooled` what went into pools.
    struct Verdict {
        BatchClass batchClass;
        uint256 moved;
        uint256 loss;
        uint256 given;
        uint256 pooled;
    }

    /// @return what counts in the present window: an asset's outflow, or 1 losses, 2 rebalances, 3 top-ups,
    /// 4 what went into pools.
    function spent(address what) external view returns (uint256) {
        return windows[what].read();
    }

    /// @param given how much more of each asset named spenders may take than before the batch.
    function _judge(Measure memory before, Measure memory after_, uint256[] memory given)
        internal
        returns (Verdict memory verdict)
    {
        uint256 worth = _judgeOutflows(before, after_, given);
        verdict = _describe(before, after_);
        verdict.given = worth;
        _judgeLoss(verdict, before.total);
        _judgeClass(verdict.batchClass, after_.total);
        _judgeConcentration(before, after_);
        _judgePositions(before, after_);
        _judgeGrowth(verdict, before, after_);
    }

    /// @dev What left the wallet and what left a position count alike, and what went from one to the other counts once.
    /// @return worth of what was given, in micro-USD.
    function _judgeOutflows(Measure memory before, Measure memory after_, uint256[] memory given)
        private
        returns (uint256 worth)
    {
        uint256 role = acting;
        for (uint256 i = 0; i < assetList.length; ++i) {
            address asset = assetList[i];
            uint256 was = before.balances[i];
            uint256 is_ = after_.balances[i];
            if (is_ > was && _stateOf(asset) != APPROVED) revert AssetNotApproved(asset);
            uint256 gone = given[i] + (is_ < was ? was - is_ : 0) + _sunk(before, after_, i);
            if (gone != 0) {
                _countOutflow(asset, gone);
                // Beside the account's caps, which all roles use up together.
                if (role != 0) _use(Kind.ROLE_ALLOWANCE, bytes32(role << 160 | uint160(asset)), gone);
            }
            worth += _valueOf(asset, given[i]);
        }
    }

    /// @return by how much more an asset fell in wallet and positions together than in the wallet; base units.
    function _sunk(Measure memory before, Measure memory after_, uint256 i) private pure returns (uint256) {
        int256 fall = before.exposures[i] - after_.exposures[i];
        if (after_.balances[i] < before.balances[i]) fall -= int256(before.balances[i] - after_.balances[i]);
        return _positive(fall);
    }

    function _countOutflow(address asset, uint256 amount) internal {
        uint256 most = ruleOf[Kind.OUTFLOW_PER_BATCH][_keyOf(asset)];
        if (amount > most) revert OutflowTooLarge(asset, amount, most);
        most = ruleOf[Kind.OUTFLOW_PER_WINDOW][_keyOf(asset)];
        uint256 sum = windows[asset].read() + amount;
        if (sum > most) revert OutflowInWindowTooLarge(asset, sum, most);
        windows[asset].add(amount);
        emit OutflowCounted(asset, amount);
    }

    /// @dev What went up and down, `base` being the golem's retreat and `other` every other token: in the wallet, and
    /// in wallet and positions together. `dust` is what may rise without anything having been opened.
    struct Moves {
        bool baseFalls;
        bool otherFalls;
        bool otherRises;
        bool baseSinks;
        bool otherSinks;
        bool otherGains;
        bool positionFalls;
        bool positionRises;
        bool debtRises;
        uint256 dust;
        uint256 grossBefore;
        uint256 grossAfter;
    }

    function _describe(Measure memory before, Measure memory after_) private view returns (Verdict memory verdict) {
        Moves memory moves;
        uint256 sunk = 0;
        for (uint256 i = 0; i < assetList.length; ++i) {
            bool isBase = assetList[i] == baseAsset;
            if (after_.balances[i] < before.balances[i]) {
                if (isBase) moves.baseFalls = true;
                else moves.otherFalls = true;
                verdict.moved += before.values[i] - after_.values[i];
            } else if (after_.balances[i] > before.balances[i]) {
                if (!isBase) moves.otherRises = true;
            }
            if (after_.exposures[i] < before.exposures[i]) {
                if (isBase) moves.baseSinks = true;
                else moves.otherSinks = true;
                sunk += _valueOf(assetList[i], _sunk(before, after_, i));
            }
        }
        uint256 left = 0;
        for (uint256 i = 0; i < positionList.length; ++i) {
            moves.grossBefore += before.gross[i];
            moves.grossAfter += after_.gross[i];
            if (after_.gross[i] < before.gross[i]) {
                moves.positionFalls = true;
                left += before.gross[i] - after_.gross[i];
            } else if (after_.newest[i] >= MIXES) {
                verdict.pooled += after_.gross[i] - before.gross[i];
            }
            if (after_.debts[i] > before.debts[i]) {
                moves.debtRises = true;
                left += after_.debts[i] - before.debts[i];
            }
        }
        // What sank came out of positions or debts: it is among what left them, or more than that.
        verdict.moved += sunk > left ? sunk : left;
        moves.dust = verdict.moved * DUST_BPS / BPS + DUST;
        _describePositions(moves, before, after_);
        if (after_.total < before.total) verdict.loss = uint256(before.total - after_.total);
        verdict.batchClass = _classify(moves);
    }

    /// @dev A position is left when nothing in it grows: what becomes something else inside it was exchanged. A
    /// position in a pool gives its assets in the proportion of its market, not of the feeds: what comes of one is no gain
    /// up to some times what lay there of it by the feeds. Elsewhere each asset comes out as it lay there.
    function _describePositions(Moves memory moves, Measure memory before, Measure memory after_) private view {
        uint256 count = assetList.length;
        uint256[] memory source = new uint256[](count);
        for (uint256 i = 0; i < positionList.length; ++i) {
            if (after_.gross[i] > before.gross[i] + moves.dust || after_.newest[i] > before.newest[i]) {
                moves.positionRises = true;
            }
            for (uint256 j = 0; j < count; ++j) {
                uint256 was = before.held[i * count + j];
                uint256 is_ = after_.held[i * count + j];
                if (is_ > was && _valueOf(assetList[j], is_ - was) > moves.dust) moves.positionRises = true;
                if (is_ >= was) continue;
                uint256 fell = _valueOf(assetList[j], was - is_);
                if (fell > moves.dust) moves.positionFalls = true;
                if (before.newest[i] >= MIXES) source[j] += fell * MOST_OF_PROPORTION;
            }
        }
        for (uint256 i = 0; i < count; ++i) {
            if (assetList[i] == baseAsset || after_.exposures[i] <= before.exposures[i]) continue;
            uint256 gained = _valueOf(assetList[i], uint256(after_.exposures[i] - before.exposures[i]));
            if (gained > moves.dust + source[i]) moves.otherGains = true;
        }
    }

    /// @dev Leaving: no position and no debt grows, and no token but the base is gained for another. Tokens that
    /// come out of a position are no gain. Moving between positions opens none unless they grow by more than a loss may
    /// be, because a position moved is never worth exactly what it was; and where the wallet pays, by more than dust.
    function _classify(Moves memory moves) private view returns (BatchClass) {
        uint256 most = moves.baseFalls || moves.otherFalls ? 0 : moves.grossBefore * _limit(MAX_LOSS_BPS) / BPS;
        bool grows = moves.grossAfter > moves.grossBefore + (most > moves.dust ? most : moves.dust);
        bool opens = moves.debtRises || (moves.positionRises && (grows || !moves.positionFalls))
            || (moves.baseFalls && moves.otherRises) || (moves.baseSinks && moves.otherGains);
        bool exchanges = (moves.positionRises && moves.positionFalls) || (moves.otherFalls && moves.otherRises)
            || (moves.otherSinks && moves.otherGains);
        if (opens) return exchanges ? BatchClass.OPENING_AND_REBALANCE : BatchClass.OPENING;
        return exchanges ? BatchClass.REBALANCE : BatchClass.LEAVING;
    }

    function _judgeLoss(Verdict memory verdict, int256 totalBefore) private {
        if (verdict.loss == 0) return;
        uint256 most = verdict.moved * _limit(MAX_LOSS_BPS) / BPS;
        if (verdict.loss > most) revert LossTooLarge(verdict.loss, most);
        most = _positive(totalBefore) * _limit(MAX_WINDOW_LOSS_BPS) / BPS;
        uint256 sum = windows[LOSSES].read() + verdict.loss;
        if (sum > most) revert LossInWindowTooLarge(sum, most);
        windows[LOSSES].add(verdict.loss);
    }

    function _judgeClass(BatchClass batchClass, int256 totalAfter) private {
        uint256 phase = _limit(PHASE);
        bool isPhaseFine = batchClass == BatchClass.LEAVING || phase < DEFENSIVE
            || (phase == DEFENSIVE && batchClass == BatchClass.REBALANCE);
        if (!isPhaseFine) revert PhaseForbids(phase, batchClass);
        _judgeDrawdown(batchClass, totalAfter);
        if (batchClass != BatchClass.REBALANCE && batchClass != BatchClass.OPENING_AND_REBALANCE) return;
        uint256 interval = _limit(MIN_REBALANCE_INTERVAL);
        uint256 elapsed = block.timestamp - rebalancedAt;
        if (elapsed < interval) revert RebalanceTooSoon(elapsed, interval);
        uint256 count = windows[REBALANCES].read() + 1;
        if (count > _limit(MAX_REBALANCES_PER_DAY)) revert TooManyRebalances(count, _limit(MAX_REBALANCES_PER_DAY));
        windows[REBALANCES].add(1);
        rebalancedAt = uint64(block.timestamp);
    }

    function _judgeDrawdown(BatchClass batchClass, int256 totalAfter) private {
        uint256 floor = _floor();
        bool isBelow = totalAfter < int256(floor);
        if (batchClass == BatchClass.LEAVING) {
            if (isBelow && !breached) {
                breached = true;
                emit DrawdownBreached(totalAfter, floor);
            }
            return;
        }
        if (_limit(HIGH_WATER_MARK) == 0) revert NoHighWaterMark();
        if (isBelow) revert DrawdownExceeded(totalAfter, floor);
        if (breached) revert DrawdownNotAcknowledged();
    }

    function _judgeConcentration(Measure memory before, Measure memory after_) private view {
        uint256 most = _limit(MAX_CONCENTRATION_BPS);
        for (uint256 i = 0; i < assetList.length; ++i) {
            if (assetList[i] == baseAsset) continue;
            uint256 was = _exposed(before, i);
            uint256 is_ = _exposed(after_, i);
            if (_isTooLarge(was, before.total, is_, after_.total, most)) {
                revert ConcentrationTooLarge(assetList[i], _shareOf(is_, after_.total), most);
            }
        }
    }

    /// @return micro-USD of one asset in wallet and positions, less what is owed.
    function _exposed(Measure memory one, uint256 i) private view returns (uint256) {
        int256 exposure = one.exposures[i];
        return exposure == int256(one.balances[i]) ? one.values[i] : _valueOf(assetList[i], _positive(exposure));
    }

    function _judgePositions(Measure memory before, Measure memory after_) private view {
        uint256 most = _limit(MAX_POSITION_BPS);
        uint256 least = _limit(MIN_COLLATERAL_RATIO_BPS);
        for (uint256 i = 0; i < positionList.length; ++i) {
            if (_isTooLarge(before.largest[i], before.total, after_.largest[i], after_.total, most)) {
                revert PositionTooLarge(positionList[i], _shareOf(after_.largest[i], after_.total), most);
            }
            uint256 debt = after_.debts[i];
            _judgeCover(before, after_, i);
            if (after_.gross[i] * BPS >= least * debt) continue;
            // Paying back a part is no offence; the ratio must not have become worse, and there must have been one.
            if (before.debts[i] == 0 || after_.gross[i] * before.debts[i] < before.gross[i] * debt) {
                revert CollateralRatioTooLow(positionList[i], after_.gross[i] * BPS / debt, least);
            }
        }
    }

    /// @dev What loses between batches to whoever trades in a pool is in no window of losses. So of what a valuer names
    /// nothing grows, and what goes into pools adds up over the day; leaving puts nothing into them.
    function _judgeGrowth(Verdict memory verdict, Measure memory before, Measure memory after_) private {
        for (uint256 i = 0; i < after_.frozen.length; ++i) {
            uint256 item = after_.frozen[i];
            uint256 was = 0;
            for (uint256 j = 0; j < before.frozen.length; ++j) {
                if ((before.frozen[j] ^ item) >> 128 == 0) was = uint128(before.frozen[j]);
            }
            if (uint128(item) > was) revert MayNotGrow(positionList[item >> 248], uint128(item), was);
        }
        uint256 pooled = verdict.pooled;
        if (pooled == 0 || verdict.batchClass == BatchClass.LEAVING) return;
        uint256 most = _positive(before.total) * _limit(MAX_POOLED_PER_DAY_BPS) / BPS;
        uint256 sum = windows[POOLED].read() + pooled;
        if (sum > most) revert PooledInWindowTooLarge(sum, most);
        windows[POOLED].add(pooled);
        emit OutflowCounted(POOLED, pooled);
    }

    /// @dev What stands for a debt where it would be liquidated, whenever the debt rises or that falls. A debt that is
    /// paid down may be left less covered than it must be, if it is better covered than it was.
    function _judgeCover(Measure memory before, Measure memory after_, uint256 i) private view {
        uint256 debt = after_.debts[i];
        uint256 cover = after_.covers[i];
        bool isUntouched =
            debt <= before.debts[i] && cover >= before.covers[i] && after_.gross[i] >= before.gross[i];
        if (debt == 0 || isUntouched) return;
        uint256 least = _limit(MIN_COVER_BPS);
        if (cover * BPS >= least * debt) return;
        if (debt >= before.debts[i] || cover * before.debts[i] <= before.covers[i] * debt) {
            revert CoverTooLow(positionList[i], cover * BPS / debt, least);
        }
    }

    /// @dev Over `most`, and a larger share than before. Shares are compared by cross-multiplication.
    function _isTooLarge(uint256 was, int256 totalWas, uint256 is_, int256 total, uint256 most)
        private
        pure
        returns (bool)
    {
        if (is_ * BPS <= most * _positive(total)) return false;
        return totalWas <= 0 || is_ * _positive(totalWas) > was * _positive(total);
    }

    /// @dev Rounded up, so that what is over the limit shows as over it.
    function _shareOf(uint256 value, int256 total) private pure returns (uint256) {
        uint256 whole = _positive(total);
        return whole == 0 ? type(uint256).max : (value * BPS + whole - 1) / whole;
    }

    function _floor() internal view returns (uint256) {
        return _limit(HIGH_WATER_MARK) * (BPS - _limit(MAX_DRAWDOWN_BPS)) / BPS;
    }

    function _positive(int256 value) internal pure returns (uint256) {
        return value > 0 ? uint256(value) : 0;
    }
}

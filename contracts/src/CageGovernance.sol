// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CageRules} from "./CageRules.sol";

/// @title How rules may change
/// @notice Tightening takes effect at once; loosening waits, can be cancelled, and is lost when a rule moved in between.
/// What is proposed together and waits is one bundle: it waits for the longest delay in it and takes effect as a whole.
/// A part of the cage: its code runs as the cage, its own storage is empty.
contract CageGovernance is CageRules {
    uint256 private constant SHORT_DELAY = 1 hours;
    uint256 private constant MEDIUM_DELAY = 24 hours;
    uint256 private constant LONG_DELAY = 48 hours;

    constructor(address account_, address baseAsset_) CageRules(account_, baseAsset_) {}

    /// @dev From the constructor of the cage, and from nowhere else: the cage has no door to it.
    function begin(uint256[] calldata initial) external {
        for (uint256 i = 0; i < initial.length; i += 2) {
            (Kind kind, bytes32 key) = (Kind(initial[i] >> 248), bytes32(initial[i] & (type(uint256).max >> 8)));
            _checkRange(kind, key, initial[i + 1]);
            _set(kind, key, initial[i + 1]);
        }
        if (_stateOf(baseAsset) != APPROVED) revert AssetNotApproved(baseAsset);
        for (uint256 i = 0; i < LIMIT_COUNT; ++i) {
            // A limit nobody spoke of is at zero, which some of them may not be.
            _checkRange(Kind.LIMIT, bytes32(i), _limit(i));
        }
    }

    /// @notice Change rules: each at once if it tightens, the others together after the longest of their delays.
    function propose(Rule[] calldata changes) external onlyAccount {
        bool[] memory waits = new bool[](changes.length);
        uint256 longest = 0;
        for (uint256 i = 0; i < changes.length; ++i) {
            (Kind kind, bytes32 key, uint256 value) = (changes[i].kind, changes[i].key, changes[i].value);
            if (ruleOf[kind][key] == value) revert NothingChanges();
            _checkRange(kind, key, value);
            uint256 delay = delayOf(kind, key, value);
            _drop(kind, key);
            if (delay == 0) _set(kind, key, value);
            else waits[i] = true;
            if (delay > longest) longest = delay;
        }
        if (longest == 0) return;
        uint64 bundle = ++bundleCount;
        uint64 readyAt = uint64(block.timestamp + longest);
        for (uint256 i = 0; i < changes.length; ++i) {
            if (!waits[i]) continue;
            (Kind kind, bytes32 key, uint256 value) = (changes[i].kind, changes[i].key, changes[i].value);
            uint256 current = ruleOf[kind][key];
            if (pendingOf[kind][key].bundle != bundle) bundles[bundle].push(RuleId(kind, key));
            pendingOf[kind][key] = Pending(value, current, readyAt, bundle);
            emit ChangeProposed(kind, key, current, value, readyAt, bundle);
        }
    }

    /// @notice Make a proposed change true once its delay is over, with all that was proposed with it. Anyone may.
    function applyChange(Kind kind, bytes32 key) external {
        if (entered) revert Reentered();
        Pending memory change = pendingOf[kind][key];
        if (change.readyAt == 0) revert NothingPending();
        if (block.timestamp < change.readyAt) revert NotYet(block.timestamp, change.readyAt);
        if (block.timestamp > change.readyAt + GRACE) {
            revert TooLate(block.timestamp, change.readyAt + GRACE);
        }
        RuleId[] memory all = bundles[change.bundle];
        delete bundles[change.bundle];
        for (uint256 i = 0; i < all.length; ++i) {
            _apply(all[i].kind, all[i].key);
        }
    }

    /// @notice Give up a proposed change, and all that was proposed with it.
    function cancelChange(Kind kind, bytes32 key) external onlyAccount {
        if (pendingOf[kind][key].readyAt == 0) revert NothingPending();
        _drop(kind, key);
    }

    /// @notice Appoint the golem's key, replacing the former one. The windows go on as they are.
    function setSession(address key, uint64 expiresAt, uint32 operations, uint256 budget) external onlyAccount {
        _appoint(0, key, expiresAt, operations, budget);
    }

    /// @notice Appoint the key of one of the other roles, replacing the former one; what the role may do stays.
    function appoint(uint256 role, address key, uint64 expiresAt, uint32 operations, uint256 budget)
        external
        onlyAccount
    {
        if (role >= MOST_ROLES_OF_CAGE) revert RoleUnknown(role);
        _appoint(role, key, expiresAt, operations, budget);
    }

    function _appoint(uint256 role, address key, uint64 expiresAt, uint32 operations, uint256 budget) private {
        bool isOwner = isContract(account) && ISafe(account).isOwner(key);
        if (key == account || key == address(this) || isOwner) revert TargetForbidden(key);
        _checkSession(expiresAt, operations, budget);
        if (key != address(0)) {
            // Of two roles a key would have the calls of one and the budget of the other.
            uint256 other = roleOf[key];
            if ((role != 0 && key == appointed[0].key) || (other != 0 && other != role)) revert KeyHasRole(key);
        }
        if (role != 0) {
            delete roleOf[appointed[role].key];
            if (key != address(0)) roleOf[key] = role;
        }
        appointed[role] = Session(key, expiresAt, operations, budget);
        emit SessionSet(key, expiresAt, operations, budget, role);
    }

    /// @notice Move to a worse phase: the session key may make things stricter for itself.
    function worsenPhase(uint256 phase) external {
        if (entered) revert Reentered();
        Session storage own = appointed[0];
        if (msg.sender != own.key) revert NotSessionKey(msg.sender);
        if (block.timestamp >= own.expiresAt) revert SessionExpired(block.timestamp, own.expiresAt);
        uint256 current = _limit(PHASE);
        if (phase <= current || phase > TERMINAL) revert OutOfRange(phase, TERMINAL);
        _drop(Kind.LIMIT, bytes32(PHASE));
        _set(Kind.LIMIT, bytes32(PHASE), phase);
    }

    /// @return seconds_ how long a change from the present value would wait; 0 for tightening. How much looser it is
    /// counts from the tightest value since the first of those loosenings that followed each other within two days.
    function delayOf(Kind kind, bytes32 key, uint256 value) public view returns (uint256 seconds_) {
        uint256 current = ruleOf[kind][key];
        if (kind == Kind.LIMIT) {
            if (uint256(key) == PHASE) return value < current ? LONG_DELAY : 0;
            if (!_isTighterWhenHigher(uint256(key))) return _delayOfRise(kind, key, current, value);
            if (value >= current) return 0;
            uint256 highest = _isRecent(loosened[kind][key].at) ? loosened[kind][key].from : 0;
            return _delayOfRatio(value, highest > current ? highest : current);
        }
        if (kind == Kind.OUTFLOW_PER_BATCH || kind == Kind.OUTFLOW_PER_WINDOW || kind == Kind.SPENDER) {
            return _delayOfRise(kind, key, current, value);
        }
        // What is held would count as nothing without its valuer, or without the price of what it is made of; what is
        // owed would be hidden.
        if (kind == Kind.ASSET) {
            if (value != 0) return _delayOfAsset(current, value);
            (, bool isKnown) = _worthLeft(address(uint160(uint256(key))));
            return isKnown && _isEveryPositionEmpty() ? 0 : LONG_DELAY;
        }
        // Not at all, and conditions where there were none, are tighter; which conditions are is not for a machine.
        if (kind == Kind.CALL) return value == 0 || (current == 1 && value > 1) ? 0 : LONG_DELAY;
        if (kind == Kind.CONDITION) {
            bool isAsked = uint256(key) & 0xff < _conditionsOf(ruleOf[Kind.CALL][key >> 8]);
            // A call asks in vain for a condition that is not there, and is refused.
            return value == 0 || !isAsked ? 0 : LONG_DELAY;
        }
        if (kind == Kind.VALUER) return value == 0 && _isEmpty(current) ? 0 : LONG_DELAY;
        if (kind == Kind.ROLE_CALL || kind == Kind.RECIPIENT) return value == 0 ? 0 : LONG_DELAY;
        if (kind == Kind.ROLE_ALLOWANCE || kind == Kind.PAYOUT) return _delayOfAllowance(current, value);
        if (kind == Kind.SEQUENCER) return _delayOfSequencer(current, value);
        return value == 0 || current == 0 ? 0 : LONG_DELAY;
    }

    function _apply(Kind kind, bytes32 key) private {
        Pending memory change = pendingOf[kind][key];
        if (ruleOf[kind][key] != change.base) revert RuleMoved(ruleOf[kind][key], change.base);
        delete pendingOf[kind][key];
        Loosened storage last = loosened[kind][key];
        bool isHigherTighter = kind == Kind.LIMIT && _isTighterWhenHigher(uint256(key));
        bool isTightest = isHigherTighter ? change.base > last.from : change.base < last.from;
        if (isTightest || !_isRecent(last.at)) last.from = change.base;
        last.at = uint64(block.timestamp);
        _set(kind, key, change.value);
    }

    /// @dev Half of a proposal is another proposal, which nobody signed.
    function _drop(Kind kind, bytes32 key) private {
        uint64 bundle = pendingOf[kind][key].bundle;
        if (bundle == 0) return;
        RuleId[] memory all = bundles[bundle];
        delete bundles[bundle];
        for (uint256 i = 0; i < all.length; ++i) {
            delete pendingOf[all[i].kind][all[i].key];
            emit ChangeCancelled(all[i].kind, all[i].key);
        }
    }

    function _set(Kind kind, bytes32 key, uint256 value) private {
        uint256 current = ruleOf[kind][key];
        address target = address(uint160(uint256(key)));
        if (kind == Kind.ASSET && value == 0 && current != 0) _checkGone(target);
        ruleOf[kind][key] = value;
        if (kind == Kind.LIMIT) _keepLimit(uint256(key), value);
        digest = keccak256(abi.encode(digest, kind, key, value));
        if (kind == Kind.ASSET) {
            (bool isGone, uint256 at) = _keepList(assetList, target, current != 0, value != 0, _limit(MAX_ASSETS));
            if (isGone) _forgetPrice(at);
            if (value != 0 && ruleOf[Kind.VALUER][key] != 0) revert CountedTwice(target);
        } else if (kind == Kind.VALUER) {
            _keepList(positionList, target, current != 0, value != 0, POSITIONS_AT_MOST);
            if (value != 0) _checkCountedOnce(target, value);
        }
        emit RuleChanged(kind, key, current, value);
    }

    function _checkGone(address asset) private view {
        (uint256 worth, bool isKnown) = _worthLeft(asset);
        if (isKnown && worth > MOST_LEFT) revert StillHeld(asset, IPrices(address(this)).balanceOf(asset));
    }

    /// @return worth micro-USD of an asset that is to go, 0 where its balance cannot be read: nothing can be done with it.
    /// @return isKnown false where some is held and nobody can say what it is worth; then it goes, but slowly.
    function _worthLeft(address asset) private view returns (uint256 worth, bool isKnown) {
        try IPrices(address(this)).balanceOf(asset) returns (uint256 balance) {
            if (balance == 0) return (0, true);
            try IPrices(address(this)).priceOf(asset) returns (uint256 answer, uint256 unit) {
                return (balance * answer * MICRO_USD / unit, true);
            } catch {
                return (0, false);
            }
        } catch {
            return (0, true);
        }
    }

    function _conditionsOf(uint256 call) private pure returns (uint256) {
        return call == 0 ? 0 : call - 1;
    }

    /// @dev A valuer is not told of a target, so under two of them it would count the same things twice.
    function _checkCountedOnce(address target, uint256 valuer) private view {
        if (ruleOf[Kind.ASSET][_keyOf(target)] != 0) revert CountedTwice(target);
        for (uint256 i = 0; i < positionList.length; ++i) {
            address other = positionList[i];
            if (other != target && ruleOf[Kind.VALUER][_keyOf(other)] == valuer) revert CountedTwice(target);
        }
        // Nor would two of them that count one place: a valuer stands under the target it counts, and nowhere else.
        address subject = IValuer(address(uint160(valuer))).subject();
        if (subject != target) revert ValuerOfAnother(target, subject);
    }

    function _keepLimit(uint256 index, uint256 value) private {
        if ((LARGE_LIMITS >> index) & 1 != 0) return;
        uint256 shift = (index & 7) << 5;
        limits[index >> 3] = (limits[index >> 3] & ~(uint256(type(uint32).max) << shift)) | value << shift;
    }

    /// @dev The last asset takes the place of the one that went, and so does its price. A list that is one shorter has
    /// no price beyond its end, so what comes next begins without one.
    function _forgetPrice(uint256 at) private {
        (uint256 prices, uint256 last) = (lastPrices, assetList.length * PRICE_BITS);
        uint256 moved = (prices >> last) & PRICE_MASK;
        prices &= ~(PRICE_MASK << last);
        at *= PRICE_BITS;
        if (at != last) prices = (prices & ~(PRICE_MASK << at)) | moved << at;
        lastPrices = prices;
    }

    /// @return isGone whether the item was taken off, and `at` where it stood.
    function _keepList(address[] storage list, address item, bool was, bool is_, uint256 most)
        private
        returns (bool isGone, uint256 at)
    {
        if (was == is_) return (false, 0);
        if (is_) {
            if (list.length >= most) revert OutOfRange(list.length + 1, most);
            list.push(item);
            return (false, 0);
        }
        uint256 last = list.length - 1;
        while (list[at] != item) ++at;
        list[at] = list[last];
        list.pop();
        return (true, at);
    }

    function _checkRange(Kind kind, bytes32 key, uint256 value) private view {
        if (kind == Kind.LIMIT) {
            (uint256 least, uint256 most) = _rangeOf(uint256(key));
            if (value < least) revert OutOfRange(value, least);
            if (value > most) revert OutOfRange(value, most);
            return;
        }
        if (kind == Kind.CALL) {
            if (value > CONDITIONS_AT_MOST + 1) revert OutOfRange(value, CONDITIONS_AT_MOST + 1);
            if (uint256(key) >> 192 != 0) revert OutOfRange(uint256(key), 0);
            return;
        }
        if (kind == Kind.CONDITION) {
            if (uint256(key) >> 200 != 0) revert OutOfRange(uint256(key), 0);
            if (uint256(key) & 0xff >= CONDITIONS_AT_MOST) revert OutOfRange(uint256(key) & 0xff, CONDITIONS_AT_MOST - 1);
            return;
        }
        if (kind == Kind.SEQUENCER) return _checkSequencer(uint256(key), value);
        if (kind >= Kind.ROLE_CALL) return _checkRole(kind, uint256(key), value);
        // An address with bits above it would be another key for the same thing.
        if (uint256(key) >> 160 != 0) revert OutOfRange(uint256(key), type(uint160).max);
        if (kind == Kind.ASSET) {
            _checkAsset(address(uint160(uint256(key))), value);
        } else if (kind == Kind.VALUER || kind == Kind.GUARDIAN) {
            if (value >> 160 != 0) revert OutOfRange(value, type(uint160).max);
            if (kind == Kind.VALUER && value != 0 && !isContract(address(uint160(value)))) {
                revert TargetHasNoCode(address(uint160(value)));
            }
            if (kind == Kind.GUARDIAN && key != 0) revert OutOfRange(uint256(key), 0);
        } else if (value > type(uint128).max) {
            revert OutOfRange(value, type(uint128).max);
        }
    }

    /// @dev The golem's own role is bounded by the account's rules alone; it has payouts and nothing else of these.
    function _checkRole(Kind kind, uint256 key, uint256 value) private view {
        if (kind == Kind.RECIPIENT) {
            if (key >= MOST_RECIPIENTS) revert OutOfRange(key, MOST_RECIPIENTS - 1);
            if (value >> 160 != 0) revert OutOfRange(value, type(uint160).max);
            if (value == uint160(account) || value == uint160(address(this))) {
                revert TargetForbidden(address(uint160(value)));
            }
            return;
        }
        uint256 role = key >> (kind == Kind.ROLE_CALL ? 192 : kind == Kind.PAYOUT ? 168 : 160);
        if (role >= MOST_ROLES_OF_CAGE || (role == 0 && kind != Kind.PAYOUT)) revert RoleUnknown(role);
        if (kind == Kind.ROLE_CALL) {
            if (value > 1) revert OutOfRange(value, 1);
            return;
        }
        uint256 back = uint112(value >> 112);
        if (back > uint112(value)) revert OutOfRange(back, uint112(value));
        // What never comes back has no period, and what comes back has one.
        if ((back == 0) != (value >> 224 == 0)) revert OutOfRange(value >> 224, 0);
    }

    /// @dev value: grace in seconds << 160 | feed.
    function _checkSequencer(uint256 key, uint256 value) private view {
        if (key != 0) revert OutOfRange(key, 0);
        if (value >> 160 > WINDOW_SECONDS) revert OutOfRange(value >> 160, WINDOW_SECONDS);
        address feed = address(uint160(value));
        if (value != 0 && !isContract(feed)) revert TargetHasNoCode(feed);
    }

    /// @dev value: most << 240 | least << 224 | jump << 216 | state << 208 | token decimals << 200 | feed decimals << 192
    /// | max age << 160 | feed. An answer is above `least` and below `most`, each an exponent of 7 bits above a mantissa
    /// of 9, and differs from that of the last batch by at most `jump` per cent; 0 asks nothing.
    function _checkAsset(address asset, uint256 value) private view {
        if (value == 0) return;
        uint256 state = uint8(value >> 208);
        if (state != APPROVED && state != RETIRING) revert OutOfRange(state, RETIRING);
        uint256 tokenDecimals = (value >> 200) & 0xff;
        uint256 expected = asset == NATIVE ? 18 : IToken(asset).decimals();
        if (tokenDecimals != expected || expected > 36) revert OutOfRange(tokenDecimals, expected);
        uint256 feedDecimals = (value >> 192) & 0xff;
        expected = IFeed(address(uint160(value))).decimals();
        if (feedDecimals != expected || expected > 36) revert OutOfRange(feedDecimals, expected);
        if ((value >> 160) & 0xffffffff == 0) revert OutOfRange(0, 1);
        _checkBound(uint16(value >> 224));
        _checkBound(uint16(value >> 240));
    }

    function _delayOfAsset(uint256 current, uint256 value) private pure returns (uint256) {
        bool isSameFeed = uint160(current) == uint160(value) && uint16(current >> 192) == uint16(value >> 192);
        bool isKept = uint32(value >> 160) <= uint32(current >> 160) && uint8(value >> 208) >= uint8(current >> 208)
            && uint16(value >> 224) >= uint16(current >> 224);
        unchecked {
            // What asks nothing is looser than what asks anything.
            isKept = isKept && uint8(value >> 216) - 1 <= uint8(current >> 216) - 1
                && uint16(value >> 240) - 1 <= uint16(current >> 240) - 1;
        }
        return isSameFeed && isKept && current != 0 ? 0 : LONG_DELAY;
    }

    /// @dev In one form only, so that the larger of two numbers is the larger bound.
    function _checkBound(uint256 bound) private pure {
        if (bound >> 9 != 0 && bound & 0x100 == 0) revert OutOfRange(bound, 0);
    }

    /// @dev The same feed for as long or longer.
    function _delayOfSequencer(uint256 current, uint256 value) private pure returns (uint256) {
        bool isKept = uint160(value) == uint160(current) && value >= current;
        return isKept || current == 0 ? 0 : LONG_DELAY;
    }

    /// @dev No more at once, no more of it back, and not sooner.
    function _delayOfAllowance(uint256 current, uint256 value) private pure returns (uint256) {
        bool isLess = uint112(value) <= uint112(current) && uint112(value >> 112) <= uint112(current >> 112);
        bool isLater = value >> 224 >= current >> 224 || uint112(value >> 112) == 0;
        return isLess && isLater ? 0 : LONG_DELAY;
    }

    function _delayOfRise(Kind kind, bytes32 key, uint256 current, uint256 value) private view returns (uint256) {
        if (value <= current) return 0;
        Loosened storage last = loosened[kind][key];
        return _delayOfRatio(_isRecent(last.at) && last.from < current ? last.from : current, value);
    }

    function _isRecent(uint256 at) private view returns (bool) {
        return at != 0 && block.timestamp < at + LONG_DELAY;
    }

    /// @dev How much looser `to` is than `from`: up to a quarter, up to twice, or more.
    function _delayOfRatio(uint256 from, uint256 to) private pure returns (uint256) {
        uint256 rise = to - from;
        if (rise <= from / 4) return SHORT_DELAY;
        if (rise <= from) return MEDIUM_DELAY;
        return LONG_DELAY;
    }

    function _isTighterWhenHigher(uint256 index) private pure returns (bool) {
        return index == MIN_COLLATERAL_RATIO_BPS || index == MIN_COVER_BPS || index == MIN_REBALANCE_INTERVAL
            || index == PHASE || index == HIGH_WATER_MARK || index == MIN_RANGE_TICKS;
    }

    function _rangeOf(uint256 index) private pure returns (uint256 least, uint256 most) {
        if (index <= MAX_WINDOW_LOSS_BPS) return (0, 1_000);
        if (index == MAX_POSITION_BPS) return (0, BPS);
        if (index == MAX_CONCENTRATION_BPS) return (500, BPS);
        if (index == MAX_DRAWDOWN_BPS) return (100, 5_000);
        if (index == MIN_COLLATERAL_RATIO_BPS) return (10_500, 1_000_000);
        if (index == MIN_REBALANCE_INTERVAL) return (0, 30 days);
        if (index == MAX_REBALANCES_PER_DAY) return (0, 1_000);
        if (index == MAX_ASSETS) return (1, 10);
        if (index == ALLOWS_ARBITRARY_CALLS) return (0, 1);
        if (index == PHASE) return (0, TERMINAL);
        if (index == MIN_COVER_BPS) return (10_100, 1_000_000);
        if (index == MIN_RANGE_TICKS) return (1, MOST_RANGE_TICKS);
        if (index == MAX_POOLED_PER_DAY_BPS) return (0, 10 * BPS);
        if (index == MAX_SESSION_SECONDS) return (0, 365 days);
        if (index == MAX_SESSION_OPERATIONS) return (0, type(uint32).max);
        if (index < LIMIT_COUNT) return (0, type(uint128).max);
        return (1, 0);
    }

    function _isEveryPositionEmpty() private view returns (bool) {
        for (uint256 i = 0; i < positionList.length; ++i) {
            if (!_isEmpty(ruleOf[Kind.VALUER][_keyOf(positionList[i])])) return false;
        }
        return true;
    }

    /// @dev Whether a valuer sees nothing held and nothing owed; one that cannot say sees something.
    function _isEmpty(uint256 valuer) private view returns (bool) {
        (bool isOk, bytes memory output) =
            address(uint160(valuer)).staticcall(abi.encodeCall(IValuer.measure, (account)));
        // Six words and the number of legs; one that holds nothing tells none.
        if (!isOk || output.length != 224) return false;
        (uint256 gross, uint256 debt,,,, uint256 at) =
            abi.decode(output, (uint256, uint256, uint256, uint256, uint256, uint256));
        return gross | debt == 0 && at == 192;
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CageGate} from "./CageGate.sol";
import {CageGovernance} from "./CageGovernance.sol";
import {CageJudge} from "./CageJudge.sol";
import {CageRules} from "./CageRules.sol";

/// @title PolicyCage: what a golem may do with its owner's Safe
/// @notice A module of the Safe. The funds stay in the Safe; the golem's session key acts only through `execute`, which
/// runs a batch of plain calls and undoes it unless every rule of the owner still holds afterwards. With a plain account
/// in the Safe's place the rules can be read and changed, but nothing runs through the cage and nothing is enforced.
contract PolicyCage is CageJudge, IPrices {
    uint256 public constant VERSION = 8;
    /// @notice How long a change that is due may still be applied.
    uint256 public constant GRACE_SECONDS = GRACE;

    /// @notice The parts whose code runs as the cage. Its constructor made them; nothing can put others in their place.
    address public immutable governance;
    address public immutable gate;

    /// @param initial rules, two words each: kind << 248 | key, and the value. What creates a contract has a most size.
    constructor(address account_, address baseAsset_, uint256[] memory initial) CageRules(account_, baseAsset_) {
        governance = address(new CageGovernance(account_, baseAsset_));
        gate = address(new CageGate(account_, baseAsset_));
        (bool isOk, bytes memory reason) = governance.delegatecall(abi.encodeCall(CageGovernance.begin, (initial)));
        if (isOk) return;
        assembly ("memory-safe") {
            revert(add(reason, 32), mload(reason))
        }
    }

    /// @notice Whether the account acts through this cage, so that the rules hold on chain.
    function isEnforced() public view returns (bool) {
        if (!isContract(account)) return false;
        (bool isOk, bytes memory output) = account.staticcall(abi.encodeCall(ISafe.isModuleEnabled, (address(this))));
        return isOk && output.length == 32 && abi.decode(output, (bool));
    }

    /// @notice Run a batch for the session key, or nothing at all.
    function execute(Call[] calldata calls) external {
        Session storage current = _enter();
        _askGate();
        uint256 nonce = ISafe(account).nonce();
        Measure memory before = _measure();
        uint256[] memory held = _readRights(calls);
        for (uint256 i = 0; i < calls.length; ++i) {
            _run(calls[i], i);
        }
        // What the owners signed is for them to time: in the middle of a batch it could pay for a theft.
        uint256 acted = ISafe(account).nonce();
        if (acted != nonce) revert AccountActed(acted, nonce);
        Measure memory after_ = _measure();
        Verdict memory verdict = _judge(before, after_, _sumGiven(calls, held, _readRights(calls)));
        // What a spender may take afterwards is moved without the session, so it is paid for now.
        (uint32 left, uint256 budget) = _charge(current, verdict.moved + verdict.given);
        emit BatchExecuted(
            msg.sender, verdict.batchClass, verdict.moved, verdict.loss, before.total, after_.total, left, budget
        );
        _forgetPrices();
        _leave();
    }

    /// @notice Pay one of the owners' recipients, within the role's right to. It is no loss; it counts as outflow and
    /// out of the session's budget, and nothing else happens with it.
    /// @param recipient its number among the rules.
    function payOut(uint256 recipient, address asset, uint256 amount) external {
        Session storage current = _enter();
        address to = address(uint160(ruleOf[Kind.RECIPIENT][bytes32(recipient)]));
        if (to == address(0)) revert RecipientUnknown(recipient);
        if (_stateOf(asset) == 0) revert AssetNotApproved(asset);
        _use(Kind.PAYOUT, bytes32(acting << 168 | recipient << 160 | uint160(asset)), amount);
        _countOutflow(asset, amount);
        uint256 worth = _valueOf(asset, amount);
        uint256 nonce = ISafe(account).nonce();
        uint256 was = _balanceOf(asset);
        (bool isOk, bytes memory reason) = asset == NATIVE
            ? _send(to, amount, "")
            : _send(asset, 0, abi.encodeCall(IToken.transfer, (to, amount)));
        if (!isOk) revert CallFailed(0, reason);
        uint256 is_ = _balanceOf(asset);
        uint256 gone = is_ < was ? was - is_ : 0;
        if (gone == 0 || gone > amount) revert PayoutNotMade(gone, amount);
        uint256 acted = ISafe(account).nonce();
        if (acted != nonce) revert AccountActed(acted, nonce);
        (uint32 left, uint256 budget) = _charge(current, worth);
        emit PaidOut(msg.sender, to, asset, amount, worth, left, budget);
        _leave();
    }

    /// @notice Give the session key coins for gas, from the account's own. They leave the cage, so they are capped.
    function topUpGas(uint256 amount) external {
        Session storage current = _enter();
        // Another role's key gets coins where the owners made it a recipient.
        if (acting != 0) revert NotSessionKey(msg.sender);
        uint256 most = _limit(MAX_GAS_TOP_UP_WEI);
        uint256 sum = windows[TOP_UPS].read() + amount;
        if (sum > most) revert GasTopUpTooLarge(sum, most);
        windows[TOP_UPS].add(amount);
        if (_stateOf(NATIVE) != 0) _countOutflow(NATIVE, amount);
        current.operationsLeft -= 1;
        (bool isOk, bytes memory reason) = _send(msg.sender, amount, "");
        if (!isOk) revert CallFailed(0, reason);
        emit GasToppedUp(msg.sender, amount);
        _leave();
    }

    /// @notice Change rules: each at once if it tightens, the others together after the longest of their delays.
    function propose(Rule[] calldata) external {
        _forward(governance);
    }

    /// @notice Make a proposed change true once its delay is over, with all that was proposed with it. Anyone may.
    function applyChange(Kind, bytes32) external {
        _forward(governance);
    }

    /// @notice Give up a proposed change, and all that was proposed with it.
    function cancelChange(Kind, bytes32) external {
        _forward(governance);
    }

    /// @notice Appoint the golem's key, replacing the former one. The windows go on as they are.
    function setSession(address, uint64, uint32, uint256) external {
        _forward(governance);
    }

    /// @notice Appoint the key of one of the other roles, replacing the former one.
    function appoint(uint256, address, uint64, uint32, uint256) external {
        _forward(governance);
    }

    /// @notice Move to a worse phase: the session key may make things stricter for itself.
    function worsenPhase(uint256) external {
        _forward(governance);
    }

    /// @notice Take prices that jumped for those of the last batch: batches run again after an hour, or at once where the
    /// account asks for it. Anyone may.
    function notePrices() external {
        _forward(gate);
    }

    /// @return seconds_ how long a change from the present value would wait; 0 for tightening.
    function delayOf(Kind, bytes32, uint256) external view returns (uint256 seconds_) {
        seconds_ = 0;
        _look(governance);
    }

    /// @return isForbidden_ whether no owner can allow a call of this selector, outside the decoded paths.
    function isForbidden(bytes4) external view returns (bool isForbidden_) {
        isForbidden_ = true;
        _look(gate);
    }

    /// @inheritdoc IPrices
    function rules(Kind kind, bytes32 key) external view returns (uint256 value) {
        return ruleOf[kind][key];
    }

    /// @notice What a rule will be, what it was when that was proposed, from when on, and what was proposed with it.
    function pending(Kind kind, bytes32 key)
        external
        view
        returns (uint256 value, uint256 base, uint64 readyAt, uint64 bundle)
    {
        Pending storage change = pendingOf[kind][key];
        return (change.value, change.base, change.readyAt, change.bundle);
    }

    /// @notice A chain of hashes over every change of a rule so far, for those who follow the events.
    function rulesDigest() external view returns (bytes32) {
        return digest;
    }

    /// @notice The prices that the next batch is held against, 20 bits each in the order of the assets (an exponent of 7
    /// above a mantissa of 13, 0 for none), and above 200 bits the time before which none runs.
    function seenPrices() external view returns (uint256) {
        return lastPrices;
    }

    function isHalted() external view returns (bool) {
        return halted;
    }

    function isDrawdownBreached() external view returns (bool) {
        return breached;
    }

    function lastRebalanceAt() external view returns (uint64) {
        return rebalancedAt;
    }

    /// @notice Who is appointed, until when, and what is left to it.
    function session()
        external
        view
        returns (address key, uint64 expiresAt, uint32 operationsLeft, uint256 budgetLeft)
    {
        return sessionOf(0);
    }

    /// @notice The same of any role.
    function sessionOf(uint256 role)
        public
        view
        returns (address key, uint64 expiresAt, uint32 operationsLeft, uint256 budgetLeft)
    {
        Session storage one = appointed[role];
        return (one.key, one.expiresAt, one.operationsLeft, one.budgetLeft);
    }

    /// @notice What of an allowance that refills was used up to `at`, and had not come back by then.
    function purseOf(Kind kind, bytes32 key) external view returns (uint192 used, uint64 at) {
        Purse storage purse = purses[kind][key];
        return (purse.used, purse.at);
    }

    /// @notice Balances, values and positions as they are now.
    function measure() external view returns (Measure memory) {
        return _measure();
    }

    /// @inheritdoc IPrices
    function isPriced(address asset) external view returns (bool) {
        return ruleOf[Kind.ASSET][_keyOf(asset)] != 0;
    }

    /// @inheritdoc IPrices
    function priceOf(address asset) external view returns (uint256 answer, uint256 unit) {
        return _priceOf(asset);
    }

    /// @inheritdoc IPrices
    function balanceOf(address asset) external view returns (uint256) {
        return _balanceOf(asset);
    }

    /// @notice The approved and retiring assets.
    function assets() external view returns (address[] memory) {
        return assetList;
    }

    /// @notice The targets whose positions have a valuer.
    function positions() external view returns (address[] memory) {
        return positionList;
    }

    /// @notice Stop everything: the account, any of its owners, the guardian. One in the middle of a batch undoes
    /// the batch, and is undone with it.
    function halt() external {
        bool may = msg.sender == account || msg.sender == address(uint160(ruleOf[Kind.GUARDIAN][0]));
        if (!may && isContract(account)) may = ISafe(account).isOwner(msg.sender);
        if (!may) revert MayNotHalt(msg.sender);
        if (halted) revert CageHalted();
        halted = true;
        emit Halted(msg.sender);
    }

    /// @notice Let the session key act again.
    function resume() external onlyAccount {
        if (!halted) revert NotHalted();
        halted = false;
        emit Resumed();
    }

    /// @notice Put a drawdown on record, so that it blocks until the account acknowledges it. Anyone may.
    function recordDrawdown() external {
        if (entered) revert Reentered();
        int256 total = _measure().total;
        uint256 floor = _floor();
        if (breached || total >= int256(floor)) revert NothingChanges();
        breached = true;
        emit DrawdownBreached(total, floor);
    }

    /// @notice Take note of a drawdown. The high-water mark stays; lowering it is a change that waits.
    function acknowledgeDrawdown() external onlyAccount {
        if (!breached) revert NothingChanges();
        breached = false;
        emit DrawdownAcknowledged();
    }

    function _enter() private returns (Session storage current) {
        if (entered) revert Reentered();
        if (halted) revert CageHalted();
        current = appointed[0];
        if (msg.sender != current.key) {
            uint256 role = roleOf[msg.sender];
            if (role == 0) revert NotSessionKey(msg.sender);
            current = appointed[role];
            acting = role;
        }
        if (block.timestamp >= current.expiresAt) revert SessionExpired(block.timestamp, current.expiresAt);
        if (current.operationsLeft == 0) revert NoOperationsLeft();
        _checkSession(current.expiresAt, current.operationsLeft, current.budgetLeft);
        if (!isContract(account)) revert AccountIsNoContract(account);
        // A key that became an owner of the Safe has more than a session should.
        if (ISafe(account).isOwner(msg.sender)) revert KeyIsOwner(msg.sender);
        entered = true;
    }

    /// @dev The call as it came, answered by a part that runs as the cage.
    function _forward(address part) private {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let isOk := delegatecall(gas(), part, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if isOk { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }

    /// @dev The same of a part's view, which the compiler cannot see to be one.
    function _look(address part) private view {
        function(address) internal forward = _forward;
        function(address) internal view look;
        assembly {
            look := forward
        }
        look(part);
    }

    /// @dev The batch as it came, under the gate's own selector.
    function _askGate() private {
        address part = gate;
        bytes4 selector = CageGate.checkCalls.selector;
        assembly ("memory-safe") {
            let free := mload(0x40)
            calldatacopy(free, 0, calldatasize())
            mstore(free, or(selector, and(mload(free), shr(32, not(0)))))
            if iszero(delegatecall(gas(), part, free, calldatasize(), 0, 0)) {
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
        }
    }

    /// @dev The gate reads feeds.
    function _readPrice(address asset, uint256) internal view override returns (uint256 answer, uint256 unit) {
        function(address) internal returns (uint256, uint256) read = _askPrice;
        function(address) internal view returns (uint256, uint256) look;
        assembly {
            look := read
        }
        return look(asset);
    }

    function _askPrice(address asset) private returns (uint256 answer, uint256 unit) {
        (bool isOk, bytes memory output) = gate.delegatecall(abi.encodeCall(IPrices.priceOf, (asset)));
        if (isOk) return abi.decode(output, (uint256, uint256));
        assembly ("memory-safe") {
            revert(add(output, 32), mload(output))
        }
    }

    function _run(Call calldata call, uint256 index) private {
        (bool isOk, bytes memory reason) =
            ISafe(account).execTransactionFromModuleReturnData(call.to, call.value, call.data, 0);
        if (!isOk) revert CallFailed(index, reason);
    }

    function _send(address to, uint256 value, bytes memory data) private returns (bool, bytes memory) {
        return ISafe(account).execTransactionFromModuleReturnData(to, value, data, 0);
    }

    /// @dev One operation, and what it used of the budget.
    function _charge(Session storage current, uint256 used) private returns (uint32 left, uint256 budget) {
        if (halted) revert CageHalted();
        budget = current.budgetLeft;
        if (used > budget) revert SessionBudgetExceeded(used, budget);
        budget -= used;
        current.budgetLeft = budget;
        left = current.operationsLeft - 1;
        current.operationsLeft = left;
    }

    function _leave() private {
        if (acting != 0) acting = 0;
        entered = false;
    }
}

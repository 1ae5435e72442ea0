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
    uint256 public constant VERSION = 4;
    uint256 public constant MOST_CALLS = MOST_CALLS_OF_BATCH;
    /// @notice How long a change that is due may still be applied.
    uint256 public constant GRACE_SECONDS = GRACE;
    uint256 public constant MOST_POSITIONS = POSITIONS_AT_MOST;
    /// @notice The most conditions of one call.
    uint256 public constant MOST_CONDITIONS = CONDITIONS_AT_MOST;
    /// @notice How long a right given through Permit2 may last.
    uint256 public constant MOST_ALLOWANCE_SECONDS = MOST_SECONDS_OF_ALLOWANCE;

    /// @notice The parts whose code runs as the cage. Its constructor made them; nothing can put others in their place.
    address public immutable governance;
    address public immutable gate;

    constructor(address account_, address baseAsset_, Rule[] memory initial) CageRules(account_, baseAsset_) {
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
        _enter();
        _askGate();
        _keepPrices();
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
        _settle(verdict, before.total, after_.total);
        _forgetPrices();
        entered = false;
    }

    /// @notice Give the session key coins for gas, from the account's own. They leave the cage, so they are capped.
    function topUpGas(uint256 amount) external {
        _enter();
        uint256 most = _limit(MAX_GAS_TOP_UP_WEI);
        uint256 sum = windows[TOP_UPS].read() + amount;
        if (sum > most) revert GasTopUpTooLarge(sum, most);
        windows[TOP_UPS].add(amount);
        if (_stateOf(NATIVE) != 0) _countOutflow(NATIVE, amount);
        appointed.operationsLeft -= 1;
        (bool isOk, bytes memory reason) = ISafe(account).execTransactionFromModuleReturnData(msg.sender, amount, "", 0);
        if (!isOk) revert CallFailed(0, reason);
        emit GasToppedUp(msg.sender, amount);
        entered = false;
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

    /// @notice Move to a worse phase: the session key may make things stricter for itself.
    function worsenPhase(uint256) external {
        _forward(governance);
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

    /// @return value one number of the owner's, under its kind and key.
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
        Session storage one = appointed;
        return (one.key, one.expiresAt, one.operationsLeft, one.budgetLeft);
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

    function _enter() private {
        if (entered) revert Reentered();
        if (halted) revert CageHalted();
        Session storage current = appointed;
        if (msg.sender != current.key) revert NotSessionKey(msg.sender);
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

    function _run(Call calldata call, uint256 index) private {
        (bool isOk, bytes memory reason) =
            ISafe(account).execTransactionFromModuleReturnData(call.to, call.value, call.data, 0);
        if (!isOk) revert CallFailed(index, reason);
    }

    function _settle(Verdict memory verdict, int256 totalBefore, int256 totalAfter) private {
        if (halted) revert CageHalted();
        Session storage current = appointed;
        // What a spender may take afterwards is moved without the session, so it is paid for now.
        uint256 used = verdict.moved + verdict.given;
        uint256 budget = current.budgetLeft;
        if (used > budget) revert SessionBudgetExceeded(used, budget);
        budget -= used;
        current.budgetLeft = budget;
        uint32 left = current.operationsLeft - 1;
        current.operationsLeft = left;
        emit BatchExecuted(
            msg.sender, verdict.batchClass, verdict.moved, verdict.loss, totalBefore, totalAfter, left, budget
        );
    }
}

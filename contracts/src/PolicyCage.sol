// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CageJudge} from "./CageJudge.sol";
import {CageRules} from "./CageRules.sol";

/// @title PolicyCage: what a golem may do with its owner's Safe
/// @notice A module of the Safe. The funds stay in the Safe; the golem's session key acts only through `execute`, which
/// runs a batch of plain calls and undoes it unless every rule of the owner still holds afterwards. With a plain account
/// in the Safe's place the rules can be read and changed, but nothing runs through the cage and nothing is enforced.
contract PolicyCage is CageJudge {
    uint256 public constant VERSION = 3;

    bool public isHalted;
    Session public session;

    constructor(address account_, address baseAsset_, Rule[] memory initial)
        CageRules(account_, baseAsset_, initial)
    {}

    /// @notice Whether the account acts through this cage, so that the rules hold on chain.
    function isEnforced() public view returns (bool) {
        if (!isContract(account)) return false;
        (bool isOk, bytes memory output) = account.staticcall(abi.encodeCall(ISafe.isModuleEnabled, (address(this))));
        return isOk && output.length == 32 && abi.decode(output, (bool));
    }

    /// @notice Run a batch for the session key, or nothing at all.
    function execute(Call[] calldata calls) external {
        _enter();
        _checkCalls(calls);
        _keepPrices();
        Measure memory before = _measure();
        uint256[] memory held = _readRights(calls);
        for (uint256 i = 0; i < calls.length; ++i) {
            _run(calls[i], i);
        }
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
        session.operationsLeft -= 1;
        (bool isOk, bytes memory reason) = ISafe(account).execTransactionFromModuleReturnData(msg.sender, amount, "", 0);
        if (!isOk) revert CallFailed(0, reason);
        emit GasToppedUp(msg.sender, amount);
        entered = false;
    }

    /// @notice Appoint the golem's key, replacing the former one. The windows go on as they are.
    function setSession(address key, uint64 expiresAt, uint32 operations, uint256 budget) external onlyAccount {
        bool isOwner = isContract(account) && ISafe(account).isOwner(key);
        if (key == account || key == address(this) || isOwner) revert TargetForbidden(key);
        _checkSession(expiresAt, operations, budget);
        session = Session(key, expiresAt, operations, budget);
        emit SessionSet(key, expiresAt, operations, budget);
    }

    /// @notice Stop everything: the account, any of its owners, the guardian. One in the middle of a batch undoes
    /// the batch, and is undone with it.
    function halt() external {
        bool may = msg.sender == account || msg.sender == address(uint160(rules[Kind.GUARDIAN][0]));
        if (!may && isContract(account)) may = ISafe(account).isOwner(msg.sender);
        if (!may) revert MayNotHalt(msg.sender);
        if (isHalted) revert CageHalted();
        isHalted = true;
        emit Halted(msg.sender);
    }

    /// @notice Let the session key act again.
    function resume() external onlyAccount {
        if (!isHalted) revert NotHalted();
        isHalted = false;
        emit Resumed();
    }

    /// @notice Move to a worse phase: the session key may make things stricter for itself.
    function worsenPhase(uint256 phase) external {
        if (entered) revert Reentered();
        if (msg.sender != session.key) revert NotSessionKey(msg.sender);
        if (block.timestamp >= session.expiresAt) revert SessionExpired(block.timestamp, session.expiresAt);
        uint256 current = _limit(PHASE);
        if (phase <= current || phase > TERMINAL) revert OutOfRange(phase, TERMINAL);
        delete pending[Kind.LIMIT][bytes32(PHASE)];
        _set(Kind.LIMIT, bytes32(PHASE), phase);
    }

    /// @notice Put a drawdown on record, so that it blocks until the account acknowledges it. Anyone may.
    function recordDrawdown() external {
        if (entered) revert Reentered();
        int256 total = _measure().total;
        uint256 floor = _floor();
        if (isDrawdownBreached || total >= int256(floor)) revert NothingChanges();
        isDrawdownBreached = true;
        emit DrawdownBreached(total, floor);
    }

    /// @notice Take note of a drawdown. The high-water mark stays; lowering it is a change that waits.
    function acknowledgeDrawdown() external onlyAccount {
        if (!isDrawdownBreached) revert NothingChanges();
        isDrawdownBreached = false;
        emit DrawdownAcknowledged(_measure().total);
    }

    function _enter() private {
        if (entered) revert Reentered();
        if (isHalted) revert CageHalted();
        Session storage current = session;
        if (msg.sender != current.key) revert NotSessionKey(msg.sender);
        if (block.timestamp >= current.expiresAt) revert SessionExpired(block.timestamp, current.expiresAt);
        if (current.operationsLeft == 0) revert NoOperationsLeft();
        _checkSession(current.expiresAt, current.operationsLeft, current.budgetLeft);
        if (!isContract(account)) revert AccountIsNoContract(account);
        entered = true;
    }

    /// @dev Asked again of a session that goes on, so that tightening what one may have is true at once.
    function _checkSession(uint256 expiresAt, uint256 operations, uint256 budget) private view {
        uint256 most = block.timestamp + _limit(MAX_SESSION_SECONDS);
        if (expiresAt > most) revert SessionTooLarge(expiresAt, most);
        most = _limit(MAX_SESSION_OPERATIONS);
        if (operations > most) revert SessionTooLarge(operations, most);
        most = _limit(MAX_SESSION_BUDGET);
        if (budget > most) revert SessionTooLarge(budget, most);
    }

    function _run(Call calldata call, uint256 index) private {
        (bool isOk, bytes memory reason) =
            ISafe(account).execTransactionFromModuleReturnData(call.to, call.value, call.data, 0);
        if (!isOk) revert CallFailed(index, reason);
    }

    function _settle(Verdict memory verdict, int256 totalBefore, int256 totalAfter) private {
        if (isHalted) revert CageHalted();
        Session storage current = session;
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

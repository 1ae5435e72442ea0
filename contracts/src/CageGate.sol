// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CageConditions} from "./CageConditions.sol";
import {CageFeeds} from "./CageFeeds.sol";
import {CageRules} from "./CageRules.sol";

/// @title What may be called at all
/// @notice Judged before anything runs. Some calls are refused whatever the owner allows; rights over what the account
/// holds are given only along the two paths that are decoded here, `approve` of a token and of Permit2.
/// A part of the cage: its code runs as the cage, its own storage is empty.
contract CageGate is CageConditions, CageFeeds {
    /// @dev What a target may spend on saying whose it is.
    uint256 private constant OWNER_GAS = 30_000;

    bytes4 private constant APPROVE = 0x095ea7b3;
    bytes4 private constant PERMIT2_APPROVE = 0x87517c45;
    bytes4 private constant MULTICALL = 0xac9650d8;
    bytes4 private constant MULTICALL_UNTIL = 0x5ae401dc;
    bytes4 private constant MULTICALL_AFTER = 0x1f0464d1;
    /// @dev Rights given to others, signatures of the account, and wrappers that would hide either; in order.
    bytes private constant FORBIDDEN = hex"00000000" // what is no selector but looks like the key of a plain transfer
        hex"002a3e3a" // permitBatch(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)
        hex"095ea7b3" // approve(address,uint256)
        hex"0b52d558" // delegationWithSig(address,address,uint256,uint256,uint8,bytes32,bytes32)
        hex"0b63fb62" // cdpAllow(uint256,address,uint256)
        hex"0d0d9800" // createWithContext((address,bytes32,bytes),address,bytes,bool)
        hex"0f5730f1" // permit(address,uint256,uint256,uint256,bytes)
        hex"110496e5" // allow(address,bool)
        hex"1ab0dd9d" // setRoot(bytes32,(uint256,bytes))
        hex"1f8b5215" // call(address,address,uint256,bytes)
        hex"205c2878" // withdrawTo(address,uint256)
        hex"292a3f0b" // setRemoveManager(uint256,address)
        hex"2a2d80d1" // permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)
        hex"2b67b570" // permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)
        hex"2b99e506" // execTransactionWithRoleReturnData(address,uint256,bytes,uint8,bytes32,bool)
        hex"3177029f" // approveAndCall(address,uint256)
        hex"3659cfe6" // upgradeTo(address)
        hex"3683ef8e" // preSign(bytes32,address,bytes)
        hex"38c74dd9" // approvePlugin(address)
        hex"39509351" // increaseAllowance(address,uint256)
        hex"3aea60f0" // permitForAll(address,address,bool,uint256,uint256,bytes)
        hex"4180e5b5" // approveClaimOnBehalf(address)
        hex"426a8493" // approve(address,uint256,uint256)
        hex"447fbc63" // approveExchangeOnBehalf(address)
        hex"4659a494" // selfPermitAllowed(address,uint256,uint256,uint8,bytes32,bytes32)
        hex"468721a7" // execTransactionFromModule(address,uint256,bytes,uint8)
        hex"4f1ef286" // upgradeToAndCall(address,bytes)
        hex"5229073f" // execTransactionFromModuleReturnData(address,uint256,bytes,uint8)
        hex"53755b8f" // authorizeSender(address)
        hex"558a7297" // setOperator(address,bool)
        hex"57f1d41a" // setRootWithContext(bytes32,(uint256,bytes),address,bytes)
        hex"6a761202" // execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)
        hex"6bfae1ca" // create((address,bytes32,bytes),bool)
        hex"745a41bc" // permit(address,uint256,uint256,bytes)
        hex"77fcce68" // setSignatureValidatorApproval(address,bool)
        hex"7ac2ff7b" // permit(address,uint256,uint256,uint8,bytes32,bytes32)
        hex"8069218f" // setAuthorizationWithSig((address,address,bool,uint256,uint256),(uint8,bytes32,bytes32))
        hex"85a5affe" // signMessage(bytes)
        hex"85b53fc8" // setOperators((address,bool)[])
        hex"87517c45" // approve(address,address,uint160,uint48)
        hex"88147732" // validate(((...),bytes)[]) of Seaport's orders
        hex"8d6aae58" // approveTransferors(address[])
        hex"8d80ff0a" // multiSend(bytes)
        hex"8f283970" // changeAdmin(address)
        hex"8f7984ed" // setSwapGuard(address)
        hex"8fcbaf0c" // permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)
        hex"959b8c3f" // authorizeOperator(address)
        hex"9c79ce35" // approveBurnOnBehalf(address)
        hex"9f5c462a" // setAccountOperator(address,address,bool)
        hex"9f61d336" // approveIssueOnBehalf(address)
        hex"9fd5a6cf" // permit(address,address,uint256,uint256,bytes)
        hex"a22cb465" // setApprovalForAll(address,bool)
        hex"a3b22fc4" // hope(address)
        hex"a457c2d7" // decreaseAllowance(address,uint256)
        hex"a4a78f0c" // selfPermitAllowedIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)
        hex"b68f4004" // urnAllow(address,uint256)
        hex"b6a5d7de" // authorize(address)
        hex"b8caa7c5" // approvePositionManager(address,bool)
        hex"b9b70ff5" // controlCollateral(address,address,uint256,bytes)
        hex"bb24d994" // allowBySig(address,address,bool,uint256,uint256,uint8,bytes32,bytes32)
        hex"bc87acbf" // approveAllDelegatePowers(address)
        hex"bdf98116" // set_rewards_receiver(address)
        hex"bfe51c10" // authorizeSigner(address)
        hex"c04a8a10" // approveDelegation(address,uint256)
        hex"c14c11bf" // setOperator(bytes19,address,uint256)
        hex"c16ae7a4" // batch((address,address,uint256,bytes)[])
        hex"c2e3140a" // selfPermitIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)
        hex"c6fe8747" // execTransactionWithRole(address,uint256,bytes,uint8,bytes32,bool)
        hex"cae9ca51" // approveAndCall(address,uint256,bytes)
        hex"d3695fa5" // setAddManager(uint256,address)
        hex"d4d9bdcd" // approveHash(bytes32)
        hex"d505accf" // permit(address,address,uint256,uint256,uint8,bytes32,bytes32)
        hex"d6491eaf" // setRemoveManagerWithReceiver(uint256,address,address)
        hex"d691c964" // executeFromExecutor(bytes32,bytes)
        hex"d73dd623" // increaseApproval(address,uint256)
        hex"e71bdf41" // addDelegate(address)
        hex"e9ae5c53" // execute(bytes32,bytes)
        hex"ea7faa61" // registerAllowedOrderSigner(address,bool)
        hex"ec6cb13f" // setPreSignature(bytes,bool)
        hex"eecea000" // setAuthorization(address,bool)
        hex"ef9aacfd" // signalTransfer(address)
        hex"f2fde38b" // transferOwnership(address)
        hex"f3995c67" // selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)
        hex"fa6e671d"; // setRelayerApproval(address,address,bool)

    /// @return whether no owner can allow a call of this selector, outside the decoded paths.
    function isForbidden(bytes4 selector) public pure returns (bool) {
        bytes memory list = FORBIDDEN;
        uint256 low = 0;
        uint256 high = list.length / 4;
        while (low < high) {
            uint256 middle = (low + high) / 2;
            bytes4 one;
            assembly ("memory-safe") {
                one := mload(add(add(list, 32), mul(middle, 4)))
            }
            if (one == selector) return true;
            if (one < selector) low = middle + 1;
            else high = middle;
        }
        return false;
    }

    constructor(address account_, address baseAsset_) CageRules(account_, baseAsset_) {}

    /// @dev Keeps the prices too, for the whole batch.
    function checkCalls(Call[] calldata calls) external {
        _keepPrices();
        if (calls.length == 0 || calls.length > MOST_CALLS_OF_BATCH) revert CallCount(calls.length, MOST_CALLS_OF_BATCH);
        address[3] memory hooks = _hooksOf(account);
        for (uint256 i = 0; i < calls.length; ++i) {
            _checkCall(calls[i], hooks);
        }
    }

    function _checkCall(Call calldata call, address[3] memory hooks) private view {
        address to = call.to;
        if (to == account || to == address(this) || to == hooks[0] || to == hooks[1] || to == hooks[2]) {
            revert TargetForbidden(to);
        }
        if (!isContract(to)) revert TargetHasNoCode(to);
        if (ISafe(account).isModuleEnabled(to)) revert TargetForbidden(to);
        if (call.value != 0 && _stateOf(NATIVE) == 0) revert CoinNotApproved(call.value);
        if (call.data.length < 4) {
            if (call.data.length != 0) revert CallDataMalformed(0);
            if (_isOwned(to)) revert TargetForbidden(to);
            _checkListed(to, 0, call.value, "");
            return;
        }
        bytes4 selector = bytes4(call.data);
        if (to == PERMIT2) {
            _checkPermit2(selector, call.data);
        } else if (selector == APPROVE && _stateOf(to) != 0) {
            if (call.data.length != 68 || call.value != 0) revert CallDataMalformed(selector);
            (uint256 spender, uint256 amount) = abi.decode(call.data[4:], (uint256, uint256));
            _checkAllowance(to, spender, amount, selector);
        } else {
            _checkPlain(to, selector, call.value, call.data);
        }
    }

    /// @dev Whoever owns a contract may give it away, upgrade it or take all that is in it, in words nobody can list.
    function _isOwned(address to) private view returns (bool) {
        (bool isOk, bytes memory output) = to.staticcall{gas: OWNER_GAS}(abi.encodeCall(IOwned.owner, ()));
        return isOk && output.length == 32 && abi.decode(output, (uint256)) == uint160(account);
    }

    function _checkPlain(address to, bytes4 selector, uint256 value, bytes calldata data) private view {
        if (_isOwned(to)) revert TargetForbidden(to);
        if (isForbidden(selector)) revert SelectorForbidden(selector);
        _checkListed(to, selector, value, data);
        bytes[] memory inner;
        if (selector == MULTICALL) {
            inner = abi.decode(data[4:], (bytes[]));
        } else if (selector == MULTICALL_UNTIL || selector == MULTICALL_AFTER) {
            (, inner) = abi.decode(data[4:], (bytes32, bytes[]));
        }
        for (uint256 i = 0; i < inner.length; ++i) {
            if (inner[i].length < 4) revert CallDataMalformed(selector);
            bytes4 one = bytes4(inner[i]);
            bool isNested = one == MULTICALL || one == MULTICALL_UNTIL || one == MULTICALL_AFTER;
            if (isNested || isForbidden(one)) revert SelectorForbidden(one);
            _checkListed(to, one, value, inner[i]);
        }
    }

    function _checkPermit2(bytes4 selector, bytes calldata data) private view {
        if (selector != PERMIT2_APPROVE) revert SelectorForbidden(selector);
        if (data.length != 132) revert CallDataMalformed(selector);
        (uint256 token, uint256 spender, uint256 amount, uint256 expiration) =
            abi.decode(data[4:], (uint256, uint256, uint256, uint256));
        if (token >> 160 != 0) revert CallDataMalformed(selector);
        if (_stateOf(address(uint160(token))) == 0) revert AssetNotApproved(address(uint160(token)));
        uint256 latest = block.timestamp + MOST_SECONDS_OF_ALLOWANCE;
        if (expiration > latest) revert AllowanceTooLong(expiration, latest);
        _checkAllowance(address(uint160(token)), spender, amount, selector);
    }

    /// @dev Taking a right back is always allowed.
    function _checkAllowance(address token, uint256 spender, uint256 amount, bytes4 selector) private view {
        if (spender >> 160 != 0) revert CallDataMalformed(selector);
        if (amount == 0) return;
        _checkRole(address(uint160(spender)), APPROVE);
        uint256 most = ruleOf[Kind.SPENDER][bytes32(spender)];
        if (most == 0) revert SpenderNotAllowed(address(uint160(spender)));
        uint256 worth = amount > type(uint128).max ? type(uint256).max : _valueOf(token, amount);
        if (worth > most) revert AllowanceTooLarge(worth, most);
    }

    /// @dev What is not listed is no asset and no place of positions even where the owner allows all calls.
    function _checkListed(address to, bytes4 selector, uint256 value, bytes memory data) private view {
        _checkRole(to, selector);
        bytes32 key = bytes32(uint256(uint160(to)) << 32 | uint32(selector));
        uint256 listed = ruleOf[Kind.CALL][key];
        if (listed > 1) return _checkConditions(to, selector, value, data, listed - 1);
        if (listed == 1) return;
        bool isOwnersOwn = _stateOf(to) != 0 || ruleOf[Kind.VALUER][_keyOf(to)] != 0;
        if (_limit(ALLOWS_ARBITRARY_CALLS) == 0 || isOwnersOwn) revert CallNotAllowed(to, selector);
    }

    /// @dev A role may call what it was given of what the account may. To give an allowance is a call of its spender.
    function _checkRole(address to, bytes4 selector) private view {
        uint256 role = acting;
        if (role == 0) return;
        bytes32 key = bytes32(role << 192 | uint256(uint160(to)) << 32 | uint32(selector));
        if (ruleOf[Kind.ROLE_CALL][key] == 0) revert RoleMayNotCall(role, to, selector);
    }

    /// @dev One condition of every group must be met; groups are numbered as they come.
    function _checkConditions(address to, bytes4 selector, uint256 value, bytes memory data, uint256 count)
        private
        view
    {
        uint256 first = (uint256(uint160(to)) << 32 | uint32(selector)) << 8;
        uint256 group = 0;
        bool isGroupMet = true;
        for (uint256 i = 0; i < count; ++i) {
            uint256 condition = ruleOf[Kind.CONDITION][bytes32(first | i)];
            uint256 one = (condition >> 240) & 0xff;
            if (i == 0 || one != group) {
                if (!isGroupMet) revert ConditionNotMet(to, selector, i - 1);
                (group, isGroupMet) = (one, false);
            }
            if (!isGroupMet) isGroupMet = _isMet(condition, value, data);
        }
        if (!isGroupMet) revert ConditionNotMet(to, selector, count - 1);
    }

    /// @dev The Safe's guard, its modules' guard and its fallback handler; 0 where there is none.
    function _hooksOf(address safe) private view returns (address[3] memory hooks) {
        hooks[0] = _slotOf(safe, uint256(keccak256("guard_manager.guard.address")));
        hooks[1] = _slotOf(safe, uint256(keccak256("module_manager.module_guard.address")));
        hooks[2] = _slotOf(safe, uint256(keccak256("fallback_manager.handler.address")));
    }

    function _slotOf(address safe, uint256 slot) private view returns (address) {
        return abi.decode(ISafe(safe).getStorageAt(slot, 1), (address));
    }
}

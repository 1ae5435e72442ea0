"""Selectors no owner can allow outside the decoded paths: rights given away, signatures, wrappers that would hide them.

A test asks the contract about each.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.signatures import parse_signature

FORBIDDEN_FUNCTIONS: Final = (
    # Rights over tokens, nothing but the decoded paths excepted.
    "approve(address,uint256)",
    "increaseAllowance(address,uint256)",
    "decreaseAllowance(address,uint256)",
    "increaseApproval(address,uint256)",
    "setApprovalForAll(address,bool)",
    "approve(address,address,uint160,uint48)",
    "approve(address,uint256,uint256)",
    "approveAndCall(address,uint256,bytes)",
    "approveAndCall(address,uint256)",
    "authorizeOperator(address)",
    "setOperator(address,bool)",
    # The same by signature, the routers' ways to pass one on included.
    "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
    "permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)",
    "permit(address,address,uint256,uint256,bytes)",
    "permit(address,uint256,uint256,uint8,bytes32,bytes32)",
    "permit(address,uint256,uint256,uint256,bytes)",
    "permit(address,uint256,uint256,bytes)",
    "permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)",
    "permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)",
    "permitBatch(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)",
    "permitForAll(address,address,bool,uint256,uint256,bytes)",
    "selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)",
    "selfPermitIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)",
    "selfPermitAllowed(address,uint256,uint256,uint8,bytes32,bytes32)",
    "selfPermitAllowedIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)",
    # Rights over an account of a protocol.
    "setRelayerApproval(address,address,bool)",
    "approveDelegation(address,uint256)",
    "delegationWithSig(address,address,uint256,uint256,uint8,bytes32,bytes32)",
    "approvePositionManager(address,bool)",
    "setAuthorization(address,bool)",
    "setAuthorizationWithSig((address,address,bool,uint256,uint256),(uint8,bytes32,bytes32))",
    "allow(address,bool)",
    "allowBySig(address,address,bool,uint256,uint256,uint8,bytes32,bytes32)",
    "hope(address)",
    "cdpAllow(uint256,address,uint256)",
    "urnAllow(address,uint256)",
    "setAccountOperator(address,address,bool)",
    "setOperator(bytes19,address,uint256)",
    "approvePlugin(address)",
    "setOperators((address,bool)[])",
    "approveTransferors(address[])",
    "approveAllDelegatePowers(address)",
    "approveBurnOnBehalf(address)",
    "approveIssueOnBehalf(address)",
    "approveClaimOnBehalf(address)",
    "approveExchangeOnBehalf(address)",
    "addDelegate(address)",
    # Signatures of the account.
    "signMessage(bytes)",
    "approveHash(bytes32)",
    "setPreSignature(bytes,bool)",
    "preSign(bytes32,address,bytes)",
    "setSignatureValidatorApproval(address,bool)",
    "registerAllowedOrderSigner(address,bool)",
    "validate(((address,address,(uint8,address,uint256,uint256,uint256)[],(uint8,address,uint256,uint256,uint256,address)[],"
    "uint8,uint256,uint256,bytes32,uint256,bytes32,uint256),bytes)[])",
    "authorize(address)",
    "authorizeSender(address)",
    "authorizeSigner(address)",
    # Wrappers that would hide what is called, and another Safe that this account owns or is a module of.
    "multiSend(bytes)",
    "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
    "execTransactionFromModule(address,uint256,bytes,uint8)",
    "execTransactionFromModuleReturnData(address,uint256,bytes,uint8)",
    # The same by a connector that acts for an account, and accounts that carry out what they are told.
    "call(address,address,uint256,bytes)",
    "batch((address,address,uint256,bytes)[])",
    "controlCollateral(address,address,uint256,bytes)",
    "execute(bytes32,bytes)",
    "executeFromExecutor(bytes32,bytes)",
    "execTransactionWithRole(address,uint256,bytes,uint8,bytes32,bool)",
    "execTransactionWithRoleReturnData(address,uint256,bytes,uint8,bytes32,bool)",
    # Who may manage a loan, receive rewards, or take over an account or a contract.
    "setAddManager(uint256,address)",
    "setRemoveManager(uint256,address)",
    "setRemoveManagerWithReceiver(uint256,address,address)",
    "signalTransfer(address)",
    "set_rewards_receiver(address)",
    "transferOwnership(address)",
    "withdrawTo(address,uint256)",
    "upgradeTo(address)",
    "upgradeToAndCall(address,bytes)",
    "changeAdmin(address)",
    # Orders that others carry out later.
    "create((address,bytes32,bytes),bool)",
    "createWithContext((address,bytes32,bytes),address,bytes,bool)",
    "setRoot(bytes32,(uint256,bytes))",
    "setRootWithContext(bytes32,(uint256,bytes),address,bytes)",
    "setSwapGuard(address)",
)
NO_SELECTOR: Final = bytes(4)
"""Looks like the key of a plain transfer; as a function's it would be allowed along with one."""
FORBIDDEN_SELECTORS: Final = frozenset(
    {NO_SELECTOR, *(parse_signature(f"function {text}").selector for text in FORBIDDEN_FUNCTIONS)}
)

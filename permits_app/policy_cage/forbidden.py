"""Selectors no owner can allow outside the decoded paths: rights given away, signatures, wrappers that would hide them.

A test asks the contract about each.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.signatures import parse_signature

FORBIDDEN_FUNCTIONS: Final = (
    "approve(address,uint256)",
    "increaseAllowance(address,uint256)",
    "decreaseAllowance(address,uint256)",
    "increaseApproval(address,uint256)",
    "setApprovalForAll(address,bool)",
    "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
    "permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)",
    "permit(address,address,uint256,uint256,bytes)",
    "permit(address,uint256,uint256,uint8,bytes32,bytes32)",
    "permit(address,uint256,uint256,uint256,bytes)",
    "approve(address,address,uint160,uint48)",
    "approve(address,uint256,uint256)",
    "permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)",
    "permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)",
    "approveAndCall(address,uint256,bytes)",
    "approveAndCall(address,uint256)",
    "authorizeOperator(address)",
    "setOperator(address,bool)",
    "setRelayerApproval(address,address,bool)",
    "approveDelegation(address,uint256)",
    "delegationWithSig(address,address,uint256,uint256,uint8,bytes32,bytes32)",
    "setAuthorization(address,bool)",
    "setAuthorizationWithSig((address,address,bool,uint256,uint256),(uint8,bytes32,bytes32))",
    "allow(address,bool)",
    "signMessage(bytes)",
    "approveHash(bytes32)",
    "multiSend(bytes)",
    "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
)
FORBIDDEN_SELECTORS: Final = frozenset(parse_signature(f"function {text}").selector for text in FORBIDDEN_FUNCTIONS)

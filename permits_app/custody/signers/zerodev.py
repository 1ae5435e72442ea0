"""Signs user operations of a Kernel account with its owner's key, of the keystore or at Privy.

The permit says what the account does, what it may cost and who may pay; the bundler and the paymaster fill in the rest
and cannot exceed it. The hash is computed here, and the EntryPoint on our own node judges the signed operation before
anybody else sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from permits_app.custody.signers.base import KeySigner, OperationTerms, SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.bundler import BundlerClient
from permits_app.errors import SignerMismatch, SignerUnavailable
from tools_app import runner
from tools_app.chain.abi import decode_revert
from tools_app.chain.node_errors import CallReverted, FeeTooLow, GasLimitRefused
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.standards.user_operation import (
    ENTRY_POINT,
    FAILED_OP,
    FAILED_OP_WITH_REVERT,
    HANDLE_OPS,
    UserOperation,
    read_next_nonce,
)
from tools_app.toolkit.context import ChainReader

_BUDGET_MS: Final = 8_000
# Stands for a signature while gas is estimated: as long as one, and recovering no key.
_NO_SIGNATURE: Final = b"\xff" * 32 + b"\x7a" + b"\xaa" * 31 + b"\x1c"
# Nobody; the fees of an operation that is only tried.
_BENEFICIARY: Final = "0x000000000000000000000000000000000000dEaD"


@dataclass(frozen=True, slots=True)
class UserOperationSigner:
    """Signs for the account `address`, whose one owner is the key of `owner`."""

    client: BundlerClient
    address: str
    owner: KeySigner

    def sign(self, transaction: UnsignedTransaction) -> SignedTransaction:
        """The signed operation; asks the bundler, and the paymaster where the terms name one.

        Raises SignerUnavailable, SignerMismatch, FeeTooLow, GasLimitRefused, the node errors, and what a refusal of the
        bundler means.
        """
        terms = _check_terms(transaction, self.address)
        chain_id = transaction.chain_id
        chain = _open(chain_id)
        mined = read_next_nonce(chain, self.address)
        self.client.check_serves(chain_id)
        draft = self._draft(transaction, terms)
        operation = self._fit(self._measure(draft, chain_id=chain_id, mined_nonce=mined), transaction, terms)
        op_hash = operation.hash(chain_id=chain_id)
        signature = self.owner.sign_message(bytes.fromhex(op_hash[2:]), chain_id=chain_id)
        signed = replace(operation, signature=signature)
        if mined == transaction.nonce:
            _check_accepted(_open(chain_id), signed)
        says = replace(
            transaction, gas_limit=signed.total_gas, max_priority_fee_per_gas=signed.max_priority_fee_per_gas
        )
        return SignedTransaction(raw=signed.encode(), tx_hash=op_hash, says=says, at_block=chain.block.number)

    def _draft(self, transaction: UnsignedTransaction, terms: OperationTerms) -> UserOperation:
        cap, priority = self.client.read_fees(transaction.chain_id)
        if cap > transaction.max_fee_per_gas:
            raise FeeTooLow(
                f"the bundler asks for {cap} wei per gas; the permit allows {transaction.max_fee_per_gas}",
                asked=str(cap),
                allowed=str(transaction.max_fee_per_gas),
            )
        return UserOperation(
            sender=self.address,
            nonce=transaction.nonce,
            call_data=transaction.data,
            call_gas_limit=terms.call_gas_limit,
            verification_gas_limit=0,
            pre_verification_gas=0,
            max_fee_per_gas=transaction.max_fee_per_gas,
            max_priority_fee_per_gas=min(
                max(priority, transaction.max_priority_fee_per_gas), transaction.max_fee_per_gas
            ),
            paymaster=terms.paymaster,
            signature=_NO_SIGNATURE,
        )

    def _measure(self, draft: UserOperation, *, chain_id: int, mined_nonce: int) -> UserOperation:
        """The gas around the call. Estimated under the chain's own nonce: an earlier operation may still be pending."""
        if draft.paymaster:
            draft = self._sponsor(draft, chain_id=chain_id, is_stub=True)
        around = self.client.estimate(chain_id, replace(draft, nonce=mined_nonce))
        return replace(
            draft,
            verification_gas_limit=around.verification,
            pre_verification_gas=around.pre_verification,
            paymaster_verification_gas_limit=max(
                draft.paymaster_verification_gas_limit, around.paymaster_verification if draft.paymaster else 0
            ),
        )

    def _fit(self, operation: UserOperation, transaction: UnsignedTransaction, terms: OperationTerms) -> UserOperation:
        """The final operation, inside what the permit reserved."""
        if terms.paymaster:
            operation = self._sponsor(operation, chain_id=transaction.chain_id, is_stub=False)
        if operation.total_gas > transaction.gas_limit:
            raise GasLimitRefused(
                f"the operation would take up to {operation.total_gas} gas; the permit allows {transaction.gas_limit}",
                asked=operation.total_gas,
                allowed=transaction.gas_limit,
            )
        return operation

    def _sponsor(self, operation: UserOperation, *, chain_id: int, is_stub: bool) -> UserOperation:
        given = self.client.sponsor(chain_id, operation, is_stub=is_stub)
        if given.paymaster != operation.paymaster:
            raise SignerMismatch(
                "another paymaster answered than the one the permit names",
                paymaster=operation.paymaster,
                answered=given.paymaster,
            )
        # What a paymaster signs covers its gas limits; where it says none, those of the estimate stay.
        return replace(
            operation,
            paymaster_data=given.data,
            paymaster_verification_gas_limit=given.verification_gas or operation.paymaster_verification_gas_limit,
            paymaster_post_op_gas_limit=given.post_op_gas or operation.paymaster_post_op_gas_limit,
        )


def _open(chain_id: int) -> ChainReader:
    return runner.open_reader(chain_id, now=clock.now(), deadline=Deadline.after_ms(_BUDGET_MS))


def _check_terms(transaction: UnsignedTransaction, account: str) -> OperationTerms:
    terms = transaction.operation
    if terms is None or transaction.to != account or transaction.value:
        raise SignerUnavailable(f"{account} is a smart account: it signs its own user operations and nothing else")
    if terms.entry_point != ENTRY_POINT:
        raise SignerMismatch("user operations go to EntryPoint v0.7 only", entry_point=terms.entry_point)
    return terms


def _check_accepted(chain: ChainReader, operation: UserOperation) -> None:
    """That the EntryPoint, the account and the paymaster take it, on our own node. Raises SignerUnavailable."""
    try:
        chain.call(ENTRY_POINT, HANDLE_OPS, [operation.pack()], _BENEFICIARY)
    except CallReverted as error:
        data = bytes.fromhex(str(error.data.get("revert_data", "0x"))[2:])
        told = decode_revert(data, (FAILED_OP, FAILED_OP_WITH_REVERT))
        raise SignerUnavailable(
            f"the EntryPoint would refuse the operation: {told.text}", entry_point=ENTRY_POINT
        ) from None

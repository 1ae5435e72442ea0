"""sign_promise: the typed data of a permit, signed once, stored, and the permit's end in the same transaction.

Nothing is sent. The signature is computed outside any transaction and shown to nobody before it is stored under the
golem's row lock with the capability consumed; a halt takes the same lock, so it either sees the promise or keeps it
from ever being one. The reservation stays until the promise ends. Emits promise:signed.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.errors import GolemHalted
from permits_app.custody.signers.base import TypedSigner
from permits_app.custody.signers.choose_signer import open_signer
from permits_app.errors import LeaseLost, PlanTampered, PromiseStands, SignerMismatch, SignerUnavailable
from permits_app.execution.commit_lease import Lease
from permits_app.limits.payment_hosts import hold_to_host
from permits_app.limits.signed_promises import make_promise, tell
from permits_app.models import ActionPermit, SignedPromise
from permits_app.models.permit import PermitStatus
from permits_app.models.signed_promise import PromiseState
from permits_app.permits import lifecycle
from permits_app.permits.capabilities import MintedCapability, check_minted
from permits_app.permits.permit_hashes import hash_plan
from permits_app.permits.plan_store import decode_plan
from permits_app.permits.row_locks import lock_golem_and_permit
from permits_app.policy_cage.safe_message import wrap_digest
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted
from tools_app.standards.erc1271 import ask_whether_signed, says_yes
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.result import ToolResult
from tools_app.toolkit.typed_data import TypedData


def sign_promise(
    *,
    permit: ActionPermit,
    capability: MintedCapability,
    worth_micro_usd: int,
    chain: ChainReader,
    lease: Lease,
    now: datetime,
) -> SignedPromise:
    """Sign what the permit promises and end it as COMMITTED; its result holds the signature. The row of it.

    `worth_micro_usd` is what is promised at the prices of now. For a Safe the key signs a SafeMessage, and the Safe
    itself is asked on `chain` whether it takes that, before anything is stored.

    Raises SignerUnavailable where the key cannot sign typed data, SignerMismatch, GolemHalted, LeaseLost, PlanTampered,
    PromiseStands, PaymentHostCap, CapabilityError, and what the node raises; then nothing is stored and nobody has a
    signature.
    """
    plan = decode_plan(permit)
    if plan.promise is None:
        raise PlanTampered("the permit promises nothing", permit_id=str(permit.pk))
    signer = open_signer(permit.signer)
    if not isinstance(signer, TypedSigner):
        raise SignerUnavailable("this account's key does not sign typed data here", address=permit.signer)
    capability.check_value(worth_micro_usd)
    signature = _sign(plan.promise, signer, permit.acts_for, chain)
    row = make_promise(permit=permit, plan=plan, signature=signature, block=chain.block.number, now=now)
    _store(permit, row, capability, lease, now)
    return row


def _sign(typed: TypedData, signer: TypedSigner, safe: str, chain: ChainReader) -> bytes:
    if not safe:
        return signer.sign_typed_data(typed)
    digest = hash_typed_data(typed)
    signature = signer.sign_typed_data(wrap_digest(digest, safe=safe, chain_id=typed.chain_id))
    [told] = chain.call_many([ask_whether_signed(safe, digest, signature)])
    if not says_yes(told):
        raise SignerMismatch(f"the Safe {safe} does not take what its owner signed", address=safe)
    return signature


def _check_first(row: SignedPromise) -> None:
    """Under the golem's lock: nothing that its protocol knows by the same word is open or was carried out. Raises
    PromiseStands.
    """
    if not row.reference:
        return
    before = SignedPromise.objects.filter(
        golem_id=row.golem_id,
        chain_id=row.chain_id,
        account=row.account,
        protocol=row.protocol,
        reference=row.reference,
        state__in=(PromiseState.OPEN, PromiseState.FILLED),
    ).first()
    if before is not None:
        raise PromiseStands(
            "this was signed under another permit, and nothing was signed this time",
            permit_id=str(before.permit_id),
            state=before.state,
        )


@retry_aborted
def _store(permit: ActionPermit, row: SignedPromise, capability: MintedCapability, lease: Lease, now: datetime) -> None:
    check_minted(capability)
    with transaction.atomic():
        golem, locked = lock_golem_and_permit(golem_id=permit.golem_id, permit_id=permit.pk)
        if golem.is_halted:
            raise GolemHalted("the golem was halted before this promise was signed", reason=golem.halt_reason)
        if locked is None or locked.status != PermitStatus.COMMITTING or locked.lease_owner != lease.owner:
            raise LeaseLost("another worker took over this commit", permit_id=str(permit.pk))
        if hash_plan(locked) != locked.plan_hash:
            raise PlanTampered("the stored plan does not match its hash", permit_id=str(permit.pk))
        _check_first(row)
        hold_to_host(row, decode_plan(locked), now=now)
        capability.consume(tool_name=locked.tool_name, plan_hash=locked.plan_hash)
        row.save(force_insert=True)
        told = tell(row, PromiseState.OPEN)
        # What its tool says of it besides, such as the hash its protocol knows it by, stands beside what is kept of it.
        shown = {**decode_plan(permit).details, **told, "typed_data": row.typed_data, "signature": row.signature}
        lifecycle.transition(
            permit_id=permit.pk,
            leaving=PermitStatus.COMMITTING,
            to=PermitStatus.COMMITTED,
            actor="system:worker",
            now=now,
            finished_at=now,
            result=ToolResult(
                data=shown,
                is_error=False,
                schema_version=permit.schema_version,
                expected_outcome=permit.expected_outcome,
                actual_outcome={"promise": told},
                ground_truth_source="none",
            ).as_dict(),
        )
        event_bus.emit(golem_id=permit.golem_id, event=Event(EventType.PROMISE_SIGNED, told), now=now)

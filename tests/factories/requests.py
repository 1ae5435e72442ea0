"""What golems asked of protocols and wait for."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, PendingRequest, ReceivedRight, RightUse, SignedPromise
from tools_app.toolkit.views import NATIVE


def make_pending_request(*, permit: ActionPermit, ref: str = "queue/request/31337/7") -> PendingRequest:
    """What the permit asked a protocol for, still waited for."""
    return PendingRequest.objects.create(
        golem=permit.golem,
        permit=permit,
        chain_id=permit.chain_id,
        expects_chain_id=permit.chain_id,
        account="0x" + "a1" * 20,
        protocol=ref.partition("/")[0],
        ref=ref,
        amounts=[{"token": NATIVE, "raw": str(10**18)}],
        block_number=1,
        expected_at=permit.created_at + timedelta(days=2),
        next_check_at=permit.created_at,
    )


def make_signed_promise(*, permit: ActionPermit) -> SignedPromise:
    """What the permit signed, open still."""
    return SignedPromise.objects.create(
        golem=permit.golem,
        permit=permit,
        chain_id=permit.chain_id,
        account="0x" + "a1" * 20,
        protocol="market",
        contract="0x" + "b2" * 20,
        digest="0x" + permit.pk.hex * 2,
        typed_data={},
        signature="0x" + "c3" * 65,
        gives=[{"token": NATIVE, "raw": str(10**18)}],
        ends_at=permit.created_at + timedelta(days=2),
        next_check_at=permit.created_at,
    )


def make_received_right(*, golem: Golem) -> ReceivedRight:
    """What somebody lets the golem draw in each day, for two days."""
    now = golem.created_at
    return ReceivedRight.objects.create(
        golem=golem,
        chain_id=31_337,
        protocol="purse",
        reference="0x" + uuid4().hex * 2,
        kind="DELEGATION",
        principal="0x" + "d4" * 20,
        holder="0x" + "a1" * 20,
        token=NATIVE,
        most=10**18,
        period_seconds=86_400,
        starts_at=now,
        ends_at=now + timedelta(days=2),
        next_look_at=now,
    )


def make_right_use(*, permit: ActionPermit) -> RightUse:
    """A part of such a right that a permit may move."""
    right = make_received_right(golem=permit.golem)
    return RightUse.objects.create(right=right, permit=permit, raw=10**17, claimed_at=permit.created_at)

"""What golems asked of protocols and wait for."""

from __future__ import annotations

from datetime import timedelta

from permits_app.models import ActionPermit, PendingRequest, SignedPromise
from tools_app.toolkit.views import NATIVE


def make_pending_request(*, permit: ActionPermit, ref: str = "queue/request/31337/7") -> PendingRequest:
    """What the permit asked a protocol for, still waited for."""
    return PendingRequest.objects.create(
        golem=permit.golem,
        permit=permit,
        chain_id=permit.chain_id,
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

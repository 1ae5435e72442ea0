"""What the proof of load looks at when it is over: it finds nothing where all is well, and each thing that is not."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from permits_app.limits import ledger
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction
from permits_app.models.permit import PermitStatus
from tests.live_golem import LiveGolem
from tests.proof.loaded import checks
from tools_app.core import clock


def test_the_checks_find_what_a_load_may_have_broken(live_golem: LiveGolem) -> None:
    ids = [live_golem.golem.pk]
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    assert checks.wait_until_quiet(ids)
    assert (list(checks.find_broken(ids)), dict(checks.find_blocks(ids))) == ([], {})
    with transaction.atomic():
        ledger.reopen(permit_id=UUID(str(permit_id)), now=clock.now())
    NonceReservation.objects.filter(permit=permit_id, call_index=0).delete()
    OutboundTransaction.objects.filter(permit=permit_id, call_index=1).update(block_number=None)
    broken = "\n".join(checks.find_broken(ids))
    assert "is neither settled nor released" in broken
    assert "have gaps" in broken
    assert "not each of its calls is mined once" in broken


def test_a_block_counts_unless_an_owner_is_behind_it(live_golem: LiveGolem) -> None:
    ids = [live_golem.golem.pk]
    ours, theirs = (live_golem.preview(amount=str(10_000_000 + number))["permit_id"] for number in range(2))
    for permit_id, code in ((ours, "LEASE_LOST"), (theirs, "GOLEM_HALTED")):
        ActionPermit.objects.filter(pk=permit_id).update(status=PermitStatus.BLOCKED, problem={"code": code})
    assert dict(checks.find_blocks(ids)) == {"LEASE_LOST": 1}

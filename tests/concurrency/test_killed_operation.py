"""A user operation whose worker dies before each of its doors: signed once, carried out once, told as it was."""

from __future__ import annotations

from uuid import UUID

import pytest

from permits_app.models import OutboundTransaction, OutcomeRecord, SpendEntry
from permits_app.models.spending import SpendState
from tests.concurrency.test_killed_worker import kill_worker_at_each_door
from tests.live_golem import LiveGolem
from tests.permits_app.execution.zerodev_golem import give_smart_account
from tools_app.core.audit_checkpoints import verify_stored_chain

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


def test_an_operation_whose_worker_dies_before_any_of_its_doors_is_carried_out_once(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    with give_smart_account(shared_golem, monkeypatch) as zerodev:
        held = 0

        def start(number: int) -> UUID:
            nonlocal held
            permit = shared_golem.preview(amount=str(60_000_000 + number))
            held = zerodev.balance("USDC")
            shared_golem.start(permit["permit_id"])
            return UUID(permit["permit_id"])

        met: list[str | None] = []
        for permit_id, door in kill_worker_at_each_door(shared_golem, start):
            where = f"door {len(met)}: {door}"
            row = shared_golem.permit(str(permit_id))
            assert row.status == "COMMITTED", (where, row.status, row.status_reason, row.problem)
            assert held - zerodev.balance("USDC") == 60_000_000 + len(met), where
            [sent] = OutboundTransaction.objects.filter(permit_id=permit_id)
            assert (sent.nonce, zerodev.used_nonces()) == (len(met), len(met) + 1), where
            assert OutcomeRecord.objects.get(permit_id=permit_id).is_verified, where
            assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.SETTLED, where
            met.append(door)
        assert {"eth_estimateUserOperationGas", "eth_sendUserOperation", "eth_getLogs"} <= set(met)
        assert met.count("COMMIT") >= 5
        assert len(zerodev.bundler.carried) == len(met)
        assert verify_stored_chain(shared_golem.golem.pk).broken is None

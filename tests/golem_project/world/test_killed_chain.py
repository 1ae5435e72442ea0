"""The local chain killed with its last blocks while the database keeps what was in them, as after a power cut."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from golem_project import wiring
from golem_project.embedded.chain import EmbeddedChain
from permits_app.execution.reconcile import list_reopened, reconcile_transactions
from permits_app.models import OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import TransactionState
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import make_live_golem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tools_app.core import clock


@pytest.fixture
def kept_chain(tmp_path: Path, settings: Any) -> Iterator[EmbeddedChain]:
    chain = EmbeddedChain(tmp_path / "chain")
    chain.start()
    settings.GOLEM_RPC_URLS = {CHAIN_ID: (chain.rpc_url,)}
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
    yield chain
    wiring.configure_networks({})
    chain.stop()


def kill_with_its_last_blocks(chain: EmbeddedChain) -> None:
    assert chain.child is not None
    os.kill(chain.child.pid, signal.SIGKILL)


@pytest.mark.django_db
def test_what_a_killed_chain_lost_is_sent_again_and_what_waited_is_seen(kept_chain: EmbeddedChain) -> None:
    world = World(kept_chain.rpc_url)
    golem = make_live_golem(world)
    # Nothing is written down from here on, as when the machine dies before the next copy.
    assert kept_chain._checkpoints is not None
    kept_chain._checkpoints.stop()
    usdc = golem.balance("USDC")
    final = str(golem.preview()["permit_id"])
    assert golem.commit(final)["status"] == PermitStatus.COMMITTED
    mine(world, 2)
    reconcile_transactions(now=clock.now())
    waiting = str(golem.preview(amount="400000000")["permit_id"])
    golem.start(waiting)
    with mining_paused(world), pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.GOLEM_RECEIPT_WAIT_SECONDS", 0.2)
        golem.work(waiting)
    assert golem.permit(waiting).status == PermitStatus.UNKNOWN
    rows = OutboundTransaction.objects.filter(permit_id=UUID(final))
    assert set(rows.values_list("state", flat=True)) == {TransactionState.FINAL}
    head = int(world.rpc.call("eth_blockNumber"), 16)

    kill_with_its_last_blocks(kept_chain)
    assert kept_chain.child is not None
    kept_chain.child.stop(grace_seconds=5)
    again = EmbeddedChain(kept_chain.data_dir)
    again.start()
    try:
        wiring.configure_networks({CHAIN_ID: (again.rpc_url,)})
        golem.world = World(again.rpc_url)
        assert int(golem.world.rpc.call("eth_blockNumber"), 16) < head
        assert golem.balance("USDC") == usdc
        for _ in range(3):
            now = clock.now()
            reconcile_transactions(now=now)
            for found in [*list_reopened(now=now), UUID(waiting)]:
                golem.work(str(found))
        for permit_id in (final, waiting):
            assert golem.permit(permit_id).status == PermitStatus.COMMITTED
            assert golem.permit(permit_id).spend_entry.state == SpendState.SETTLED
        assert usdc - golem.balance("USDC") == 900_000_000
        answer = golem.commit(golem.preview(amount="300000000")["permit_id"])
        assert answer["status"] == PermitStatus.COMMITTED
    finally:
        again.stop()

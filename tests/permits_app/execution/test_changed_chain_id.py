"""A node that begins to serve another chain: nothing is read from it or sent to it, it is told, and ends by itself."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.execution import executor, payloads
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ChainMark, OutboundTransaction
from permits_app.models.permit import PermitStatus
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tests.proof.lying_node import LyingNode, change_answers
from tools_app.chain.node_errors import RpcWrongChain
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent

OTHER_CHAIN = change_answers("eth_chainId", lambda _, __: "0x1")


@pytest.fixture
def golem(db: None, lying_node: LyingNode, local_chain: World) -> LiveGolem:
    return make_live_golem(local_chain)


def pass_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later by more than an answer to "which chain are you" is believed."""
    real = clock.monotonic_ms
    monkeypatch.setattr(clock, "monotonic_ms", lambda: real() + 1_500)


def test_a_node_that_serves_another_chain_from_now_on_stops_previews_commits_and_sending(
    golem: LiveGolem, lying_node: LyingNode, monkeypatch: pytest.MonkeyPatch, client: Any
) -> None:
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    reconcile_transactions(now=clock.now())
    sent: list[str] = []

    def other_chain(requests: list[Any], ask: Any) -> Any:
        sent.extend(request["method"] for request in requests)
        return OTHER_CHAIN(requests, ask)

    with lying_node.lying(other_chain):
        pass_a_second(monkeypatch)
        with pytest.raises(RpcWrongChain):
            golem.preview(amount="400000000")
        golem.work(permit_id)
        assert "eth_sendRawTransaction" not in sent and not OutboundTransaction.objects.exists()
        reconcile_transactions(now=clock.now())
        watch = ChainMark.objects.get(chain_id=31337)
        assert watch.trouble == "RPC_WRONG_CHAIN" and watch.trouble_since is not None
        checks = {check["name"]: check for check in client.get("/readyz").json()["checks"]}
        assert not checks["chains"]["ok"] and "RPC_WRONG_CHAIN" in checks["chains"]["detail"]
        told = OutboxEvent.objects.get(golem_id=golem.golem.pk, type="chain:stopped").payload
        assert (told["code"], told["chain_id"]) == ("RPC_WRONG_CHAIN", 31337) and told["reason"] and told["clears"]
        reconcile_transactions(now=clock.now())
        assert OutboxEvent.objects.filter(golem_id=golem.golem.pk, type="chain:stopped").count() == 1
    reconcile_transactions(now=clock.now())
    assert ChainMark.objects.get(chain_id=31337).trouble == ""
    assert OutboxEvent.objects.filter(golem_id=golem.golem.pk, type="chain:resumed").exists()
    assert AuditEntry.objects.filter(golem_id=golem.golem.pk, event__in=["ChainStopped", "ChainResumed"]).count() == 2
    answer = golem.commit(golem.preview(amount="300000000")["permit_id"])
    assert answer["status"] == PermitStatus.COMMITTED


def test_stored_bytes_are_not_sent_to_another_chain(
    golem: LiveGolem, lying_node: LyingNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    asked: list[str] = []

    def other_chain(requests: list[Any], ask: Any) -> Any:
        asked.extend(request["method"] for request in requests)
        return OTHER_CHAIN(requests, ask)

    real_send = payloads.send_payload

    def send_later(*args: Any, **options: Any) -> bool:
        lying_node.lie = other_chain
        pass_a_second(monkeypatch)
        return real_send(*args, **options)

    monkeypatch.setattr(executor, "send_payload", send_later)
    golem.work(permit_id)
    lying_node.lie = None
    assert "eth_sendRawTransaction" not in asked and golem.mined_nonce() == 0
    monkeypatch.setattr(executor, "send_payload", real_send)
    golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.COMMITTED

"""A node that leaves logs out or makes some up, and chains that go back further than the mirror remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from permits_app.actions import sync_policy_cage as syncing
from permits_app.actions.sync_policy_cage import sync_policy_cages
from permits_app.errors import CageContradicted, CageMirrorBehind
from permits_app.hook_rejection import Reject
from permits_app.models import CageMirror
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage import mirror as mirrors
from permits_app.policy_cage.contract import Limit, decode_cage_event, limit_rule
from permits_app.policy_cage.mirror import is_behind
from permits_app.safety.cage_contract import judge_contract
from tests.contracts.role_keys import PAYER, appoint, pay, payer_rules
from tests.permits_app.policy_cage.test_mirror import assert_is_the_contract, caged, mirror, state_of, sync
from tests.proof.caged.engines import make_account
from tests.proof.caged.safe import USD, CagedSafe
from tools_app.chain.reader import PinnedReader
from tools_app.core import clock
from tools_app.toolkit.views import LogEntry

__all__ = ["caged", "mirror"]

Tell = Callable[[list[LogEntry]], list[LogEntry]]


@contextmanager
def node_that_tells(tell: Tell) -> Iterator[None]:
    """Every list of logs passes through `tell`."""
    honest = PinnedReader.logs

    def logs(reader: PinnedReader, **query: Any) -> list[LogEntry]:
        return tell(honest(reader, **query))

    with mock.patch.object(PinnedReader, "logs", logs):
        yield


def live_through(caged: CagedSafe) -> None:
    """Something of every kind happens to the cage."""
    caged.engine.give_coins(caged.safe, 10**18)
    payer = make_account("payer")
    caged.engine.give_coins(payer.address, 10**20)
    caged.change(*payer_rules(caged))
    assert appoint(caged, PAYER, payer.address).succeeded
    assert pay(caged, 10 * USD, key=payer).succeeded
    session = cage_contract.encode_set_session(
        key=caged.session.address, expires_at=caged.engine.now() + 99_999, operations=70, budget_micro_usd=10**6 * USD
    )
    assert caged.owner_call(caged.cage, session).succeeded
    assert caged.execute(*caged.trade("USDC", 3_000 * USD, "WETH", 99 * 10**16)).succeeded
    assert caged.execute(*caged.trade("WETH", 2 * 10**17, "WBTC", 1_000_000)).succeeded
    assert caged.engine.send(caged.session, caged.cage, cage_contract.encode_top_up_gas(10**16)).succeeded
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000), limit_rule(Limit.MAX_DRAWDOWN_BPS, 1_400)).succeeded
    key = cage_contract.limit_key(Limit.MAX_DRAWDOWN_BPS)
    assert caged.owner_call(caged.cage, cage_contract.encode_cancel_change(cage_contract.RuleKind.LIMIT, key)).succeeded
    caged.set_price("WETH", 300 * 10**8)
    assert caged.execute(*caged.trade("WETH", 10**18, "USDC", 300 * USD)).succeeded
    assert caged.engine.send(caged.guardian, caged.cage, cage_contract.encode_halt()).succeeded


def without_the_last(name: str) -> Tell:
    def tell(logs: list[LogEntry]) -> list[LogEntry]:
        named = [log for log in logs if (event := decode_cage_event(log)) is not None and event.name == name]
        return [log for log in logs if not named or log is not named[-1]]

    return tell


def refuses_writes(mirror: CageMirror) -> bool:
    call = SimpleNamespace(
        cage=SimpleNamespace(mirror=mirror),
        plan=SimpleNamespace(promise=None),
        chain=None,
        now=clock.now(),
        view=SimpleNamespace(address=mirror.account),
    )
    refusal = judge_contract(call)  # type: ignore[arg-type]
    return isinstance(refusal, Reject) and refusal.error is CageMirrorBehind


@pytest.mark.parametrize(
    "name",
    [
        "RuleChanged",
        "ChangeCancelled",
        "SessionSet",
        "Halted",
        "OutflowCounted",
        "BatchExecuted",
        "GasToppedUp",
        "PaidOut",
        "AllowanceUsed",
        "DrawdownBreached",
    ],
)
def test_a_log_that_is_left_out_is_noticed_and_refuses_writes_at_once(
    mirror: CageMirror, caged: CagedSafe, name: str
) -> None:
    live_through(caged)
    with node_that_tells(without_the_last(name)), pytest.raises(CageContradicted):
        sync(mirror)
    kept = CageMirror.objects.get(pk=mirror.pk)
    assert kept.problem.startswith("CAGE_CONTRADICTED")
    assert is_behind(kept, now=clock.now())
    assert refuses_writes(kept)
    assert not kept.checkpoints.exists()
    honest = sync(kept)
    assert honest.problem == ""
    assert_is_the_contract(honest, caged)


def test_the_logs_of_a_whole_span_left_out_are_noticed(mirror: CageMirror, caged: CagedSafe) -> None:
    live_through(caged)
    with node_that_tells(lambda _: []):
        assert sync_policy_cages(now=clock.now()) == {"synced": 0, "failed": 1}
    assert refuses_writes(CageMirror.objects.get(pk=mirror.pk))


def test_a_log_that_nobody_wrote_is_noticed(mirror: CageMirror, caged: CagedSafe) -> None:
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000)).succeeded

    def tell(logs: list[LogEntry]) -> list[LogEntry]:
        return [*logs, logs[-1]]

    with node_that_tells(tell), pytest.raises(CageContradicted):
        sync(mirror)
    assert_is_the_contract(sync(CageMirror.objects.get(pk=mirror.pk)), caged)


def test_a_chain_that_goes_back_further_than_what_is_remembered_is_read_from_the_start(
    mirror: CageMirror, caged: CagedSafe
) -> None:
    snapshot = caged.engine.snapshot()
    with mock.patch.object(syncing, "_CHECKPOINTS_KEPT", 2):
        for value in (2_400, 2_300, 2_200, 2_100):
            assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, value)).succeeded
        mirror = sync(mirror)
        assert mirror.checkpoints.count() == 2
        caged.engine.revert(snapshot)
        for value in (2_000, 1_900, 1_800, 1_700, 1_600):
            assert caged.propose(limit_rule(Limit.MAX_DRAWDOWN_BPS, value // 2)).succeeded
        mirror = sync(mirror)
    assert state_of(mirror).limit(Limit.MAX_POSITION_BPS) == 2_500
    assert_is_the_contract(mirror, caged)


def test_a_chain_that_goes_back_behind_the_deployment_leaves_no_cage_to_trust(
    local_chain: Any, db: None, mirror: CageMirror, caged: CagedSafe
) -> None:
    from tests.proof.caged.engines import NodeEngine

    assert isinstance(caged.engine, NodeEngine)
    rpc = caged.engine.rpc
    snapshot = rpc.call("evm_snapshot")
    # As a chain does that never held the deployment.
    rpc.call("anvil_setCode", caged.cage, "0x")
    rpc.call("evm_mine")
    with pytest.raises(CageContradicted):
        sync(mirror)
    assert refuses_writes(CageMirror.objects.get(pk=mirror.pk))
    assert rpc.call("evm_revert", snapshot)
    assert_is_the_contract(sync(CageMirror.objects.get(pk=mirror.pk)), caged)


def test_a_mirror_far_behind_catches_up_in_several_readings_and_refuses_writes_meanwhile(
    mirror: CageMirror, caged: CagedSafe
) -> None:
    live_through(caged)
    CageMirror.objects.filter(pk=mirror.pk).update(synced_at=None)
    seen = []
    with mock.patch.object(mirrors, "MOST_BLOCKS_AT_ONCE", 2):
        for _ in range(20):
            mirror = sync(CageMirror.objects.get(pk=mirror.pk))
            seen.append(refuses_writes(mirror))
            if not mirror.problem:
                break
            assert mirror.problem.startswith("still reading: block ")
    assert len(seen) >= 3
    assert seen == [True] * (len(seen) - 1) + [False]
    assert_is_the_contract(mirror, caged)

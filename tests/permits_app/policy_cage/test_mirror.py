"""The mirror follows the chain's events, back when the chain goes back, and refuses writes while it is behind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.test import Client

from archetypes_app.models import Golem
from archetypes_app.toolset import resolve_toolset
from permits_app.actions import sync_policy_cage as sync_module
from permits_app.actions.sync_policy_cage import register_cage, sync_policy_cage, sync_policy_cages
from permits_app.errors import CageReorganised, NotACage
from permits_app.limits.policy import read_policy
from permits_app.models import CageCheckpoint, CageMirror, PolicyCage
from permits_app.policy_cage import mirror as mirrors
from permits_app.policy_cage.contract import Limit, limit_rule
from permits_app.policy_cage.mirror import is_behind
from permits_app.policy_cage.state import CageState
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.contracts.role_keys import PAYER, appoint
from tests.evm.world import World
from tests.factories.golems import make_golem, make_owner
from tests.factories.permits import make_cage_mirror
from tests.proof.caged.engines import NodeEngine
from tests.proof.caged.safe import USD, CagedSafe, build_caged_safe
from tools_app.chain.node_errors import RpcUnavailable
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent

CHAIN_ID = 31337


@pytest.fixture
def caged(local_chain: World) -> CagedSafe:
    return build_caged_safe(NodeEngine(local_chain.rpc))


@pytest.fixture
def mirror(db: None, caged: CagedSafe) -> CageMirror:
    golem = make_golem(owner=User.objects.create_user("owner"))
    return register_cage(golem_id=golem.pk, chain_id=CHAIN_ID, contract=caged.cage, deployed_block=0, now=clock.now())


@pytest.fixture
def golem(mirror: CageMirror) -> Iterator[Golem]:
    yield mirror.cage.golem


def sync(mirror: CageMirror) -> CageMirror:
    return sync_policy_cage(mirror_id=mirror.pk, now=clock.now())


def state_of(mirror: CageMirror) -> CageState:
    return CageState.from_dict(mirror.state)


def head_of(caged: CagedSafe) -> tuple[int, str]:
    assert isinstance(caged.engine, NodeEngine)
    block = caged.engine.rpc.call("eth_getBlockByNumber", "latest", False)
    return int(block["number"], 16), block["hash"]


def assert_is_the_contract(mirror: CageMirror, caged: CagedSafe) -> None:
    state = state_of(mirror)
    assert (mirror.block_number, mirror.block_hash) == head_of(caged)
    for limit in Limit:
        assert state.limit(limit) == caged.rule(limit_rule(limit, 0)), limit.name
    session = state.session
    assert (session.key, session.expires_at, session.operations_left, session.budget_left) == caged.ask("session")
    assert state.assets == list(caged.ask("assets"))
    for what in (*state.assets, *(f"0x{number:040x}" for number in (1, 2, 3))):
        assert state.spent(what, now=caged.engine.now()) == caged.ask("spent", what)


def test_a_registered_cage_is_mirrored_from_its_first_event(mirror: CageMirror, caged: CagedSafe) -> None:
    assert mirror.is_enforced
    assert (mirror.account, mirror.base_asset) == (caged.safe, caged.coins["USDC"].address)
    assert_is_the_contract(mirror, caged)
    row = PolicyCage.objects.get(pk=mirror.cage_id)
    assert (row.max_position_bps, row.max_drawdown_bps, row.allows_arbitrary_calldata) == (2_500, 1_300, False)
    assert not is_behind(mirror, now=clock.now())


def test_batches_and_changes_are_followed(mirror: CageMirror, caged: CagedSafe) -> None:
    assert caged.execute(*caged.trade("USDC", 3_000 * USD, "WETH", 99 * 10**16)).succeeded
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000), limit_rule(Limit.MAX_DRAWDOWN_BPS, 1_500)).succeeded
    mirror = sync(mirror)
    assert_is_the_contract(mirror, caged)
    state = state_of(mirror)
    [pending] = state.pending.values()
    assert (pending.value, pending.base) == (1_500, 1_300)
    assert PolicyCage.objects.get(pk=mirror.cage_id).max_position_bps == 1_000
    assert OutboxEvent.objects.filter(type="policy:cage_updated").exists()
    assert AuditEntry.objects.filter(event="CageMirrored").count() == 2


def test_the_key_of_another_role_is_followed_and_told(mirror: CageMirror, caged: CagedSafe) -> None:
    told = AuditEntry.objects.filter(event="CageMirrored").count()
    assert appoint(caged, PAYER, caged.stranger.address, operations=3).succeeded
    mirror = sync(mirror)
    session = state_of(mirror).sessions[PAYER]
    assert (session.key, session.expires_at, session.operations_left, session.budget_left) == caged.ask(
        "sessionOf", PAYER
    )
    assert AuditEntry.objects.filter(event="CageMirrored").count() == told + 1
    assert_is_the_contract(mirror, caged)


def test_a_second_sync_without_news_changes_nothing(mirror: CageMirror) -> None:
    before = CageCheckpoint.objects.count(), AuditEntry.objects.count()
    assert sync(mirror).state == mirror.state
    assert (CageCheckpoint.objects.count(), AuditEntry.objects.count()) == before


@pytest.mark.django_db(transaction=True)
def test_syncs_at_once_tell_of_a_change_once(mirror: CageMirror, caged: CagedSafe) -> None:
    told = AuditEntry.objects.filter(event="CageMirrored").count()
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000)).succeeded
    at_once(lambda _: sync_policy_cages(now=clock.now()), count=4)
    assert AuditEntry.objects.filter(event="CageMirrored").count() == told + 1
    mirror.refresh_from_db()
    assert state_of(mirror).limit(Limit.MAX_POSITION_BPS) == 1_000
    assert_is_the_contract(mirror, caged)


def test_a_reorganised_chain_is_rolled_back_and_read_again(mirror: CageMirror, caged: CagedSafe) -> None:
    assert isinstance(caged.engine, NodeEngine)
    snapshot = caged.engine.snapshot()
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000)).succeeded
    assert caged.execute(*caged.trade("USDC", 3_000 * USD, "WETH", 10**18)).succeeded
    mirror = sync(mirror)
    lost = mirror.block_hash
    assert state_of(mirror).limit(Limit.MAX_POSITION_BPS) == 1_000
    caged.engine.revert(snapshot)
    # As many blocks again, with other contents: the number alone would not tell.
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 2_000)).succeeded
    assert caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17)).succeeded
    mirror = sync(mirror)
    assert mirror.block_hash != lost
    assert state_of(mirror).limit(Limit.MAX_POSITION_BPS) == 2_000
    assert_is_the_contract(mirror, caged)
    assert not CageCheckpoint.objects.filter(block_hash=lost).exists()
    told = [entry.data["rolled_back"] for entry in AuditEntry.objects.filter(event="CageMirrored").order_by("pk")]
    assert told == [False, False, True]


def test_a_chain_that_went_back_and_grew_no_further_is_followed_back(mirror: CageMirror, caged: CagedSafe) -> None:
    snapshot = caged.engine.snapshot()
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000)).succeeded
    sync(mirror)
    caged.engine.revert(snapshot)
    followed = sync(CageMirror.objects.get(pk=mirror.pk))
    assert state_of(followed).limit(Limit.MAX_POSITION_BPS) == 2_500
    assert PolicyCage.objects.get(pk=mirror.cage_id).max_position_bps == 2_500
    assert_is_the_contract(followed, caged)


def test_a_chain_that_moves_while_it_is_read_keeps_nothing(mirror: CageMirror, caged: CagedSafe) -> None:
    assert caged.propose(limit_rule(Limit.MAX_POSITION_BPS, 1_000)).succeeded
    with mock.patch.object(mirrors, "_holds", side_effect=[True, False]), pytest.raises(CageReorganised):
        sync(mirror)
    kept = CageMirror.objects.get(pk=mirror.pk)
    assert kept.state == mirror.state
    assert kept.problem.startswith("CAGE_REORGANISED")
    assert sync(kept).problem == ""


def test_a_node_that_does_not_answer_leaves_the_mirror_behind(mirror: CageMirror) -> None:
    def fail(**_: Any) -> None:
        raise RpcUnavailable("no node answers")

    with mock.patch("tools_app.runner.open_reader", lambda *_, **__: fail()):
        assert sync_policy_cages(now=clock.now()) == {"synced": 0, "failed": 1}
    kept = CageMirror.objects.get(pk=mirror.pk)
    assert kept.problem.startswith("RPC_UNAVAILABLE")
    assert not is_behind(kept, now=clock.now())
    assert is_behind(kept, now=clock.now() + timedelta(seconds=31))


def test_the_policys_hash_moves_with_a_rule_and_not_with_a_block(
    mirror: CageMirror, caged: CagedSafe, golem: Golem
) -> None:
    def hash_now() -> str:
        return read_policy(golem=Golem.objects.get(pk=golem.pk), toolset=resolve_toolset(golem)).hash

    first = hash_now()
    assert caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17)).succeeded
    mirror = sync(mirror)
    assert hash_now() == first
    assert caged.propose(limit_rule(Limit.MAX_GAS_TOP_UP_WEI, 1)).succeeded
    sync(mirror)
    assert hash_now() != first


def test_what_is_no_cage_is_not_registered(db: None, caged: CagedSafe) -> None:
    golem = make_golem(owner=User.objects.create_user("owner"))
    for address in (caged.safe, caged.venue, caged.stranger.address):
        with pytest.raises(NotACage):
            register_cage(golem_id=golem.pk, chain_id=CHAIN_ID, contract=address, deployed_block=0, now=clock.now())
    assert not CageMirror.objects.exists()


def test_an_owner_sees_the_mirror_its_block_and_whether_it_is_behind(
    mirror: CageMirror, golem: Golem, client: Client
) -> None:
    owner = golem.owner
    owner.is_staff = owner.is_superuser = True
    owner.save()
    client.force_login(owner)
    page = client.get(f"/admin/permits_app/cagemirror/{mirror.pk}/change/").content.decode()
    assert mirror.contract in page
    assert mirror.block_hash in page
    assert "contract on chain" in page
    cage = f"/admin/permits_app/policycage/{mirror.cage_id}/change/"
    page = client.get(cage).content.decode()
    assert "contract on chain" in page
    CageMirror.objects.filter(pk=mirror.pk).update(synced_at=None)
    assert "writes are refused" in client.get(cage).content.decode()
    assert "writes are refused" in client.get("/admin/permits_app/cagemirror/").content.decode()


@pytest.mark.django_db
def test_a_contract_that_does_not_answer_keeps_no_other_cage_from_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that is stopped half-way begins anew: what it came to last is first then, what fails is last."""
    now = clock.now()
    failing, fresh, old = (
        make_cage_mirror(golem=make_golem(owner=make_owner(name=name), name=name)).pk
        for name in ("failing", "fresh", "old")
    )
    CageMirror.objects.filter(pk=failing).update(problem="NODE_TIMEOUT: it does not answer", synced_at=None)
    CageMirror.objects.filter(pk=old).update(synced_at=now - timedelta(minutes=1))
    looked_at: list[int] = []
    monkeypatch.setattr(sync_module, "sync_policy_cage", lambda *, mirror_id, now: looked_at.append(mirror_id))
    sync_policy_cages(now=now)
    assert looked_at == [old, fresh, failing]

"""The one-shot token: nothing but the mint makes one, and it works once, for one call, in time, within its value."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection, transaction

from archetypes_app.models import Golem
from permits_app.errors import CapabilityError, CapabilityExpired, CapabilityValueExceeded, LeaseLost
from permits_app.execution import executor
from permits_app.execution.commit_lease import take_lease
from permits_app.execution.executor import store_signed
from permits_app.models import ActionPermit, CapabilityGrant, OutboundTransaction, SpendingLimits
from permits_app.permits.capabilities import MintedCapability, mint
from tests.factories.golems import make_golem
from tests.factories.permits import make_permit
from tests.live_golem import LiveGolem
from tools_app import runner
from tools_app.core import clock
from tools_app.core.units import apply_bps_up
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool

MINUTE = timedelta(seconds=60)


def committing(live: LiveGolem) -> ActionPermit:
    permit_id = live.preview()["permit_id"]
    live.start(permit_id)
    return live.permit(permit_id)


def minted(permit: ActionPermit, *, lasts: timedelta = MINUTE) -> MintedCapability:
    now = clock.now()
    return mint(permit=permit, expires_at=now + lasts, now=now)


def use(token: MintedCapability, permit: ActionPermit, **changes: str) -> None:
    token.consume(**{"tool_name": permit.tool_name, "plan_hash": permit.plan_hash, **changes})


def test_a_capability_works_once(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    use(token, permit)
    with pytest.raises(CapabilityError) as refused:
        use(token, permit)
    assert refused.value.code == "CAP_NOT_MINTED"
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is not None


def test_a_second_token_of_the_same_grant_loses_to_the_first(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    one, two = minted(permit), minted(permit)
    # A permit whose ticks are over long ago, of another golem, says nothing of this one.
    aged = make_golem(owner=live_golem.owner, name="Borea")
    Golem.objects.filter(pk=aged.pk).update(heartbeat_tick=10**6)
    for number in (0, 2**128 - 1):
        make_permit(golem=aged, id=UUID(int=number), now=clock.now() + timedelta(seconds=number % 2))
    use(one, permit)
    with pytest.raises(CapabilityError, match="used before") as refused:
        use(two, permit)
    assert refused.value.code == "CAP_NOT_MINTED"
    with pytest.raises(CapabilityError):
        minted(permit)


@pytest.mark.parametrize("change", [{"tool_name": "uniswap_lp_add_liquidity"}, {"plan_hash": "0x" + "11" * 32}])
def test_a_capability_of_one_call_is_worth_nothing_for_another(live_golem: LiveGolem, change: dict[str, str]) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    with pytest.raises(CapabilityError) as refused:
        use(token, permit, **change)
    assert refused.value.code == "CAP_NOT_MINTED"
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None
    use(token, permit)


def test_the_token_itself_knows_that_it_was_used_whatever_the_grant_says(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    use(token, permit)
    CapabilityGrant.objects.update(consumed_at=None)
    with pytest.raises(CapabilityError, match="used before"):
        use(token, permit)
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None


def test_a_token_whose_use_was_committed_is_used_whatever_the_grant_says(shared_golem: LiveGolem) -> None:
    permit = committing(shared_golem)
    token = minted(permit)
    with transaction.atomic():
        use(token, permit)
        transaction.set_rollback(True)
    # Nothing of that happened, so it works once more: in a transaction that holds.
    use(token, permit)
    CapabilityGrant.objects.update(consumed_at=None)
    with pytest.raises(CapabilityError, match="used before"):
        use(token, permit)
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None


@pytest.mark.parametrize("change", [{"tool_name": "uniswap_lp_add_liquidity"}, {"plan_hash": "0x" + "11" * 32}])
def test_token_and_grant_must_both_be_of_the_call(live_golem: LiveGolem, change: dict[str, str]) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    CapabilityGrant.objects.update(**change)
    for wanted in ({}, change):
        with pytest.raises(CapabilityError):
            use(token, permit, **wanted)
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None


def test_an_equal_grant_of_another_permit_is_left_alone(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    other = live_golem.permit(live_golem.preview(amount="400000000")["permit_id"])
    grant = CapabilityGrant.objects.create(
        permit=other,
        tool_name=permit.tool_name,
        plan_hash=permit.plan_hash,
        value_limit_micro_usd=1,
        minted_at=clock.now(),
        expires_at=clock.now() + MINUTE,
    )
    use(minted(permit), permit)
    grant.refresh_from_db()
    assert grant.consumed_at is None


@pytest.mark.parametrize("more", [timedelta(seconds=-1), timedelta(0), timedelta(seconds=1)])
def test_a_grant_minted_again_after_a_crash_lasts_until_the_later_time(live_golem: LiveGolem, more: timedelta) -> None:
    permit = committing(live_golem)
    now = clock.now()
    mint(permit=permit, expires_at=now + MINUTE, now=now)
    mint(permit=permit, expires_at=now + MINUTE + more, now=now)
    assert CapabilityGrant.objects.get(permit=permit).expires_at == now + MINUTE + max(more, timedelta(0))


@pytest.mark.parametrize(("after_ms", "expired"), [(-1, False), (0, True), (1, True)])
def test_a_capability_ends_exactly_at_its_time(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, after_ms: int, expired: bool
) -> None:
    permit = committing(live_golem)
    now = clock.now()
    token = mint(permit=permit, expires_at=now + MINUTE, now=now)
    monkeypatch.setattr(clock, "now", lambda: now + MINUTE + timedelta(milliseconds=after_ms))
    if not expired:
        use(token, permit)
        return
    with pytest.raises(CapabilityExpired) as refused:
        use(token, permit)
    assert refused.value.code == "CAP_EXPIRED"
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None


@pytest.mark.parametrize(("more", "passes"), [(-1, True), (0, True), (1, False)])
def test_a_capability_covers_its_value_to_the_micro_dollar(live_golem: LiveGolem, more: int, passes: bool) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    most = apply_bps_up(permit.value_micro_usd, settings.GOLEM_VALUE_DRIFT_BPS)
    if passes:
        token.check_value(most + more)
        assert token.value_limit_micro_usd == most
        return
    with pytest.raises(CapabilityValueExceeded) as refused:
        token.check_value(most + more)
    assert refused.value.code == "CAP_VALUE_EXCEEDED"


@pytest.mark.parametrize(("percent", "status"), [(105, "COMMITTED"), (120, "BLOCKED")])
def test_what_became_worth_more_than_was_granted_is_not_signed(
    live_golem: LiveGolem, percent: int, status: str
) -> None:
    permit_id = live_golem.preview(token_out="DAI")["permit_id"]
    world = live_golem.world
    # Both sides of the swap rise alike: nothing but the value of what is spent is another one.
    for symbol in ("USDC", "DAI"):
        world.transact(world.actors.deployer, world.tokens[symbol].feed, "setAnswer(int256)", percent * 10**6)
    told = live_golem.commit(permit_id)
    assert told["status"] == status
    if status == "BLOCKED":
        assert told["problem"]["code"] == "CAP_VALUE_EXCEEDED"
        assert told["problem"]["recovery"] == "PREVIEW_AGAIN"
        assert not OutboundTransaction.objects.filter(permit_id=permit_id).exists()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_capability_cannot_be_copied_or_pickled(live_golem: LiveGolem, duplicate: Any) -> None:
    token = minted(committing(live_golem))
    with pytest.raises(CapabilityError):
        duplicate(token)


def test_a_capability_cannot_be_subclassed_built_or_changed(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    with pytest.raises(TypeError):
        type("Wider", (MintedCapability,), {})
    with pytest.raises(CapabilityError):
        MintedCapability(object(), CapabilityGrant.objects.get(permit=permit), {})
    with pytest.raises(AttributeError):
        token.extra = 1  # type: ignore[attr-defined]
    assert permit.plan_hash not in repr(token)


@pytest.mark.parametrize("status", ["CREATED", "COMMITTED", "CANCELLED", "EXPIRED", "BLOCKED", "REVERTED", "UNKNOWN"])
def test_only_a_permit_that_is_being_committed_gets_a_capability(live_golem: LiveGolem, status: str) -> None:
    permit = committing(live_golem)
    permit.status = status
    with pytest.raises(CapabilityError):
        minted(permit)
    assert not CapabilityGrant.objects.exists()


@dataclass
class LookAlike:
    """Everything the interface has, and no grant behind it."""

    permit_id: UUID
    tool_name: str
    plan_hash: str
    value_limit_micro_usd: int = 10**18

    def check_value(self, micro_usd: int) -> None:
        return

    def consume(self, *, tool_name: str, plan_hash: str) -> None:
        return


def test_the_executor_refuses_an_object_that_only_looks_like_a_capability(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    lease = take_lease(permit_id=permit.pk, now=clock.now())
    assert lease is not None
    forged = LookAlike(permit.pk, permit.tool_name, permit.plan_hash)
    with pytest.raises(CapabilityError):
        store_signed(permit=permit, capability=forged, worth_micro_usd=0, unsigned=[], signed=[], lease=lease)  # type: ignore[arg-type]
    assert not OutboundTransaction.objects.exists()


def test_a_capability_of_another_permit_is_refused_by_the_executor(live_golem: LiveGolem) -> None:
    first = committing(live_golem)
    token = minted(first)
    other = live_golem.preview(amount="400000000")["permit_id"]
    live_golem.start(other)
    permit = live_golem.permit(other)
    lease = take_lease(permit_id=permit.pk, now=clock.now())
    assert lease is not None
    with pytest.raises(CapabilityError):
        store_signed(permit=permit, capability=token, worth_micro_usd=0, unsigned=[], signed=[], lease=lease)
    assert CapabilityGrant.objects.get(permit=first).consumed_at is None


def test_nothing_is_stored_for_a_worker_whose_commit_another_took_over(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    lease = take_lease(permit_id=permit.pk, now=clock.now())
    assert lease is not None
    ActionPermit.objects.filter(pk=permit.pk).update(lease_owner="another")
    with pytest.raises(LeaseLost):
        store_signed(permit=permit, capability=token, worth_micro_usd=0, unsigned=[], signed=[], lease=lease)
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None


@pytest.mark.parametrize("shares_token", [True, False])
def test_many_threads_use_one_capability_once(shared_golem: LiveGolem, shares_token: bool) -> None:
    permit = committing(shared_golem)
    tokens = [minted(permit)] * 8 if shares_token else [minted(permit) for _ in range(8)]
    gate = threading.Barrier(8)

    def try_use(token: MintedCapability) -> bool:
        try:
            gate.wait(timeout=30)
            use(token, permit)
            return True
        except CapabilityError:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(try_use, tokens)) == 1


def test_a_capability_ends_with_the_ticks_of_its_permit_too(live_golem: LiveGolem) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    Golem.objects.filter(pk=permit.golem_id).update(heartbeat_tick=permit.expires_at_tick)
    with pytest.raises(CapabilityExpired):
        use(token, permit)
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None
    Golem.objects.filter(pk=permit.golem_id).update(heartbeat_tick=permit.expires_at_tick - 1)
    use(token, permit)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_earlier_of_the_ticks_that_token_and_grant_say_ends_a_capability(live_golem: LiveGolem, more: int) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    CapabilityGrant.objects.update(expires_at_tick=permit.expires_at_tick + more)
    earlier = permit.expires_at_tick + min(more, 0)
    Golem.objects.filter(pk=permit.golem_id).update(heartbeat_tick=earlier)
    with pytest.raises(CapabilityError):
        use(token, permit)
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None
    Golem.objects.filter(pk=permit.golem_id).update(heartbeat_tick=earlier - 1)
    use(token, permit)


@pytest.mark.parametrize("model", [CapabilityGrant, ActionPermit])
def test_a_capability_is_worth_nothing_under_another_policy(live_golem: LiveGolem, model: Any) -> None:
    permit = committing(live_golem)
    token = minted(permit)
    where = {"permit": permit} if model is CapabilityGrant else {"pk": permit.pk}
    model.objects.filter(**where).update(policy_hash="0x" + "22" * 32)
    with pytest.raises(CapabilityError):
        use(token, permit)
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None


def test_what_an_owner_tightens_between_judgement_and_signature_is_not_signed(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    original = executor.store_signed

    def tighten_first(**arguments: Any) -> Any:
        SpendingLimits.objects.filter(golem=live_golem.golem).update(max_slippage_bps=1)
        return original(**arguments)

    monkeypatch.setattr(executor, "store_signed", tighten_first)
    answer = live_golem.work(permit_id)
    assert answer is not None and answer["status"] == "BLOCKED"
    assert not OutboundTransaction.objects.filter(permit_id=permit_id).exists()
    assert live_golem.mined_nonce() == 0


def test_no_handler_consumes_its_capability_and_the_runner_does() -> None:
    handlers = [tool.handler for tool in REGISTRY if isinstance(tool, LocalWriteTool)]
    assert handlers
    assert [handler.__name__ for handler in handlers if "consume(" in inspect.getsource(handler)] == []
    assert "capability.consume(" in inspect.getsource(runner.run_local_write)

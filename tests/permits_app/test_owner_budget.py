"""One daily budget over all golems of an owner: held to where money is reserved, whoever of them is first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from io import StringIO
from threading import Barrier

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from permits_app.errors import SpendingLimitExceeded
from permits_app.limits import ledger
from permits_app.limits.owner_budget import set_budget
from permits_app.limits.valuation import PlanValue
from permits_app.management.commands.owner_budget import MOST_USD
from permits_app.models import ActionPermit, OwnerBudget, SpendEntry
from tests.evm.world import World
from tests.factories.permits import make_permit
from tests.live_golem import LiveGolem, make_live_golem
from tools_app.core import clock
from tools_app.core.models import AuditEntry

USD = 10**6


def allow(live: LiveGolem, usd: int | None) -> None:
    micro = None if usd is None else usd * USD
    set_budget(person=live.owner, per_day_micro_usd=micro, actor="user:test", now=clock.now())


def reserve(permit: ActionPermit, usd: int, *, counts_per_day: bool = True, now: datetime | None = None) -> None:
    """As the transaction does that opens a permit."""
    ledger.reserve(
        permit=permit,
        value=PlanValue(gas_micro_usd=usd * USD),
        counts_per_day=counts_per_day,
        heartbeat_tick=0,
        now=now or clock.now(),
    )


def tell(*words: str) -> str:
    out = StringIO()
    call_command("owner_budget", *words, stdout=out)
    return out.getvalue().strip()


def test_what_one_golem_spends_is_missing_for_the_other_of_the_same_owner(live_golem: LiveGolem) -> None:
    sister = make_live_golem(live_golem.world, name="Sister")
    stranger = make_live_golem(live_golem.world, name="Stranger", owner_name="owner-z")
    allow(live_golem, 800)
    first = live_golem.preview()
    with pytest.raises(SpendingLimitExceeded) as refused:
        sister.preview()
    assert refused.value.data["rule"] == "spending_limiter.owner_day"
    assert refused.value.data["resets_at"] and "all golems of this owner" in refused.value.detail
    assert refused.value.next_step == "FIX_PARAMS"
    assert sister.preview(amount=str(200 * USD))["status"] == "CREATED"
    assert stranger.preview()["status"] == "CREATED"
    ledger.release(permit_id=ActionPermit.objects.get(pk=first["permit_id"]).pk)
    assert sister.preview(amount=str(400 * USD))["status"] == "CREATED"


def test_a_budget_frees_itself_after_a_day_and_ends_when_its_owner_ends_it(live_golem: LiveGolem) -> None:
    allow(live_golem, 600)
    live_golem.commit(live_golem.preview()["permit_id"])
    permit, now = make_permit(golem=live_golem.golem), clock.now()
    with pytest.raises(SpendingLimitExceeded):
        reserve(permit, 200, now=now)
    with pytest.raises(SpendingLimitExceeded):
        reserve(permit, 200, now=now + timedelta(hours=23))
    reserve(permit, 200, now=now + timedelta(hours=24, minutes=1))
    allow(live_golem, 0)
    with pytest.raises(SpendingLimitExceeded) as refused:
        live_golem.preview(amount=str(100 * USD))
    assert refused.value.next_step in ("WAIT", "ASK_OWNER")
    allow(live_golem, None)
    assert live_golem.preview(amount=str(100 * USD))["status"] == "CREATED"


@pytest.mark.parametrize(("usd", "passes"), [("500", True), ("499.999999", False)])
def test_a_budget_passes_up_to_its_last_millionth_of_a_dollar(live_golem: LiveGolem, usd: str, passes: bool) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    SpendEntry.objects.all().delete()
    tell(live_golem.owner.username, "--usd", usd)
    if passes:
        reserve(permit, 500)
        return
    with pytest.raises(SpendingLimitExceeded):
        reserve(permit, 500)
    reserve(permit, 500, counts_per_day=False)
    assert SpendEntry.objects.count() == 1, "a way out is held to no budget"


def test_two_golems_at_once_never_both_take_what_is_left(transactional_db: None, local_chain: World) -> None:
    both = [make_live_golem(local_chain, name=name) for name in ("One", "Two")]
    allow(both[0], 800)
    start = Barrier(2)

    def ask(live: LiveGolem) -> str:
        try:
            start.wait(timeout=60)
            return str(live.preview()["status"])
        except SpendingLimitExceeded as error:
            return str(error.data["rule"])
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        told = sorted(threads.map(ask, both))
    assert told == ["CREATED", "spending_limiter.owner_day"]
    assert SpendEntry.objects.filter(state="RESERVED").count() == 1


def test_an_operator_sets_shows_and_ends_a_budget_and_each_golem_hears_of_it(live_golem: LiveGolem) -> None:
    name = live_golem.owner.username
    assert "no budget" in tell(name)
    assert "$800.00" in tell(name, "--usd", "800")
    live_golem.preview()
    shown = tell(name)
    assert "over 1 golems" in shown and "$500" in shown
    assert AuditEntry.objects.filter(event="OwnerBudgetSet", golem_id=live_golem.golem.pk).count() == 1
    assert "no budget" in tell(name, "--none")
    assert not OwnerBudget.objects.exists()
    for words in (("nobody",), (name, "--usd", "1", "--none"), (name, "--usd", "-1"), (name, "--usd", "much")):
        with pytest.raises(CommandError):
            tell(*words)


def test_a_budget_has_at_most_a_billion_dollars(live_golem: LiveGolem) -> None:
    name = live_golem.owner.username
    assert tell(name, "--usd", str(MOST_USD))
    with pytest.raises(CommandError):
        tell(name, "--usd", f"{MOST_USD}.000001")

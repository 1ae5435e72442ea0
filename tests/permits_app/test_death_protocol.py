"""The Death Protocol, through the admin, the heartbeat's phase and the clock's task, on a real chain."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.actions.change_phase import apply_vitality
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.vitality import VitalitySigns, compute_vitality
from memory_app.actions.export_grimoire import archive_folder
from memory_app.archive_file import find_archive
from permits_app import tasks
from permits_app.actions import halt
from permits_app.actions.carry_out_deaths import carry_out_deaths
from permits_app.actions.halt import carry_out_halt, halt_golem, list_unfinished_halts
from permits_app.approvals.operations import find_operation
from permits_app.execution import position_unwinding
from permits_app.execution.halt_permits import execute_halt_plan
from permits_app.halts import deaths
from permits_app.halts.halt_choices import does_unwind
from permits_app.halts.resume import resume_golem
from permits_app.models import ActionPermit, Death, HaltRecord, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.permits.lifecycle import FINAL
from tests import factories
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.execution.test_position_unwinding import liquidity_of
from tests.permits_app.safety.calls import open_position
from tools_app.core import clock
from tools_app.core.models import AuditCheckpoint, AuditEntry, AuditHead, OutboxEvent


@pytest.fixture
def client(live_golem: LiveGolem) -> Client:
    live_golem.owner.is_staff = True
    live_golem.owner.save()
    live_golem.owner.groups.add(ensure_owner_group())
    visitor = Client()
    visitor.force_login(live_golem.owner)
    return visitor


def ask(client: Client, golem: LiveGolem, page: str = "end", reason: str = "its work is done") -> None:
    address = reverse(f"admin:archetypes_app_golem_{page}", args=[golem.golem.pk])
    assert client.get(address).status_code == 200
    assert client.post(address, {"reason": reason}).status_code == 302


def work(rounds: int = 6) -> None:
    """What beat and workers do meanwhile."""
    for _ in range(rounds):
        tasks.commit_deaths_task.run()
        for golem_id, epoch in list_unfinished_halts():
            tasks.commit_halt_task.run(golem_id=str(golem_id), epoch=epoch)


def audited(golem: LiveGolem, event: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(golem_id=golem.golem.pk, event=event))


def run_out(golem: LiveGolem) -> None:
    """As the heartbeat does with a vitality that is nearly gone."""
    signs = VitalitySigns(
        balance_micro_usd=31_000_000,
        starting_budget_micro_usd=1_000_000_000,
        predictions=0,
        correct_predictions=0,
        hazard_millionths=0,
    )
    apply_vitality(golem=golem.golem, vitality=compute_vitality(signs), actor="system:heartbeat", now=clock.now())
    golem.golem.refresh_from_db()
    assert golem.golem.phase == "TERMINAL"


def test_an_owner_ends_a_golem_from_its_page_and_everything_is_taken_out_first(
    live_golem: LiveGolem, chain: World, client: Client
) -> None:
    position = open_position(live_golem, chain)
    usdc, weth = live_golem.balance("USDC"), live_golem.balance("WETH")
    ask(client, live_golem)
    work()
    golem = live_golem.golem
    golem.refresh_from_db()
    live_golem.key.key.refresh_from_db()
    assert golem.retired_at is not None and golem.is_halted and live_golem.key.key.revoked_at is not None
    assert liquidity_of(live_golem, position) == 0
    assert live_golem.balance("USDC") > usdc and live_golem.balance("WETH") > weth
    death = Death.objects.get(golem=golem)
    assert death.state == "RETIRED" and death.left == []
    file: Path = find_archive(folder=archive_folder(golem.pk), name=death.export_file)
    assert file.stat().st_size > 0 and len(death.export_sha256) == 64
    own = client.get(reverse("admin:archetypes_app_golem_change", args=[golem.pk])).content.decode()
    assert death.export_file in own and "Keep it" not in own
    assert client.get(reverse("admin:archetypes_app_golem_end", args=[golem.pk])).status_code == 404
    [initiated] = audited(live_golem, "DeathInitiated")
    assert initiated.actor == f"owner:{live_golem.owner.pk}" and initiated.data["reason"] == "its work is done"
    order = list(
        AuditEntry.objects.filter(
            golem_id=golem.pk,
            event__in=["DeathInitiated", "HaltStarted", "HaltCompleted", "GrimoireExported", "GolemRetired"],
        )
        .order_by("seq")
        .values_list("event", flat=True)
    )
    assert order == ["DeathInitiated", "HaltStarted", "HaltCompleted", "GrimoireExported", "GolemRetired"]
    assert AuditCheckpoint.objects.filter(golem_id=golem.pk, seq=AuditHead.objects.get(golem_id=golem.pk).seq).exists()
    told = OutboxEvent.objects.filter(golem_id=golem.pk, type__startswith="death:").order_by("sequence")
    assert list(told.values_list("type", flat=True)) == ["death:initiated", "death:completed"]
    permits = ActionPermit.objects.filter(golem=golem, tool_name="emergency_halt")
    assert {permit.status for permit in permits} == {PermitStatus.COMMITTED}


def test_a_golem_whose_vitality_ran_out_is_announced_and_ends_after_a_day(live_golem: LiveGolem, chain: World) -> None:
    position = open_position(live_golem, chain)
    run_out(live_golem)
    now = clock.now()
    for _ in range(3):
        carry_out_deaths(now=now)
    golem = live_golem.golem
    golem.refresh_from_db()
    [initiated] = audited(live_golem, "DeathInitiated")
    assert (initiated.actor, initiated.data["phase"]) == ("system:death", "TERMINAL")
    assert not golem.is_halted and liquidity_of(live_golem, position) > 0
    carry_out_deaths(now=now + deaths.NOTICE - timedelta(seconds=1))
    golem.refresh_from_db()
    assert not golem.is_halted
    later = now + deaths.NOTICE
    carry_out_deaths(now=later)
    carry_out_halt(golem_id=golem.pk, epoch=1, now=later)
    carry_out_deaths(now=later)
    golem.refresh_from_db()
    assert golem.retired_at == later and liquidity_of(live_golem, position) == 0


def test_an_owner_stops_an_announced_end_and_it_is_not_announced_again(live_golem: LiveGolem, client: Client) -> None:
    run_out(live_golem)
    now = clock.now()
    carry_out_deaths(now=now)
    own = reverse("admin:archetypes_app_golem_change", args=[live_golem.golem.pk])
    assert "its vitality ran out" in client.get(own).content.decode()
    assert "ends: look at it" in client.get(reverse("fleet")).content.decode()
    ask(client, live_golem, reason="I add funds")
    for hours in (0, 25, 50):
        carry_out_deaths(now=now + timedelta(hours=hours))
    live_golem.golem.refresh_from_db()
    assert not live_golem.golem.is_halted and live_golem.golem.retired_at is None
    assert Death.objects.get().state == "STOPPED"
    assert len(audited(live_golem, "DeathInitiated")) == len(audited(live_golem, "DeathStopped")) == 1


def test_an_owner_who_stops_it_between_two_positions_keeps_the_second(
    live_golem: LiveGolem, chain: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_position(live_golem, chain)
    open_position(live_golem, chain, amount1="300000000")
    ids = {each["position"].split("/")[-1] for each in halt.list_exits(golem=live_golem.golem, now=clock.now())}
    assert len(ids) == 2
    ask(client, live_golem)
    taking = position_unwinding._take_step

    def take_and_be_stopped(*given: Any, **named: Any) -> ActionPermit:
        permit = taking(*given, **named)
        deaths.stop_death(golem=live_golem.golem, reason="no, wait", actor="owner:1", now=clock.now())
        return permit

    monkeypatch.setattr(position_unwinding, "_take_step", take_and_be_stopped)
    work()
    live_golem.golem.refresh_from_db()
    assert sorted(liquidity_of(live_golem, each) > 0 for each in ids) == [False, True]
    assert live_golem.golem.is_halted and live_golem.golem.retired_at is None
    assert Death.objects.get().state == "STOPPED"


def test_a_step_that_is_planned_when_its_owner_stops_the_end_is_not_signed(
    live_golem: LiveGolem, chain: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = open_position(live_golem, chain)
    ask(client, live_golem)
    sign = execute_halt_plan
    sent = live_golem.mined_nonce()

    def be_stopped_and_sign(**given: Any) -> ActionPermit:
        deaths.stop_death(golem=live_golem.golem, reason="no, wait", actor="owner:1", now=clock.now())
        return sign(**given)

    monkeypatch.setattr(position_unwinding, "execute_halt_plan", be_stopped_and_sign)
    work()
    assert liquidity_of(live_golem, position) > 0 and live_golem.mined_nonce() == sent
    permit = ActionPermit.objects.get(action_type="unwind_position")
    assert not OutboundTransaction.objects.filter(permit=permit, purpose="CALL").exists()
    live_golem.work(str(permit.pk))
    permit.refresh_from_db()
    assert permit.status in FINAL


def test_a_resume_and_a_reset_of_the_phase_stop_the_end(live_golem: LiveGolem) -> None:
    run_out(live_golem)
    carry_out_deaths(now=clock.now())
    find_operation("phase").apply(
        golem=live_golem.golem,
        change={"from": live_golem.golem.phase, "to": "CAUTIOUS"},
        actor="owner:1",
        reason="funded",
        now=clock.now(),
    )
    assert Death.objects.get().state == "STOPPED"
    live_golem.golem.refresh_from_db()
    deaths.announce_death(golem=live_golem.golem, reason="x", actor="owner:1", due_at=clock.now(), now=clock.now())
    carry_out_deaths(now=clock.now())
    resume_golem(golem=live_golem.golem, reason="go on", actor="owner:1", now=clock.now())
    work()
    live_golem.golem.refresh_from_db()
    assert not Death.objects.exclude(state="STOPPED").exists()
    assert not live_golem.golem.is_halted and live_golem.golem.retired_at is None


def test_a_halted_golem_that_ends_has_its_positions_taken_out_too(
    live_golem: LiveGolem, chain: World, client: Client
) -> None:
    position = open_position(live_golem, chain)
    halt_golem(golem=live_golem.golem, reason="look", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
    assert HaltRecord.objects.get().completed_at is not None and liquidity_of(live_golem, position) > 0
    ask(client, live_golem)
    work()
    live_golem.golem.refresh_from_db()
    assert liquidity_of(live_golem, position) == 0 and live_golem.golem.retired_at is not None


def test_what_only_its_owner_gets_out_keeps_it_from_being_retired_and_is_told_once(
    live_golem: LiveGolem, chain: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = open_position(live_golem, chain)
    monkeypatch.setattr(position_unwinding, "MOST_ATTEMPTS", 0)
    ask(client, live_golem)
    work(8)
    golem = live_golem.golem
    golem.refresh_from_db()
    assert golem.retired_at is None and liquidity_of(live_golem, position) > 0
    [waits] = audited(live_golem, "DeathWaits")
    assert [each["position"].split("/")[-1] for each in waits.data["left"]] == [position]
    own = reverse("admin:archetypes_app_golem_change", args=[golem.pk])
    label = waits.data["left"][0]["label"]
    told = client.get(own).content.decode()
    assert "This is not out yet:" in told and f"in {label}" in told and "it ends, and this is not out yet:" in told
    overview = client.get(reverse("admin:index")).content.decode()
    needs = overview[overview.index('id="needs"') :].partition("</section>")[0]
    assert label in needs and "it is not out: " in needs and "Nothing waits for you" not in needs
    ask(client, live_golem, reason="I take it out by hand")
    monkeypatch.setattr(position_unwinding, "MOST_ATTEMPTS", 3)
    ask(client, live_golem, reason="once more")
    work()
    golem.refresh_from_db()
    assert golem.retired_at is not None and liquidity_of(live_golem, position) == 0


def test_dust_that_a_way_out_leaves_keeps_no_golem_from_its_end_and_is_named_with_it(
    live_golem: LiveGolem, chain: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_position(live_golem, chain)
    # As a protocol's folder answers of what is below its mark of dust.
    monkeypatch.setattr(position_unwinding, "_ask", lambda position, held, chain: None)
    ask(client, live_golem)
    work(8)
    golem = live_golem.golem
    golem.refresh_from_db()
    assert golem.retired_at is not None
    [dust] = Death.objects.get().left
    assert dust["next"] == "it stays" and dust["holds"]
    overview = client.get(reverse("admin:index")).content.decode()
    needs = overview[overview.index('id="needs"') :].partition("</section>")[0]
    for told in (needs, client.get(reverse("admin:archetypes_app_golem_changelist")).content.decode()):
        assert f"{dust['holds']} in {dust['label']}" in told and f"it stays: {dust['why']}" in told
    own = client.get(reverse("admin:archetypes_app_golem_change", args=[golem.pk])).content.decode()
    assert f"It left {dust['holds']}" in own


def test_who_retires_a_golem_as_it_is_while_it_ends_has_nothing_more_taken_out(
    live_golem: LiveGolem, chain: World, client: Client
) -> None:
    position = open_position(live_golem, chain)
    ask(client, live_golem)
    ask(client, live_golem, page="retire", reason="leave it there")
    work()
    live_golem.golem.refresh_from_db()
    assert live_golem.golem.retired_at is not None and liquidity_of(live_golem, position) > 0
    assert Death.objects.get().state == "STOPPED"


def test_nobody_but_an_owner_ends_a_golem(live_golem: LiveGolem) -> None:
    stranger = Client()
    stranger.force_login(factories.make_owner())
    address = reverse("admin:archetypes_app_golem_end", args=[live_golem.golem.pk])
    assert stranger.post(address, {"reason": "mine"}).status_code in (302, 403, 404)
    assert not Death.objects.exists()
    assert does_unwind(live_golem.golem) is False

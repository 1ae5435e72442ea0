"""A golem that goes on with another account: its mark follows, and what stays behind is told."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.check_drawdown import check_drawdown
from permits_app.actions.stage_key import stage_key
from permits_app.actions.value_golem import value_golem
from permits_app.admin.wallets import SignerForm
from permits_app.approval_pages.views import page_of
from permits_app.models import ChangeRequest, FormerAccount, HighWaterMark, Wallet
from permits_app.models.approval import ChangeState
from tests.admin.members import log_in
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import next_code
from tests.permits_app.caged_golem import Safe
from tests.permits_app.test_choose_signer import ask, carry_out
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.portfolio.holdings import Holdings, measure_holdings

pytestmark = pytest.mark.django_db


def _value(golem: Golem) -> None:
    golem.refresh_from_db()
    assert value_golem(golem=golem, now=clock.now()) is not None


def _read(golem: Golem, account: str) -> Holdings:
    chain = runner.open_reader(golem.home_chain_id, now=clock.now(), deadline=Deadline.after_ms(5_000))
    return measure_holdings(chain=chain, account=account)


def _to_safe(live: LiveGolem) -> str:
    """Its owners' Safe, with a fraction of what the golem holds."""
    safe = Safe(live)
    live.world.fund(safe.address, 10**18, {"USDC": 1_000 * 10**6})
    request = carry_out(ask(live, kind="GNOSIS_SAFE", safe=safe.address), live.owner)
    assert request.state == ChangeState.EXECUTED, request.problem
    live.golem.refresh_from_db()
    assert live.golem.address == safe.address
    return str(safe.address)


def test_a_change_to_a_safe_is_no_fall_of_the_holdings(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    _value(golem)
    former, before = golem.address, HighWaterMark.objects.get(golem=golem)
    assert before.account == former
    safe = _to_safe(live_golem)
    _value(golem)
    mark = HighWaterMark.objects.get(golem=golem)
    assert mark.account == safe
    assert mark.violated_at is None and mark.value_micro_usd < before.value_micro_usd // 2
    assert not OutboxEvent.objects.filter(golem_id=golem.pk, type="policy:violation").exists()
    told = AuditEntry.objects.get(golem_id=golem.pk, event="HighWaterMarkBegun").data
    assert (told["from"], told["to"]) == (former, safe)


def test_a_preview_after_the_change_is_not_held_to_the_other_accounts_mark(live_golem: LiveGolem) -> None:
    _value(live_golem.golem)
    staged = stage_key(golem=live_golem.golem, reason="x", actor="system:test", now=clock.now())
    live_golem.world.fund(staged.address, 10**18, {"USDC": 1_000 * 10**6})
    carry_out(ask(live_golem, kind="LOCAL_KEYSTORE", address=staged.address), live_golem.owner)
    live_golem.golem.refresh_from_db()
    assert live_golem.preview(amount="100000000")["status"] == "CREATED"
    assert HighWaterMark.objects.get(golem=live_golem.golem).account == staged.address


def test_a_real_fall_in_the_new_account_is_seen_as_before(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    _value(golem)
    safe = _to_safe(live_golem)
    whole = _read(golem, safe)
    check_drawdown(golem_id=golem.pk, account=safe, holdings=whole, now=clock.now())
    nearly_nothing = "0x" + "77" * 20
    live_golem.world.fund(nearly_nothing, 10**16, {"USDC": 10**6})
    fall = check_drawdown(golem_id=golem.pk, account=safe, holdings=_read(golem, nearly_nothing), now=clock.now())
    assert fall is not None and fall.violated_at is not None


def test_a_late_measurement_of_the_former_account_moves_nothing(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    former = golem.address
    _value(golem)
    safe = _to_safe(live_golem)
    _value(golem)
    before = HighWaterMark.objects.get(golem=golem)
    check_drawdown(golem_id=golem.pk, account=former, holdings=_read(golem, former), now=clock.now())
    after = HighWaterMark.objects.get(golem=golem)
    assert (after.account, after.value_micro_usd) == (safe, before.value_micro_usd)
    _value(golem)
    assert HighWaterMark.objects.get(golem=golem).violated_at is None


def test_a_fall_that_no_owner_acknowledged_is_not_shaken_off_with_another_account(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    _value(golem)
    now = clock.now()
    HighWaterMark.objects.filter(golem=golem).update(violated_at=now, violated_bps=3_000)
    _to_safe(live_golem)
    _value(golem)
    mark = HighWaterMark.objects.get(golem=golem)
    assert (mark.violated_at, mark.violated_bps) == (now, 3_000)


def test_the_request_says_what_both_accounts_hold_and_that_the_new_one_is_empty(live_golem: LiveGolem) -> None:
    staged = stage_key(golem=live_golem.golem, reason="x", actor="system:test", now=clock.now())
    request = ask(live_golem, kind="LOCAL_KEYSTORE", address=staged.address)
    line = next(each for each in request.shown["differences"] if each["words"] == "The account holds")
    assert line["before"].startswith("$") and line["after"] == "nothing"
    assert line["before"] in line["note"] and f"stays in {live_golem.golem.address}" in line["note"]
    assert "EMPTY" in line["note"]
    live_golem.owner.groups.add(ensure_owner_group())
    page = log_in(live_golem.owner).get(page_of(request.pk)).content.decode()
    assert line["before"] in page and "EMPTY" in page
    decision = {"verdict": "APPROVE", "digest": request.digest, "code": next_code(live_golem.owner), "reason": ""}
    decide = reverse("admin:permits_app_changerequest_decide", args=[request.pk])
    asked_twice = log_in(live_golem.owner).post(decide, decision)
    assert asked_twice.status_code == 422 and "Say that you want it so" in asked_twice.content.decode()
    request.refresh_from_db()
    assert request.state == ChangeState.OPEN
    assert log_in(live_golem.owner).post(decide, {**decision, "is_empty_wanted": "on"}).status_code == 302
    live_golem.world.fund(staged.address, 10**18, {"USDC": 1_000 * 10**6})
    ChangeRequest.objects.update(state=ChangeState.CANCELLED)
    funded = ask(live_golem, kind="LOCAL_KEYSTORE", address=staged.address)
    line = next(each for each in funded.shown["differences"] if each["words"] == "The account holds")
    assert line["after"].startswith("$") and "EMPTY" not in line["note"]


def test_what_stays_in_the_former_account_is_told_on_the_golems_page_until_it_is_gone(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    former = golem.address
    live_golem.owner.groups.add(ensure_owner_group())
    browser, page = log_in(live_golem.owner), reverse("admin:archetypes_app_golem_change", args=[golem.pk])
    assert "former account" not in browser.get(page).content.decode()
    _to_safe(live_golem)
    row = FormerAccount.objects.get(golem=golem)
    assert (row.address, row.chain_id) == (former, golem.home_chain_id) and (row.held_micro_usd or 0) > 0
    shown = browser.get(page).content.decode()
    assert f"Its former account <code>{former}</code> holds $" in shown
    assert "once the signer is changed back" in shown
    carry_out(ask(live_golem, kind="LOCAL_KEYSTORE", address=former), live_golem.owner)
    golem.refresh_from_db()
    assert golem.address == former
    shown = browser.get(page).content.decode()
    assert f"Its former account <code>{former}</code>" not in shown


def test_a_node_that_does_not_answer_is_no_empty_account(live_golem: LiveGolem, settings: Any) -> None:
    golem = live_golem.golem
    FormerAccount.objects.create(
        golem=golem,
        chain_id=999,
        address="0x" + "22" * 20,
        kind="LOCAL_KEYSTORE",
        held_micro_usd=17_998_000_000,
        left_at=clock.now(),
    )
    live_golem.owner.groups.add(ensure_owner_group())
    page = reverse("admin:archetypes_app_golem_change", args=[golem.pk])
    shown = log_in(live_golem.owner).get(page).content.decode()
    assert "cannot be read now; it held $17,998.00 when it was left" in shown


def test_the_form_preselects_no_kind_and_never_takes_a_staged_key_unnamed(
    live_golem: LiveGolem, client: Client
) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    client.force_login(live_golem.owner)
    staged = stage_key(golem=live_golem.golem, reason="for the cage", actor="system:test", now=clock.now())
    wallet = Wallet.objects.get(golem=live_golem.golem)
    url = reverse("admin:permits_app_wallet_choose_signer", args=[wallet.pk])
    shown = client.get(url).content.decode()
    assert "Choose what it shall act with" in shown
    assert 'value="LOCAL_KEYSTORE" selected' not in shown
    told = client.post(url, {"kind": "LOCAL_KEYSTORE", "reason": "x"}).content.decode()
    assert "Name the key" in told and not ChangeRequest.objects.exists()
    assert client.post(url, {"reason": "x"}).status_code == 200 and not ChangeRequest.objects.exists()
    assert not SignerForm({"kind": "LOCAL_KEYSTORE", "reason": "x"}).is_valid()
    client.post(url, {"kind": "LOCAL_KEYSTORE", "address": staged.address, "reason": "x"})
    assert ChangeRequest.objects.get().change["after"]["address"] == staged.address

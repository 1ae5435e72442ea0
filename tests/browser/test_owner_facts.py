"""What an owner reads is so: states, halts, values at stake, verdicts, in the browser."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest

from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.models import Announcement, CageMirror, ChangeRequest, DeniedCall, SpendingLimits
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.admin.rows import make_decision
from tests.browser.conftest import WIDE, go_to, press
from tests.browser.owners import USD, House, make_house
from tests.permits_app.approvals.people import next_code
from tools_app.core import clock

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def house() -> House:
    return make_house()


def enter(open_window: Any, **window: Any) -> Any:
    visit = open_window(viewport=WIDE, **window)
    visit.log_in("ana")
    return visit


def text_of(visit: Any, path: str, part: str = "#content") -> str:
    go_to(visit.page, visit.base_url + path)
    return " ".join(visit.page.inner_text(part).split())


def ask_for_day(house: House, usd: int) -> ChangeRequest:
    changes = [{"row": "limits", "name": "per_day_micro_usd", "after": str(usd * USD)}]
    return request_operation(
        golem=house.golem,
        name="policy",
        arguments={"changes": changes},
        owner=house.owner,
        reason="more room",
        now=clock.now(),
    )


def copy_with(request: ChangeRequest, **columns: Any) -> ChangeRequest:
    """Another request like it: what was asked for is never rewritten."""
    fresh = ChangeRequest.objects.get(pk=request.pk)
    fresh.pk = uuid.uuid4()
    fresh.fold_hash = "0x" + fresh.pk.hex * 2
    for name, value in columns.items():
        setattr(fresh, name, value)
    fresh.save(force_insert=True)
    return fresh


def set_state(request: ChangeRequest, state: str, **columns: Any) -> None:
    ChangeRequest.objects.filter(pk=request.pk).update(state=state, **columns)


def test_a_halt_on_chain_is_seen_on_every_page_of_the_golem(open_window: Any, house: House) -> None:
    mirror = factories.make_cage_mirror(golem=house.golem)
    CageMirror.objects.filter(pk=mirror.pk).update(is_enforced=True, state={**mirror.state, "is_halted": True})
    visit = enter(open_window)
    for path in (
        "/admin/",
        "/admin/cockpit/",
        f"/admin/cockpit/{house.golem.pk}/",
        f"/admin/archetypes_app/golem/{house.golem.pk}/change/",
        "/admin/archetypes_app/golem/",
    ):
        assert "halted on chain" in text_of(visit, path), path
    assert "0 at work" in text_of(visit, "/admin/", "#owned")


def test_a_halt_of_this_server_says_that_the_contract_stays_open(open_window: Any, house: House) -> None:
    mirror = factories.make_cage_mirror(golem=house.golem)
    CageMirror.objects.filter(pk=mirror.pk).update(is_enforced=True)
    halt_golem(golem=house.golem, reason="drained", actor="owner:1", now=clock.now())
    visit = enter(open_window)
    told = text_of(visit, f"/admin/archetypes_app/golem/{house.golem.pk}/change/", "#contract")
    assert "contract on chain is still open" in told
    assert "contract open" in text_of(visit, "/admin/cockpit/")


def test_what_needs_a_person_is_only_what_is_open(open_window: Any, house: House) -> None:
    open_one = factories.make_change_request(golem=house.golem)
    cooling = ask_for_day(house, 400_000)
    set_state(cooling, ChangeState.APPROVED, executes_at=clock.now() + timedelta(hours=2))
    gone = factories.make_change_request(golem=house.golem, to="DEFENSIVE")
    set_state(gone, ChangeState.REJECTED, closed_at=clock.now())
    factories.make_permit(golem=house.golem, status=PermitStatus.BLOCKED)
    visit = enter(open_window)
    needs, soon = text_of(visit, "/admin/", "#needs"), text_of(visit, "/admin/", "#soon")
    visit.shoot("first-page")
    assert needs.count("phase") >= 1 and "blocked" not in needs.lower() and "cooling" not in needs
    assert open_one.title in needs
    assert "approved, cooling off" in soon and "$400,000.00" in soon
    inbox = text_of(visit, "/admin/permits_app/changerequest/inbox/")
    assert "approved, cooling off" in inbox and "rejected" in inbox


def test_a_loosening_that_waits_in_the_contract_is_not_called_executed(open_window: Any, house: House) -> None:
    mirror = factories.make_cage_mirror(golem=house.golem)
    key = "0x" + "11" * 32
    ready_at = int((clock.now() + timedelta(hours=30)).timestamp())
    pending = [[1, key, 5, 1, ready_at]]
    CageMirror.objects.filter(pk=mirror.pk).update(is_enforced=True, state={**mirror.state, "pending": pending})
    request = factories.make_change_request(golem=house.golem)
    change = {
        "act": "propose",
        "contract": mirror.contract,
        "rules": [{"kind": "1", "key": key, "value": "5", "before": "1"}],
        "policy": [],
    }
    request = copy_with(request, state=ChangeState.EXECUTED, kind="cage", change=change, closed_at=clock.now())
    visit = enter(open_window)
    proposed = text_of(visit, "/admin/permits_app/changerequest/inbox/", "#proposed")
    assert "proposed on chain" in proposed and "in 1 d" in proposed
    assert "executed" not in proposed
    assert "proposed on chain" in text_of(visit, "/admin/", "#soon")
    assert "proposed on chain" in text_of(visit, f"/admin/permits_app/changerequest/{request.pk}/change/")


def test_the_agent_reads_the_same_word_as_its_owner(open_window: Any, house: House) -> None:
    key = factories.make_api_key(golem=house.golem)
    permit = factories.make_permit(
        golem=house.golem, status=PermitStatus.AWAITING_APPROVAL, lives_seconds=90_000, api_key=key.key
    )
    request = factories.make_change_request(golem=house.golem)
    due = clock.now() + timedelta(hours=3)
    copy_with(request, state=ChangeState.APPROVED, kind="permit", permit_id=permit.pk, executes_at=due)
    visit = enter(open_window)
    answer = httpx.get(
        f"{visit.base_url}/api/v1/pi/permits/{permit.pk}",
        headers={"Authorization": f"Bearer {key.token}"},
        timeout=30,
    ).json()
    assert answer["waits"]["state"] == "approved, cooling off" and answer["waits"]["until"] == due.isoformat()
    assert answer["missing"] == ["delay"]
    assert answer["waits"]["state"] in text_of(visit, "/admin/permits_app/changerequest/inbox/")


def test_hooks_that_did_not_run_get_no_green_tick(open_window: Any, house: House) -> None:
    permit = factories.make_permit(golem=house.golem)
    type(permit).objects.filter(pk=permit.pk).update(hook_decisions=[])
    visit = enter(open_window)
    rail = text_of(visit, f"/admin/permits_app/actionpermit/{permit.pk}/change/", ".gx-rail")
    assert "none ran" in rail and "0 verdicts" not in rail
    assert visit.page.locator(".gx-rail li", has_text="Safety hooks").locator(".gx-good").count() == 0


def test_what_is_at_stake_is_the_same_figure_everywhere(open_window: Any, house: House) -> None:
    before = SpendingLimits.objects.get(golem=house.golem).per_day_micro_usd
    raised = ask_for_day(house, 400_000)
    wide = request_operation(
        golem=house.golem, name="live", arguments={}, owner=house.owner, reason="it is time", now=clock.now()
    )
    visit = enter(open_window)
    more = f"${(400_000 * USD - before) // USD:,}.00"
    for request, stake in ((raised, more), (wide, "$29,000.00")):
        for path in ("/admin/", "/admin/permits_app/changerequest/inbox/"):
            row = visit.open(path).locator("tr", has=visit.page.locator(f'a[href*="{request.pk}"]')).first
            assert stake in row.inner_text(), path
        assert stake in text_of(visit, f"/admin/permits_app/changerequest/{request.pk}/change/")


def test_what_was_refused_is_told_with_its_amounts_and_why(open_window: Any, house: House) -> None:
    permit = factories.make_permit(golem=house.golem)
    for _ in range(2):
        DeniedCall.objects.create(
            golem=house.golem,
            denied_at=clock.now(),
            tool_name="uniswap_execute_swap",
            action_type="swap",
            venue="uniswap",
            chain_id=31337,
            action_class="TRADE",
            bounds=permit.bounds,
            value_micro_usd=30_000 * USD,
            code="SPENDING_LIMIT_EXCEEDED",
            rule="per_transaction",
            detail="the call may move $30,000.00, a transaction at most $10,000.00",
        )
    visit = enter(open_window)
    refused = text_of(visit, "/admin/", "#refused")
    assert "Swap 500 USDC for WETH" in refused and "$30,000.00" in refused
    assert "The call may move $30,000.00, a transaction at most $10,000.00" in refused and "2 times" in refused
    assert "2 refused in 24 h" in text_of(visit, "/admin/", "#owned")


def test_an_announced_action_that_a_tighter_limit_dooms_is_not_promised(open_window: Any, house: House) -> None:
    permit = factories.make_permit(golem=house.golem, status=PermitStatus.ANNOUNCED, lives_seconds=90_000)
    Announcement.objects.create(
        permit=permit,
        announced_at=clock.now(),
        executes_at=clock.now() + timedelta(minutes=50),
        expires_at=clock.now() + timedelta(hours=2),
        announced_by="key:test",
    )
    SpendingLimits.objects.filter(golem=house.golem).update(per_transaction_micro_usd=100 * USD)
    visit = enter(open_window)
    told = text_of(visit, "/admin/permits_app/changerequest/inbox/")
    assert "Will be refused: it moves more than $100.00" in told and "not expected" in told
    assert "Swap 500 USDC for WETH" in told


def test_going_live_is_a_change_with_a_summary_and_a_second_factor(open_window: Any, house: House) -> None:
    visit = enter(open_window)
    page = visit.open(f"/admin/archetypes_app/golem/{house.golem.pk}/change/")
    assert page.locator("input[name=is_live]").count() == 0
    press(page.get_by_role("link", name="Let the heartbeat act"))
    page.get_by_label("Why").fill("rehearsed long enough")
    press(page.get_by_role("button", name="Ask to let it act"))
    told = page.inner_text("#differences")
    visit.shoot("go-live")
    assert "Its heartbeat spends in 24 h, at most" in told and "Drawdown within 24 h" in told and "$29,000.00" in told
    house.golem.refresh_from_db()
    assert not house.golem.is_live
    press(page.get_by_role("button", name="Approve"))
    house.golem.refresh_from_db()
    assert not house.golem.is_live, "no second factor was given"
    page.get_by_label("Code of your authenticator").fill(next_code(house.owner))
    press(page.get_by_role("button", name="Approve"))
    request = ChangeRequest.objects.get(kind="live")
    assert request.state in (ChangeState.APPROVED, ChangeState.EXECUTED)


def test_permits_are_found_by_the_name_of_their_golem(open_window: Any, house: House) -> None:
    other = make_house(name="ben", golem_name="Beta")
    factories.make_permit(golem=house.golem)
    factories.make_permit(golem=other.golem)
    visit = enter(open_window)
    page = visit.open("/admin/permits_app/actionpermit/?q=Alph")
    assert page.locator("#result_list tbody tr").count() == 1
    page = visit.open("/admin/permits_app/actionpermit/?q=nobody")
    assert page.locator("#result_list tbody tr").count() == 0


def test_a_chart_tells_each_value_and_writes_no_label_over_another(open_window: Any, house: House) -> None:
    for cents in (101, 99, -2):
        permit = factories.make_permit(golem=house.golem)
        factories.make_outcome(permit=permit, pnl_micro_usd=cents * 10_000)
    visit = enter(open_window)
    page = visit.page
    go_to(page, f"{visit.base_url}/admin/cockpit/{house.golem.pk}/")
    plot = page.locator("details", has_text="P&L, added up").locator("svg")
    boxes = plot.locator("text").evaluate_all(
        "all => all.map(each => { const b = each.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    for number, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] + 1 or other[3] <= top + 1
            assert apart, (boxes[number], other)
    told = plot.locator("circle title").all_text_contents()
    assert len(told) == 3 and told[0].startswith("$1.01, ") and told[0].endswith("UTC")


def test_decisions_and_contracts_are_told_in_words(open_window: Any, house: House) -> None:
    mirror = factories.make_cage_mirror(golem=house.golem)
    decision = make_decision(house.golem)
    visit = enter(open_window)
    contract = text_of(visit, f"/admin/permits_app/cagemirror/{mirror.pk}/change/")
    assert "nobody is appointed" in contract and "unix seconds" not in contract and "micro usd" not in contract
    told = text_of(visit, f"/admin/archetypes_app/decisioncyclerecord/{decision.pk}/change/")
    assert "It rehearsed: nothing was signed." in told and '"decision_id"' not in told
    assert visit.page.evaluate("document.documentElement.scrollHeight") < 2_500

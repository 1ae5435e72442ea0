"""A CRITICAL change from an agent's wish to the chain, through the hands of two owners in a real browser."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django_otp.oath import TOTP

from archetypes_app.owner_group import ensure_owner_group
from golem_project.celery import app
from permits_app.models import ChangeRequest
from tests import factories
from tests.browser.conftest import PHONE, press
from tests.factories.golems import PASSWORD
from tests.live_golem import SWAP, LiveGolem
from tests.permits_app.approvals.conftest import critical_swap as critical_swap
from tests.permits_app.approvals.people import give_device, next_code
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.browser


@pytest.fixture
def eager() -> Iterator[None]:
    before = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = before


@pytest.fixture
def house(shared_golem: LiveGolem, eager: None, critical_swap: None) -> tuple[LiveGolem, Any, Any]:
    """A golem of owner A, co-owned by B, whose swap is a privileged tool."""
    owner = shared_golem.owner
    owner.set_password(PASSWORD)
    owner.save()
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    other = factories.make_owner(name="owner-b")
    shared_golem.golem.co_owners.add(other)
    return shared_golem, owner, other


def _ask(live: LiveGolem, base_url: str, **changes: Any) -> ChangeRequest:
    """The agent asks over REST."""
    answer = httpx.post(
        f"{base_url}/api/v1/pi/preview_action",
        json={**SWAP, **changes},
        timeout=60,
        headers={"Authorization": f"Bearer {live.key.token}"},
    )
    assert (answer.status_code, answer.json()["status"]) == (200, "AWAITING_APPROVAL")
    assert answer.json()["missing"] == ["approval"]
    return ChangeRequest.objects.get(permit_id=answer.json()["permit_id"])


def _page(request: ChangeRequest) -> str:
    return f"/admin/permits_app/changerequest/{request.pk}/change/"


def _code_of(secret: str) -> str:
    totp = TOTP(base64.b32decode(secret.replace(" ", "")))
    totp.time = clock.now().timestamp()
    return f"{totp.token():06d}"


def test_a_critical_change_goes_from_an_agent_s_wish_to_the_chain(
    open_window: Any, house: tuple[LiveGolem, Any, Any], tmp_path: Path
) -> None:
    live, _, other = house
    first = open_window()
    request = _ask(live, first.base_url)
    before = live.balance("WETH")

    first.log_in_by_hand("owner-a")
    assert "Swap 500 USDC at uniswap" in first.page.inner_text("#content")
    first.shoot("approval-front")
    page = first.open(_page(request))
    first.shoot("approval-owner-a")
    text = page.inner_text("#content")
    for shown in ("exactInputSingle", "500 USDC", "may take 500 USDC", "Uniswap V3 swap router 02", request.digest):
        assert shown in text
    assert "Another owner has to approve it" in text
    assert page.get_by_role("button", name="Approve").count() == 0
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    exported = tmp_path / "change.json"
    download.value.save_as(exported)
    call_command("verify_request", file=exported, stdout=StringIO())
    assert json.loads(exported.read_text())["digest"] == request.digest

    second = open_window()
    second.log_in("owner-b")
    page = second.open("/admin/permits_app/changerequest/second-factor/")
    # The secret itself is not kept in a picture.
    secret = page.locator("code").first.inner_text()
    page.get_by_label("Your account password").fill(PASSWORD)
    page.get_by_role("textbox", name="Code of the new device").fill(_code_of(secret))
    press(page.get_by_role("button", name="Use this device"))
    second.shoot("approval-inbox")
    press(page.get_by_role("link", name=re.compile("Swap 500 USDC")))
    page.get_by_label("Comment").fill("Within what we agreed on.")
    press(page.get_by_role("button", name="Comment"))
    page.get_by_label("Code of your authenticator").fill("000000")
    press(page.get_by_role("button", name="Approve"))
    assert "The code was not accepted" in page.inner_text("#content")
    second.shoot("approval-wrong-code")
    code = next_code(other)
    page.get_by_label("Code of your authenticator").fill(code)
    press(page.get_by_role("button", name="Approve"))
    second.open(_page(request))
    second.shoot("approval-executed")

    text = second.page.inner_text("#content")
    request.refresh_from_db()
    permit = live.permit(str(request.permit_id))
    assert (request.state, permit.status) == ("EXECUTED", "COMMITTED")
    assert "Executed" in text or "executed" in text
    assert live.balance("WETH") > before
    told = AuditEntry.objects.filter(golem_id=live.golem.pk).order_by("seq").values_list("event", flat=True)
    story = ["ChangeRequested", "ChangeCommented", "OwnerDecided", "ChangeApproved", "ChangeExecuted", "PermitConsumed"]
    assert [event for event in told if event in story] == story
    assert all(event in text for event in story)
    assert verify_stored_chain(live.golem.pk).broken is None


def test_a_rejection_works_without_javascript_and_by_keyboard(
    open_window: Any, house: tuple[LiveGolem, Any, Any]
) -> None:
    live, _, _ = house
    visit = open_window(has_javascript=False)
    request = _ask(live, visit.base_url, amount="300000000")
    visit.log_in("owner-b")
    page = visit.open(_page(request))
    page.get_by_label("Reason").focus()
    page.keyboard.type("not this week")
    page.keyboard.press("Tab")
    if page.evaluate("document.activeElement.value") == "APPROVE":
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.value") == "REJECT"
    with page.expect_navigation():
        page.keyboard.press("Enter")
    request.refresh_from_db()
    assert (request.state, request.state_reason) == ("REJECTED", "not this week")
    assert live.permit(str(request.permit_id)).status == "BLOCKED"


def test_on_a_phone_the_approval_pages_do_not_scroll_sideways(
    open_window: Any, house: tuple[LiveGolem, Any, Any]
) -> None:
    live, _, _ = house
    visit = open_window(viewport=PHONE)
    request = _ask(live, visit.base_url, amount="200000000")
    visit.log_in("owner-a")
    wide = {}
    pages = {
        "phone-approval-inbox": "/admin/permits_app/changerequest/inbox/",
        "phone-approval": _page(request),
        "phone-policy": f"/admin/archetypes_app/golem/{live.golem.pk}/policy/",
        "phone-loosen": f"/admin/archetypes_app/golem/{live.golem.pk}/warden/",
    }
    for name, path in pages.items():
        visit.open(path)
        visit.shoot(name)
        wide[name] = visit.overflow()
    assert wide == dict.fromkeys(pages, 0)

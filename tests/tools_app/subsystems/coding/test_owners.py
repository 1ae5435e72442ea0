"""What an owner decides about coding: which tools, what waits, what they see, and that nobody else decides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from archetypes_app.actions.include_coding_tools import include_coding_tools
from archetypes_app.errors import LiveToolsRefused
from archetypes_app.models import CodingWorkspace, Golem, ToolOverride, ToolProfile
from archetypes_app.toolset import resolve_toolset
from permits_app.approval_pages.views import page_of
from permits_app.models import ChangeRequest
from tests.admin.rows import opened_as
from tests.coding_agent import CodingAgent, Refused, make_coding_agent
from tests.permits_app.approvals.people import reject
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.subsystems.coding.detect_sandbox_fences import Fences, find_fences
from tools_app.subsystems.coding.presets import PRESETS, Preset
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY

SIX = {"coding_read", "coding_write", "coding_edit", "coding_bash", "coding_grep", "coding_find"}


def held(golem: Golem) -> set[str]:
    return {tool.name for tool in resolve_toolset(golem) if tool.category is Category.CODING}


def test_the_six_tools_are_the_category_and_no_profile_brings_them(careful: CodingAgent) -> None:
    assert {tool.name for tool in REGISTRY.by_category(Category.CODING)} == SIX
    ToolOverride.objects.filter(golem=careful.golem).delete()
    careful.golem.profiles.add(ToolProfile.objects.create(name="everything", categories=[str(c) for c in Category]))
    assert held(careful.golem) == set()
    for query in ("read", "grep", "find"):
        with pytest.raises(Refused, match="UNKNOWN_ACTION"):
            careful.ask(query, path="a", pattern="a")
    with pytest.raises(Refused, match="UNKNOWN_ACTION"):
        careful.preview("bash", command="id")


@pytest.mark.parametrize("preset", list(Preset))
def test_a_preset_is_exactly_its_tools(careful: CodingAgent, preset: Preset) -> None:
    include_coding_tools(golem_id=careful.golem.pk, preset=preset, actor="owner:1", now=clock.now())
    assert held(careful.golem) == set(PRESETS[preset])
    assert PRESETS[Preset.CODING] == ("coding_read", "coding_bash", "coding_edit", "coding_write")
    assert PRESETS[Preset.READ_ONLY] == ("coding_read", "coding_grep", "coding_find")
    assert set(PRESETS[Preset.ALL]) == SIX


def test_a_live_golem_gets_no_coding_tools_by_one_click(careful: CodingAgent) -> None:
    Golem.objects.filter(pk=careful.golem.pk).update(is_live=True)
    with pytest.raises(LiveToolsRefused):
        include_coding_tools(golem_id=careful.golem.pk, preset=Preset.CODING, actor="owner:1", now=clock.now())
    assert held(careful.golem) == SIX


def test_without_a_choice_writes_and_commands_wait_and_reads_do_not(careful: CodingAgent) -> None:
    put(careful, "a.txt", "one\n")
    assert careful.text("read", path="a.txt") == "one"
    for action, params in (
        ("write", {"path": "b.txt", "content": "b"}),
        ("edit", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
        ("bash", {"command": "touch c.txt"}),
    ):
        permit = careful.preview(action, **params)
        assert (permit["status"], permit["missing"], permit["risk_tier"]) == (
            "AWAITING_APPROVAL",
            ["approval"],
            "HIGH",
        )
        with pytest.raises(Refused, match="PERMIT_NOT_COMMITTABLE"):
            careful.commit(permit)
    assert [path.name for path in careful.folder.iterdir()] == ["a.txt"]


def test_with_commands_alone_waiting_a_write_goes_through(careful: CodingAgent) -> None:
    careful.choose(needs_owner="COMMANDS")
    careful.do("write", path="a.txt", content="a")
    assert careful.preview("bash", command="true")["status"] == "AWAITING_APPROVAL"


def test_the_owner_sees_the_diff_and_what_was_approved_is_done_once(careful: CodingAgent) -> None:
    put(careful, "a.txt", "one\n")
    permit = careful.preview("edit", path="a.txt", old_string="one", new_string="<b>two</b>")
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    browser = Client()
    browser.force_login(careful.owner)
    page = browser.get(page_of(request.pk)).content.decode()
    assert "-one\n+&lt;b&gt;two&lt;/b&gt;" in page
    assert careful.approve(permit).state == "EXECUTED"
    assert (careful.folder / "a.txt").read_text() == "<b>two</b>\n"
    with pytest.raises(Refused, match="PERMIT_ALREADY_COMMITTED"):
        careful.commit(permit)


def test_what_an_owner_approved_for_another_file_is_not_done(careful: CodingAgent) -> None:
    put(careful, "a.txt", "one\n")
    permit = careful.preview("edit", path="a.txt", old_string="one", new_string="two")
    put(careful, "a.txt", "one\nand more\n")
    careful.approve(permit)
    ended = careful.get(f"permits/{permit['permit_id']}")
    assert (ended["status"], ended["problem"]["code"]) == ("BLOCKED", "FILE_CHANGED")
    assert (careful.folder / "a.txt").read_text() == "one\nand more\n"


def test_what_an_owner_rejects_is_not_done(careful: CodingAgent) -> None:
    permit = careful.preview("bash", command="touch a.txt")
    reject(ChangeRequest.objects.get(permit_id=permit["permit_id"]), careful.owner, reason="no")
    assert careful.get(f"permits/{permit['permit_id']}")["status"] == "BLOCKED"
    assert not (careful.folder / "a.txt").exists()


def test_golems_do_not_see_each_other_s_folders(coder: CodingAgent, coding_folder: Path) -> None:
    other = make_coding_agent(coding_folder, name="Other")
    put(coder, "mine.txt", "mine")
    assert other.text("find", pattern="*").startswith("No files found")
    with pytest.raises(Refused, match="FILE_NOT_FOUND"):
        other.ask("read", path="mine.txt")


def test_what_is_done_is_audited_without_the_text_of_the_file(coder: CodingAgent) -> None:
    coder.do("write", path="a.txt", content="nobody-audits-this")
    told = list(AuditEntry.objects.filter(golem_id=coder.golem.pk).order_by("seq").values_list("event", "data"))
    assert {"PermitCreated", "PermitConsumed"} <= {event for event, _ in told}
    assert "nobody-audits-this" not in str(told)


def test_the_page_says_which_fences_hold_and_keeps_to_its_owner(
    careful: CodingAgent, coding_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = careful.choose()
    other = make_coding_agent(coding_folder, name="Other")
    mine, theirs = Client(), Client()
    mine.force_login(careful.owner)
    theirs.force_login(other.owner)
    url = reverse("admin:archetypes_app_codingworkspace_change", args=[row.pk])
    page = mine.get(url).content.decode()
    assert page.count(">holds<") + page.count(">does not hold<") >= len(find_fences().describe())
    assert theirs.get(url).status_code == 404
    monkeypatch.setattr(
        "tools_app.subsystems.coding.detect_sandbox_fences.find_fences", lambda: Fences(False, True, "bwrap is missing")
    )
    assert "No command is run on this server: bwrap is missing." in mine.get(url).content.decode()


def test_an_owner_chooses_in_the_form_and_the_choice_is_audited(careful: CodingAgent) -> None:
    browser = Client()
    browser.force_login(careful.owner)
    fields: dict[str, Any] = {"golem": str(careful.golem.pk), "needs_owner": "COMMANDS", "place": "LOCAL", "port": 22}
    answer = browser.post(reverse("admin:archetypes_app_codingworkspace_add"), fields)
    assert answer.status_code == 302, answer.context["errors"]
    row = CodingWorkspace.objects.get(golem=careful.golem)
    assert row.needs_owner == "COMMANDS"
    assert AuditEntry.objects.filter(golem_id=careful.golem.pk, event="AdminEdit").count() == 2
    url = reverse("admin:archetypes_app_codingworkspace_change", args=[row.pk])
    remote = {**fields, "place": "SSH", "host": "example.com", "username": "coder", "folder": "/home/coder/work"}
    remote |= opened_as(browser, url)
    assert "Another machine needs this." in browser.post(url, remote).content.decode()
    assert "One line" in browser.post(url, {**remote, "host_key": "ssh-dss AAAA"}).content.decode()
    tools = reverse("admin:archetypes_app_codingworkspace_give_tools", args=[row.pk])
    assert browser.post(tools, {"preset": "read-only"}).status_code == 302
    assert held(careful.golem) == set(PRESETS[Preset.READ_ONLY])


def test_an_owner_opens_no_network_that_the_operator_keeps_closed(careful: CodingAgent, settings: Any) -> None:
    settings.GOLEM_CODING_ALLOWS_NETWORK = False
    browser = Client()
    browser.force_login(careful.owner)
    fields = {"golem": str(careful.golem.pk), "needs_owner": "COMMANDS", "place": "LOCAL", "port": 22}
    url = reverse("admin:archetypes_app_codingworkspace_add")
    refused = browser.post(url, {**fields, "allows_network": "on"})
    assert "GOLEM_CODING_ALLOWS_NETWORK" in refused.content.decode() and not CodingWorkspace.objects.exists()
    assert browser.post(url, fields).status_code == 302


def test_the_database_refuses_a_machine_without_its_names(careful: CodingAgent) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        CodingWorkspace.objects.create(golem=careful.golem, place="SSH", host="example.com")
    with pytest.raises(ValidationError):
        CodingWorkspace(golem=careful.golem, place="SSH", host="a b; rm", username="X", folder="relative").full_clean()

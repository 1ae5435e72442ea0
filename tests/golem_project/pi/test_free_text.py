"""Every door that takes words: what nobody sees is in no row, no event, no audit entry and no page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from archetypes_app.forms import NewApiKeyForm, PhaseForm
from archetypes_app.models import Golem
from memory_app.models import Directive
from permits_app.approval_pages.forms import CommentForm, DecisionForm, StrategyForm
from permits_app.doors.decide_change import cancel_change
from permits_app.forms import NoteForm
from permits_app.previews.request_words import read_why
from tests import factories
from tests.admin.rows import page
from tests.golem_project.pi.conftest import MakeAgent, assert_problem
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.core.plain_text import PlainTextField
from tools_app.core.storable_text import make_plain
from tools_app.pages.confirmation import ReasonForm
from tools_app.subsystems.coding.editing import describe_diff
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import validate_params

pytestmark = pytest.mark.django_db
DIRTY = "pre-approved\u202e by\u2066 Anna\x1b[31m,\x00 \u200bonly\U000e0041 10 USDC\ue000\x9b"
CLEAN = "pre-approved by Anna[31m, only 10 USDC"
# Texts of JSON are cleaned value by value, and what chooses is checked against a list.
NOT_WORDS = {"decision_params", "market_conditions", "portfolio_snapshot", "predicted_outcome", "parameters"}
CHOOSES = {"mode", "version", "versions", "trade_types"}


def assert_plain(*found: Any) -> None:
    text = json.dumps(found, ensure_ascii=False, default=str)
    assert not set("\u202e\u2066\u200b\U000e0041\ue000") & set(text)
    assert "\\u001b" not in text and "\\u009b" not in text and "\x9b" not in text and "\\u0000" not in text


def test_the_rule_keeps_every_script_and_drops_what_nobody_sees() -> None:
    assert make_plain(DIRTY) == CLEAN
    for kept in ("Grüße an\tАня\n日本語 العربية", "עברית", "🙂 ok", "e\u0301", "❤\ufe0f 1\ufe0f"):
        assert make_plain(kept) == kept
    for hidden in "\u00ad\u034f\u115f\u1160\u17b4\u180b\u2800\u3164\ufe00\ufe0f\uffa0\ufff0\ufffc\U0001d159\U000e0100":
        assert make_plain(f"ig{hidden}nore") == "ignore", hex(ord(hidden))
    assert make_plain("❤\ufe0f\ufe0f\ufe0e") == "❤\ufe0f", "one selector an emoji, so that none carries words"
    assert make_plain("10\u00a0000\u3000USDC") == "10 000 USDC"


def test_cancelling_and_halting_keep_plain_words(make_agent: MakeAgent) -> None:
    agent = make_agent(scopes=["read", "preview", "commit", "halt", "directive"])
    permit = factories.make_permit(golem=agent.golem, api_key=agent.key.key)
    dirty = DIRTY.replace("\x00", "")
    answer = agent.post("cancel_action", {"permit_id": str(permit.pk), "reason": dirty})
    assert answer.status_code == 200, answer.content
    permit.refresh_from_db()
    assert permit.status_reason == CLEAN
    change = {"section": "Exits", "change": dirty, "reason": dirty}
    assert agent.post("update_directive", change).status_code == 200
    assert agent.post("emergency_halt", {"reason": dirty}).status_code == 200
    golem = Golem.objects.get(pk=agent.golem.pk)
    assert golem.halt_reason == CLEAN
    owner, browser = factories.make_owner(), Client()
    Golem.objects.filter(pk=golem.pk).update(owner=owner)
    browser.force_login(owner)
    shown = browser.get(page("permits_app.actionpermit", "change", permit.pk)).content.decode()
    assert CLEAN in shown and "nobody has checked them" in shown
    directive = Directive.objects.get(golem=golem)
    assert_plain(
        answer.json(),
        shown,
        directive.text,
        directive.reason,
        directive.diff,
        [entry.data for entry in AuditEntry.objects.filter(golem_id=golem.pk)],
        [event.payload for event in OutboxEvent.objects.filter(golem_id=golem.pk)],
    )


@pytest.mark.parametrize(
    ("tool", "body", "field"),
    [
        ("cancel_action", {"permit_id": "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d", "reason": "\u202e\u200b"}, "reason"),
        ("emergency_halt", {"reason": "\u2066"}, "reason"),
        ("search_context", {"query": "\u200b \u200b"}, "query"),
    ],
)
def test_words_of_nothing_visible_are_no_words(make_agent: MakeAgent, tool: str, body: Any, field: str) -> None:
    answer = make_agent(scopes=["read", "preview", "halt"]).post(tool, body)
    assert field in json.dumps(assert_problem(answer, 422, "INVALID_PARAMS"))


def list_free_words() -> list[tuple[str, str]]:
    """Every parameter of a tool that takes any text at all, but for the text of files: that is kept to the byte."""
    found = []
    for tool in REGISTRY:
        if tool.category is Category.CODING:
            continue
        for name, prop in tool.schema["properties"].items():
            shapes = [prop, *prop.get("anyOf", [])]
            is_free = any(s.get("type") == "string" and not {"pattern", "enum", "const"} & set(s) for s in shapes)
            if is_free and name not in NOT_WORDS | CHOOSES:
                found.append((tool.name, name))
    return found


@pytest.mark.parametrize(("tool", "name"), list_free_words())
def test_every_free_text_of_a_tool_is_plain_before_the_tool_sees_it(tool: str, name: str) -> None:
    model = REGISTRY.get(tool).params_model
    field = model.model_fields[name]
    found = model.__pydantic_validator__.validate_assignment(model.model_construct(), name, DIRTY)
    values = found[0] if isinstance(found, tuple) else vars(found)
    # The name of a kind of collateral is written in capitals.
    assert values[name] == (CLEAN.upper() if name == "collateral_type" else CLEAN), field


def test_a_command_with_what_nobody_sees_is_refused_and_a_diff_shows_it() -> None:
    with pytest.raises(InvalidParams):
        validate_params(REGISTRY.get("coding_bash").params_model, {"command": DIRTY})
    shown = describe_diff("", DIRTY, name="notes.txt")
    assert not set("\u202e\u2066\u200b\x1b\x9b") & set(shown)


@pytest.mark.parametrize(
    ("form", "names"),
    [
        (ReasonForm, ["reason"]),
        (DecisionForm, ["reason"]),
        (CommentForm, ["text"]),
        (StrategyForm, ["reason", "section", "text"]),
        (PhaseForm, ["reason"]),
        (NewApiKeyForm, ["label"]),
        (NoteForm, ["note"]),
    ],
)
def test_every_form_takes_words_by_the_same_field(form: Any, names: list[str]) -> None:
    for name in names:
        field = form.base_fields[name]
        assert isinstance(field, PlainTextField)
        assert field.to_python(DIRTY) == CLEAN


def test_why_and_reasons_of_owners_are_plain() -> None:
    assert read_why({"why": DIRTY}) == CLEAN
    golem = factories.make_golem(owner=factories.make_owner())
    factories.make_limits(golem=golem)
    request = factories.make_change_request(golem=golem)
    done = cancel_change(request_id=request.pk, owner=golem.owner, reason=DIRTY, now=clock.now())
    assert done.state_reason == CLEAN

"""The bad input an agent can send, as a table, and what the reads answer."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project import wiring
from golem_project.pi import serializers as wire
from memory_app import embedding
from permits_app.models import ActionPermit, SpendingLimits
from permits_app.permits.selectors import view_permit
from tests.golem_project.pi.conftest import PI, Agent, MakeAgent, assert_problem
from tools_app.core import clock

PERMIT = "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d"

BAD_INPUT: list[tuple[str, Any, int, str, str]] = [
    ("preview_action", {}, 422, "INVALID_PARAMS", "action_type"),
    ("preview_action", {"action_type": ""}, 422, "INVALID_PARAMS", "action_type"),
    ("preview_action", {"action_type": 5}, 422, "INVALID_PARAMS", "action_type"),
    ("preview_action", {"action_type": "x" * 65}, 422, "INVALID_PARAMS", "action_type"),
    ("preview_action", {"action_type": "swap", "venue": ["uniswap"]}, 422, "INVALID_PARAMS", "venue"),
    ("preview_action", {"action_type": "swap", "kind": "swap"}, 422, "AMBIGUOUS_PARAMS", "kind"),
    ("preview_action", {"action_type": "swap", "params": []}, 422, "AMBIGUOUS_PARAMS", "params"),
    (
        "preview_action",
        {"action_type": "swap", "amount": "1", "params": {"amount": "2"}},
        422,
        "AMBIGUOUS_PARAMS",
        "amount",
    ),
    ("commit_action", {}, 422, "INVALID_PARAMS", "permit_id"),
    ("commit_action", {"permit_id": "nonsense"}, 422, "INVALID_PARAMS", "permit_id"),
    ("commit_action", {"permit_id": 5}, 422, "INVALID_PARAMS", "permit_id"),
    ("commit_action", {"permit_id": None}, 422, "INVALID_PARAMS", "permit_id"),
    ("commit_action", {"permit_id": PERMIT, "amount": "1"}, 422, "INVALID_PARAMS", "amount"),
    ("cancel_action", {"permit_id": PERMIT}, 422, "INVALID_PARAMS", "reason"),
    ("cancel_action", {"permit_id": PERMIT, "reason": " "}, 422, "INVALID_PARAMS", "reason"),
    ("cancel_action", {"permit_id": PERMIT, "reason": "x" * 501}, 422, "INVALID_PARAMS", "reason"),
    ("query_state", {}, 422, "INVALID_PARAMS", "query"),
    ("query_state", {"query": None}, 422, "INVALID_PARAMS", "query"),
    ("query_state", {"query": {"a": 1}}, 422, "INVALID_PARAMS", "query"),
    ("query_state", {"query": "golem", "colour": "red"}, 422, "INVALID_PARAMS", "colour"),
    ("query_state", {"query": "limits", "chain_id": 1}, 422, "INVALID_PARAMS", "chain_id"),
    ("query_state", {"query": "limits", "params": "x"}, 422, "AMBIGUOUS_PARAMS", "params"),
    ("query_state", {"query": "quote"}, 422, "INVALID_PARAMS", "token_in"),
    ("query_state", {"query": "quote", "amount": "1.5"}, 422, "INVALID_PARAMS", "amount"),
    ("query_state", {"query": "quote", "amount": "-1"}, 422, "INVALID_PARAMS", "amount"),
    ("query_state", {"query": "quote", "amount": 0}, 422, "INVALID_PARAMS", "amount"),
    ("query_state", {"query": "quote", "amount": "ten"}, 422, "INVALID_PARAMS", "amount"),
    ("query_state", {"query": "quote", "amount": str(2**256)}, 422, "INVALID_PARAMS", "amount"),
    ("query_state", {"query": "quote", "amount": "1e18"}, 422, "INVALID_PARAMS", "amount"),
    ("query_state", {"query": "quote", "amount": True}, 422, "INVALID_PARAMS", "amount"),
    ("query_state", {"query": "quote", "token_in": "0x" + "1" * 39}, 422, "INVALID_PARAMS", "token_in"),
    (
        "query_state",
        {"query": "quote", "token_in": "0x70997970C51812dc3A010C7d01b50e0d17dc79c8"},
        422,
        "INVALID_PARAMS",
        "token_in",
    ),
    ("query_state", {"query": "quote", "token_in": "not a token!"}, 422, "INVALID_PARAMS", "token_in"),
    ("query_state", {"query": "quote", "slippage_bps": 10_001}, 422, "INVALID_PARAMS", "slippage_bps"),
    ("query_state", {"query": "quote", "slippage_bps": -1}, 422, "INVALID_PARAMS", "slippage_bps"),
    ("query_state", {"query": "quote", "foreign": 1}, 422, "INVALID_PARAMS", "foreign"),
    ("search_context", {}, 422, "INVALID_PARAMS", "query"),
    ("search_context", {"query": "x", "limit": 0}, 422, "INVALID_PARAMS", "limit"),
    ("search_context", {"query": "x", "limit": 51}, 422, "INVALID_PARAMS", "limit"),
    ("search_context", {"query": "x", "limit": "many"}, 422, "INVALID_PARAMS", "limit"),
    ("search_context", {"query": "x" * 2_001}, 422, "INVALID_PARAMS", "query"),
    ("search_context", {"query": "x", "colour": "red"}, 422, "INVALID_PARAMS", "colour"),
    ("query_grimoire", {"query": "x", "store": "diary"}, 422, "INVALID_PARAMS", "store"),
    ("query_grimoire", {"query": "x", "since": "yesterday"}, 422, "INVALID_PARAMS", "since"),
    ("query_grimoire", {"query": "x", "filters": {"colour": "red"}}, 422, "INVALID_PARAMS", "filters.colour"),
    ("query_grimoire", {"query": "x", "venue": "a", "filters": {"venue": "b"}}, 422, "AMBIGUOUS_PARAMS", "venue"),
    ("query_grimoire", {"query": "x", "filters": []}, 422, "INVALID_PARAMS", "filters"),
    ("update_directive", {"section": "A", "change": "B"}, 422, "INVALID_PARAMS", "reason"),
    ("update_directive", {"section": "# A", "change": "B", "reason": "C"}, 422, "INVALID_PARAMS", "section"),
    ("update_directive", {"section": "A", "change": "x" * 8_001, "reason": "C"}, 422, "INVALID_PARAMS", "change"),
    ("emergency_halt", {}, 422, "INVALID_PARAMS", "reason"),
    ("emergency_halt", {"reason": "x", "force": True}, 422, "INVALID_PARAMS", "force"),
]


@pytest.mark.parametrize(
    ("tool", "body", "status", "code", "field"),
    BAD_INPUT,
    ids=[f"{row[0]}-{row[4]}-{n}" for n, row in enumerate(BAD_INPUT)],
)
def test_bad_input_is_refused_with_the_field_it_is_about(
    agent: Agent, tool: str, body: Any, status: int, code: str, field: str
) -> None:
    problem = assert_problem(agent.post(tool, body), status, code, "FIX_PARAMS")
    assert field in problem["fields"], problem
    assert ActionPermit.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"query": "horoscope"}, "UNKNOWN_ACTION"),
        ({"query": "quote", "venue": "aave"}, "UNKNOWN_VENUE"),
        ({"query": "swap"}, "UNKNOWN_ACTION"),
        ({"query": "golem", "venue": "uniswap"}, "UNKNOWN_ACTION"),
    ],
)
def test_what_a_golem_cannot_ask_is_unknown_to_it(agent: Agent, body: dict[str, str], code: str) -> None:
    problem = assert_problem(agent.post("query_state", body), 404, code, "FIX_PARAMS")
    assert problem.get("venues") == ["uniswap"] if code == "UNKNOWN_VENUE" else "limits" in problem["available"]


def test_a_tool_outside_the_profile_is_unknown_not_forbidden(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=["identity"])
    assert_problem(agent.post("query_state", {"query": "quote"}), 404, "UNKNOWN_ACTION")


def test_a_chain_without_a_node_is_named(agent: Agent) -> None:
    body = {"query": "quote", "token_in": "USDC", "token_out": "WETH", "amount": "1000000", "chain_id": 999_999}
    assert_problem(agent.post("query_state", body), 422, "CHAIN_NOT_SUPPORTED", "FIX_PARAMS")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_tool_is_answered_with_those_that_exist(agent: Agent, method: str) -> None:
    response = agent.get("sell_everything") if method == "GET" else agent.post("sell_everything")
    problem = assert_problem(response, 404, "UNKNOWN_TOOL", "FIX_PARAMS")
    assert "preview_action" in problem["available"]


@pytest.mark.parametrize("tool", ["preview_action", "query_state", "emergency_halt"])
def test_a_tool_takes_post_only(agent: Agent, tool: str) -> None:
    response = agent.get(tool)
    assert_problem(response, 405, "METHOD_NOT_ALLOWED")
    assert "POST" in response.headers["Allow"]


def test_an_answer_that_cannot_be_given_in_the_form_asked_for_is_refused(agent: Agent) -> None:
    assert_problem(agent.get("permits", Accept="image/png"), 406, "NOT_ACCEPTABLE")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"permits/{PERMIT}", None),
        ("POST", "commit_action", {"permit_id": PERMIT}),
        ("POST", "cancel_action", {"permit_id": PERMIT, "reason": "no"}),
    ],
)
def test_a_permit_that_does_not_exist_is_not_found(agent: Agent, method: str, path: str, body: Any) -> None:
    response = agent.get(path) if method == "GET" else agent.post(path, body)
    assert_problem(response, 404, "PERMIT_NOT_FOUND", "CHECK_STATE")


@pytest.mark.parametrize("tool", ["commit_action", "cancel_action"])
def test_a_golem_that_only_reads_has_no_such_tool(make_agent: MakeAgent, tool: str) -> None:
    agent = make_agent(address="")
    body = {"permit_id": PERMIT} | ({"reason": "no"} if tool == "cancel_action" else {})
    assert_problem(agent.post(tool, body), 404, "UNKNOWN_TOOL")


@pytest.mark.parametrize("query", ["status=NONSENSE", "limit=0", "limit=101", "limit=x", "cursor=x", "colour=red"])
def test_a_bad_page_is_refused(agent: Agent, query: str) -> None:
    problem = assert_problem(agent.get(f"permits?{query}"), 422, "INVALID_PARAMS", "FIX_PARAMS")
    assert query.split("=")[0] in problem["fields"]


def test_an_unknown_cursor_is_refused(agent: Agent) -> None:
    assert_problem(agent.get(f"permits?cursor={PERMIT}"), 422, "INVALID_PARAMS")


def test_a_golem_without_permits_has_an_empty_page(agent: Agent) -> None:
    assert agent.get("permits?limit=5&status=CREATED").json() == {"permits": [], "next_cursor": None}


def test_the_golem_describes_itself(agent: Agent) -> None:
    data = agent.post("query_state", {"query": "golem", "venue": "golem"}).json()["data"]
    assert data["golem_id"] == str(agent.golem.pk)
    assert data["phase"] == "THRIVING" and "NEW_POSITION" in data["allowed_action_classes"]
    assert data["is_halted"] is False


def test_limits_are_shown_with_what_is_left(agent: Agent) -> None:
    SpendingLimits.objects.create(golem=agent.golem, per_day_micro_usd=2_500_000, writes_per_hour=7)
    data = agent.post("query_state", {"query": "limits"}).json()["data"]
    assert data["per_day"]["limit_usd"] == "$2.50"
    assert data["per_day"]["remaining_micro_usd"] == "2500000"
    assert data["writes_per_hour"] == {"limit": 7, "used": 0, "remaining": 7, "resets_at": None}


def test_a_strict_providers_nulls_count_as_left_out(agent: Agent) -> None:
    body = {"query": "limits", "venue": None, "chain_id": None, "token_in": None, "amount": None, "cursor": None}
    assert agent.post("query_state", body).status_code == 200
    nulls = {"query": "exits", "limit": None, "read": None, "venue": None}
    assert agent.post("search_context", nulls).status_code == 200


def test_hyphens_and_case_do_not_matter_in_a_query(agent: Agent) -> None:
    assert agent.post("query_state", {"query": "LIMITS"}).status_code == 200
    assert_problem(agent.post("query_state", {"query": "Token-Price"}), 422, "INVALID_PARAMS")


def test_nested_params_are_merged(agent: Agent) -> None:
    given: tuple[dict[str, Any], ...] = ({"params": {"amount": "1.5"}}, {"amount": "1.5"}, {})
    nested, flat, missing = (agent.post("query_state", {"query": "quote", **each}).json()["fields"] for each in given)
    assert nested == flat
    assert nested["amount"] != missing["amount"], "what is nested is read, and not taken for missing"


def test_a_directive_is_written_versioned_and_found_again(agent: Agent) -> None:
    body = {"section": "Exits", "change": "Leave WETH before the weekend.", "reason": "two bad Mondays"}
    first = agent.post("update_directive", body).json()
    assert (first["version"], first["changed"]) == (1, True)
    assert set(first) == set(wire.UpdateDirectiveOutput().fields)
    found = agent.post("search_context", {"query": "when to leave WETH"}).json()
    assert found["sections"][0]["section"] == "Exits"
    assert set(found) == set(wire.SearchContextOutput().fields)
    assert found["state"]["golem"]["phase"] == "THRIVING"


def test_another_golem_never_sees_a_directive(make_agent: MakeAgent) -> None:
    one, other = make_agent(), make_agent()
    one.post("update_directive", {"section": "Secret", "change": "Ours.", "reason": "x"})
    assert other.post("search_context", {"query": "secret"}).json()["sections"] == []


def test_prices_that_cannot_be_read_are_a_warning(agent: Agent) -> None:
    wiring.configure_networks({})
    found = agent.post("search_context", {"query": "price of WETH"}).json()
    assert found["prices"] == []
    assert found["warnings"] == ["no prices: CHAIN_NOT_SUPPORTED"]


def test_a_halt_answers_its_steps_and_stops_the_golem(agent: Agent) -> None:
    report = agent.post("emergency_halt", {"reason": "a token I did not buy"}).json()
    assert report["halted"] is True
    assert [step["step"] for step in report["steps"]][0] == "commits and signatures refused"
    data = agent.post("query_state", {"query": "golem"}).json()["data"]
    assert (data["is_halted"], data["halt_reason"]) == (True, "a token I did not buy")


def test_a_read_s_name_is_no_question_to_memory(make_agent: MakeAgent) -> None:
    agent = make_agent(categories=["memory"])
    refused = assert_problem(agent.post("query_grimoire", {"query": "Export"}), 422, "INVALID_PARAMS")
    assert '{"read": "export"}' in refused["detail"]
    assert agent.post("query_grimoire", {"query": "what did the export of USDC bring"}).status_code == 200


def test_the_grimoire_answers_from_words_when_nobody_serves_the_model(
    agent: Agent, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another test of this process may have loaded it.
    monkeypatch.setattr(embedding, "is_loaded", lambda: False)
    settings.GOLEM_MEMORY_QUERY_WAIT_SECONDS = 0.2
    found = agent.post("query_grimoire", {"query": "swaps of WETH", "store": "episodes", "limit": 3})
    assert found.status_code == 200
    assert found.json()["episodes"] == [] and found.json()["mode"] == "text_only"


def test_the_documented_permit_is_the_one_that_is_answered(agent: Agent) -> None:
    now = clock.now()
    permit = ActionPermit.objects.create(
        golem=agent.golem,
        tool_name="t",
        action_type="swap",
        venue="uniswap",
        chain_id=1,
        action_hash="0x1",
        action_class="REBALANCE",
        risk_tier="STANDARD",
        plan_hash="0x2",
        policy_hash="0x3",
        expires_at=now,
    )
    answer = agent.get(f"permits/{permit.pk}").json()
    assert answer == view_permit(permit)
    assert set(answer) == set(wire.PermitOutput().fields)
    assert agent.post("query_state", {"query": "permits"}).json()["data"]["permits"][0]["permit_id"] == str(permit.pk)


def test_another_golems_permit_is_not_found_in_any_way(make_agent: MakeAgent) -> None:
    one, other = make_agent(), make_agent()
    permit = ActionPermit.objects.create(
        golem=one.golem,
        tool_name="t",
        action_type="swap",
        venue="uniswap",
        chain_id=1,
        action_hash="0x1",
        action_class="REBALANCE",
        risk_tier="STANDARD",
        plan_hash="0x2",
        policy_hash="0x3",
        expires_at=clock.now(),
    )
    assert one.get(f"permits/{permit.pk}").status_code == 200
    assert_problem(other.get(f"permits/{permit.pk}"), 404, "PERMIT_NOT_FOUND")
    assert_problem(other.post("commit_action", {"permit_id": str(permit.pk)}), 404, "PERMIT_NOT_FOUND")
    assert_problem(
        other.post("cancel_action", {"permit_id": str(permit.pk), "reason": "mine now"}), 404, "PERMIT_NOT_FOUND"
    )
    assert_problem(other.get(f"permits?cursor={permit.pk}"), 422, "INVALID_PARAMS")
    permit.refresh_from_db()
    assert permit.status == "CREATED"


def test_an_override_takes_a_read_away_at_once(agent: Agent) -> None:
    assert_problem(agent.post("query_state", {"query": "quote"}), 422, "INVALID_PARAMS")
    ToolOverride.objects.create(golem=agent.golem, tool_name="uniswap_get_quote", mode=OverrideMode.EXCLUDE)
    assert_problem(agent.post("query_state", {"query": "quote"}), 404, "UNKNOWN_ACTION")


def test_a_request_id_is_taken_when_well_formed_and_made_when_not(agent: Agent) -> None:
    assert agent.get("permits", **{"X-Request-Id": "abc-12345"}).headers["X-Request-Id"] == "abc-12345"
    assert len(agent.get("permits", **{"X-Request-Id": "no good!"}).headers["X-Request-Id"]) == 32


def test_the_path_of_each_tool_is_the_one_in_the_manifest(agent: Agent) -> None:
    for tool in agent.get("manifest").json()["tools"]:
        assert tool["path"] == f"{PI}/{tool['name']}"
        assert agent.send("POST", tool["path"], "not json").status_code == 400

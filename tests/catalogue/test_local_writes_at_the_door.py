"""Writes that send nothing by themselves go the agents' whole way: refused, previewed, committed, and seen by reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.owner_group import ensure_owner_group
from permits_app.errors import RateLimited
from permits_app.models import PolicyCage, SpendingLimits
from tests.catalogue.circumstances import send_from
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.catalogue.known_names import NAMES
from tests.catalogue.looking import RawLook, find_at, is_same
from tests.catalogue.said_steps import SaidSteps
from tests.catalogue.shelf import ACROSS, CHAIN_ID, load_cases, load_local, load_reads
from tests.live_golem import make_live_golem
from tools_app.toolkit.case import Case, LocalCase
from tools_app.toolkit.enums import ActionClass, Phase
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool

LOCAL = load_local()
STEPS = SaidSteps({name: (case.tool,) for name, case in LOCAL.items()})
WITH_CASES = ("permits_app.tools.safety",)
"""Where the tools live that must have such a case; others that send nothing have tests of their own rooms."""

pytestmark = pytest.mark.protocols(ACROSS)


def find_local(case: LocalCase) -> LocalWriteTool:
    tool = REGISTRY.get(case.tool)
    assert isinstance(tool, LocalWriteTool), f"{case.tool} sends something, or only reads"
    return tool


def ask_for(door: Door, case: LocalCase, **changes: Any) -> dict[str, Any]:
    tool = find_local(case)
    params = {key: door.stage.fill(value) for key, value in {**case.params, **changes}.items()}
    return door.post("preview_action", {"action_type": tool.key, "venue": tool.venue, **params})


def carry_out(door: Door, case: LocalCase) -> dict[str, Any]:
    """Commit it as an agent does; the report, whose members later cases may name."""
    ended = door.commit(ask_for(door, case))
    assert ended["status"] == "COMMITTED", ended
    report: dict[str, Any] = ended["result"]["data"]
    door.stage.told.update(report)
    return report


def prepare(door: Door, case: LocalCase) -> None:
    for name in case.after:
        if name in LOCAL:
            prepare(door, LOCAL[name])
            carry_out(door, LOCAL[name])
        else:
            door.stage.prepare(Case(name, {}, ActionClass.REBALANCE, after=(name,)))


def find_wrong(door: Door, told: Any, wanted: Mapping[str, Any]) -> list[str]:
    look, wrong = RawLook(door.stage, ACROSS), []
    for path, value in wanted.items():
        expected = value(look) if callable(value) else door.stage.fill(value)
        if not is_same(found := find_at(told, path), expected):
            wrong.append(f"{path} is {found!r}, and worked out another way {expected!r}")
    return wrong


def find_wrong_left(door: Door, case: LocalCase) -> list[str]:
    """What reads tell otherwise than the case says it is left."""
    wrong = []
    for query, wanted in case.leaves.items():
        answer = door.post("query_state", {"query": query})
        assert answer["http"] == 200, answer
        wrong += [f"{query}: {each}" for each in find_wrong(door, answer["data"], wanted)]
    return wrong


@pytest.fixture
def open_door(door: Door) -> Door:
    for name in {case.tool for case in LOCAL.values()}:
        ToolOverride.objects.get_or_create(
            golem=door.agent.golem, tool_name=name, defaults={"mode": OverrideMode.INCLUDE}
        )
    return door


@pytest.mark.parametrize("name", LOCAL)
def test_a_write_that_sends_nothing_does_what_its_case_says_and_its_preview_does_nothing(
    open_door: Door, name: str
) -> None:
    case = LOCAL[name]
    prepare(open_door, case)
    for changes, code in case.refuses:
        refused = ask_for(open_door, case, **changes)
        assert refused.get("code") == code, (changes, refused)
        assert refused["detail"] and refused["recovery"]
    held = open_door.stage.wallet()
    ask_for(open_door, case)
    assert find_wrong_left(open_door, case), "a preview does nothing yet"
    with STEPS.heard(name):
        report = carry_out(open_door, case)
    assert find_wrong(open_door, report, case.tells) == []
    assert find_wrong_left(open_door, case) == []
    assert open_door.stage.wallet() == held


def test_approvals_that_are_revoked_are_gone_by_the_audit_and_by_the_tokens(open_door: Door) -> None:
    name = "safety_batch_revoke_approvals"
    case = load_cases()[name].case
    open_door.stage.prepare(case)
    audit = {"query": "approvals"}
    before = open_door.post("query_state", audit)["data"]
    ended = open_door.commit(open_door.preview(case))
    assert ended["status"] == "COMMITTED", ended
    after = open_door.post("query_state", audit)["data"]
    owner = open_door.agent.golem.owner
    owner.groups.add(ensure_owner_group())
    page = Client()
    page.force_login(owner)
    told = page.get(reverse("admin:permits_app_actionpermit_change", args=[ended["permit_id"]])).content.decode()
    assert told.count("may take no more") == 2 and "used up inside this plan" not in told
    assert (before["total_approvals"], after["total_approvals"]) == (2, 0)
    look = RawLook(open_door.stage, ACROSS)
    for symbol in ("USDC", "WETH"):
        words = "function allowance(address, address) view returns (uint256)"
        assert look.call(look.token(symbol), words, look.account, look.told("old_spender")) == 0


def test_an_operator_of_a_collection_is_taken_back_in_one_permit_with_a_token_where_the_owner_lets_it(
    open_door: Door,
) -> None:
    golem, stage = open_door.agent.golem, open_door.stage
    open_door.stage.prepare(load_cases()["safety_batch_revoke_approvals"].case)
    person, manager = stage.told["old_spender"], stage.world.contracts["uniswap_v3_position_manager"]
    send_from(stage, manager, "function setApprovalForAll(address operator, bool approved)", person, True)
    audit = {"query": "approvals"}
    found = open_door.post("query_state", audit)["data"]["approvals"]
    assert {row["token"] for row in found} >= {manager} and len(found) == 3
    revoke = REGISTRY.get("safety_batch_revoke_approvals")
    asked = {"action_type": revoke.key, "venue": revoke.venue, "approvals": [row["revoke"] for row in found]}
    refused = open_door.post("preview_action", asked)
    assert (refused["code"], refused["rule"]) == ("POLICY_REJECTED", "policy_cage.arbitrary_calldata"), refused
    assert manager in refused["detail"] and "owner allows" in refused["would_pass"]
    # The others go without it.
    others = [row["revoke"] for row in found if row["token"] != manager]
    assert open_door.post("preview_action", {**asked, "approvals": others})["status"] == "CREATED"
    PolicyCage.objects.filter(golem=golem).update(allows_arbitrary_calldata=True)
    ended = open_door.commit(open_door.post("preview_action", asked))
    assert (ended["status"], ended["result"]["data"]["revoked_count"]) == ("COMMITTED", 3), ended
    assert open_door.post("query_state", audit)["data"]["total_approvals"] == 0


def test_once_the_breaker_is_open_an_agent_reads_and_does_nothing_else(open_door: Door) -> None:
    open_door.stage.prepare(load_cases()["safety_batch_revoke_approvals"].case)
    carry_out(open_door, LOCAL["safety_set_circuit_breaker"])
    refused = open_door.preview("aave_supply")
    assert (refused["http"], refused["code"]) == (423, "GOLEM_HALTED")
    again = ask_for(open_door, LOCAL["safety_set_circuit_breaker"], action="RESET")
    assert again["code"] == "GOLEM_HALTED"
    assert ask_for(open_door, LOCAL["safety_set_health_alert"])["code"] == "GOLEM_HALTED"
    assert open_door.preview("safety_batch_revoke_approvals")["code"] == "GOLEM_HALTED"
    # What it watches goes on: it sees what becomes of what it left behind.
    for query, params in (("risk_dashboard", {}), ("health_alerts", {}), ("stream_new_pools", {"chain_id": CHAIN_ID})):
        assert open_door.post("query_state", {"query": query, **params})["http"] == 200, query


def test_with_every_write_of_the_hour_used_the_breaker_trips_and_only_its_own_golem_stops(open_door: Door) -> None:
    golem = open_door.agent.golem
    other = make_live_golem(open_door.stage.live.world, name="Other", owner_name="owner-b").golem
    SpendingLimits.objects.filter(golem=golem).update(writes_per_hour=1, per_day_micro_usd=0)
    Golem.objects.filter(pk=golem.pk).update(phase=Phase.TERMINAL)
    name = "safety_set_health_alert"
    prepare(open_door, LOCAL[name])
    carry_out(open_door, LOCAL[name])
    used_up = ask_for(open_door, LOCAL[name], min_health_factor="1.9")
    assert used_up["code"] == RateLimited.code and used_up["recovery"]
    breaker = LOCAL["safety_set_circuit_breaker"]
    assert ask_for(open_door, breaker, action="RESET")["code"] == "BREAKER_RESET_BY_OWNER"
    carry_out(open_door, breaker)
    status = open_door.post("query_state", {"query": "safety_status"})["data"]
    assert status["is_halted"] and status["halt_reason"].startswith("its agent stopped it")
    other.refresh_from_db()
    assert not other.is_halted


def test_every_local_write_of_safety_has_a_case_that_refuses_and_leaves_something_that_is_read() -> None:
    cases = LOCAL.values()
    tools = {
        tool.name
        for tool in REGISTRY
        if isinstance(tool, LocalWriteTool) and tool.handler.__module__.startswith(WITH_CASES)
    }
    assert {case.tool for case in cases} == tools and len(tools) >= 3
    assert {case.tool for case in cases if case.refuses} == tools
    assert all(case.tells and case.leaves for case in cases)
    assert {name for case in cases for name in case.after} <= LOCAL.keys() | load_cases().keys()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_what_is_known_leads_to_a_tool_with_a_case(name: str) -> None:
    reads = {case.tool for filed in load_reads().values() for case in filed.cases}
    writes = {filed.case.tool for filed in load_cases().values()}
    assert REGISTRY.get(name).name in reads | writes | {case.tool for case in LOCAL.values()}


def test_the_names_are_the_53_that_are_asked_for() -> None:
    assert len(NAMES) == len(set(NAMES)) == 53

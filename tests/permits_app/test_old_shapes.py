"""A tool's parameters of before a breaking change: understood for ninety days, then refused with a pointer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client

from golem_project.management.commands.snapshots import find_unserved
from golem_project.pi.manifest import describe_route
from permits_app.actions.preview import preview_action
from permits_app.actions.query import query_state
from permits_app.models import ActionPermit
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tests.made_up_bank.tools import REPLACED_ON
from tests.permits_app.test_dropped_in_protocol import DAI
from tests.permits_app.test_dropped_in_protocol import saver as saver
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.toolkit.deprecated_params import SERVED_FOR
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.family import FAMILIES, ToolFamily
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.retired_parameters import SchemaRetired, renew_params

OLD = {"action_type": "bank_deposit", "venue": NAME, "sum": str(100 * DAI)}


def preview(golem: LiveGolem, body: dict[str, Any], *, later: timedelta = timedelta()) -> dict[str, Any]:
    return preview_action(golem_id=golem.golem.pk, api_key_id=golem.key.key.pk, body=body, now=clock.now() + later)


def test_what_an_agent_said_before_the_change_goes_the_whole_way(saver: LiveGolem, bank: Bank) -> None:
    permit = preview(saver, OLD)
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    assert (row.params["amount"], row.schema_version) == (str(100 * DAI), 2)
    assert saver.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert bank.read("deposited(address)", saver.golem.address) == 100 * DAI


def test_after_ninety_days_it_is_refused_and_the_refusal_says_where_to_look(saver: LiveGolem) -> None:
    with pytest.raises(SchemaRetired) as refused:
        preview(saver, OLD, later=SERVED_FOR + timedelta(days=1))
    problem = refused.value.as_problem()
    assert (problem["code"], problem["recovery"]) == ("SCHEMA_RETIRED", "FIX_PARAMS")
    assert problem["next_call"]["arguments"] == {"query": "describe_tool", "tools": ["bank_deposit"]}
    assert not ActionPermit.objects.exists()


def test_a_read_in_its_old_shape_is_answered_until_its_time_is_over(saver: LiveGolem, bank: Bank) -> None:
    """Through the agent's own interface, and where a later day is needed through the query itself."""
    agent = Agent(golem=saver.golem, key=saver.key, client=Client())
    old, new = {"query": "bank_account", "venue": NAME, "whose": "mine"}, {"query": "bank_account", "venue": NAME}
    answers = [agent.post("query_state", body).json()["data"] for body in (old, {**new, "currency": "cash"})]
    assert answers[0] == answers[1] == {"deposited": "0"}
    read = partial(query_state, golem=saver.golem, query="bank_account", venue=NAME, params={"whose": "mine"})
    with pytest.raises(SchemaRetired) as refused:
        read(now=clock.now() + SERVED_FOR + timedelta(days=1))
    assert refused.value.as_problem()["next_call"]["arguments"]["tools"] == ["bank_get_account"]
    neither = agent.post("query_state", {**new, "whose": "mine", "currency": "cash"})
    assert (neither.status_code, neither.json()["code"]) == (422, "INVALID_PARAMS")


def test_the_last_moment_is_served_and_the_next_is_not(bank: Bank) -> None:
    tool = REGISTRY.get("bank_deposit")
    (shape,) = tool.old_shapes
    assert shape.served_until.date() == REPLACED_ON + timedelta(days=90)
    last = shape.served_until - timedelta(microseconds=1)
    assert renew_params(tool=tool, params={"sum": "5"}, now=last) == {"amount": "5"}
    with pytest.raises(SchemaRetired):
        renew_params(tool=tool, params={"sum": "5"}, now=shape.served_until)


@pytest.mark.parametrize("wrong", [{"sum": "5", "amount": "6"}, {"sum": "five"}, {}, {"total": "5"}])
def test_what_fits_neither_shape_is_told_in_words_of_the_present_one(saver: LiveGolem, wrong: dict[str, Any]) -> None:
    with pytest.raises(GolemError) as refused:
        preview(saver, {"action_type": "bank_deposit", "venue": NAME, **wrong})
    assert isinstance(refused.value, InvalidParams)


def test_the_manifest_says_until_when_an_old_shape_is_served(bank: Bank) -> None:
    (told,) = describe_route(REGISTRY.get("bank_deposit"))["old_shapes"]
    assert told["schema_version"] == 1
    assert told["served_until"].startswith(str(REPLACED_ON + timedelta(days=90)))


def test_an_old_shape_belongs_to_a_tool_with_a_later_version() -> None:
    family = ToolFamily(prefix="odd", category=Category.DATA)
    FAMILIES.remove(family)

    @family.read(query="odd", budget=TickBudget.FAST)
    def odd_read(ctx: Any) -> dict[str, Any]:
        """Read nothing."""
        return {}

    def declare(of: str, version: int) -> Callable[..., Any]:
        return family.used_to_take(of=of, schema_version=version, replaced_on=date(2026, 1, 1))(lambda tool: {})

    for of, version in (("odd_read", 1), ("even_read", 0)):
        with pytest.raises(TypeError, match="version above"):
            declare(of, version)


def test_a_breaking_change_without_its_old_shape_is_not_written_down() -> None:
    def told(version: int, *names: str, required: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
        shape = {"parameters": dict.fromkeys(names, {}), "required": list(required)}
        return {"t": {"schema_version": version, **shape, **more}}

    before = told(1, "sum", required=("sum",))
    assert find_unserved(stored=before, now=told(2, "sum", "more", required=("sum",))) == []
    assert find_unserved(stored=before, now=told(2, "amount")) == ["t"]
    assert find_unserved(stored=before, now=told(2, "sum", "more", required=("sum", "more"))) == ["t"]
    served = told(2, "amount", required=("amount",), old_shapes=[{"schema_version": 1}])
    assert find_unserved(stored=before, now=served) == []

"""Delegates that plan: their own prompt and tools, the golem's wallet and limits, every hop with its parent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import Archetype, DecisionCycleRecord, Golem, ModelSpendDay
from golem_project.heartbeat.thinking.delegate_thinker import ModelDelegateThinker
from permits_app.errors import DelegateNeedsModel, DelegationNotAllowed
from permits_app.models import ActionPermit, SpendEntry
from permits_app.reviewers import delegate_to_archetype
from permits_app.reviewers.delegate_to_archetype import DelegationEntry, delegate_work
from tests.broken_link import find_broken_link
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.thinking.conftest import Think, make_client
from tests.golem_project.heartbeat.thinking.recorded.recorder import read_situations
from tests.live_golem import SWAP, LiveGolem
from tests.scripted_model import Answer, ScriptedModel, call, calls, commit_last, last_tool_answer, say, serve_model
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.models import AuditEntry


@pytest.fixture(autouse=True)
def no_thinker_left() -> Iterator[None]:
    yield
    delegate_to_archetype.configure(None)


def serve_delegates(model: ScriptedModel) -> None:
    delegate_to_archetype.configure(ModelDelegateThinker(make_client(model.url)))


def ask(live: LiveGolem, target: str, instruction: str, context: str | None = None) -> dict[str, Any]:
    """An agent's preview and commit of the action type `delegate`."""
    body = {"action_type": "delegate", "venue": "golem", "target": target, "instruction": instruction}
    asked = live.preview(**body, context=context, token_in=None, token_out=None, amount=None)
    return live.commit(asked["permit_id"])


def told(live: LiveGolem, event: str) -> list[dict[str, Any]]:
    return [entry.data for entry in AuditEntry.objects.filter(golem_id=live.golem.pk, event=event).order_by("seq")]


def swap(**changes: str) -> Answer:
    return calls(("preview_action", json.dumps({**SWAP, **changes})))


def test_a_trade_executor_trades_for_the_golem_within_its_limits(live_golem: LiveGolem, think: Think) -> None:
    before = live_golem.balance("WETH")
    with serve_model([swap(), commit_last(), say("Swapped 500 USDC.")]) as model:
        serve_delegates(model)
        done = ask(live_golem, "trade-executor", "Buy WETH for 500 USDC")
    assert done["status"] == "COMMITTED", done
    answer = done["result"]["data"]
    assert answer["chain"] == ["golem-instance", "trade-executor"]
    assert (answer["summary"], answer["stopped_by"], answer["untrusted"]) == ("Swapped 500 USDC.", "", True)
    assert live_golem.balance("WETH") > before
    inner = ActionPermit.objects.get(pk=answer["permits"][0]["permit_id"])
    assert (inner.status, inner.golem_id, inner.api_key_id) == ("COMMITTED", live_golem.golem.pk, live_golem.key.key.pk)
    settled = SpendEntry.objects.get(permit=inner)
    assert (settled.golem_id, settled.api_key_id) == (live_golem.golem.pk, live_golem.key.key.pk)
    (ended,) = told(live_golem, "DelegationEnded")
    assert ended["permits"][0]["permit_id"] == str(inner.pk)
    assert ModelSpendDay.objects.get(golem=live_golem.golem).spent_micro_usd > 0


def test_it_thinks_with_its_own_prompt_and_its_own_tools(live_golem: LiveGolem, think: Think) -> None:
    body = {"action_type": "add_liquidity", "venue": "uniswap"}
    with serve_model([calls(("preview_action", json.dumps(body))), say("I cannot.")]) as model:
        serve_delegates(model)
        answer = ask(live_golem, "trade-executor", "Provide liquidity")["result"]["data"]
    executor = Archetype.objects.get(name="trade-executor")
    assert executor.role in model.instructions
    assert live_golem.golem.archetype.role not in model.instructions
    assert json.loads(model.opening.splitlines()[-1])["asked"]["words"] == "Provide liquidity"
    assert answer["refusals"] == ["UNKNOWN_ACTION"]


@pytest.mark.parametrize(("story", "is_there"), [("liquidity 5", True), ("nothing held 1", False)])
def test_what_a_delegate_is_shown_follows_from_what_its_golem_has(
    live_golem: LiveGolem, think: Think, story: str, is_there: bool
) -> None:
    """A recorded situation stands for the golem's last tick; the instruction names no tool."""
    recorded = next(each for each in read_situations() if each.name == story)
    assert bool(recorded.probes["positions"]) is is_there
    turn_on(live_golem.golem, rule={}, is_live=False)
    record = tick(live_golem.golem)
    DecisionCycleRecord.objects.filter(pk=record.pk).update(probes=recorded.probes)
    with serve_model([say("All is well.")]) as model:
        serve_delegates(model)
        ask(live_golem, "liquidity-manager", "See what there is to do")
    assert ("remove_liquidity" in json.dumps(model.requests[0])) is is_there


def test_the_golems_limits_are_the_delegates(live_golem: LiveGolem, think: Think) -> None:
    with serve_model([swap(amount="10500000000"), say("refused")]) as model:
        serve_delegates(model)
        answer = ask(live_golem, "trade-executor", "Buy a lot")["result"]["data"]
    assert answer["refusals"] == ["SAFETY_SPENDING_LIMIT_EXCEEDED"]
    assert answer["permits"] == []


def test_above_the_hot_lane_the_guardian_is_a_hop_of_the_delegate(live_golem: LiveGolem, think: Think) -> None:
    with serve_model([swap(amount="1500000000"), say("previewed")]) as model:
        serve_delegates(model)
        answer = ask(live_golem, "trade-executor", "Buy WETH for 1500 USDC")["result"]["data"]
    outer, review = told(live_golem, "DelegationHop")
    assert (outer["to"], outer["parent_hop_id"], outer["entry"]) == ("trade-executor", None, "agent")
    assert (review["to"], review["parent_hop_id"], review["entry"]) == ("safety-guardian", outer["hop_id"], "review")
    assert review["chain"] == ["golem-instance", "trade-executor", "safety-guardian"]
    assert answer["permits"][0]["step"] == "PREVIEWED"
    assert find_broken_link(AuditEntry.objects.filter(golem_id=live_golem.golem.pk).order_by("seq")) is None


def test_a_delegates_own_delegation_names_its_parent_and_keeps_the_graphs_rules(
    live_golem: LiveGolem, think: Think
) -> None:
    """The executor asks the risk-assessor about its permit, and then somebody it may not ask."""

    def delegate_to(target: str) -> Answer:
        def answer(request: dict[str, Any]) -> Any:
            permit_id = next(
                json.loads(m["content"])["permit_id"]
                for m in request["messages"]
                if m["role"] == "tool" and "permit_id" in m["content"]
            )
            return call(
                "preview_action", action_type="delegate", target=target, instruction="Judge it", context=permit_id
            )(request)

        return answer

    script = [swap(), delegate_to("risk-assessor"), commit_last(), delegate_to("vault-manager"), say("asked")]
    with serve_model(script) as model:
        serve_delegates(model)
        done = ask(live_golem, "trade-executor", "Ask before you buy")
    assert done["status"] == "COMMITTED"
    assert last_tool_answer(model.requests[3])["result"]["data"]["verdict"] == "APPROVE"
    outer, inner = told(live_golem, "DelegationHop")
    assert inner["parent_hop_id"] == outer["hop_id"]
    assert inner["chain"] == ["golem-instance", "trade-executor", "risk-assessor"]
    assert last_tool_answer(model.requests[4])["error"]["code"] == "DELEGATION_NOT_ALLOWED"


def test_a_delegate_that_fails_leaves_a_finished_hop_and_a_consistent_golem(
    live_golem: LiveGolem, think: Think, free_url: str
) -> None:
    delegate_to_archetype.configure(ModelDelegateThinker(make_client(free_url)))
    done = ask(live_golem, "trade-executor", "Buy WETH")
    assert (done["status"], done["result"]["data"]["stopped_by"]) == ("COMMITTED", "MODEL_UNAVAILABLE")
    (ended,) = told(live_golem, "DelegationEnded")
    assert ended["stopped_by"] == "MODEL_UNAVAILABLE"


def test_the_heartbeat_is_a_way_in_and_a_rehearsal_stays_one(live_golem: LiveGolem, think: Think) -> None:
    golem = Golem.objects.select_related("archetype").get(pk=live_golem.golem.pk)
    with serve_model([swap(), commit_last(), say("rehearsed")]) as model:
        serve_delegates(model)
        hop, answer = delegate_work(
            golem=golem,
            target="trade-executor",
            instruction="Buy WETH",
            entry=DelegationEntry.HEARTBEAT,
            is_live=False,
            actor="system:heartbeat",
            deadline=Deadline.after_ms(30_000),
            now=clock.now(),
        )
    assert (hop.entry, answer.refusals) == (DelegationEntry.HEARTBEAT, ("GOLEM_IN_DRY_RUN",))
    assert [each["entry"] for each in told(live_golem, "DelegationHop")] == ["heartbeat"]


def test_the_heartbeats_model_delegates_by_its_own_way_in(live_golem: LiveGolem, think: Think) -> None:
    """The planner and its delegate are two conversations with the same scripted model."""
    planner: list[Answer] = [
        call("preview_action", action_type="delegate", target="trade-executor", instruction="Buy WETH"),
        commit_last(),
        say("The executor previewed it."),
    ]
    with serve_model([swap(), say("previewed")]) as model:
        serve_delegates(model)
        found, _ = think(live_golem.golem, *planner)
    assert (found.refusals, found.stopped_by) == ((), "")
    assert [each["entry"] for each in told(live_golem, "DelegationHop")] == ["heartbeat"]
    assert len(model.requests) == 2


def test_without_a_model_the_refusal_names_the_settings(live_golem: LiveGolem) -> None:
    with pytest.raises(DelegateNeedsModel) as refused:
        ask(live_golem, "trade-executor", "Buy WETH")
    assert refused.value.data["settings"] == ["GOLEM_MODEL_T1", "GOLEM_MODEL_T2"]
    assert "GOLEM_MODEL_T1" in refused.value.detail


def test_an_unlisted_delegate_is_refused_with_a_model_too(live_golem: LiveGolem, think: Think) -> None:
    with serve_model([say("never asked")]) as model:
        serve_delegates(model)
        with pytest.raises(DelegationNotAllowed):
            ask(live_golem, "pool-researcher", "Look around")
    assert model.requests == []

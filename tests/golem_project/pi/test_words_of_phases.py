"""What a phase allows is said in the same words at every door, and they are what the rule lets out."""

from __future__ import annotations

import pytest
from django.test import Client

from archetypes_app.models import Golem
from archetypes_app.phases import SAYS, is_allowed
from golem_project.heartbeat.thinking.prompt import write_instructions
from permits_app.approvals.request_sentences import foresee_refusal
from permits_app.errors import PhaseBlocked
from permits_app.models import ActionPermit
from permits_app.safety.phase_rules import judge_phase
from tests.admin.rows import page
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.golem_project.pi.conftest import MakeAgent
from tools_app.toolkit.enums import LEAVING, ActionClass, Phase
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

LATE = (Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL)


@pytest.mark.parametrize("phase", list(Phase))
def test_agents_models_owners_and_refusals_read_the_same_words(make_agent: MakeAgent, phase: Phase) -> None:
    agent = make_agent(categories=["trading"], most_tools=None)
    Golem.objects.filter(pk=agent.golem.pk).update(phase=phase.value)
    told = agent.post("query_state", {"query": "golem"}).json()["data"]
    assert told["phase_allows"] == SAYS[phase]
    preview = next(each for each in agent.get("manifest").json()["tools"] if each["name"] == "preview_action")
    lines = [line["text"] for line in preview["guidelines"] if phase.value in line["phases"]]
    assert (phase in LATE) == any(SAYS[phase] in line for line in lines)
    instructions = write_instructions(
        archetype=agent.golem.archetype,
        golem_name="A",
        phase=phase,
        is_live=True,
        tools=(),
        toolset=Toolset.of(REGISTRY, "all"),
    )
    assert f"It allows {SAYS[phase]}." in instructions
    owner = agent.golem.owner
    owner.is_staff = owner.is_superuser = True
    owner.save()
    browser = Client()
    browser.force_login(owner)
    assert SAYS[phase] in browser.get(page("archetypes_app.golem", "rules", agent.golem.pk)).content.decode()
    refusals = (judge_phase(phase=phase, action_class=kind) for kind in ActionClass)
    for refusal in filter(None, refusals):
        assert (refusal.error, refusal.limit, refusal.would_pass) == (PhaseBlocked, SAYS[phase], SAYS[phase])


def test_in_the_last_phase_a_part_that_comes_back_is_sold_as_its_words_say(door: Door) -> None:
    Golem.objects.filter(pk=door.agent.golem.pk).update(phase=Phase.TERMINAL.value)
    told = door.agent.post("query_state", {"query": "golem"}).json()["data"]["phase_allows"]
    assert "a part taken out that comes back to the golem as a step of leaving whole" in told
    body = {"action_type": "swap", "token_in": "WETH", "token_out": "USDC", "amount": str(10**17)}
    permit = door.agent.post("preview_action", body).json()
    assert permit["action_class"] == "DECREASE_POSITION", permit
    assert foresee_refusal(ActionPermit.objects.get(pk=permit["permit_id"])) == ""
    assert door.commit({**permit, "http": 200})["status"] == "COMMITTED"
    bought = {**body, "token_in": "USDC", "token_out": "WETH", "amount": "1000000000"}
    refused = door.agent.post("preview_action", bought).json()
    assert (refused["code"], refused["would_pass"]) == ("SAFETY_PHASE_BLOCKED", SAYS[Phase.TERMINAL])


def test_the_words_name_each_class_that_the_table_lets_pass_and_no_other() -> None:
    words = {
        ActionClass.REBALANCE: "rebalances",
        ActionClass.DECREASE_POSITION: "shrinks",
        ActionClass.CLOSE_POSITION: "closes",
        ActionClass.READ_ONLY: "reads",
    }
    for phase in LATE:
        for kind, word in words.items():
            assert is_allowed(phase, kind) == (word in SAYS[phase]), (phase, kind)
    assert {kind for kind in LEAVING if is_allowed(Phase.TERMINAL, kind)} == {ActionClass.CLOSE_POSITION}

"""Five advisers work without a language model: by rules they read what their role is about and tell what they found."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Archetype, Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.reviewers.advisers_without_model import RULED, RULES
from permits_app.reviewers.delegate_to_archetype import check_runnable, is_reviewer
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import open_position
from tools_app.core.models import AuditEntry

ASKED = {
    "pool-researcher": ("Compare the pools of WETH/USDC", ["pools: ", "nothing to look at"]),
    "token-analyst": ("Is WETH a token to hold?", ["token_price", "price: "]),
    "position-monitor": ("Look after what we have", ["positions: 1"]),
    "vault-watchdog": ("Anything announced?", ["name the address of a vault"]),
    "heartbeat-monitor": ("How is the pulse?", ["health"]),
}


def ask(golem: LiveGolem, target: str, instruction: str) -> dict[str, Any]:
    archetype = golem.golem.archetype
    archetype.delegates_to.add(Archetype.objects.get(name=target))
    for tool in ("golem_delegate_task", *(look.tool for look in RULED[target])):
        ToolOverride.objects.get_or_create(golem=golem.golem, tool_name=tool, defaults={"mode": OverrideMode.INCLUDE})
    wanted = {"action_type": "delegate", "venue": "golem", "target": target, "instruction": instruction}
    swap = dict.fromkeys(("token_in", "token_out", "amount"))
    permit = golem.preview(**{**swap, **wanted})
    done = golem.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    told: dict[str, Any] = done["result"]["data"]
    return told


@pytest.mark.parametrize("target", RULED)
def test_an_adviser_tells_what_it_found_without_a_model(live_golem: LiveGolem, chain: World, target: str) -> None:
    assert not is_reviewer(target)
    check_runnable(target)
    open_position(live_golem, chain)
    instruction, words = ASKED[target]
    told = ask(live_golem, target, instruction)
    assert (told["target"], told["model"], told["cost_micro_usd"]) == (target, RULES, "0")
    assert all(each in told["summary"] for each in words), told["summary"]
    (ended,) = AuditEntry.objects.filter(golem_id=live_golem.golem.pk, event="DelegationEnded")
    assert (ended.data["to"], ended.data["model"]) == (target, RULES)


def test_what_an_adviser_may_not_read_it_says_and_reads_for_no_other_golem(live_golem: LiveGolem) -> None:
    ToolOverride.objects.create(golem=live_golem.golem, tool_name="data_get_token_price", mode=OverrideMode.EXCLUDE)
    told = ask(live_golem, "token-analyst", "Is WETH a token to hold?")
    assert "data_get_token_price: not among this golem's tools" in told["summary"]
    assert Golem.objects.count() == 1

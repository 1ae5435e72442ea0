"""The likeliest mistakes with keys of a cage, each over HTTP: refused with figures, and mended by the answer alone."""

from __future__ import annotations

from typing import Any, Final

from django.test import Client

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.models import ChangeRequest
from tests.catalogue.test_mistakes_at_yields import TEN, post_what_is_told
from tests.golem_project.pi.conftest import Agent
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.safes import OwnedSafe
from tests.permits_app.tools.test_mistakes_with_allowances import Asking
from tools_app.toolkit.registry import REGISTRY

TOOL: Final = "session_provision_key"
MEANT: Final = {"expires_in": 3_600, "operations": 10, "budget_usd": "50"}
MISTAKES: Final[tuple[dict[str, Any], ...]] = (
    {"expires_in": 59},
    {"expires_in": 2_592_001},
    {"expires_in": "an hour"},
    {"operations": 0},
    {"operations": 10_001},
    {"expires_in": 3_600.5},
    {"operations": 1.5},
    {"operations": "ten"},
    {"operations": -1},
    {"budget_usd": "999999999"},
    {"budget_usd": "much"},
    {"budget_usd": "-1"},
    {"budget_usd": "0.0000001"},
)
OF_HOW_MUCH: Final = {"expires_in", "operations", "budget_usd"}


def test_what_is_said_wrongly_of_a_session_key_is_refused_with_figures_and_mended_by_the_answer_alone(
    transactional_db: None, two_owners: tuple[LiveGolem, Any, Any], tasks_here: None
) -> None:
    live, _, _ = two_owners
    OwnedSafe(live)
    ToolOverride.objects.get_or_create(golem=live.golem, tool_name=TOOL, defaults={"mode": OverrideMode.INCLUDE})
    tool = REGISTRY.get(TOOL)
    door: Any = Asking(Agent(golem=live.golem, key=live.key, client=Client()))
    wrong, accepted = [], list[dict[str, Any]]()
    for changes in MISTAKES:
        said = {"action_type": "provision_session_key", "venue": "wallet", **MEANT, **changes}
        problem = door.post("preview_action", said)
        if problem.get("code") != "INVALID_PARAMS" or not (problem["detail"] and problem["recovery"]):
            wrong.append(f"{changes} is answered with {problem}")
            continue
        if set(changes) & OF_HOW_MUCH and not any(map(str.isdigit, f"{problem['detail']}{problem.get('fill')}")):
            wrong.append(f"{changes} is refused without a figure: {problem['detail']}")
        if words := post_what_is_told(door, tool, problem, MEANT, accepted):  # type: ignore[arg-type]
            wrong.append(f"{changes}: {words}: {problem}")
    assert len(MISTAKES) >= TEN and not wrong, "\n".join(wrong)
    assert not ChangeRequest.objects.filter(state="EXECUTED").exists()

"""Whether a recorded situation's needed tools are among those its golem's model would be shown."""

from __future__ import annotations

from golem_project.heartbeat.thinking.tool_selection import MOST_TOOLS, classify_task, select_tools
from tests.golem_project.heartbeat.thinking.recorded.held_out_stories import HELD_OUT
from tests.golem_project.heartbeat.thinking.recorded.recorder import Situation, read_situations
from tests.golem_project.heartbeat.thinking.test_tool_selection import toolset_of
from tools_app.toolkit.enums import Phase


def list_held_out() -> list[Situation]:
    """The recorded situations that no rule of the selection was made for."""
    return [each for each in read_situations() if each.name.rpartition(" ")[0] in HELD_OUT]


def find_lacking(situation: Situation) -> list[str]:
    """The needs that no shown tool serves; a need that no tool of the golem could serve is an error of the label."""
    own = toolset_of(*situation.profiles)
    task = classify_task(
        phase=Phase(situation.phase),
        regime=situation.regime,
        probes=situation.probes,
        anomalies=situation.anomalies,
        interventions=situation.words,
    )
    shown = select_tools(
        toolset=own,
        task=task,
        interventions=situation.words,
        probes=situation.probes,
        anomalies=situation.anomalies,
    )
    assert len(shown) <= MOST_TOOLS
    assert {name for need in situation.needs for name in need.split("|")} <= set(own.tools)
    return [need for need in situation.needs if not set(need.split("|")) & set(shown.tools)]

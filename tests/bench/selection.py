"""How often a model is shown the tools its situation asks for: over all recorded ticks, and over those held out."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.figures import Figure, measure
from tests.golem_project.heartbeat.thinking.recorded.judging import find_lacking, list_held_out
from tests.golem_project.heartbeat.thinking.recorded.recorder import Situation, read_situations

LEAST_PERCENT = 98.0


@measure("selection")
def measure_selection() -> Iterator[Figure]:
    """Situations in which every needed tool is among the twelve, in percent."""
    everything, held_out = read_situations(), list_held_out()
    told = _share(held_out)
    yield Figure(
        "selection.shown",
        "recorded situations in which the needed tools are shown",
        _share(everything),
        "%",
        target=LEAST_PERCENT,
        at_least=True,
        reference=f"{len(everything)} situations; of {len(held_out)} that no rule was made for {told:g} %",
    )
    yield Figure("selection.held_out", "of those that no rule was made for", told, "%")


def _share(situations: list[Situation]) -> float:
    shown = sum(not find_lacking(each) for each in situations)
    return round(100 * shown / len(situations), 1)

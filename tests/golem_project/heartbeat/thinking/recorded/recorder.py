"""Keeps what a golem's own tick wrote of a situation, beside the tools that the situation asks for.

A label follows from what was done to the golem and never from what is read of it: what must be left asks for the tool
that takes it out, a debt in danger for its repayment at its lender, a position that the price left for its removal,
fees for their collection, a paid queue for the claim, idle money under a rule for opening, a missing side for a swap,
what is quiet or doubtful for the read that shows it, and an owner's words for the tool that carries them out. `a|b`
is either.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from archetypes_app.models import Golem
from golem_project.heartbeat.owner_controls import steer_golem
from tests.catalogue.stage import Stage
from tests.golem_project.heartbeat.pulses import tick
from tools_app.core import clock

FILE: Final = Path(__file__).with_name("situations.jsonl")


@dataclass(frozen=True)
class Situation:
    """What one tick wrote. `profiles` are the golem's; `needs` is the label."""

    name: str
    cause: str
    needs: tuple[str, ...]
    profiles: tuple[str, ...]
    phase: str
    regime: str
    probes: dict[str, Any]
    anomalies: tuple[str, ...]
    words: tuple[str, ...]


@dataclass
class Recorder:
    """One golem's story, tick by tick."""

    story: str
    stage: Stage
    profiles: tuple[str, ...]
    seen: list[Situation] = field(default_factory=list)

    def see(self, cause: str, *needs: str, words: str = "", phase: str = "") -> None:
        """Let the golem tick and keep what it wrote; an owner's `words` and a `phase` come first."""
        golem = self.stage.live.golem
        if phase:
            Golem.objects.filter(pk=golem.pk).update(phase=phase)
        if words:
            steer_golem(golem=golem, text=words, actor="owner:1", now=clock.now())
        before = Golem.objects.values_list("phase", flat=True).get(pk=golem.pk)
        record = tick(golem)
        assert record.tick.status == "COMPLETE", record.outcome
        self.seen.append(
            Situation(
                name=f"{self.story} {len(self.seen) + 1}",
                cause=cause,
                needs=needs,
                profiles=self.profiles,
                phase=before,
                regime=record.regime,
                probes=record.probes,
                anomalies=tuple(record.anomalies),
                words=tuple(str(each["text"]) for each in record.interventions if "text" in each),
            )
        )


def read_situations() -> list[Situation]:
    """The committed ones."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    listed = ("needs", "profiles", "anomalies", "words")
    return [Situation(**{**row, **{name: tuple(row[name]) for name in listed}}) for row in rows]


def write_situations(found: list[Situation]) -> None:
    """Put these in the place of those of the same stories, in the order of names."""
    stories = {each.name.rpartition(" ")[0] for each in found}
    known = read_situations() if FILE.exists() else []
    kept = [each for each in known if each.name.rpartition(" ")[0] not in stories]
    rows = sorted((*kept, *found), key=lambda each: (each.name.rpartition(" ")[0], int(each.name.rpartition(" ")[2])))
    text = "".join(json.dumps(asdict(each), sort_keys=True) + "\n" for each in rows)
    FILE.write_text(text, encoding="utf-8")

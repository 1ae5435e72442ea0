"""Says how a golem gets out of each position: what a halt does, what it waits for and until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.actions.halt import UNWOUND_STEP, list_exits
from permits_app.halts.halt_leftovers import read_line
from permits_app.models import HaltRecord
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.pages.html import show_badge
from tools_app.toolkit.protocol import SHELF, SIMULATED
from tools_app.wording.formats import format_age


@dataclass(frozen=True, slots=True)
class ExitLine:
    """One position on its way out. `due` is empty where nothing is waited for; `permit_id` the last step's permit."""

    label: str
    protocol: str
    state: SafeString
    words: str
    due: str
    permit_id: str


@dataclass(frozen=True, slots=True)
class ToldExit:
    """What a halt's steps, or the list of open positions, say of one position. `until` is in Unix seconds."""

    venue: object = ""
    label: object = ""
    position: object = ""
    outcome: object = ""
    reason: object = ""
    failed: object = None
    until: int | None = None
    next_step: object = None
    permit_id: object = ""
    is_simulated: object = None


def list_halt_exits(golem: Golem, *, now: datetime) -> tuple[ExitLine, ...]:
    """What the halt that holds has done with each position; nothing unless it is halted and unwinds."""
    if not golem.is_halted:
        return ()
    record = HaltRecord.objects.filter(golem=golem, epoch=golem.halt_epoch).first()
    steps = record.steps if record is not None else []
    told: list[dict[str, object]] = next(
        (step.get("positions", []) for step in steps if step.get("step") == UNWOUND_STEP), []
    )
    return tuple(describe_exit(each, now=now) for each in told)


def foretell_exits(golem: Golem, *, now: datetime) -> tuple[tuple[ExitLine, ...], str]:
    """The next step out of every open position, read from the chain; and why it could not be read, or nothing."""
    try:
        return tuple(describe_exit(each, now=now) for each in list_exits(golem=golem, now=now)), ""
    except GolemError as error:
        return (), error.detail


def describe_exit(told: Mapping[str, object], *, now: datetime) -> ExitLine:
    """One line of a halt's steps, or of the list of open positions, in words."""
    step = read_stored(ToldExit, told)
    state, words = _say(step, told)
    due = ""
    if step.until is not None:
        when = datetime.fromtimestamp(step.until, tz=UTC)
        due = f"{format_age(when, now=now)}, about {when:%Y-%m-%d %H:%M} UTC"
    elif step.outcome == "waits":
        due = "nobody knows when"
    protocol = SHELF.get(str(step.venue))
    mark = SIMULATED if step.is_simulated else ""
    return ExitLine(
        label=str(step.label or step.position),
        protocol=(protocol.label if protocol is not None else str(step.venue)) + mark,
        state=state,
        words=words,
        due=due,
        permit_id=str(step.permit_id),
    )


def _say(step: ToldExit, told: Mapping[str, object]) -> tuple[SafeString, str]:
    reason, outcome = str(step.reason), str(step.outcome)
    if step.failed:
        return show_badge("failed, tried again", "bad"), outcome
    if outcome == "waits":
        return show_badge("waits", "busy"), reason
    if outcome == "its owner is needed":
        return show_badge("needs you", "bad"), reason
    if (line := read_line(told)).stays:
        dust = f"{line.stays} stays: {line.why_it_stays}"
        return show_badge("out but for dust", "good"), f"{reason}; {dust}" if reason else dust
    if outcome == "COMMITTED" or outcome.startswith("nothing is left"):
        return show_badge("out", "good"), reason or "nothing is left in it"
    if outcome:
        return show_badge(outcome, "warn"), reason
    if step.next_step is not None:
        return show_badge("can be left now", "good"), reason or str(step.next_step).replace("_", " ")
    return show_badge("not looked at yet", "quiet"), ""

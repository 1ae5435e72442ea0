"""Tells a planner how actions ended after their tick, and what a local write answered.

A command that waited for its owner ran while nobody listened; what it printed is what its golem waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from permits_app.models import ActionPermit
from permits_app.models.action_record import ActionState
from permits_app.safety.hooks.result_filter import filter_result

_MOST_CHARACTERS: Final = 4_000


def tell_answers(
    ended: Sequence[Mapping[str, Any]],  # Any: JSON that a tick stored
) -> tuple[Mapping[str, object], ...]:
    """`ended` as the heartbeat keeps it, with `answer` where a local write was carried out: cut, and marked as it was.

    What sent transactions is told by its outcome; nothing is kept twice.
    """
    done = [each["permit_id"] for each in ended if each["state"] == ActionState.EXECUTED]
    if not done:
        return tuple(ended)
    rows = ActionPermit.objects.filter(pk__in=done, calls=[]).values_list("pk", "result")
    answers = {str(permit_id): result.get("data") for permit_id, result in rows}
    return tuple(
        {**each, "answer": filter_result(answer, most_characters=_MOST_CHARACTERS)}
        if (answer := answers.get(each["permit_id"]))
        else each
        for each in ended
    )

"""Work on what a commit worker's wake-up leads to: the permit it names, or the one whose turn it is."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from permits_app.actions.commit import commit_permit
from permits_app.execution.commit_lease import handed_on
from permits_app.execution.commit_turns import PLACES, list_turns
from tools_app.core import clock
from tools_app.core.json_types import JsonObject

# One wake-up ends some time, whatever waits; the others and the sweep go on.
_MOST_AT_A_TIME: Final = 20


def commit_in_turn(*, permit_id: UUID) -> list[JsonObject]:
    """The permits that were worked on, as agents see them; often the one, none where others have all there is.

    More than one where somebody else's wake-up had found no place meanwhile.
    """
    done: list[dict[str, object]] = []
    # In the order in which they came; a wake-up is spent once it was looked at, also where it found no place.
    wanted: dict[UUID, None] = {permit_id: None}
    try:
        for _ in range(_MOST_AT_A_TIME):
            named = next(iter(wanted), None)
            if named is None:
                break
            del wanted[named]
            with handed_on(named):
                had_place, worked = _work_on_next(named)
            if worked is not None:
                done.append(worked)
            if had_place:
                wanted |= dict.fromkeys(PLACES.take_missed())
    finally:
        PLACES.leave_missed(wanted)
    return done


def _work_on_next(permit_id: UUID) -> tuple[bool, dict[str, object] | None]:
    """Whether there was a place for anything, and the permit that was worked on in it."""
    had_place = False
    for turn in list_turns(permit_id=permit_id, now=clock.now()):
        with PLACES.hold(turn) as has_place:
            had_place |= has_place
            worked = commit_permit(permit_id=turn.permit_id) if has_place else None
        if worked is not None:
            return True, worked
    return had_place, None

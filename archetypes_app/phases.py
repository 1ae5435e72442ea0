"""Behavioural phases, other names for them, and what each phase allows.

Pure: no framework.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.toolkit.enums import ActionClass, Phase

_ORDER = (Phase.THRIVING, Phase.CAUTIOUS, Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL)

_ALLOWED: dict[Phase, frozenset[ActionClass]] = {
    Phase.THRIVING: frozenset(ActionClass),
    Phase.CAUTIOUS: frozenset(ActionClass),
    Phase.DEFENSIVE: frozenset(ActionClass) - {ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION},
    Phase.SURVIVAL: frozenset({ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION, ActionClass.READ_ONLY}),
    Phase.TERMINAL: frozenset({ActionClass.CLOSE_POSITION, ActionClass.READ_ONLY}),
}


SAYS: Final[Mapping[Phase, str]] = {
    Phase.THRIVING: "every kind of action",
    Phase.CAUTIOUS: "every kind of action",
    Phase.DEFENSIVE: "what shrinks, closes or rebalances a position, and reads",
    Phase.SURVIVAL: "what shrinks or closes a position, and reads",
    Phase.TERMINAL: (
        "what closes a position, a part taken out that comes back to the golem as a step of leaving whole, what pays a"
        " debt, and reads"
    ),
}
"""What each phase allows, in the words that agents, models and owners are told at every door."""


def is_allowed(phase: Phase, action_class: ActionClass) -> bool:
    """Whether a golem in `phase` may act in this class."""
    return action_class in _ALLOWED[phase]


def is_worse(phase: Phase, than: Phase) -> bool:
    """Whether `phase` is further along the one-way road than `than`."""
    return _ORDER.index(phase) > _ORDER.index(than)


def phase_of_vitality(vitality_millionths: int) -> Phase:
    """The phase of a vitality in millionths: above 0.7 thriving, then from 0.5, 0.3 and 0.1 the next, else terminal."""
    if vitality_millionths > 700_000:
        return Phase.THRIVING
    if vitality_millionths >= 500_000:
        return Phase.CAUTIOUS
    if vitality_millionths >= 300_000:
        return Phase.DEFENSIVE
    if vitality_millionths >= 100_000:
        return Phase.SURVIVAL
    return Phase.TERMINAL

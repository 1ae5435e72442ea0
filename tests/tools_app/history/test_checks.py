"""Settings of the index that contradict one another are told at the start."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.checks import run_checks


def told() -> set[str]:
    return {message.id for message in run_checks() if message.id in {"golem.E201", "golem.E202", "golem.W201"}}


def test_the_settings_as_they_come_are_sound() -> None:
    assert told() == set()


@pytest.mark.parametrize(
    ("name", "sound", "wrong", "said"),
    [
        ("GOLEM_HISTORY_BACK_DAYS", 90, 91, "golem.E201"),
        ("GOLEM_HISTORY_HOUR_DAYS", 90, 89, "golem.E202"),
        ("GOLEM_HISTORY_QUESTIONS_PER_MINUTE", 9, 8, "golem.W201"),
    ],
)
def test_what_contradicts_is_named_and_its_edge_is_sound(
    name: str, sound: int, wrong: int, said: str, settings: Any
) -> None:
    setattr(settings, name, sound)
    assert told() == set()
    setattr(settings, name, wrong)
    assert told() == {said}
    settings.GOLEM_HISTORY_IS_ON = False
    assert told() == set(), "an index that is off contradicts nothing"

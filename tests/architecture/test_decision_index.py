"""Every decision stands in one room of the index, under a number of its own."""

from __future__ import annotations

import tomllib
from collections import Counter

from tests.architecture.decision_index import FOLDER, PAGE, list_decisions, write_page


def test_each_decision_has_one_number_and_one_room() -> None:
    rooms = tomllib.loads((FOLDER / "rooms.toml").read_text(encoding="utf-8"))
    placed = Counter(number for room in rooms.values() for number in room["numbers"])
    assert [number for number, count in placed.items() if count > 1] == []
    assert set(list_decisions()) - set(placed) == set(), "a decision without a room"
    assert set(placed) - set(list_decisions()) == set(), "a number without a decision"


def test_the_index_is_as_its_command_writes_it() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page()

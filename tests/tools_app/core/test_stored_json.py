"""A column of JSON is read into its type and written back as it was."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tools_app.core.stored_json import IntText, read_stored, write_stored


@dataclass(frozen=True, slots=True)
class Leg:
    token: str
    raw: IntText


@dataclass(frozen=True, slots=True)
class Held:
    legs: tuple[Leg, ...]
    debt: IntText | None
    note: str = ""


HELD = Held((Leg("WETH", 2**200),), None, "said")


def test_a_value_comes_back_as_it_was_stored() -> None:
    stored = write_stored(HELD)
    assert stored == {"legs": [{"token": "WETH", "raw": str(2**200)}], "debt": None, "note": "said"}
    assert read_stored(Held, stored) == HELD


def test_what_a_row_of_before_lacks_has_its_default_and_what_is_known_to_nobody_is_left_out() -> None:
    assert read_stored(Held, {"legs": [], "debt": "7", "long_gone": 1}) == Held((), 7)


@pytest.mark.parametrize("stored", [{"debt": None}, {"legs": [], "debt": "seven"}, {"legs": [{}], "debt": None}, None])
def test_what_is_none_of_the_type_is_refused(stored: object) -> None:
    with pytest.raises(ValueError, match="validation error"):
        read_stored(Held, stored)

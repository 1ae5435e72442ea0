"""Whole numbers of JSON at the edges of what arrives as it was written."""

from __future__ import annotations

import pytest

from tools_app.core.exact_numbers import LARGEST_EXACT, read_whole


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        (f"{LARGEST_EXACT}.0", LARGEST_EXACT),
        (f"-{LARGEST_EXACT}.0", -LARGEST_EXACT),
        (f"{LARGEST_EXACT + 1}.0", None),
        (f"-{LARGEST_EXACT + 1}.0", None),
        ("5.5", None),
        ("5e0", 5),
    ],
)
def test_a_spelling_is_the_integer_it_is_worth_up_to_the_last_that_a_double_tells_apart(
    text: str, worth: int | None
) -> None:
    assert read_whole(text) == worth


def test_a_spelling_of_eighty_letters_is_read_and_a_longer_one_is_none() -> None:
    assert read_whole("5." + "0" * 78) == 5
    assert read_whole("5." + "0" * 79) is None

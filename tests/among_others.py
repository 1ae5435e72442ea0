"""Rows of other people in the database, before a test begins: what a query must leave out.

Most tests begin with an empty database, where a query that lost one of its conditions finds the same rows. Those of the
files listed here begin with what `rows_of_others.py` makes of a stranger, so that each of them is also a test of whose
rows its queries take, and in which state.
"""

from __future__ import annotations

from typing import Final

import pytest

FILES: Final[tuple[str, ...]] = ()
ALONE: Final[frozenset[str]] = frozenset()
"""Tests of those files that count what is there, as a sweep does: file and function."""


def is_among_others(nodeid: str) -> bool:
    """Whether that test begins with a stranger's rows."""
    file, _, name = nodeid.removeprefix("tests/").partition("::")
    return file in FILES and f"{file}::{name.partition('[')[0]}" not in ALONE


@pytest.fixture
def among_others() -> None:
    """A stranger's rows."""
    # Not before: the product would be loaded when the run begins.
    from tests.rows_of_others import insert_rows_of_others  # noqa: PLC0415

    insert_rows_of_others()

"""Every threshold outside the safety chain names the test that stands on its edge, or says why it has none.

`thresholds.toml` holds the table: under `tests` what is tested, under each other heading what is not, for the reason
given here. What is `open` is a rule for which no test at its edge is known; there may only become fewer of these.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Final

from tests.architecture.sources import ROOT
from tests.architecture.thresholds import list_thresholds
from tests.batches import in_batches

TABLE: Final = tomllib.loads((ROOT / "tests/architecture/thresholds.toml").read_text(encoding="utf-8"))
TESTS: Final[dict[str, str]] = TABLE["tests"]
NO_RULE: Final = {
    "units": "a unit, or a size that a standard or a chain lays down; nobody decides how large it is",
    "paced": "how much is done at once, or how long something waits before it is looked at again, and no more",
    "shown": "how much of something is shown, told or written down; nothing is refused by it",
    "kept": "how much is remembered, or how long; what is not is read or made anew",
}
OPEN: Final = 0


def test_every_threshold_has_its_line_and_no_line_is_of_another() -> None:
    listed = Counter([*TESTS, *(name for heading in (*NO_RULE, "open") for name in TABLE[heading]["constants"])])
    assert set(TABLE) == {"tests", "open", *NO_RULE}
    assert [name for name, count in listed.items() if count > 1] == []
    found = list_thresholds()
    assert found - set(listed) == set(), "a threshold without a line"
    assert set(listed) - found == set(), "a line of what is no threshold any more"


@in_batches("threshold", TESTS)
def test_the_test_at_the_edge_is_there(threshold: str) -> None:
    path, _, name = TESTS[threshold].partition("::")
    assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8")


def test_no_more_thresholds_become_untested() -> None:
    assert len(TABLE["open"]["constants"]) <= OPEN

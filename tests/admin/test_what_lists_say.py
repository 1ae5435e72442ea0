"""What each list of the admin says of a row, word for word, as it is written down in `what_lists_say.json`.

A figure, a sign or a word that changes in a cell is otherwise missed by nobody but its reader. What is drawn by chance
is left out of the words. `GOLEM_KEEP_PAGES=1` on a run of this file writes it anew, so that a review sees what changed.
"""

from __future__ import annotations

import html
import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.contrib.admin.templatetags.admin_list import results

from tests import factories
from tests.admin.members import log_in
from tests.admin.rows import MAKERS, page
from tests.admin.test_whose_rows_in_which_order import set_clock

WRITTEN: Final = Path(__file__).with_name("what_lists_say.json")
MADE: Final = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
_TAG = re.compile(r"<[^>]+>")
# A column that the database or a default of a model fills by itself shows the time of the run.
_OF_THE_RUN = re.compile(r"(?!2026-03-0)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
# The number of a person's row, as audits name them.
_WHO = re.compile(r"(?<=user:)\d+|(?<=owner:)\d+")
_BY_CHANCE = re.compile(r"0x[0-9a-fA-F…]+|[0-9a-f]{8}-[0-9a-f-]{4,27}|[0-9a-f]{16,}|kind-\w+|golem_[\w-]+…?")

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("model", sorted(MAKERS))
def test_a_list_says_of_a_row_what_is_written_down(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, MADE)
    golem = factories.make_golem(owner=factories.make_owner(name="ana"), name="Atlas")
    row = MAKERS[model](golem)
    set_clock(monkeypatch, MADE + timedelta(minutes=3))
    shown = log_in(golem.owner).get(page(model, "changelist")).context["cl"]
    [at] = [number for number, each in enumerate(shown.result_list) if each.pk == row.pk]
    said = [read_cell(cell, row) for cell in list(results(shown))[at]]
    written: dict[str, Any] = json.loads(WRITTEN.read_text(encoding="utf-8")) if WRITTEN.exists() else {}
    if os.environ.get("GOLEM_KEEP_PAGES") == "1":
        WRITTEN.write_text(
            json.dumps(dict(sorted({**written, model: " | ".join(said)}.items())), indent=1, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
        return
    assert " | ".join(said) == written[model]


def read_cell(cell: str, row: Any) -> str:
    if 'type="checkbox"' in cell:
        return ""
    return hide_chance(html.unescape(_TAG.sub(" ", str(cell))), row)


def hide_chance(words: str, row: Any) -> str:
    """The words on one line, without what is drawn by chance or has the time of the run."""
    words = _OF_THE_RUN.sub("…", " ".join(words.split()))
    if words and words == str(getattr(row, "nonce", "")):
        return "…"
    words = _WHO.sub("…", words)
    return _BY_CHANCE.sub("…", words.replace(str(row.pk), "…") if len(str(row.pk)) > 8 else words)

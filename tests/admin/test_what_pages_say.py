"""What the page of each row and its line in the list say in every state of the row, as in `what_pages_say.json`.

A row is made as the admin's tests make it, and once more for each other state, time and switch. Of the first the page
stands there line by line, of the others what it says otherwise; a state that changes nothing is not in the file. A line
that is told in the wrong state, or no longer in the right one, is otherwise missed by nobody but its reader. What is
drawn by chance is left out of the words.
GOLEM_WRITE_SNAPSHOTS=1 writes the file anew, so that a review sees what changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
from django.contrib.admin.templatetags.admin_list import results
from django.db import DatabaseError, models, transaction
from django.test import Client

from tests import factories
from tests.admin.members import log_in
from tests.admin.rows import MAKERS, form_page, page
from tests.admin.test_what_lists_say import hide_chance, read_cell
from tests.admin.test_whose_rows_in_which_order import set_clock
from tests.admin.written_lines import read_lines, write_lines
from tests.rows_in_every_state import AS_MADE, list_changes

pytestmark = [pytest.mark.django_db, pytest.mark.locks_at_will]
WRITTEN: Final = Path(__file__).with_name("what_pages_say.json")
MADE: Final = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
_CONTENT: Final = "content"
# The number of a row, and one that a golem's id gives.
OF_THE_ROW: Final = re.compile(r"(?<=nonce )\d+|(?<=\"decision_id\": \")\d+|[0-9a-f]{6}…[0-9a-f]{4}")
# Tags that stand within a line, those that hold nothing, and those whose text nobody reads.
_INLINE: Final = {"a", "abbr", "b", "code", "em", "i", "span", "strong", "small", "time", "sup", "button", "label"}
_EMPTY: Final = {"br", "img", "input", "hr", "meta", "link", "path", "rect", "line", "circle", "polyline", "use"}
_UNREAD: Final = {"script", "style", "template", "noscript"}


class _Reader(HTMLParser):
    """The lines of the element with the id `content`, or of all of a part of a page, and what its fields hold."""

    def __init__(self, *, is_part: bool) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._depth, self._unread = int(is_part), 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if self._depth or told.get("id") == _CONTENT:
            self._depth += tag not in _EMPTY
            self._unread += tag in _UNREAD
            if tag not in _INLINE:
                self.lines.append("")
            self._tell_field(tag, told)

    def _tell_field(self, tag: str, told: dict[str, str | None]) -> None:
        if tag == "input" and told.get("type") not in ("hidden", "submit"):
            held = ("on" if "checked" in told else "off") if told.get("type") == "checkbox" else told.get("value") or ""
            self.lines.append(f"[{held}]")
        elif tag == "option":
            self.lines.append("* " if "selected" in told else "")

    def handle_endtag(self, tag: str) -> None:
        if self._depth and tag not in _EMPTY:
            self._depth -= 1
            self._unread -= tag in _UNREAD
            if tag not in _INLINE:
                self.lines.append("")

    def handle_data(self, data: str) -> None:
        if self._depth and not self._unread:
            self.lines[-1] += data


def read_page(told: str) -> list[str]:
    reader = _Reader(is_part=f'id="{_CONTENT}"' not in told)
    reader.feed(told)
    return [line for each in reader.lines if (line := " ".join(each.split()))]


def shorten_long(line: str) -> str:
    """Of the long texts the first word and the last that is shown."""
    return re.sub(r"\bw100 (?:w\d+ )+(w\d*)", r"w100 … \1", line)


def list_states(row: Any) -> Iterator[tuple[str, Any]]:
    """The row, and after it the same in every other state that the database lets it have."""
    yield AS_MADE, row
    for name, value, label in [*list_changes(row), *_list_long(row)]:
        with suppress(DatabaseError, ValueError), transaction.atomic():
            type(row)._base_manager.filter(pk=row.pk).update(**{name: value})
            yield label, type(row)._base_manager.get(pk=row.pk)
            transaction.set_rollback(True)


def _list_long(row: Any) -> Iterator[tuple[str, Any, str]]:
    """Texts that fill their column, or of 300 words where it has no end: what is cut shows where."""
    # Of five characters with its gap each, so that a cut at a round number ends in a word.
    words = " ".join(f"w{number}" for number in range(100, 400))
    for field in row._meta.concrete_fields:
        held = getattr(row, field.attname)
        if isinstance(field, models.TextField | models.CharField) and not field.choices and _is_prose(held):
            yield field.attname, words[: field.max_length], f"{field.name} long"


def _is_prose(held: Any) -> bool:
    """Whether people wrote it, or nobody yet: neither one word of a program nor a number or an address."""
    return held == "" or (isinstance(held, str) and " " in held)


def say(browser: Client, model: str, row: Any) -> list[str]:
    """The row by its name, its cells in the list, and the lines of its page."""
    shown = browser.get(page(model, "changelist")).context["cl"]
    at = [number for number, each in enumerate(shown.result_list) if each.pk == row.pk]
    cells = [read_cell(cell, row) for cell in list(results(shown))[at[0]]] if at else ["not in the list"]
    lines = read_page(browser.get(form_page(model, row.pk), follow=True).content.decode())
    told = [f"name: {row}", f"list: {' | '.join(cells)}", *lines]
    return [shorten_long(OF_THE_ROW.sub("…", hide_chance(each, row))) for each in told]


def compare(first: list[str], other: list[str]) -> list[str]:
    """Lines that only the first has, with a minus, and that only the other has, with a plus."""
    gone, new = [each for each in first if each not in other], [each for each in other if each not in first]
    return [*(f"- {each}" for each in gone), *(f"+ {each}" for each in new)]


@pytest.mark.parametrize("model", sorted(MAKERS))
def test_a_page_says_of_a_row_in_each_state_what_is_written_down(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, MADE)
    golem = factories.make_golem(owner=factories.make_owner(name="ana"), name="Atlas")
    browser = log_in(golem.owner)
    said: dict[str, list[str]] = {}
    for label, row in list_states(MAKERS[model](golem)):
        set_clock(monkeypatch, MADE + timedelta(minutes=3))
        told = say(browser, model, row)
        if told := compare(said[AS_MADE], told) if AS_MADE in said else told:
            said[label] = told
        set_clock(monkeypatch, MADE)
    written = read_lines(WRITTEN)
    if os.environ.get("GOLEM_WRITE_SNAPSHOTS") == "1":
        write_lines(WRITTEN, {name: each for name, each in {**written, model: said}.items() if name in MAKERS})
        return
    assert said == written[model]

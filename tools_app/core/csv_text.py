"""Rows as CSV that a spreadsheet reads as data: a text that it would run is quoted."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from tools_app.core.invisible_text import drop_invisible

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@")
_SPLITS_CELLS = ("\t", "\r", "\n")


def write_rows(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """A header and a line for each row, one at a time. Numbers stay numbers; None is empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=columns)
    writer.writeheader()
    for row in rows:
        yield _take(out)
        writer.writerow({name: quote_cell(value) for name, value in row.items()})
    yield _take(out)


def quote_cell(value: object) -> object:
    """The value as a cell: a text that begins like a formula gets a quote before it."""
    if value is None or isinstance(value, int | Decimal):
        return value
    text = str(value)
    # Full-width signs, and signs behind spaces or invisible characters, are read as the plain ones.
    read = unicodedata.normalize("NFKC", drop_invisible(text)).lstrip()
    is_run = read.startswith(_RUN_BY_SPREADSHEETS) or text.startswith(_SPLITS_CELLS)
    return f"'{text}" if is_run else text


def _take(out: io.StringIO) -> str:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text

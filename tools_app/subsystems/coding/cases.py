"""Describes, case by case, what the reads of a golem's folder tell of a small program in it."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import ReadCase

_PROGRAM: Final = "its folder holds a program of two files"
_TEXT: Final = "value.content.0.text"
_OUTSIDE: Final = ({"path": "../other"}, "PATH_REFUSED")
_NOT_THERE: Final = ({"path": "src/none.py"}, "FILE_NOT_FOUND")

READS: Final = (
    ReadCase(
        "coding_read",
        {"path": "src/main.py", "offset": 2, "limit": 1},
        {"untrusted": True, _TEXT: "def run():\n[Lines 2-2 of 3. Go on with offset=3.]", "value.continue_at": 3},
        given=(_PROGRAM,),
        refuses=(
            _OUTSIDE,
            _NOT_THERE,
        ),
        most_exchanges=0,
    ),
    ReadCase(
        "coding_grep",
        {"pattern": r"def \w+", "include": "*.py"},
        {"untrusted": True, _TEXT: "src/main.py:2: def run():"},
        given=(_PROGRAM,),
        refuses=(_OUTSIDE, _NOT_THERE, ({"pattern": "("}, "PATTERN_REFUSED")),
        most_exchanges=0,
    ),
    ReadCase(
        "coding_find",
        {"pattern": "*", "type": "f"},
        {"untrusted": True, _TEXT: "notes.txt\nsrc/main.py"},
        given=(_PROGRAM,),
        refuses=(_OUTSIDE, _NOT_THERE, ({"path": "notes.txt"}, "PATH_REFUSED")),
        most_exchanges=0,
    ),
)

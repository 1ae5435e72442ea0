"""Files of what pages say: JSON in which the lines of one page, or of one state of a row, stand in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

_BETWEEN: Final = " ¦ "


def read_lines(path: Path) -> dict[str, Any]:  # Any: lines by name, or by name and state
    """What is written down, as lists of lines; nothing where there is no file yet."""
    return (
        {name: _split(told) for name, told in json.loads(path.read_text(encoding="utf-8")).items()}
        if path.exists()
        else {}
    )


def write_lines(path: Path, said: dict[str, Any]) -> None:  # Any: lines by name, or by name and state
    """Write it anew, in the order of the names."""
    kept = {name: _join(said[name]) for name in sorted(said)}
    path.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def _split(told: Any) -> Any:  # Any: one text, or texts by state
    return told.split(_BETWEEN) if isinstance(told, str) else {state: _split(each) for state, each in told.items()}


def _join(said: Any) -> Any:  # Any: lines, or lines by state
    return _BETWEEN.join(said) if isinstance(said, list) else {state: _join(each) for state, each in said.items()}

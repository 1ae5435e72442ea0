"""Which parameters and returned fields the tools for lending and staking were specified with, by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

SPECIFIED: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("specified_fields.json").read_text())
"""By tool: `params`, and `returns` with what lies within each field, None where nothing does."""


def list_missing(tool: str, told: Any) -> list[str]:
    """Specified fields that an answer of `tool` lacks, as paths; nothing for a tool that was specified without any."""
    specified = SPECIFIED.get(tool)
    return [] if specified is None else list(_lacks(specified["returns"], told, ""))


def _lacks(fields: Mapping[str, Any], told: Any, path: str) -> Iterator[str]:
    for name, inner in fields.items():
        if not isinstance(told, Mapping) or name not in told:
            yield f"{path}{name}"
        elif inner is not None:
            rows = told[name] if isinstance(told[name], Sequence) else [told[name]]
            for row in rows:
                # What is optional may be none.
                if row is not None:
                    yield from _lacks(inner, row, f"{path}{name}.")

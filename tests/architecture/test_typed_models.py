"""Columns and relations of the database have their own types, so that a missing row is seen by mypy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import PACKAGES, ROOT, list_tracked

_UNTYPED: Final = re.compile(r"^    \w+: Any = (.*)$", re.MULTILINE)
_WITHOUT_TYPES: Final = ("VectorField",)
"""Made by packages that carry no types."""

MODELS: Final = sorted(
    path
    for path in list_tracked()
    if path.split("/")[0] in PACKAGES and ("/models/" in path or path.endswith("models.py"))
)


@pytest.mark.parametrize("app", sorted({path.split("/")[0] for path in MODELS}))
def test_no_column_or_relation_is_of_any_type(app: str) -> None:
    untyped = [
        (path, made)
        for path in MODELS
        if path.startswith(f"{app}/")
        for made in _UNTYPED.findall(Path(ROOT / path).read_text())
        if not made.startswith(_WITHOUT_TYPES) and re.match(r"models\.|\w*Field\(|[A-Z]\w*\(", made)
    ]
    assert untyped == []

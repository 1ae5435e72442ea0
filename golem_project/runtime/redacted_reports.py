"""Writes reports of `bench`, `proof` and `run_demo` as text and JSON without secrets."""

from __future__ import annotations

import json
from pathlib import Path

from tools_app.core.taint import DataSink, clean_for, redact_text


def say(text: str) -> str:
    """`text` as it may be printed."""
    return redact_text(text, sink=DataSink.EXPORT)


def write_report(path: Path, content: object) -> None:
    """Write `content` (JSON-ready) to `path`, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(clean_for(DataSink.EXPORT, content), indent=2) + "\n", encoding="utf-8")

"""Writes log lines as JSON, one object a line, redacted as the others are."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Final

from golem_project.middleware.request_id import NO_REQUEST
from golem_project.runtime import process_name
from tools_app.core import trace_spans
from tools_app.core.log_redaction import LONGEST
from tools_app.core.taint import DataSink, redact_text

_FIELDS: Final = ("request_id", "permit_id", "golem_id")


class JsonFormatter(logging.Formatter):
    """One record as an object: time, level, logger, process, message, the ids that are known, and a trace."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of `record`; no secret and no e-mail address is in any of its words."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": process_name.tell(),
            "message": _redact(record.getMessage() + getattr(record, "left_out", "")),
        }
        for name in _FIELDS:
            value = getattr(record, name, NO_REQUEST)
            if value != NO_REQUEST:
                told[name] = value
        span = trace_spans.current()
        if span is not None:
            told["trace_id"] = span.trace_id
        if record.exc_info:
            told["trace"] = _redact(self.formatException(record.exc_info))
        return json.dumps(told, ensure_ascii=False)


def _redact(text: str) -> str:
    return redact_text(text, sink=DataSink.LOGS)[:LONGEST]

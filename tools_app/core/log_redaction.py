"""Log lines without secrets: message, arguments and traces pass the taint rules once, where the line is made."""

from __future__ import annotations

import logging

from tools_app.core.taint import DataSink, redact_text


class RedactingFormatter(logging.Formatter):
    """A formatter whose finished line, traceback included, holds no secret and no e-mail address."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of `record`, redacted."""
        return redact_text(super().format(record), sink=DataSink.LOGS)

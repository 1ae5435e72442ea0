"""Log lines without secrets: message, arguments and traces pass the taint rules once, where the line is made."""

from __future__ import annotations

import logging
from typing import Final

from tools_app.core.taint import DataSink, redact_text

LONGEST: Final = 16_000
_LAST: Final = 4_000


class RedactingFormatter(logging.Formatter):
    """A formatter whose finished line, traceback included, holds no secret and no e-mail address, and has an end."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of `record`, redacted; of a longer one than LONGEST its beginning and its end."""
        line = redact_text(super().format(record), sink=DataSink.LOGS)
        if len(line) <= LONGEST:
            return line
        kept = LONGEST - _LAST
        return f"{line[:kept]} … {len(line) - LONGEST} characters left out … {line[-_LAST:]}"

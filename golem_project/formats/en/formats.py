"""Dates and times as people and machines both read them; they are UTC everywhere and say so."""

from __future__ import annotations

from typing import Final

DATE_FORMAT: Final = "Y-m-d"
TIME_FORMAT: Final = "H:i:s"
DATETIME_FORMAT: Final = "Y-m-d H:i:s e"

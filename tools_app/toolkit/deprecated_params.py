"""OldShape: the parameters a tool took in an earlier version, and until when they are served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from tools_app.toolkit.schema import ToolParams

SERVED_FOR: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class OldShape:
    """What a tool took in `schema_version`, until `replaced_on`; `renew` says the same in the shape that came after."""

    schema_version: int
    replaced_on: date
    params_model: type[ToolParams]
    renew: Callable[..., Mapping[str, object]]

    @property
    def served_until(self) -> datetime:
        """The moment from which it is refused, UTC."""
        return datetime.combine(self.replaced_on, time(), UTC) + SERVED_FOR

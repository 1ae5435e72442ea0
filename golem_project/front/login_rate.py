"""Limits how fast passwords may be tried from one address."""

from __future__ import annotations

import math
from typing import Final

from django.conf import settings

from tools_app.core import clock

_MOST_KEPT: Final = 10_000


class LoginPace:
    """Of one server process. An address that is forgotten begins anew; the one that was quiet longest is forgotten."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, address: str) -> int:
        """0 where one more may be tried, else the seconds until then."""
        most, now_ms = settings.GOLEM_LOGINS_A_MINUTE_PER_ADDRESS, clock.monotonic_ms()
        left, at_ms = self._left.pop(address, (float(most), now_ms))
        left = min(float(most), left + (now_ms - at_ms) * most / 60_000)
        is_free = left >= 1
        self._left[address] = (left - 1 if is_free else left, now_ms)
        if len(self._left) > _MOST_KEPT:
            del self._left[next(iter(self._left))]
        return 0 if is_free else math.ceil((1 - left) * 60 / most)

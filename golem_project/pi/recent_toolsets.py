"""Caches the toolsets of keys for seconds, so that a fleet's previews do not each resolve one.

Only what is shown is remembered, never what a golem may do: the worker resolves the toolset anew for each preview, so a
tool that its owner took away a moment ago is refused there. What is not found here is looked up anew.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

from archetypes_app.models import ApiKey
from tools_app.core import clock
from tools_app.toolkit.golem_toolset import Toolset

REMEMBERED_MS: Final = 10_000
MOST_REMEMBERED: Final = 256

_Place = tuple[str, tuple[str, ...], int | None]
_shown: dict[_Place, tuple[float, Toolset]] = {}
_lock = Lock()


def recall(key: ApiKey) -> Toolset | None:
    """What `key` was shown in the last ten seconds; None where that is not known or it loaded another tool since."""
    found = _shown.get(_place(key))
    if found is None or clock.monotonic_ms() - found[0] > REMEMBERED_MS:
        return None
    return found[1]


def remember(key: ApiKey, shown: Toolset) -> None:
    """Keep what `key` is shown now; the oldest give way."""
    with _lock:
        _shown.pop(_place(key), None)
        while len(_shown) >= MOST_REMEMBERED:
            _shown.pop(next(iter(_shown)))
        _shown[_place(key)] = (clock.monotonic_ms(), shown)


def _place(key: ApiKey) -> _Place:
    return str(key.pk), tuple(key.loaded_tools), key.most_tools

"""The type of a JSON object whose keys only its reader knows: what doors answer and what outsiders send."""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]  # Any: JSON of no declared shape; a value with known keys has a dataclass instead

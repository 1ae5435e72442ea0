"""Rows of what was learned."""

from __future__ import annotations

from memory_app.models.directive import Directive
from memory_app.models.episode import Episode, EpisodeVector
from memory_app.models.insight import Insight

__all__ = ["Directive", "Episode", "EpisodeVector", "Insight"]

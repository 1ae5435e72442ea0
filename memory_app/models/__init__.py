"""Rows of what was learned."""

from __future__ import annotations

from memory_app.models.directive import Directive
from memory_app.models.dream import DreamJournal
from memory_app.models.episode import Episode, EpisodeVector
from memory_app.models.insight import Insight
from memory_app.models.situation import SituationVector
from memory_app.models.strategy import Execution, Strategy

__all__ = [
    "Directive",
    "DreamJournal",
    "Episode",
    "EpisodeVector",
    "Execution",
    "Insight",
    "SituationVector",
    "Strategy",
]

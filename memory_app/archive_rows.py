"""Rows of an archive as their kinds hold them. What a file says is checked here by its type, and beside its use by its
meaning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArchivedEpisode:
    """One episode of another golem, as its archive tells it."""

    id: str
    summary: str
    importance: str
    tokens: list[object]
    tool_name: str
    content_hash: str
    occurred_at: str
    recorded_by: str
    chain_id: object = None
    action_type: str | None = None
    venue: str | None = None
    prediction: object = None
    outcome: object = None
    reflection: object = None
    prediction_error_bps: object = None
    stability_days: object = None
    dream_tag: str | None = None
    block_number: object = None
    block_hash: str | None = None


@dataclass(frozen=True, slots=True)
class ArchivedInsight:
    """One insight of another golem, as its archive tells it."""

    id: str
    kind: str
    text: str
    category: str
    confidence_percent: int
    recorded_by: str
    tool_name: str | None = None
    chain_id: object = None
    token_keys: list[str] | None = None


@dataclass(frozen=True, slots=True)
class ArchivedStrategy:
    """One strategy of another golem, as its archive tells it."""

    name: str
    description: str
    version: int
    recorded_by: str
    parameters: object = None
    chains: list[int] | None = None
    token_pairs: list[str] | None = None

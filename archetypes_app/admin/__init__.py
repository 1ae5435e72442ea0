"""The admin of archetypes, profiles, API keys, phases and the golem's records."""

from __future__ import annotations

from archetypes_app.admin import api_keys, catalogue, records, vitality

__all__ = ["api_keys", "catalogue", "vitality", "records"]

"""Memory in the browser: episodes, insights, strategies, documents and dreams of one's own golems."""

from __future__ import annotations

from memory_app.admin import directive_versions, dreams, episodes, insights

__all__ = ["directive_versions", "dreams", "episodes", "insights"]

"""Memory in the browser: episodes, insights, strategies, documents and dreams of one's own golems."""

from __future__ import annotations

from memory_app.admin import directives, dreams, episodes, insights

__all__ = ["directives", "dreams", "episodes", "insights"]

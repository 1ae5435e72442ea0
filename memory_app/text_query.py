"""AnyWordQuery: a full-text question of which any one word may match; ranking then prefers those with more of them."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.search import SearchQuery


class AnyWordQuery(SearchQuery):
    """`plainto_tsquery` joins a question's words with AND, which a whole sentence never matches; this joins with OR."""

    def as_sql(self, *args: Any, **kwargs: Any) -> tuple[str, Any]:  # Any: a column's value, of any type
        """The OR form of the parsed question; PostgreSQL quotes each word, so `&` stands only between words."""
        sql, params = super().as_sql(*args, **kwargs)
        return f"replace(({sql})::text, ' & ', ' | ')::tsquery", params

"""Defines what a rule or a hook says when it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field

from permits_app.errors import PolicyRejected
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class Reject:
    """The hook refuses: the rule, what it saw against the limit, what remains and what would pass.

    `code`, `http_status` and `recovery` may replace those of PolicyRejected; figures are text with a unit.
    """

    rule: str
    reason: str
    observed: str = ""
    limit: str = ""
    remaining: str = ""
    resets_at: str = ""
    would_pass: str = ""
    error: type[GolemError] | None = None
    data: JsonObject = field(default_factory=dict)

    def as_error(self, hook: str) -> GolemError:
        """The error that carries this refusal: hook, rule and five figures, null where a rule has none."""
        members: JsonObject = {"hook": hook, "rule": self.rule}
        for key in ("observed", "limit", "remaining", "resets_at", "would_pass"):
            members[key] = getattr(self, key) or None
        return (self.error or PolicyRejected)(self.reason, **{**members, **self.data})

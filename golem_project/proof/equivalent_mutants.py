"""Mutants that change nothing anyone could see, each with the reason: module -> name of the mutant -> why."""

from __future__ import annotations

EQUIVALENT: dict[str, dict[str, str]] = {
    "permits_app.capabilities": {
        "mint: grant.expires_at < expires_at -> grant.expires_at <= expires_at": (
            "at equal times the grant is written once more with the time it has"
        ),
    },
    "permits_app.execution.halt_calls": {
        "_is_revocation: 16 -> 17": "the same digits are zero in both bases, and only zero is asked for",
    },
    "permits_app.safety.hooks.result_filter": {
        "_page: 160 -> 161": "what is set aside for the members that are added is an estimate from above",
    },
}

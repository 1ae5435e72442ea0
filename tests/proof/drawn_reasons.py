"""What is said of drawn mutants that no test notices: module -> name of the mutant -> why."""

from __future__ import annotations

# Nobody could see a difference: they count neither as tried nor as noticed.
CHANGES_NOTHING: dict[str, dict[str, str]] = {}

# Somebody could, and nothing does.
SURVIVES: dict[str, dict[str, str]] = {}

"""Mutants that change nothing anyone could see, each with the reason: module -> name of the mutant -> why."""

from __future__ import annotations

EQUIVALENT: dict[str, dict[str, str]] = {}

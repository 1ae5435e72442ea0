"""The interface of the one-shot token a local write receives.

The concrete token, and the only function that mints one, live in `permits_app/permits/capabilities.py`; no tool
can import it, because tools lie below the safety layer. This stops mistakes and smuggled handles, not
hostile code in our own process; hostile code runs in WASM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID


class Capability(Protocol):
    """Proof that the safety chain agreed to one call of one tool with one plan."""

    @property
    def permit_id(self) -> UUID: ...

    @property
    def tool_name(self) -> str: ...

    @property
    def plan_hash(self) -> str: ...

    @property
    def value_limit_micro_usd(self) -> int: ...

    @property
    def bound(self) -> Mapping[str, Any]:  # Any: JSON, of the protocol's own shape
        """What the effect rested on when it was previewed, as its tool told it; empty for most."""

    def consume(self, *, tool_name: str, plan_hash: str) -> None:
        """Use the token up. Raises CapabilityError on a second use, another tool, another plan, or after expiry."""

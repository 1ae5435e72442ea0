"""What an owner's operation is: its name, its proposal, and the act itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from archetypes_app.models import Golem
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.enums import RiskTier


class UnknownOperation(GolemError):
    code = "UNKNOWN_OPERATION"
    http_status = 404
    recovery = Recovery.CHECK_STATE
    title = "There is no such operation"


@dataclass(frozen=True, slots=True)
class Difference:
    """One line of "before and after", in words."""

    words: str
    before: str
    after: str
    note: str = ""

    def as_dict(self) -> dict[str, str]:
        """JSON-ready."""
        return {"words": self.words, "before": self.before, "after": self.after, "note": self.note}


@dataclass(frozen=True, slots=True)
class Proposal:
    """An operation as it would be asked for now. `change` is what is hashed, approved and later applied, JSON-ready."""

    title: str
    change: dict[str, Any]
    differences: tuple[Difference, ...]
    risk_tier: RiskTier
    cooling_seconds: int = 0
    value_micro_usd: int = 0


class Operation(Protocol):
    """One kind of privileged change that is no permit."""

    name: str

    def propose(self, golem: Golem, arguments: Mapping[str, Any]) -> Proposal:
        """What `arguments` would change now. Raises ChangeUnchanged, InvalidParams."""
        ...

    def check_current(self, golem: Golem, change: Mapping[str, Any]) -> None:
        """Raises ChangeStale when what the change starts from is not so any more. `golem` is locked."""
        ...

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Do it, in the caller's transaction, with `golem` locked; answers facts for the request's page."""
        ...

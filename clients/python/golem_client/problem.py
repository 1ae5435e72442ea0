"""What a golem refuses with (RFC 9457), and what happens when nobody answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class GolemProblem(Exception):
    """A refusal. `code` says what, `recovery` what helps, `members` is the whole problem."""

    def __init__(self, status: int, members: Mapping[str, Any]) -> None:
        self.status = status
        self.members = dict(members)
        self.code = str(members.get("code", ""))
        self.recovery = str(members.get("recovery", ""))
        super().__init__(f"{status} {self.code}: {members.get('detail', '')}")

    @property
    def next_call(self) -> dict[str, Any] | None:
        """The call that the refusal names as right, as it is: `tool` and `arguments`; None where it names none."""
        found = self.members.get("next_call")
        return dict(found) if isinstance(found, Mapping) else None

    @property
    def unfinished_call(self) -> dict[str, Any] | None:
        """What is sure of the right call where only you can finish it: add what `fill` asks for."""
        found = self.members.get("unfinished_call")
        return dict(found) if isinstance(found, Mapping) else None

    @property
    def drops(self) -> list[str]:
        """What you said that the unfinished call does not say: make it only where it is right without."""
        return [str(name) for name in self.members.get("drops", ())]

    @property
    def fill(self) -> dict[str, Any]:
        """What of an unfinished call only you know, with what it may be."""
        return dict(self.members.get("fill", {}))


class GolemUnreachable(Exception):
    """No answer came in all attempts. A write may have happened: ask again with the same `idempotency_key`."""

    def __init__(self, reason: str, *, idempotency_key: str = "") -> None:
        self.idempotency_key = idempotency_key
        super().__init__(reason)

"""Asks whether a golem may call a contract at all, for tools that can choose between two."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from tools_app.toolkit.context import ReadContext


class CallableContracts(Protocol):
    """What an owner listed, as far as that is binding, and what a cage on the chain can let through."""

    def __call__(self, *, golem_id: UUID, chain_id: int, contract: str) -> bool:
        """Whether nothing refuses a call of the golem to `contract` for being that contract."""


def may_call(ctx: ReadContext, chain_id: int, contract: str) -> bool:
    """Asked for the golem of `ctx`; where nobody can tell it may, and the rules judge its plan."""
    if ctx.services.get(CallableContracts) is None:
        return True
    return ctx.service(CallableContracts)(golem_id=ctx.golem.id, chain_id=chain_id, contract=contract)  # type: ignore[type-abstract]

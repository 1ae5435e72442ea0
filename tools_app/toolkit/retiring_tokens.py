"""Tokens that may only fall in a golem's wallet: whoever leaves a position that holds one sells it in the same plan."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from tools_app.toolkit.context import ReadContext


class OnlyFalling(Protocol):
    """The addresses of one golem's tokens that a contract over its account lets only fall; wiring hands it down."""

    def __call__(self, *, golem_id: UUID, chain_id: int) -> frozenset[str]: ...


def list_falling(ctx: ReadContext, chain_id: int) -> frozenset[str]:
    """None where nobody handed the service down. Raises what the database raises."""
    service = ctx.services.get(OnlyFalling)
    return ctx.service(OnlyFalling)(golem_id=ctx.golem.id, chain_id=chain_id) if service else frozenset()  # type: ignore[type-abstract]

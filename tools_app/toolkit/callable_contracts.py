"""Whether a golem may call a contract at all, for tools that can choose between two of them."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from tools_app.toolkit.context import ReadContext


class CallableContracts(Protocol):
    """What owners listed, as far as it is binding, and what a cage on the chain can let through."""

    def may_call(self, golem_id: UUID, chain_id: int, contract: str) -> bool:
        """Whether nothing known here would refuse a call of the golem to a contract for being that contract."""


def may_call(ctx: ReadContext, chain_id: int, contract: str) -> bool:
    """Asked for the golem of `ctx`; where nobody can tell it may, and the rules judge the plan."""
    known = ctx.services.get(CallableContracts)
    return known is None or ctx.service(CallableContracts).may_call(ctx.golem.id, chain_id, contract)

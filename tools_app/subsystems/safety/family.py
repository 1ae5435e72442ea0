"""The family of the `safety_*` reads over a whole account, and its parameters."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from tools_app.core.errors import InvalidParams
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import check_whole

ChainOrAll = Annotated[
    int,
    Field(ge=0, le=2**53 - 1, description="EIP-155 chain id, such as 1 or 8453; 0: every chain of this server."),
    BeforeValidator(check_whole),
]

board = ToolFamily(prefix="safety", category=Category.SAFETY, picks_chain=True)


def choose_account(ctx: ReadContext, account: str | None) -> str:
    """The account that was named, or the golem's own. Raises InvalidParams where there is none."""
    chosen = account or ctx.golem.address
    if chosen is None:
        raise InvalidParams("this golem has no wallet; name an account", fields={"account": "is missing"})
    return chosen

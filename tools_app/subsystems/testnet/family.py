"""The family of the `testnet_*` tools, and the checks they share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools_app.core.errors import InvalidParams
from tools_app.subsystems.testnet.dev_chains import DevChains, DevChainState
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import ShortText

LOCAL_CHAIN_ID = 31_337
VERSIONS = ("v2", "v3")

testnet = ToolFamily(prefix="testnet", category=Category.TESTNET, chains=frozenset({LOCAL_CHAIN_ID}))

Versions = Annotated[list[ShortText], Field(description="Versions of Uniswap: any of v2 and v3."), Meaning.ANY_ORDER]


def open_chains(ctx: WriteContext) -> DevChains:
    """The test chains this process was given. Raises ServiceMissing."""
    return ctx.service(DevChains)  # type: ignore[type-abstract]


def find_chain(ctx: WriteContext, chain_ref: str | None) -> DevChainState:
    """The chain of this golem that is meant, the latest by default. Raises DevChainNotFound."""
    return open_chains(ctx).describe(golem_id=ctx.golem.id, chain_ref=chain_ref)


def check_versions(versions: list[str] | None) -> tuple[str, ...]:
    """The protocol versions a chain should have, once each. Raises InvalidParams."""
    chosen = tuple(dict.fromkeys(versions or VERSIONS))
    if not set(chosen) <= set(VERSIONS):
        raise InvalidParams("versions are v2 and v3", fields={"versions": "any of v2, v3"})
    return chosen

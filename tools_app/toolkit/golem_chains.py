"""Lists the chains of a golem: its home chain, and those its owner allowed.

Everything that sends for a golem, counts what it holds or leaves its positions asks here. Decision 0446.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.tooldef import ToolDef

MOST_CHAINS: Final = 8
"""So many chains one golem may have, its home chain among them: each is read before anything of it grows."""

ETHEREUM: Final = 1
SOURCE_PARAMETER: Final = "source_chain"
"""How a tool that sends from one chain to another calls the chain it sends from."""


class ChainNotAllowed(
    GolemError,
    status=422,
    recovery=Recovery.ASK_OWNER,
    title="The golem may not act on that chain",
    cleared_by="the owner allows the chain on the golem's page, or the action names a chain that is allowed",
):
    """The golem's owner did not allow this chain. `data` has chain_id and allowed_chain_ids."""


class HasChains(Protocol):
    """A golem's row, or what its tools know of it."""

    @property
    def home_chain_id(self) -> int: ...

    @property
    def other_chain_ids(self) -> Sequence[int]: ...


def list_chains(golem: HasChains) -> tuple[int, ...]:
    """Every chain of `golem`, its home chain first and the others by their ids."""
    others = sorted(set(golem.other_chain_ids) - {golem.home_chain_id})
    return (golem.home_chain_id, *others)


def check_allowed(golem: HasChains, chain_id: int) -> None:
    """That `golem` may act on `chain_id`. Raises ChainNotAllowed."""
    allowed = list_chains(golem)
    if chain_id not in allowed:
        raise ChainNotAllowed(
            f"chain {chain_id} is none of the golem's chains: {', '.join(map(str, allowed))}",
            chain_id=chain_id,
            allowed_chain_ids=list(allowed),
        )


def find_chosen(params: Mapping[str, Any], golem: HasChains) -> int:  # Any: a tool's parameters, read by its schema
    """The chain on which a call acts: the one it names, of what goes to another chain the one it leaves, else home."""
    return int(params.get("chain_id") or params.get(SOURCE_PARAMETER) or golem.home_chain_id)


def place_params(tool: ToolDef, params: Mapping[str, object], *, chain_id: int) -> dict[str, object]:
    """`params` of a step that is taken on `chain_id`, which is not the golem's home chain everywhere."""
    if "chain_id" not in tool.params_model.model_fields or params.get("chain_id") is not None:
        return dict(params)
    return {**params, "chain_id": chain_id}


def place_read(tool: ToolDef, params: Mapping[str, object], golem: HasChains) -> dict[str, object]:
    """`params` of a read that names no chain. What is not on the golem's home chain is read where it is: on another of
    the golem's chains, else on Ethereum. A read moves nothing, so no owner has to allow its chain.
    """
    chains = tool.supported_chains
    if chains is None or "chain_id" not in tool.params_model.model_fields or params.get("chain_id") is not None:
        return dict(params)
    own = [chain_id for chain_id in list_chains(golem) if chain_id in chains]
    if golem.home_chain_id in chains or not (own or ETHEREUM in chains):
        return dict(params)
    return {**params, "chain_id": own[0] if own else ETHEREUM}

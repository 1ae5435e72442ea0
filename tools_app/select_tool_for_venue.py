"""The adapter registry: which tool serves (Pi tool, key, venue). It is derived from the toolset: no second map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Need, PiTool, Requirement, ServiceNeed
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.outside_services import ServiceNotSwitchedOn
from tools_app.toolkit.registry import refuse_for_good
from tools_app.toolkit.tooldef import ToolDef


class UnknownAction(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="This golem has no such action"):
    """No tool of this golem serves this action type or query."""


class UnknownVenue(
    GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="This golem has no such venue for the action"
):
    """The action exists, but not at this venue."""


class VenueRequired(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="Several venues serve this action; name one"
):
    """Several venues serve the action and none was named."""


class RequirementMissing(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="What the tool needs is not set up"
):
    """The tool is in the golem's profile but what it needs is not set up. Raised as the requirement's own code."""


class DefinitionNotSeen(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The golem's owner has not seen this tool as it is now"
):
    """The golem is pinned, and this tool reads otherwise than its owner saw, or is new. `tools` are their names."""


class WalletNotConfigured(RequirementMissing, title="This golem has no wallet"):
    pass


def whose(ctx: ReadContext, account: str | None = None) -> str:
    """The account that a read is about: the one that is named, else the golem's. Raises WalletNotConfigured."""
    found = account or ctx.golem.address
    if found is None:
        raise WalletNotConfigured("this golem has no wallet; name an account")
    return found


class MemoryNotEnabled(RequirementMissing, title="This golem has no memory"):
    pass


class SmartWalletNotConfigured(RequirementMissing, title="This golem has no smart wallet"):
    pass


_MISSING: Mapping[Requirement, type[RequirementMissing]] = {
    Requirement.WALLET: WalletNotConfigured,
    Requirement.MEMORY: MemoryNotEnabled,
    Requirement.SMART_WALLET: SmartWalletNotConfigured,
}


def _choose_error(need: Need) -> type[GolemError]:
    return ServiceNotSwitchedOn if isinstance(need, ServiceNeed) else _MISSING[need]


def normalize_key(text: str) -> str:
    """`add-liquidity` and `Add_Liquidity` are `add_liquidity`."""
    return text.strip().lower().replace("-", "_")


def resolve_action(
    *, pi_tool: PiTool, key: str, venue: str | None, toolset: Toolset, known: Iterable[ToolDef]
) -> ToolDef:
    """The one tool of `toolset` that serves (`pi_tool`, `key`, `venue`).

    `known` is every registered tool: it tells a tool dropped for a missing requirement, which answers that
    requirement's code, from one that does not exist here, which answers UnknownAction, or NameRefused for good.
    A word that is no key of the toolset's may be a tool's name, or one that it had before.
    """
    key = normalize_key(key)
    _refuse_unseen(pi_tool, key, venue, toolset, known)
    served = _find_by_word(toolset, pi_tool, key)
    if not served:
        for tool in _find_by_word(known, pi_tool, key):
            if tool.name in toolset.missing:
                requirement = toolset.missing[tool.name]
                raise _choose_error(requirement)(
                    f"{key!r} needs {requirement.value}, which is not set up for this golem; its owner can add it",
                    requirement=requirement.value,
                )
        refuse_for_good(key)
        raise UnknownAction(
            f"{key!r} is not something this golem can do", available=list_keys(toolset=toolset, pi_tool=pi_tool)
        )
    venues = sorted(tool.venue for tool in served)
    if venue is None:
        if len(served) > 1:
            raise VenueRequired(f"{key!r} is served by {', '.join(venues)}", venues=venues)
        return served[0]
    for tool in served:
        if tool.venue == normalize_key(venue):
            return tool
    raise UnknownVenue(f"{key!r} is not served at {venue!r}", venues=venues)


def _refuse_unseen(pi_tool: PiTool, key: str, venue: str | None, toolset: Toolset, known: Iterable[ToolDef]) -> None:
    """Raises DefinitionNotSeen where what is asked for is dropped for that; another venue that is named stays."""
    if not toolset.unseen:
        return
    place = None if venue is None else normalize_key(venue)
    asked = [tool for tool in _find_by_word(known, pi_tool, key) if place in (None, tool.venue)]
    unseen = sorted(tool.name for tool in asked if tool.name in toolset.unseen)
    if unseen and not any(tool.name in toolset for tool in asked):
        raise DefinitionNotSeen(
            f"{key!r} reads otherwise than the golem's owner saw; they look at it on its page and agree, or not",
            tools=unseen,
        )


def _find_by_word(tools: Iterable[ToolDef], pi_tool: PiTool, word: str) -> list[ToolDef]:
    listed = [tool for tool in tools if tool.pi_tool is pi_tool]
    return [tool for tool in listed if tool.key == word] or [
        tool for tool in listed if word in (tool.name, *tool.aliases)
    ]


def list_keys(*, toolset: Toolset, pi_tool: PiTool) -> list[str]:
    """The action types or queries that `toolset` serves through `pi_tool`, sorted."""
    return sorted({tool.key for tool in toolset if tool.pi_tool is pi_tool})


def flatten_params(body: Mapping[str, object]) -> dict[str, object]:
    """One flat object: the spellings `kind` and `type` become `action_type`, a nested `params` is merged.

    Raises AmbiguousParams when two spellings disagree or a nested parameter repeats an outer one.
    """
    flat = {name: value for name, value in body.items() if name != "params"}
    nested = body.get("params")
    if isinstance(nested, Mapping):
        repeated = sorted(set(nested) & set(flat))
        if repeated:
            raise AmbiguousParams(f"given both outside and inside params: {', '.join(repeated)}", fields=repeated)
        flat.update(nested)
    elif nested is not None:
        raise AmbiguousParams("params must be an object", fields=["params"])
    spellings = [name for name in ("action_type", "kind", "type") if name in flat]
    if len(spellings) > 1:
        raise AmbiguousParams(f"several spellings of action_type: {', '.join(spellings)}", fields=spellings)
    if spellings:
        flat["action_type"] = flat.pop(spellings[0])
    return flat


class AmbiguousParams(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="A parameter was given twice"):
    """Two spellings of one parameter, or one parameter twice."""

"""Adds the next call to a refusal, from the caller's own tools and body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from django.db import DatabaseError, InterfaceError
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from archetypes_app.browse_and_load_tools import TIER_QUERIES
from golem_project.pi import serializers as wire
from golem_project.pi.add_known_values import CODES, RefusedCall, add_known
from golem_project.pi.authentication import Agent
from golem_project.pi.definitions import define_tools
from golem_project.pi.json_schema import ReadOnlySchema, SchemaReader
from golem_project.pi.lenient_values import find_mistyped
from golem_project.pi.problem_members import Hints, Members, Problem, ReadOnlyMembers, SuggestedCall
from golem_project.pi.repair_from_refusal import tell_figures
from golem_project.pi.suggest_next_call import browse_tools, complete, teach
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.select_tool_for_venue import list_keys, normalize_key
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import ToolParams, json_schema, validate_params
from tools_app.toolkit.tooldef import ToolDef

_PREFIX: Final = "/api/v1/pi/"
_TEACHES: Final = frozenset(
    {"INVALID_PARAMS", "UNKNOWN_ACTION", "UNKNOWN_VENUE", "VENUE_REQUIRED", "AMBIGUOUS_PARAMS", "CATEGORY_UNKNOWN"}
)
_INPUTS: Final[Mapping[PiTool, type[wire.StrictInput]]] = {
    PiTool.COMMIT_ACTION: wire.CommitActionInput,
    PiTool.CANCEL_ACTION: wire.CancelActionInput,
    PiTool.SEARCH_CONTEXT: wire.SearchContextInput,
    PiTool.QUERY_GRIMOIRE: wire.QueryGrimoireInput,
    PiTool.UPDATE_DIRECTIVE: wire.UpdateDirectiveInput,
    PiTool.EMERGENCY_HALT: wire.EmergencyHaltInput,
}
_KEYS: Final[Mapping[PiTool, str]] = {
    PiTool.PREVIEW_ACTION: "action_type",
    PiTool.QUERY_STATE: "query",
    PiTool.SEARCH_CONTEXT: "read",
    PiTool.QUERY_GRIMOIRE: "read",
}
"""The word that chooses a tool, by the one of the eight that serves it."""
_FIX: Final = Recovery.FIX_PARAMS
_MENDED_BY_SAYING: Final = frozenset({_FIX, Recovery.CHECK_STATE})
"""What a tool refuses with one of these may tell the figures that pass."""
_SHORTEST_PART: Final = 3
"""Letters of a part of a word that says nothing of what is meant, such as get."""
_OWN_ACCOUNT: Final = ("account", "owner")
_BESIDE: Final = frozenset({"action_type", "query", "read", "venue", "cursor", "why", "wish_id"})


def teach_caller(problem: ReadOnlyMembers, request: Request) -> Members:
    """What a refusal that another body would pass says of it (`pi.next_call`); nothing for others."""
    tool = request.path.removeprefix(_PREFIX)
    if request.method != "POST" or not request.path.startswith(_PREFIX):
        return {}
    refusal = Problem(problem)
    code = refusal.code
    is_told = tool == PiTool.PREVIEW_ACTION and refusal.recovery in _MENDED_BY_SAYING
    if code not in (*_TEACHES, *CODES, "UNKNOWN_TOOL") and not is_told:
        return {}
    if code in _TEACHES and refusal.recovery != _FIX:
        return {}
    try:
        # A caller that was refused before it was known, or a database that went away since, is taught nothing.
        agent, body = request.user, request.data
        if not isinstance(agent, Agent):
            return {}
        shown = agent.shelf.shown
        if not isinstance(body, Mapping):
            return {}
        if tool not in list(PiTool):
            return _teach_elsewhere(agent, tool, body) if code == "UNKNOWN_TOOL" else {}
        members = _tell_figures(refusal, agent, PiTool(tool), body)
        if not members and code in _TEACHES:
            members = _teach(refusal, agent, PiTool(tool), body, shown)
        if code not in CODES:
            return members
        return add_known(
            RefusedCall(
                golem=agent.golem,
                toolset=agent.shelf.toolset,
                tool=tool,
                body=body,
                problem=problem,
                members=members,
                now=clock.now(),
            )
        )
    except (APIException, GolemError, DatabaseError, InterfaceError):
        return {}


def _tell_figures(problem: Problem, agent: Agent, pi_tool: PiTool, body: Mapping[str, object]) -> Members:
    """What a tool of an action told of its own parameters, of reads that the golem has."""
    if pi_tool is not PiTool.PREVIEW_ACTION or problem.recovery not in _MENDED_BY_SAYING:
        return {}
    return tell_figures(problem.json, body, queries=agent.shelf.list_words(PiTool.QUERY_STATE))


def _teach(problem: Problem, agent: Agent, pi_tool: PiTool, body: Mapping[str, object], shown: Toolset) -> Members:
    words = agent.shelf.list_words(pi_tool)
    known = (*shown, *(() if agent.shelf.unseen is None else (agent.shelf.unseen,)))
    word = body.get(_KEYS.get(pi_tool, ""))
    members: Members = {}
    if problem.code == "UNKNOWN_ACTION" and isinstance(word, str):
        outside = _tell_outside(agent, pi_tool, word)
        if outside:
            return outside
        rest = {name: value for name, value in body.items() if name != _KEYS[pi_tool]}
        members = _teach_elsewhere(agent, word, rest) or _teach_slip(agent, pi_tool, word, rest)
        members = members or _ask_word(agent, pi_tool, word, rest)
    members = members or teach(
        problem.json, tool=str(pi_tool), body=body, words=words, describe=partial(_describe, known, shown, pi_tool)
    )
    if problem.code == "INVALID_PARAMS" and isinstance(word, str):
        members = _ask_venue(agent, pi_tool, word, body) or members
    members = _name_own_account(members, agent)
    members = _check_call(members, agent)
    if problem.code == "UNKNOWN_ACTION" and agent.key.most_tools is not None:
        # What is not loaded is found by browsing; hundreds of words in a refusal help nobody.
        return {**members, "available": words}
    return members


def _name_own_account(members: Members, agent: Agent) -> Members:
    """Whose account a read is about is the golem's own where nobody said: that is no choice about money."""
    hints = Hints(members)
    call, fill = hints.unfinished_call, dict(hints.fill)
    if call is None or call.tool != PiTool.QUERY_STATE or not agent.golem.address:
        return members
    missing = [name for name in _OWN_ACCOUNT if name in fill and name in hints.missing]
    if not missing:
        return members
    own: Members = {name: agent.golem.address for name in missing if fill.pop(name)}
    kept = "unfinished_call" if fill or hints.drops else "next_call"
    asked = {"fill": fill} if fill else {}
    said = replace(call, arguments={**call.arguments, **own})
    return {**hints.without("unfinished_call", "fill"), kept: said.to_json(), **asked}


def _teach_elsewhere(agent: Agent, said: str, rest: Mapping[str, object]) -> Members:
    """The call of what serves `said`, a word or a tool's name, where another of the eight serves it; else nothing."""
    word = normalize_key(said)
    for tool in agent.shelf.toolset:
        if word in (tool.name, tool.key) and tool.pi_tool in _KEYS:
            arguments = {_KEYS[tool.pi_tool]: tool.key, **({"venue": tool.venue} if word == tool.name else {}), **rest}
            return _check_call({"next_call": SuggestedCall(str(tool.pi_tool), arguments).to_json()}, agent)
    return {}


def _teach_slip(agent: Agent, pi_tool: PiTool, said: str, rest: Mapping[str, object]) -> Members:
    """The call of the one word of the golem's, loaded or not, that `said` misspells; else nothing."""
    word = find_mistyped(said, list_keys(toolset=agent.shelf.toolset, pi_tool=pi_tool))
    if word is None:
        return {}
    call = SuggestedCall(str(pi_tool), {_KEYS[pi_tool]: word, **rest})
    return _check_call({"next_call": call.to_json()}, agent)


def _ask_word(agent: Agent, pi_tool: PiTool, said: str, rest: Mapping[str, object]) -> Members:
    """Asks for one of the golem's words that have a part in common with `said`, those of its venue first."""
    parts = {part for part in normalize_key(said).split("_") if len(part) > _SHORTEST_PART}
    alike = [tool for tool in agent.shelf.toolset if tool.pi_tool is pi_tool and parts & set(tool.key.split("_"))]
    there = [tool for tool in alike if tool.venue == rest.get("venue")]
    words = sorted({tool.key for tool in there or alike})
    if not words:
        return {}
    return {
        "unfinished_call": SuggestedCall(str(pi_tool), dict(rest)).to_json(),
        "fill": {_KEYS[pi_tool]: {"one_of": words}},
        "or_call": browse_tools(),
    }


def _ask_venue(agent: Agent, pi_tool: PiTool, said: str, body: Mapping[str, object]) -> Members:
    """Asks for the venue of a word where none was named and what was said is right at others of the golem's alone."""
    nested = body.get("params")
    flat = {**(nested if isinstance(nested, Mapping) else {}), **body}
    if flat.get("venue") is not None:
        return {}
    given = {name: each for name, each in flat.items() if name not in (*_BESIDE, "params") and each is not None}
    fitting = []
    for tool in agent.shelf.toolset:
        if tool.pi_tool is pi_tool and tool.key == normalize_key(said):
            try:
                validate_params(tool.params_model, given)
            except InvalidParams:
                continue
            fitting.append(tool.venue)
    if not fitting:
        return {}
    call = SuggestedCall(str(pi_tool), {name: each for name, each in flat.items() if name != "params"})
    return {"missing": ["venue"], "unfinished_call": call.to_json(), "fill": {"venue": {"one_of": sorted(fitting)}}}


def _tell_outside(agent: Agent, pi_tool: PiTool, said: str) -> Members:
    """That what was asked for is a tool of the product and none of the golem's: its owner's to change; else nothing."""
    word = normalize_key(said)
    if any(word in (tool.name, tool.key) for tool in agent.shelf.toolset):
        return {}
    named = [tool for tool in REGISTRY if word == tool.name or (word == tool.key and tool.pi_tool is pi_tool)]
    if not named:
        return {}
    categories = sorted({tool.category.value for tool in named})
    return {
        "recovery": str(Recovery.ASK_OWNER),
        "detail": f"{word!r} is not among this golem's tools; its owner may add it ({' or '.join(categories)})",
        "categories": categories,
    }


def _check_call(members: Members, agent: Agent, *, is_mended: bool = False) -> Members:
    """`members`, whose `next_call` is one only where it would be accepted; what is wrong in it is mended once."""
    hints = Hints(members)
    call = hints.next_call
    if call is None:
        return members
    pi_tool, arguments = PiTool(call.tool), call.arguments
    model = _find_model(agent, pi_tool, arguments)
    if isinstance(model, str):
        return complete(members, {"venue": model}, {"venue": {"enum": model.split(", ")}})
    try:
        if model is not None:
            validate_params(model, {name: each for name, each in arguments.items() if name not in _BESIDE})
        elif pi_tool in _INPUTS and "read" not in arguments:
            _INPUTS[pi_tool](data=arguments).check()
    except InvalidParams as refused:
        schema = {} if model is None else json_schema(model)
        faults = {name.partition(".")[0]: text for name, text in (Problem(refused.data).faults or {}).items()}
        if is_mended:
            return complete(members, faults, SchemaReader(schema).properties)
        mended = teach(
            {**refused.as_problem(), "fields": faults},
            tool=str(pi_tool),
            body=arguments,
            words=agent.shelf.list_words(pi_tool),
            describe=lambda key, _: schema if key and model is not None else None,
        )
        anew = Hints(mended)
        lists = {
            "missing": [*hints.missing, *anew.missing],
            "extra": [*hints.extra, *anew.extra],
            "drops": [*hints.drops, *anew.drops],
        }
        again = {
            **hints.without("next_call", *lists),
            **anew.without(*lists),
            **{name: list(dict.fromkeys(each)) for name, each in lists.items() if each},
        }
        if "drops" in again and "next_call" in again:
            again |= {"unfinished_call": again.pop("next_call")}
        return _check_call(again, agent, is_mended=True)
    return members


def _find_model(agent: Agent, pi_tool: PiTool, arguments: Mapping[str, object]) -> type[ToolParams] | str | None:
    """The parameters of what the arguments ask for, or the venues where they leave open which; None for the eight."""
    word = normalize_key(str(arguments.get(_KEYS.get(pi_tool, ""), "")))
    if pi_tool is PiTool.QUERY_STATE:
        for query in TIER_QUERIES:
            if query.key == word:
                return query.params_model
    venue = arguments.get("venue")
    served = [tool for tool in agent.shelf.toolset if tool.pi_tool is pi_tool and tool.key == word]
    loaded = [tool for tool in served if tool.name in agent.shelf.shown]
    asked = [tool for tool in loaded or served if venue in (None, tool.venue)]
    asked = asked or [tool for tool in served if venue == tool.venue]
    if len(asked) > 1:
        return ", ".join(sorted(tool.venue for tool in asked))
    return asked[0].params_model if asked else None


def _describe(
    known: Iterable[ToolDef], shown: Toolset, pi_tool: PiTool, key: str, venue: str | None
) -> ReadOnlySchema | None:
    """The schema of what `key` takes; of the Pi tool itself where `key` is empty."""
    if not key:
        defined = define_tools(toolset=shown, permit_ttl_seconds=60)
        free = (PiTool.PREVIEW_ACTION, PiTool.QUERY_STATE)
        return next((tool.parameters for tool in defined if tool.name is pi_tool and pi_tool not in free), None)
    word = normalize_key(key)
    if pi_tool is PiTool.QUERY_STATE:
        for query in TIER_QUERIES:
            if query.key == word:
                return json_schema(query.params_model)
    places = [None] if venue is None else [normalize_key(str(venue)), None]
    for place in places:
        for tool in known:
            if tool.pi_tool is pi_tool and tool.key == word and place in (None, tool.venue):
                return tool.schema
    return None

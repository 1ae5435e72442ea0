"""Works out from what a refusal tells which parameter of the refused call has to be another, and what it may be. Pure.

A tool that refuses an amount tells the most that passes, and one that does not know a market tells those it knows. Here
that is put beside the parameter's name, so that the caller need not guess which is meant. Nothing is chosen: what moves
money stays the caller's to say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from golem_project.pi.problem_members import Members, ReadOnlyMembers, SuggestedCall
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.views import NATIVE

_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "markets": ("market", "pt", "asset"),
    "vaults": ("vault", "vault_id"),
    "pools": ("pool",),
    "tokens": ("token",),
    "request_ids": ("request_id",),
    "waiting": ("withdrawal_root",),
    "supported_chain_ids": ("chain_id",),
}
"""Lists of what there is, with the parameters that name one of it, the first that was said being the one."""
_MOST: Final = ("most", "held", "room")
"""Names under which tools tell the most that passes, in the unit of what was asked."""
_OF_WHAT_IS_ASKED: Final = "VAULT_SHARES_MISSING"
"""Its `available` is counted as the shares are that were asked for; elsewhere it may be of another token."""
_AMOUNTS: Final = ("amount", "shares", "lp_amount", "dai_amount")
_BASE_UNITS: Final = "base units"


def tell_figures(problem: Mapping[str, object], body: Mapping[str, object], *, queries: Collection[str]) -> Members:
    """Members of the refusal of an action called with `body`; none where its tool told nothing of its parameters.

    `first_call` is the action after which this one is right as it is, `or_call` the read that lists what there is,
    where it is one of `queries`. `unfinished_call` is the call without what `fill` asks to say anew.
    """
    following = problem.get("next")
    if isinstance(following, Mapping):
        return _name_call(following, queries)
    nested = body.get("params")
    said = {name: value for name, value in body.items() if name != "params" and value is not None}
    said = {**nested, **said} if isinstance(nested, Mapping) else said
    fill = find_fill(problem, said)
    if not fill:
        return {}
    arguments = {name: value for name, value in said.items() if name not in fill}
    return {"unfinished_call": SuggestedCall(str(PiTool.PREVIEW_ACTION), arguments).to_json(), "fill": fill}


def _name_call(following: Mapping[str, object], queries: Collection[str]) -> Members:
    """What a tool told to do instead, by what it is; nothing for one that says less than a whole call."""
    if "query" in following:
        call = SuggestedCall(str(PiTool.QUERY_STATE), dict(following))
        return {"or_call": call.to_json()} if following["query"] in queries else {}
    if not set(following) - {"action_type", "venue"}:
        return {}
    return {"first_call": SuggestedCall(str(PiTool.PREVIEW_ACTION), dict(following)).to_json()}


def find_fill(problem: ReadOnlyMembers, said: ReadOnlyMembers) -> dict[str, object]:
    """What has to be said anew, by the parameter's name: `one_of`, `most` or `least`, with the `unit` of a figure.

    `fill` of the problem is what its tool told itself, and then nothing is worked out.
    """
    told = problem.get("fill")
    if isinstance(told, Mapping):
        return dict(told)
    meant = problem.get("base_units")
    if meant and problem.get("parameter") in said:
        return {problem["parameter"]: {"one_of": [meant], "unit": _BASE_UNITS}}
    for key, names in _CHOICES.items():
        choices = problem.get(key)
        name = next((each for each in names if each in said), None)
        if isinstance(choices, list) and choices and name is not None:
            return {name: {"one_of": choices}}
    needed = problem.get("needed")
    is_of_it = needed is not None or problem.get("code") == _OF_WHAT_IS_ASKED
    keys = (*_MOST, "available") if is_of_it else _MOST
    most = next((problem[key] for key in keys if _is_some(problem.get(key))), None)
    if most is None:
        return {}
    if needed is None:
        name = next((each for each in _AMOUNTS if isinstance(said.get(each), str | int)), None)
        # What is no more than that was refused for another reason.
        is_more = name is not None and not (str(said[name]).isdecimal() and int(said[name]) <= int(most))
        return {name: {"most": most, "unit": _BASE_UNITS}} if name is not None and is_more else {}
    # Of what pays for gas too some has to stay.
    word = "held" if problem.get("token") == NATIVE else "most"
    for name, value in said.items():
        if str(value) == str(needed):
            return {name: {word: most, "unit": _BASE_UNITS}}
        if isinstance(value, list) and needed in value:
            return {name: {word: [most if each == needed else each for each in value], "unit": _BASE_UNITS}}
    return {}


def _is_some(figure: object) -> bool:
    return isinstance(figure, str) and figure.isdecimal() and int(figure) > 0

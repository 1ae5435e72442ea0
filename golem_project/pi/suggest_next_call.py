"""Works out from a refused call which fields are missing or too many, and the whole call that would be right.

Only what can be known is filled in: a misspelt name is put right, a number written as text is made one, a chain's name
is its number. `next_call` says everything that the refused call said, and is accepted as it is. Where only the caller
can say what is right there is none: `unfinished_call` holds what is sure, `fill` what has to be added and what that may
be, `drops` what was said and has no place in it. Where none of the words in `fill` is meant, `or_call` looks for
others. Pure.

What an action is, its venue, its chain, its amounts, their unit and their direction decide where money goes. There a
slip of the pen is put right and nothing is guessed: `unstake` is not taught as `stake`, nor `amount_out` as `amount`,
nor a slippage of 1 as 1 basis point.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from golem_project.pi.json_schema import ReadOnlySchema, Schema, SchemaReader
from golem_project.pi.lenient_values import (
    NEAR,
    find_mistyped,
    find_near,
    find_same,
    is_of,
    list_kinds,
    list_values,
    read_chain,
    squash,
    write_as,
)
from golem_project.pi.parsers import MAX_BODY_BYTES, MAX_DEPTH, read_number
from golem_project.pi.problem_members import Hints, Members, Problem, ReadOnlyMembers, SuggestedCall
from tools_app.core.bounded_parsing import read_exact_json
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.parameter_synonyms import use_own_words

Describe = Callable[[str, str | None], ReadOnlySchema | None]
"""Gives the schema of the parameters of a word at a venue, of the Pi tool itself for an empty one; None for none."""
_BROWSING: Final[Members] = {"query": "browse_tools"}
"""Arguments of the read that lists the tools there are."""
_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "permit_id": ("permit", "id", "permitid"),
    "reason": ("why", "message", "text", "note", "cause", "description", "explanation"),
    "query": ("q", "text", "question", "search", "name", "prompt", "what", "read", "input"),
    "limit": ("top_k", "k", "count", "max", "n", "max_results", "size"),
    "drill": ("dry_run", "simulate", "test", "rehearse"),
    "change": ("content", "text", "body", "value", "new_text"),
    "section": ("title", "heading", "name"),
    "action_type": ("action", "kind", "type", "operation", "name"),
    "token_in": ("from", "from_token", "sell", "sell_token", "src", "input_token", "token_from"),
    "token_out": ("to", "to_token", "buy", "buy_token", "dst", "output_token", "token_to"),
    "token": ("symbol", "asset", "currency"),
    "asset": ("token", "symbol", "currency"),
    "amount": ("amount_in", "quantity", "qty"),
    "slippage_bps": ("slippage", "max_slippage", "slippage_tolerance", "max_slippage_bps"),
    "chain_id": ("chain", "network", "chainid"),
    "venue": ("protocol", "dex", "platform", "exchange"),
    "store": ("memory", "source"),
    "category": ("group", "kind"),
    "tools": ("tool", "names", "name"),
    "quote_currency": ("currency", "in", "vs"),
}
_WORDS: Final = {
    PiTool.PREVIEW_ACTION: "action_type",
    PiTool.QUERY_STATE: "query",
    PiTool.SEARCH_CONTEXT: "query",
    PiTool.QUERY_GRIMOIRE: "query",
}
_UNKNOWN_SAYS: Final = "does not exist here"
_CLAMPED: Final = frozenset({"limit"})
"""Numbers that may be brought into their range: how many rows an answer has moves no money."""
_OTHER_UNIT: Final = frozenset({"slippage", "maxslippage", "slippagetolerance"})
"""Names of a slippage whose unit nobody knows: percent, a fraction or basis points."""
_SPENT: Final = frozenset({"amountin"})
"""Names of what is spent; where the amount is what has to be received they mean something else."""
_WITHOUT_WEIGHT: Final = frozenset(
    {"urgent", "confirm", "confirmed", "idempotencykey", "requestid", "note", "comment", "memo", "thought", "reasoning"}
)
"""Names that say nothing about what is done: they may be left out of any call."""
_HAS_NO_MONEY: Final = frozenset(
    {PiTool.SEARCH_CONTEXT, PiTool.QUERY_GRIMOIRE, PiTool.UPDATE_DIRECTIVE, PiTool.CANCEL_ACTION}
)
_OF_MONEY: Final = re.compile(
    r"chain|network|amount|qty|quantity|value|size|slippage|price|side|direction|exact|unit|usd|decimals|from|token"
    r"|asset|recipient|receiver|account|wallet|owner|min|max|^to$|^in$|^out$"
)
"""Names that bear on money, chain, direction or unit, letters alone."""


@dataclass(slots=True)
class Lesson:
    """What is added to a refusal."""

    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    arguments: Members = field(default_factory=dict)
    fill: Members = field(default_factory=dict)
    drops: list[str] = field(default_factory=list)
    tool: str = ""

    def as_members(self) -> Members:
        """Members of the problem."""
        call = "unfinished_call" if self.fill or self.drops else "next_call"
        lists = {"missing": self.missing, "extra": self.extra, "fill": self.fill, "drops": self.drops}
        return {
            call: SuggestedCall(self.tool, self.arguments).to_json(),
            **{name: listed for name, listed in lists.items() if listed},
        }


def teach(
    problem: ReadOnlyMembers, *, tool: str, body: ReadOnlyMembers, words: Sequence[str], describe: Describe
) -> Members:
    """Members to add to `problem`, the refusal of `tool` called with `body`; none where nothing can be taught.

    `words` are the action types or queries the caller may say; `describe` gives the parameters' schema of one of
    them at a venue, None where there is none.
    """
    refusal = Problem(problem)
    if refusal.has_call or tool not in list(PiTool):
        return {}
    if refusal.code == "UNKNOWN_ACTION":
        return _teach_word(tool, body, words)
    if refusal.code in ("UNKNOWN_VENUE", "VENUE_REQUIRED"):
        return _teach_venue(tool, body, refusal.venues)
    if refusal.code == "AMBIGUOUS_PARAMS":
        return _teach_repeated(tool, body, list(refusal.fields))
    if refusal.code == "CATEGORY_UNKNOWN":
        near = (*refusal.suggestions, None)[0]
        if near is None:
            # The same again without its category would be refused again; what there is says the list.
            return Lesson(tool=tool, arguments=dict(_BROWSING)).as_members()
        arguments = {name: value for name, value in body.items() if name != "category"}
        return Lesson(tool=tool, arguments={**arguments, **({"category": near} if near else {})}).as_members()
    if refusal.code == "INVALID_PARAMS" and refusal.faults is not None:
        return _teach_fields(refusal, refusal.faults, tool, body, words, describe)
    return {}


def _teach_fields(
    problem: Problem,
    bad: Mapping[str, str],
    tool: str,
    body: ReadOnlyMembers,
    words: Sequence[str],
    describe: Describe,
) -> Members:
    flat = _flatten(body)
    lesson = Lesson(tool=tool, arguments=dict(flat))
    if flat.get("query") == "load_tools" and not {"category", "tools"} & set(flat) and len(flat) == 1:
        # It did not know what there is to load.
        return Lesson(tool=tool, arguments=dict(_BROWSING)).as_members()
    word = _WORDS.get(PiTool(tool))
    if word is not None and word in bad and word not in _own_parameters(describe, tool):
        _mend_word(lesson, word, words)
        if word in lesson.fill:
            lesson.missing = [word]
            return lesson.as_members()
    key = lesson.arguments.get(word) if word else None
    schema = describe(str(key), lesson.arguments.get("venue")) if word and isinstance(key, str) else None
    properties = SchemaReader(schema or describe("", None) or {}).properties
    allowed = [name for name in problem.allowed if isinstance(name, str)] or list(properties)
    # A refusal speaks of parameters by the tool's own names.
    flat, lesson.arguments = use_own_words(properties, flat), use_own_words(properties, lesson.arguments)
    for name in bad:
        # What was forgotten is told to be, what is too many said not to exist; the rest has a wrong value.
        if name in lesson.arguments and _UNKNOWN_SAYS in bad[name]:
            lesson.extra.append(name)
        elif name not in flat:
            lesson.missing.append(name)
    for name in [each for each in lesson.extra if each in lesson.arguments]:
        _move(lesson, name, allowed, properties)
    for name, text in bad.items():
        if name in flat and name in lesson.arguments and _UNKNOWN_SAYS not in text:
            _mend_value(lesson, name, properties.get(name, {}))
    for name in lesson.missing:
        if name not in lesson.arguments and name not in lesson.fill and "one of the two" not in bad[name]:
            lesson.fill[name] = _say_allowed(properties.get(name, {}), bad[name])
    return lesson.as_members()


def complete(members: ReadOnlyMembers, faults: Mapping[str, str], properties: Mapping[str, Schema]) -> Members:
    """`members` of a lesson whose `next_call` would be refused for `faults`, by field: it asks for what those need."""
    hints = Hints(members)
    call = hints.next_call or SuggestedCall("", {})
    lesson = Lesson(
        tool=call.tool, arguments=dict(call.arguments), missing=list(hints.missing), extra=list(hints.extra)
    )
    for name, text in faults.items():
        was_said = lesson.arguments.pop(name, None) is not None
        if was_said and _UNKNOWN_SAYS in text:
            lesson.extra += [name] * (name not in lesson.extra)
            lesson.drops.append(name)
        else:
            lesson.missing += [name] * (not was_said and name not in lesson.missing)
            lesson.fill[name] = _say_allowed(properties.get(name, {}), text)
    return {**hints.without("next_call", "missing", "extra"), **lesson.as_members()}


def _own_parameters(describe: Describe, tool: str) -> Iterable[str]:
    """Names that a search itself takes: there the word is a question and no key."""
    return SchemaReader(describe("", None) or {}).properties


def _mend_word(lesson: Lesson, word: str, words: Sequence[str]) -> None:
    """Find the key under the name it was given by, or ask for it."""
    for name in (word, *_SYNONYMS.get(word, ())):
        given = lesson.arguments.get(name)
        given = given[0] if isinstance(given, list) and given else given
        near = _find_word(lesson.tool)(given, words)
        if near is not None:
            lesson.arguments.pop(name)
            if name != word:
                lesson.extra.append(name)
            lesson.arguments = {word: near, **{k: v for k, v in lesson.arguments.items() if k != word}}
            return
    lesson.arguments.pop(word, None)
    lesson.fill[word] = {"one_of": list(words)}


def _move(lesson: Lesson, name: str, allowed: Sequence[str], properties: Mapping[str, Schema]) -> None:
    """Take a field that does not exist out, and put its value where it was meant, if that is free."""
    value = lesson.arguments.pop(name)
    free = [each for each in allowed if each not in lesson.arguments and each not in lesson.fill]
    target = next((each for each in free if squash(each) == squash(name)), None)
    target = target or next((each for each in free if squash(name) in map(squash, _SYNONYMS.get(each, ()))), None)
    if target is None and lesson.tool != PiTool.PREVIEW_ACTION and not _OF_MONEY.search(squash(name)):
        harmless = [each for each in free if not _OF_MONEY.search(squash(each))]
        target = next(iter(difflib.get_close_matches(name.lower(), harmless, n=1, cutoff=NEAR)), None)
    if target is None:
        if not _may_be_left_out(name, lesson.tool):
            lesson.drops.append(name)
        return
    schema = properties.get(target, {})
    written = write_as(value, list_kinds(schema)) if target != "chain_id" else read_chain(value)
    if _may_mean_another(name, lesson.arguments) or not is_of(written, list_kinds(schema)):
        lesson.fill[target] = _say_allowed(schema, "")
    else:
        lesson.arguments[target] = written


def _may_be_left_out(name: str, tool: str) -> bool:
    """Whether a field that does not exist said nothing about what is done."""
    squashed = squash(name)
    if squashed in _WITHOUT_WEIGHT or tool in _HAS_NO_MONEY:
        return True
    return tool == PiTool.QUERY_STATE and not _OF_MONEY.search(squashed)


def _may_mean_another(name: str, arguments: ReadOnlyMembers) -> bool:
    """Whether `name` is of another unit or direction than the field that takes its value."""
    squashed = squash(name)
    return squashed in _OTHER_UNIT or (squashed in _SPENT and arguments.get("exact_output", False) is not False)


def _mend_value(lesson: Lesson, name: str, schema: ReadOnlySchema) -> None:
    """Write a value as its type asks, where that loses nothing; else ask for it."""
    value = lesson.arguments[name]
    kinds = list_kinds(schema)
    values = list_values(schema)
    value = read_chain(value) if name == "chain_id" else write_as(value, kinds)
    if values:
        find = find_same if lesson.tool in (PiTool.PREVIEW_ACTION, PiTool.QUERY_STATE) else find_near
        value = find(value, values)
    if name in _CLAMPED and isinstance(value, int) and not isinstance(value, bool):
        least, most = SchemaReader(schema).minimum, SchemaReader(schema).maximum
        at_least = max(value, least) if least is not None else value
        value = min(at_least, most) if most is not None else at_least
    if value is not None and is_of(value, kinds) and not _is_same(value, lesson.arguments[name]):
        lesson.arguments[name] = value
        return
    lesson.arguments.pop(name)
    lesson.fill[name] = _say_allowed(schema, "")


def _is_same(one: object, other: object) -> bool:
    """Whether two values are written alike; 5 and 5.0 are not, as one of them was refused."""
    return type(one) is type(other) and bool(one == other)


def _teach_word(tool: str, body: Mapping[str, object], words: Sequence[str]) -> Members:
    word = _WORDS.get(PiTool(tool), "query")
    word = "read" if "read" in body else word
    flat = _flatten(body)
    near = _find_word(tool)(flat.get(word), words)
    if near is None:
        rest = {name: value for name, value in flat.items() if name != word}
        lesson = Lesson(tool=tool, arguments=rest, fill={word: {"one_of": list(words)}})
        return {**lesson.as_members(), "or_call": browse_tools()}
    return Lesson(tool=tool, arguments={**flat, word: near}).as_members()


def browse_tools() -> Members:
    """The call that lists the tools there are."""
    return SuggestedCall(str(PiTool.QUERY_STATE), dict(_BROWSING)).to_json()


def _teach_venue(tool: str, body: Mapping[str, object], venues: list[str]) -> Members:
    flat = _flatten(body)
    near = find_same(flat.get("venue"), venues)
    rest = {name: value for name, value in flat.items() if name != "venue"}
    if near is not None:
        return Lesson(tool=tool, arguments={**rest, "venue": near}).as_members()
    # Which of several is meant decides where money goes; that is the caller's to say.
    return Lesson(tool=tool, arguments=rest, missing=["venue"], fill={"venue": {"one_of": venues}}).as_members()


def _teach_repeated(tool: str, body: Mapping[str, object], fields: list[str]) -> Members:
    nested = _read_nested(body.get("params"))
    outer = {name: value for name, value in body.items() if name != "params"}
    lesson = Lesson(tool=tool, arguments={**(nested or {}), **outer})
    if nested is None and body.get("params") is not None:
        lesson.drops.append("params")
    spellings: list[str] = [name for name in ("action_type", "kind", "type") if name in lesson.arguments]
    if len(spellings) > 1:
        given = {str(lesson.arguments[name]) for name in spellings}
        for name in spellings:
            lesson.arguments.pop(name)
        if len(given) == 1:
            lesson.arguments = {"action_type": given.pop(), **lesson.arguments}
        else:
            lesson.fill |= {"action_type": {"one_of": sorted(given)}}
    for name in fields:
        if nested and name in nested and name in outer and nested[name] != outer[name]:
            lesson.arguments.pop(name)
            lesson.fill[name] = {"one_of": [outer[name], nested[name]]}
    return lesson.as_members()


def _flatten(body: Mapping[str, object]) -> Members:
    flat = {name: value for name, value in body.items() if name != "params" and value is not None}
    inner = {name: value for name, value in (_read_nested(body.get("params")) or {}).items() if value is not None}
    return {**inner, **flat}


def _read_nested(nested: object) -> Mapping[str, object] | None:
    """The object that `params` is or, as text, spells; None where it is none."""
    if isinstance(nested, str):
        try:
            nested = read_exact_json(nested, most_bytes=MAX_BODY_BYTES, most_depth=MAX_DEPTH, parse_float=read_number)
        except ValueError:
            return None
    return nested if isinstance(nested, Mapping) else None


def _find_word(tool: str) -> Callable[[object, Sequence[object]], object]:
    """How a word of `tool` is found: nearly spelt is enough where nothing moves."""
    return find_mistyped if tool == PiTool.PREVIEW_ACTION else find_near


def _say_allowed(schema: ReadOnlySchema, text: str) -> dict[str, object]:
    """What a field may be: its values or its type and description."""
    values = list_values(schema)
    if values:
        return {"one_of": values}
    # Of what may be left out the schema says the rest under one of its parts.
    parts = SchemaReader(schema).not_null_variants
    told = {**(parts[0] if len(parts) == 1 else {}), **schema}
    said = {"type": sorted(list_kinds(schema) - {"null"}) or ["string"], "description": told.get("description", text)}
    return {**said, **{name: told[name] for name in ("minimum", "maximum", "pattern") if name in told}}

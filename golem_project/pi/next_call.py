"""Works out from a refused call which fields are missing or too many, and the whole call that would be right.

Only what can be known is filled in: a misspelt name is put right, a number written as text is made one, a field that
does not exist is left out. What only the caller knows stands in `fill`, with what it may be; where none of the words
there is meant, `or_call` looks for others. Pure.

What an action is, its venue, its amounts and its values decide where money goes. There a slip of the pen is put right
and nothing is guessed: `unstake` is not taught as `stake`, nor `amount_out` as `amount`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tools_app.core.exact_numbers import LARGEST_EXACT
from tools_app.toolkit.enums import PiTool

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
_MISSING_SAYS: Final = ("required", "may not be blank", "is expected")
_NEAR: Final = 0.6
_SHORT_PART: Final = 3
_AMOUNT: Final = "amount"
_SHORTEST_WORD: Final = 3
_CLAMPED: Final = frozenset({"limit"})
"""Numbers that may be brought into their range: how many rows an answer has moves no money."""


@dataclass(slots=True)
class Lesson:
    """What is added to a refusal."""

    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    fill: dict[str, Any] = field(default_factory=dict)
    tool: str = ""

    def as_members(self) -> dict[str, Any]:
        """Members of the problem."""
        members: dict[str, Any] = {"next_call": {"tool": self.tool, "arguments": self.arguments}}
        for name in ("missing", "extra", "fill"):
            if getattr(self, name):
                members[name] = getattr(self, name)
        return members


def teach(
    problem: Mapping[str, Any],
    *,
    tool: str,
    body: Mapping[str, Any],
    words: Sequence[str],
    describe: Callable[[str, str | None], Mapping[str, Any] | None],
) -> dict[str, Any]:
    """Members to add to `problem`, the refusal of `tool` called with `body`; none where nothing can be taught.

    `words` are the action types or queries the caller may say; `describe` gives the parameters' schema of one of
    them at a venue, None where there is none.
    """
    code = problem.get("code")
    if problem.get("next_call") or tool not in list(PiTool):
        return {}
    if code == "UNKNOWN_ACTION":
        return _teach_word(tool, body, words)
    if code in ("UNKNOWN_VENUE", "VENUE_REQUIRED"):
        return _teach_venue(tool, body, list(problem.get("venues", ())))
    if code == "AMBIGUOUS_PARAMS":
        return _teach_repeated(tool, body, list(problem.get("fields", ())))
    if code == "CATEGORY_UNKNOWN":
        near = (*problem.get("suggestions", ()), None)[0]
        if near is None:
            # The same again without its category would be refused again; what there is says the list.
            return Lesson(tool=tool, arguments={"query": "browse_tools"}).as_members()
        arguments = {name: value for name, value in body.items() if name != "category"}
        return Lesson(tool=tool, arguments={**arguments, **({"category": near} if near else {})}).as_members()
    if code == "INVALID_PARAMS" and isinstance(problem.get("fields"), Mapping):
        return _teach_fields(problem, tool, body, words, describe)
    return {}


def _teach_fields(
    problem: Mapping[str, Any],
    tool: str,
    body: Mapping[str, Any],
    words: Sequence[str],
    describe: Callable[[str, str | None], Mapping[str, Any] | None],
) -> dict[str, Any]:
    bad: Mapping[str, str] = problem["fields"]
    flat = _flatten(body)
    lesson = Lesson(tool=tool, arguments=dict(flat))
    if flat.get("query") == "load_tools" and not {"category", "tools"} & set(flat) and len(flat) == 1:
        # It did not know what there is to load.
        return Lesson(tool=tool, arguments={"query": "browse_tools"}).as_members()
    word = _WORDS.get(PiTool(tool))
    if word is not None and word in bad and word not in _own_parameters(describe, tool):
        _mend_word(lesson, word, words)
        if word in lesson.fill:
            lesson.missing = [word]
            return lesson.as_members()
    key = lesson.arguments.get(word) if word else None
    schema = describe(str(key), lesson.arguments.get("venue")) if word and isinstance(key, str) else None
    properties = dict((schema or describe("", None) or {}).get("properties", {}))
    allowed = [name for name in problem.get("allowed", ()) if isinstance(name, str)] or list(properties)
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
        if name not in lesson.arguments and "one of the two" not in bad[name]:
            lesson.fill[name] = _say_allowed(properties.get(name, {}), bad[name])
    return lesson.as_members()


def _own_parameters(describe: Callable[[str, str | None], Mapping[str, Any] | None], tool: str) -> Iterable[str]:
    """Names that a search itself takes: there the word is a question and no key."""
    return (describe("", None) or {}).get("properties", {})


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


def _move(lesson: Lesson, name: str, allowed: Sequence[str], properties: Mapping[str, Any]) -> None:
    """Take a field that does not exist out, and put its value where it was meant, if that is free."""
    value = lesson.arguments.pop(name)
    free = [each for each in allowed if each not in lesson.arguments]
    target = next((each for each in free if _squash(each) == _squash(name)), None)
    target = target or next((each for each in free if _squash(name) in map(_squash, _SYNONYMS.get(each, ()))), None)
    if target is None and lesson.tool != PiTool.PREVIEW_ACTION:
        harmless = [each for each in free if _AMOUNT not in each]
        target = next(iter(difflib.get_close_matches(name.lower(), harmless, n=1, cutoff=_NEAR)), None)
    if target is not None:
        lesson.arguments[target] = _write_as(value, _kinds(properties.get(target, {})))


def _write_as(value: Any, kinds: set[str]) -> Any:
    """`value` as one of `kinds`, where that loses nothing; else itself."""
    if isinstance(value, list) and len(value) == 1 and "array" not in kinds:
        value = value[0]
    if "string" in kinds and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if "integer" in kinds and isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    if "boolean" in kinds and isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if "array" in kinds and isinstance(value, str):
        return [value]
    if "string" in kinds and isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_EXACT:
        return str(int(value))
    return value


def _mend_value(lesson: Lesson, name: str, schema: Mapping[str, Any]) -> None:
    """Write a value as its type asks, where that loses nothing; else ask for it."""
    value = lesson.arguments[name]
    kinds = _kinds(schema)
    values = _values(schema)
    value = _write_as(value, kinds)
    if values:
        find = _find_same if lesson.tool == PiTool.PREVIEW_ACTION else _find_near
        value = find(value, values)
    bounds = [schema.get("minimum"), schema.get("maximum")]
    if name in _CLAMPED and isinstance(value, int) and not isinstance(value, bool):
        value = max(value, bounds[0]) if bounds[0] is not None else value
        value = min(value, bounds[1]) if bounds[1] is not None else value
    if value is not None and value != lesson.arguments[name]:
        lesson.arguments[name] = value
        return
    lesson.arguments.pop(name)
    lesson.fill[name] = _say_allowed(schema, "")


def _teach_word(tool: str, body: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    word = _WORDS.get(PiTool(tool), "query")
    word = "read" if "read" in body else word
    flat = _flatten(body)
    near = _find_word(tool)(flat.get(word), words)
    if near is None:
        rest = {name: value for name, value in flat.items() if name != word}
        lesson = Lesson(tool=tool, arguments=rest, fill={word: {"one_of": list(words)}})
        browsing = {"tool": str(PiTool.QUERY_STATE), "arguments": {"query": "browse_tools"}}
        return {**lesson.as_members(), "or_call": browsing}
    return Lesson(tool=tool, arguments={**flat, word: near}).as_members()


def _teach_venue(tool: str, body: Mapping[str, Any], venues: list[str]) -> dict[str, Any]:
    flat = _flatten(body)
    near = _find_same(flat.get("venue"), venues)
    rest = {name: value for name, value in flat.items() if name != "venue"}
    if near is not None:
        return Lesson(tool=tool, arguments={**rest, "venue": near}).as_members()
    # Which of several is meant decides where money goes; that is the caller's to say.
    return Lesson(tool=tool, arguments=rest, missing=["venue"], fill={"venue": {"one_of": venues}}).as_members()


def _teach_repeated(tool: str, body: Mapping[str, Any], fields: list[str]) -> dict[str, Any]:
    nested = body.get("params") if isinstance(body.get("params"), Mapping) else {}
    outer = {name: value for name, value in body.items() if name != "params"}
    lesson = Lesson(tool=tool, arguments={**(nested or {}), **outer})
    spellings: list[str] = [name for name in ("action_type", "kind", "type") if name in lesson.arguments]
    if len(spellings) > 1:
        given = {str(lesson.arguments[name]) for name in spellings}
        for name in spellings:
            lesson.arguments.pop(name)
        if len(given) == 1:
            lesson.arguments = {"action_type": given.pop(), **lesson.arguments}
        else:
            lesson.fill["action_type"] = {"one_of": sorted(given)}
    for name in fields:
        if nested and name in nested and name in outer and nested[name] != outer[name]:
            lesson.arguments.pop(name)
            lesson.fill[name] = {"one_of": [outer[name], nested[name]]}
    return lesson.as_members()


def _flatten(body: Mapping[str, Any]) -> dict[str, Any]:
    nested = body.get("params")
    flat = {name: value for name, value in body.items() if name != "params" and value is not None}
    return {**nested, **flat} if isinstance(nested, Mapping) else flat


def _find_word(tool: str) -> Callable[[Any, Sequence[Any]], Any]:
    """How a word of `tool` is found: nearly spelt is enough where nothing moves."""
    return _find_mistyped if tool == PiTool.PREVIEW_ACTION else _find_near


def _find_near(given: Any, words: Sequence[Any]) -> Any:
    """The one of `words` that `given` spells or nearly spells; None where none is near."""
    same = _find_same(given, words)
    if same is not None or not isinstance(given, str):
        return same
    known = {_squash(str(word)): word for word in words}
    near = difflib.get_close_matches(_squash(given), list(known), n=1, cutoff=_NEAR)
    return known[near[0]] if near else None


def _find_mistyped(given: Any, words: Sequence[Any]) -> Any:
    """The one of `words` that `given` spells, or spells but for one letter behind the first; None where none does.

    A part of a name as short as `pt` or `yt` is another thing with another letter, and no slip.
    """
    same = _find_same(given, words)
    if same is not None or not isinstance(given, str):
        return same
    meant = [
        word
        for word in words
        if _is_one_slip(_squash(given), _squash(str(word))) and not _differs_in_a_short_part(given, str(word))
    ]
    return meant[0] if len(meant) == 1 else None


def _differs_in_a_short_part(given: str, word: str) -> bool:
    parts, others = (re.split(r"[^a-z0-9]+", each.strip().lower()) for each in (given, word))
    if len(parts) != len(others):
        return False
    return any(
        one != other and min(len(one), len(other)) <= _SHORT_PART for one, other in zip(parts, others, strict=True)
    )


def _find_same(given: Any, words: Sequence[Any]) -> Any:
    """The one of `words` that `given` is, however it is written; None where none is."""
    if not isinstance(given, str):
        return given if given in words else None
    return {_squash(str(word)): word for word in words}.get(_squash(given))


def _is_one_slip(one: str, other: str) -> bool:
    """Whether they begin alike and differ by one letter too many, too few, another, or two in the wrong order."""
    if one[:1] != other[:1] or min(len(one), len(other)) < _SHORTEST_WORD:
        return False
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return max(len(one), len(other)) == 1 or (len(one) == 2 and one == other[::-1])


def _squash(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(schema.get("anyOf", [schema]))


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kinds: set[str] = set()
    for part in _parts(schema):
        kind = part.get("type", ())
        kinds |= {kind} if isinstance(kind, str) else set(kind)
    return kinds


def _values(schema: Mapping[str, Any]) -> list[Any]:
    return [value for part in _parts(schema) for value in part.get("enum", ()) if value is not None]


def _say_allowed(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What a field may be: its values or its type and description."""
    values = _values(schema)
    if values:
        return {"one_of": values}
    said = {"type": sorted(_kinds(schema) - {"null"}) or ["string"], "description": schema.get("description", text)}
    bounds = {name: schema[name] for name in ("minimum", "maximum", "pattern") if name in schema}
    return {**said, **bounds}

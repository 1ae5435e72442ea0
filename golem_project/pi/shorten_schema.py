"""Shortens a schema for models: the same properties, types and values in as few tokens as tell them apart.

What is left out (ranges, patterns, lengths, the second sentence of a description) is enforced all the same, told in
full by `describe_tool`, and named in the refusal of a call that breaks it. Of what may be named by a text or by its
parts (a lending market by its id or by five parameters) the text is shown; the parts are taken as well, and
`describe_tool` tells them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from golem_project.pi.json_schema import NULL, ReadOnlySchema, Schema, SchemaReader
from tools_app.toolkit.short_text import shorten

MOST_DESCRIPTION: Final = ((10, 40), (20, 16))
"""Up to so many properties each keeps so many characters of its description; beyond, only amounts keep theirs."""
_LEAST_CUT: Final = 20
"""A description cut to fewer characters says nothing: it is left out."""
WORDS: Final = frozenset({"action_type", "query", "read", "venue"})
"""Parameters that choose a tool."""
LISTS: Final = "@venue"
"""In a description that lists what can be asked for, which is shown whole."""
SHORT: Final[Mapping[str, str]] = {
    "Token address (0x…) or a symbol registered on the chain, such as USDC": "",
    "EIP-155": "",
    "true or false": "",
    "Amount in the token's base units, as a decimal string: 500 USDC (6 decimals) is 500000000": "base units",
    "Amounts in the token's base units, one for each request": "base units",
    "0x-prefixed account or contract address": "",
    "0x-prefixed contract address": "0x",
    "0x-prefixed pool address": "0x",
    "Most slippage accepted, in basis points: 50 is 0": "",
    "Length of time in seconds": "seconds",
    "Seconds from now after which the transaction must not run": "seconds",
    "Liquidity position NFT id, as a decimal string": "NFT id",
    "Positive decimal number written as text, such as 2950": "decimal text",
    "US dollars as decimal text, such as 1500": "USD text",
    "US dollars as decimal text, such as -12": "USD text",
    "Whole percent, 1 to 100": "",
    "The text of a JSON object without null, such as {": "JSON text",
    "Most results, 1 to 50": "",
    "Most rows to answer, 1 to 100": "",
    "Two token symbols or addresses, such as USDC/WETH; episodes must hold both": "USDC/WETH",
    "Agent as chain:number": "chain:number",
    "Hundredths of a star": "",
    "Words to look for": "",
    "newest, reputation or relevance": "",
    "next_page of the answer before": "",
    "Where several serve one action_type": "",
    "Where several serve one query": "",
    "Only these": "",
    "Plain words": "",
    "From preview_action": "",
    "Else episodes": "",
    "Its heading": "",
    "What you saw": "",
    "1 to 50, else 10": "",
    "Why;": "",
    "RFC 3339, until": "",
    "next_cursor of a cut answer": "",
    "Of tools": "",
    "Names of tools": "",
    "Why.": "",
}
"""The vocabulary of parameters, short: by the beginning of the full description. Empty: the name says it, or the text
of the tool that has it."""
ALWAYS_SAID: Final[Mapping[str, str]] = {
    "exact_output": "amount is received",
    "route": "v3:500>USDC>v2",
    "fee": "500 is 0.05%",
    "price_lower": "token1 per token0",
    "price_upper": "token1 per token0",
}
"""What no model guesses from the name, and what turns a trade round: said however many properties there are."""
AMOUNT: Final = "base units"
"""What is said of an amount however many properties there are."""
_AMOUNT_SAID: Final = "token's base units"
_OPTIONS: Final = re.compile(r"(?<=\S) \[(?!may take)[a-z0-9_ ]+\]")
_MAY_TAKE: Final = "[may take]"
_KEPT: Final = ("type", "enum", "const", "required", "additionalProperties")


def show_parameters(parameters: ReadOnlySchema, *, has_more: bool = False) -> Schema:
    """The closed object `parameters`, each property shown short. No property is lost.

    With `has_more` the words that choose a tool are any words: those of tools that are not shown are taken too.
    """
    properties = SchemaReader(parameters).properties
    if has_more:
        properties = {name: _without_list(prop) if name in WORDS else prop for name, prop in properties.items()}
    most = next((characters for count, characters in MOST_DESCRIPTION if len(properties) <= count), 1)
    if len(properties) > MOST_DESCRIPTION[0][0]:
        properties = {name: _without_options(prop) for name, prop in properties.items()}
    shown = {
        name: _show(prop, most=None if LISTS in SchemaReader(prop).description else most)
        for name, prop in properties.items()
    }
    said = {
        name: {**prop, "description": ALWAYS_SAID[name]} if name in ALWAYS_SAID else prop
        for name, prop in shown.items()
    }
    return {**_show(parameters, most=0), "properties": said}


def _without_list(schema: ReadOnlySchema) -> Schema:
    return {name: each for name, each in schema.items() if name != "enum"}


def _without_options(schema: ReadOnlySchema) -> Schema:
    """A list of what can be asked for without what each may take: among so many, describe_tool tells that."""
    text = SchemaReader(schema).description
    return (
        {**schema, "description": _OPTIONS.sub("", text).replace(_MAY_TAKE, "[…]")} if LISTS in text else dict(schema)
    )


def _show(schema: ReadOnlySchema, *, most: int | None) -> Schema:
    """`schema` without what only narrows it; `most` characters of its description, None for all, 0 for none."""
    shown: Schema = {name: schema[name] for name in _KEPT if name in schema}
    read = SchemaReader(schema)
    short = read.description if most is None else _shorten(read.description, most)
    if short:
        shown |= {"description": short}
    if read.any_of:
        shown |= _show_variants(read.any_of)
    if read.items is not None:
        shown |= {"items": _show(read.items, most=0)}
    if "properties" in schema:
        shown |= {"properties": {name: _show(prop, most=0) for name, prop in read.properties.items()}}
    return shown


def _shorten(text: str, most: int) -> str:
    if not text or not most:
        return ""
    if most == 1:
        return AMOUNT if _AMOUNT_SAID in text else ""
    known = next((short for full, short in SHORT.items() if text.startswith(full)), None)
    if known is not None:
        return known
    if text.startswith("For "):
        # What several tools mean by one name does not fit one line; what all of them share may.
        return next((short for full, short in SHORT.items() if short and full in text), "")
    short = shorten(text, most)
    return "" if most < _LEAST_CUT and short.endswith("…") else short


def _show_variants(variants: list[Schema]) -> Schema:
    """Alternatives, those that differ only in what is left out as one; what has a name is shown by its name alone."""
    shown: list[Schema] = []
    for variant in variants:
        short = _show(variant, most=0)
        if short not in shown:
            shown.append(short)
    if any(SchemaReader(each).kind == "string" for each in shown):
        shown = [each for each in shown if SchemaReader(each).kind != "object"]
    kinds = [SchemaReader(each).kind for each in shown if set(each) == {"type"}]
    if len(kinds) == len(shown) and all(isinstance(kind, str) for kind in kinds):
        return {"type": kinds[0] if len(kinds) == 1 else kinds}
    listed = [each for each in shown if each != NULL]
    if len(listed) == 1 and len(shown) == 2:
        (one,) = listed
        read = SchemaReader(one)
        if isinstance(read.kind, str):
            nullable = {**one, "type": [read.kind, "null"]}
            return {**nullable, "enum": [*read.values, None]} if "enum" in one else nullable
    return {"anyOf": shown}

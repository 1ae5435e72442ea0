"""Counts the tokens of a manifest offline, with the tokenizers of the models that read it.

Counted is what a provider's request carries as `tools`: names, descriptions and parameters as compact JSON. Providers
lay it out in their own way before a model reads it, so a figure is a close estimate and the same on every machine.
Models whose tokenizer nobody publishes are counted by o200k.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import quicktok

from archetypes_app.tool_loadout import MOST_TOKENS
from golem_project.pi.pi_tool import PiToolDef
from golem_project.pi.provider_tool_formats import Dialect, render_tools

TOKENIZERS: Final = ("o200k_base", "cl100k_base", "llama3", "qwen3")
"""Those whose tables come with the package, the newest of OpenAI's first."""
FEWEST_BYTES: Final = 4
"""How many bytes a token of our own definitions has on average at least; tools that owners bring may be denser."""


def count_text(text: str, *, tokenizer: str) -> int:
    """Tokens of a text."""
    return len(quicktok.get_encoding(tokenizer).encode(text))


def count_json(value: object, *, tokenizer: str) -> int:
    """Tokens of a JSON value, written compactly."""
    return count_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")), tokenizer=tokenizer)


def count_definitions(tools: Sequence[PiToolDef], *, dialect: Dialect, tokenizer: str) -> int:
    """Tokens of the tools in a provider's shape; of pi's and MCP's, what a client hands on to a provider."""
    rendered = render_tools(dialect, tools)
    if dialect in (Dialect.PI, Dialect.MCP):
        sent = ("name", "description", "parameters" if dialect is Dialect.PI else "inputSchema")
        rendered = [{name: tool[name] for name in sent} for tool in rendered]
    return count_json(rendered, tokenizer=tokenizer)


def cost_little(tools: Sequence[PiToolDef], *, are_ours: bool) -> bool:
    """Whether they cost no more than MOST_TOKENS, in the dialect that writes them longest and by the newest tokenizer.

    What is short enough for any text of `are_ours` is not counted: a tokenizer's table is sixty megabytes.
    """
    written = json.dumps(render_tools(Dialect.OPENAI, tools), ensure_ascii=False, separators=(",", ":"))
    if are_ours and len(written.encode()) <= MOST_TOKENS * FEWEST_BYTES:
        return True
    return count_text(written, tokenizer=TOKENIZERS[0]) <= MOST_TOKENS


def count_prompt(tools: Sequence[PiToolDef], *, tokenizer: str) -> int:
    """Tokens of the snippets and guidelines, which stand in the prompt of a client that shows them."""
    lines = [line for tool in tools for line in (tool.snippet, *(each.as_sentence() for each in tool.guidelines))]
    return count_text("\n".join(lines), tokenizer=tokenizer)

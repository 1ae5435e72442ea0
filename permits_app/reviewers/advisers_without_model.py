"""What five advisers do without a language model: they read what their role is about, and tell what they found.

Each has a list of reads, of tools that the golem has. What a read needs is found in the words of who asks: an address,
a pair, a symbol. What is missing is said, and nothing is guessed. What is found is data of chains and strangers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from tools_app import runner
from tools_app.core.errors import GolemError
from tools_app.core.storable_text import make_plain
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY, UnknownTool
from tools_app.toolkit.tooldef import ReadTool

RULES: Final = "rules"
"""Stands where the name of a model stands otherwise."""
_MOST_FIGURES: Final = 12
_LONGEST: Final = 160
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}\b")
_PAIR: Final = re.compile(r"\b([A-Z][A-Za-z0-9]{1,10})\s*/\s*([A-Z][A-Za-z0-9]{1,10})\b")
_SYMBOL: Final = re.compile(r"\b[A-Z]{2,6}[0-9]?\b")
_TELLS: Final = frozenset({"warnings", "flags", "problems", "alerts", "risks", "reasons", "missing"})
"""Members of an answer that say what is wrong; they are told before any figure."""

Words = str
Given = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RoleRead:
    """One read; `find` makes its parameters out of the words, None where they do not name what it needs."""

    tool: str
    find: Callable[[Words, Golem], Given | None]
    needs: str = ""


def _nothing(words: Words, golem: Golem) -> Given | None:
    return {}


def _own_account(words: Words, golem: Golem) -> Given | None:
    return {"account": golem.address} if golem.address else None


def _pool(words: Words, golem: Golem) -> Given | None:
    found = _ADDRESS.search(words)
    return {"pool_address": found[0]} if found else None


def _pair(words: Words, golem: Golem) -> Given | None:
    found = _PAIR.search(words)
    return {"token0": found[1], "token1": found[2]} if found else None


def _token(words: Words, golem: Golem) -> Given | None:
    found = _ADDRESS.search(words) or _SYMBOL.search(words)
    return {"token": found[0]} if found else None


def _vault(words: Words, golem: Golem) -> Given | None:
    found = _ADDRESS.search(words)
    return {"vault": found[0]} if found else None


RULED: Final[Mapping[str, tuple[RoleRead, ...]]] = {
    "pool-researcher": (
        RoleRead("data_get_pools_by_token_pair", _pair, "a pair such as WETH/USDC"),
        RoleRead("data_get_pool_info", _pool, "the address of a pool"),
        RoleRead("data_get_pool_health_score", _pool, "the address of a pool"),
    ),
    "token-analyst": (
        RoleRead("safety_validate_token", _token, "a token's symbol or address"),
        RoleRead("data_get_token_price", _token, "a token's symbol or address"),
        RoleRead("safety_detect_honeypot", _token, "a token's symbol or address"),
    ),
    "position-monitor": (
        RoleRead("safety_get_portfolio_health", _nothing),
        RoleRead("safety_get_liquidation_risks", _nothing),
        RoleRead("data_get_positions_by_owner", _own_account, "the golem's account"),
    ),
    "vault-watchdog": (
        RoleRead("vault_get_share_price_history", _vault, "the address of a vault"),
        RoleRead("safety_check_pending_alerts", _nothing),
    ),
    "heartbeat-monitor": (RoleRead("golem_get_health", _nothing), RoleRead("golem_get_heartbeat_stats", _nothing)),
}
"""The advisers that need no model, and what each looks at, in order."""


@dataclass(frozen=True, slots=True)
class RuledWork:
    """What was found, in lines, and the codes of reads that were refused."""

    summary: str
    refusals: tuple[str, ...]


def work_by_rules(*, golem: Golem, target: str, words: str, toolset: Toolset, now: datetime) -> RuledWork:
    """Everything `target` can read of what the words name. Never raises for what a chain does not tell."""
    lines: list[str] = []
    refusals: list[str] = []
    for look in RULED[target]:
        tool = _find(look.tool, toolset)
        given = look.find(words, golem)
        if tool is None:
            lines.append(f"{look.tool}: not among this golem's tools")
        elif given is None:
            lines.append(f"{tool.key}: nothing to look at; name {look.needs}")
        else:
            line, code = _read(tool, given, golem, now)
            lines.append(f"{tool.key}: {line}")
            refusals += [code] if code else []
    return RuledWork("\n".join(lines), tuple(refusals))


def _find(name: str, toolset: Toolset) -> ReadTool | None:
    try:
        tool = REGISTRY.get(name)
    except UnknownTool:
        return None
    return tool if isinstance(tool, ReadTool) and tool.name in toolset else None


def _read(tool: ReadTool, given: Given, golem: Golem, now: datetime) -> tuple[str, str]:
    known = {name: value for name, value in given.items() if name in tool.params_model.model_fields}
    try:
        answer = runner.run_read(tool=tool, params=known, golem=view_golem(golem), now=now)
    except GolemError as error:
        return f"not read ({error.code}): {error.detail}"[:_LONGEST], error.code
    return "; ".join(_tell(answer.data)) or "read, and nothing to tell", ""


def _tell(data: object) -> Iterator[str]:
    """What is wrong first, then figures, then how many rows each list has; each short and on one line."""
    if not isinstance(data, Mapping):
        return
    for name in sorted(_TELLS & set(data)):
        if data[name]:
            yield f"{name}: {_say(data[name])}"
    rest = [(name, value) for name, value in data.items() if name not in _TELLS]
    for name, value in rest[:_MOST_FIGURES]:
        if isinstance(value, list | tuple):
            yield f"{name}: {len(value)}"
        elif value is not None and not isinstance(value, Mapping):
            yield f"{name}: {_say(value)}"
        elif isinstance(value, Mapping) and "units" in value:
            yield f"{name}: {_say(value['units'])}"


def _say(value: object) -> str:
    words = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return make_plain(" ".join(words.split()))[:_LONGEST]

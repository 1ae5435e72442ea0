"""The definition of a tool that an owner brings: a TOML text, read to the letter, and the hash that pins it.

The hash covers the name, every text a model is told, the parameters, what the module may use, and the module's bytes by
their own hash. What is not in it cannot change without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.core.bounded_parsing import OutsideTextRefused, read_toml
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.hashing import hash_canonical
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain
from tools_app.core.stored_json import read_stored
from tools_app.sandbox.interface import HostFunction
from tools_app.sandbox.look_alike_names import LONGEST_NAME, NAME
from tools_app.toolkit.declared_params import DeclarationRefused, build_declared_model
from tools_app.toolkit.enums import Category, TickBudget

MOST_BYTES: Final = 16 * 1024
FORMAT: Final = 1
_MEMBERS: Final = frozenset(
    {"name", "summary", "description", "category", "budget", "steps", "parameters", "capabilities"}
)
_LONGEST: Final = {"summary": 120, "description": 2_000}
_BUDGETS: Final = {budget.name.lower(): budget for budget in TickBudget}
# What a read of others has no place in: a shell, keys, and what only the runtime does.
CATEGORIES: Final = frozenset(Category) - {
    Category.CODING,
    Category.WALLET,
    Category.SAFETY,
    Category.TESTNET,
    Category.BOOTSTRAP,
    Category.SELF_IMPROVEMENT,
}
_FUNCTIONS: Final = frozenset(str(function) for function in HostFunction)


class DefinitionRefused(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="This cannot be the definition of a tool"
):
    """The definition cannot be a tool: it is malformed, imitates one, or speaks to a model instead of describing."""


@dataclass(frozen=True, slots=True)
class _ParameterTexts:
    description: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinitionMembers:
    """What a definition of any form says of itself, and of a module what it may use and its hash."""

    name: str
    summary: str
    description: str
    category: str
    budget: str
    steps: tuple[str, ...]
    parameters: dict[str, dict[str, object]]
    capabilities: tuple[str, ...] = ()
    module: str | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A checked definition. `body` is JSON-ready and holds everything below and the module's hash."""

    body: JsonObject
    members: DefinitionMembers

    @property
    def name(self) -> str:
        return self.members.name

    @property
    def hash(self) -> str:
        return hash_canonical(self.body)

    @property
    def budget(self) -> TickBudget:
        return _BUDGETS[self.members.budget]

    @property
    def category(self) -> Category:
        return Category(self.members.category)

    @property
    def capabilities(self) -> frozenset[HostFunction]:
        return frozenset(HostFunction(name) for name in self.members.capabilities)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text a model would read, with where it stands."""
        yield "name", self.name.replace("_", " ")
        yield "summary", self.members.summary
        yield "description", self.members.description
        for index, step in enumerate(self.members.steps):
            yield f"steps[{index}]", step
        for name, declared in self.members.parameters.items():
            told = read_stored(_ParameterTexts, declared)
            yield f"parameters.{name}", told.description
            for value in told.values:
                yield f"parameters.{name}.values", value.replace("_", " ")


def read_definition(text: str, *, module_sha256: str) -> Definition:
    """The definition in a TOML text, for the module with this hash. Raises DefinitionRefused."""
    try:
        told = read_toml(text, most_bytes=MOST_BYTES, most_depth=4)
    except OutsideTextRefused as refusal:
        raise DefinitionRefused(f"this TOML cannot be read: {refusal}") from None
    return check_definition(
        {"format": FORMAT, "steps": [], "parameters": {}, "capabilities": [], "budget": "fast"}
        | told
        | {"module": module_sha256}
    )


def check_definition(body: Mapping[str, object]) -> Definition:
    """The definition of a stored body, checked as if it were new. Raises DefinitionRefused."""
    missing = sorted((_MEMBERS | {"format", "module"}) - set(body))
    strange = sorted(set(body) - _MEMBERS - {"format", "module"})
    if missing or strange or body["format"] != FORMAT:
        raise DefinitionRefused(f"a definition has {', '.join(sorted(_MEMBERS))}", missing=missing, unknown=strange)
    check_shared_members(body)
    if body["category"] not in CATEGORIES:
        raise DefinitionRefused(f"a module's category is one of {', '.join(sorted(CATEGORIES))}")
    told = body["capabilities"]
    if not isinstance(told, list) or len(told) > len(_FUNCTIONS) or len(set(map(str, told))) != len(told):
        raise DefinitionRefused(f"capabilities is a list of at most {len(_FUNCTIONS)} different texts")
    if not all(isinstance(each, str) and each in _FUNCTIONS for each in told):
        raise DefinitionRefused(f"capabilities are among {', '.join(sorted(_FUNCTIONS))}")
    ordered = {**body, "capabilities": sorted(told)}
    return make_definition({member: ordered[member] for member in sorted(ordered)})


def make_definition(body: dict[str, object]) -> Definition:
    """The definition of a body whose members are checked. Raises DefinitionRefused for one that is none of its type."""
    try:
        return Definition(body, read_stored(DefinitionMembers, body))
    except ValueError:
        raise DefinitionRefused("a member of it is of another type than a definition has") from None


def check_shared_members(body: Mapping[str, object]) -> None:
    """What every form of definition has: name, texts, budget, steps, parameters. Raises DefinitionRefused."""
    name = body["name"]
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not NAME.match(name):
        raise DefinitionRefused("a name is small letters a to z, digits and underscores, of two words at least")
    for member, longest in _LONGEST.items():
        _check_text(member, body[member], longest=longest, is_one_line=member != "description")
    if body["budget"] not in _BUDGETS:
        raise DefinitionRefused(f"its budget is one of {', '.join(_BUDGETS)}")
    steps = body["steps"]
    if not isinstance(steps, list) or len(steps) > 8 or len(set(map(str, steps))) != len(steps):
        raise DefinitionRefused("steps is a list of at most 8 different texts")
    for step in steps:
        _check_text("steps", step, longest=60, is_one_line=True)
    _check_parameters(name, body["parameters"])


def _check_parameters(name: str, declared: object) -> None:
    if not isinstance(declared, Mapping):
        raise DefinitionRefused("parameters is a table of tables")
    try:
        build_declared_model(name, declared)
    except DeclarationRefused as refusal:
        raise DefinitionRefused(f"parameters: {refusal}") from None
    for parameter, told in declared.items():
        text = read_stored(_ParameterTexts, told).description
        _check_text(f"parameters.{parameter}", text, longest=300, is_one_line=True)


def _check_text(where: str, text: object, *, longest: int, is_one_line: bool) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > longest:
        raise DefinitionRefused(f"{where} is a text of 1 to {longest} characters")
    if make_plain(text) != text:
        raise DefinitionRefused(f"{where} holds characters that nobody sees")
    if is_one_line and ("\n" in text or "\t" in text):
        raise DefinitionRefused(f"{where} is one line")

"""`manage.py tokens`: what the tools cost a model, per golem and profile, by tokenizer, with prices. Offline.

Computed from the registry, never quoted.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import IO, Any, Final, cast
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.models import Golem
from archetypes_app.tool_loadout import Loadout, make_loadout
from archetypes_app.toolset import ArchetypeRule, ProfileRule, ToolsetInputs, resolve, resolve_toolset
from golem_project.pi.definitions import define_tools
from golem_project.pi.manifest import describe_route
from golem_project.pi.provider_tool_formats import Dialect
from golem_project.pi.token_count import TOKENIZERS, count_definitions, count_json, count_prompt
from tools_app.toolkit.enums import Category
from tools_app.toolkit.golem_toolset import Toolset

PERMIT_TTL_SECONDS: Final = 60
PRICED: Final = (("openai", "gpt-5-mini"), ("anthropic", "claude-sonnet-4-5"), ("google", "gemini-2.5-flash"))
"""Models whose price of input is told; the price list comes with a package."""
_TURNS_A_DAY: Final = 20
_EXPOSED: Final = "one definition for each tool"


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of one way to show one toolset."""

    subject: str
    shown: str
    tools: int
    dialect: str
    tokenizer: str
    definitions: int
    prompt: int
    saved_percent: float


class Command(BaseCommand):
    """Counts tokens of tool definitions."""

    help = "Tokens of each profile's or golem's tools, by provider and tokenizer, with prices; offline."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--golem", default="", help="a golem's id; without one every built-in profile")
        dialects = [each.value for each in Dialect]
        parser.add_argument("--dialect", default=Dialect.OPENAI.value, choices=dialects, help="how tools are written")
        parser.add_argument("--tokenizer", default="", choices=["", *TOKENIZERS], help="only this one")
        parser.add_argument("--json", action="store_true", help="one JSON list")

    def handle(self, *args: object, **options: Any) -> None:  # Any: each option has a type of its own
        dialect = Dialect(options["dialect"])
        tokenizers = (options["tokenizer"],) if options["tokenizer"] else TOKENIZERS
        costs = [
            cost
            for subject, toolset, first in list_subjects(options["golem"])
            for tokenizer in tokenizers
            for cost in weigh(subject, toolset, first, dialect=dialect, tokenizer=tokenizer)
        ]
        if options["json"]:
            self.stdout.write(json.dumps([asdict(cost) for cost in costs], indent=1))
            return
        self._show(costs)

    def _show(self, costs: list[Cost]) -> None:
        table = Table("golem or profile", "shown", "tools", "tokenizer", "definitions", "prompt", "saved")
        for cost in costs:
            table.add_row(
                cost.subject,
                cost.shown,
                str(cost.tools),
                cost.tokenizer,
                f"{cost.definitions:,}",
                f"{cost.prompt:,}",
                f"{cost.saved_percent:.0f}%",
            )
        console = Console(file=cast(IO[str], self.stdout), width=120)
        console.print(table)
        for provider, model, price in list_prices():
            console.print(
                f"{provider} {model}: ${price}/M input tokens; 1,000 tokens a turn, {_TURNS_A_DAY} turns a day:"
                f" ${price * _TURNS_A_DAY / 1000:.4f} a day"
            )


def list_subjects(golem_id: str) -> Iterator[tuple[str, Toolset, list[Category]]]:
    """What is weighed: one golem, or every built-in profile. Raises CommandError."""
    if golem_id:
        try:
            golem = Golem.objects.select_related("archetype").get(pk=UUID(golem_id))
        except (Golem.DoesNotExist, ValueError):
            raise CommandError(f"no golem has the id {golem_id!r}") from None
        yield golem.name, resolve_toolset(golem), [Category(each) for each in golem.archetype.tool_categories]
        return
    for profile in BUILTIN_PROFILES:
        rule = ProfileRule(profile.name, profile.categories, profile.is_read_only, profile.is_conservative)
        yield profile.name, resolve(ToolsetInputs(ArchetypeRule("any"), profiles=(rule,))), []


def weigh(subject: str, toolset: Toolset, first: list[Category], *, dialect: Dialect, tokenizer: str) -> Iterator[Cost]:
    """Every tool exposed by itself, the eight over all of them, and the eight over the core."""
    routes = [describe_route(tool) for tool in toolset]
    bare = [{name: route[name] for name in ("tool", "description", "parameters")} for route in routes]
    baseline = count_json(bare, tokenizer=tokenizer)
    yield Cost(subject, _EXPOSED, len(toolset), dialect.value, tokenizer, baseline, 0, 0.0)
    for shown, loadout in (
        ("eight over every tool", Loadout(most=None)),
        ("eight with the core", make_loadout(toolset=toolset, first=first)),
    ):
        cut = loadout.cut(toolset)
        tools = define_tools(
            toolset=cut,
            permit_ttl_seconds=PERMIT_TTL_SECONDS,
            has_writes=toolset.has_writes,
            has_memory=True,
            has_more=len(cut) < len(toolset),
        )
        definitions = count_definitions(tools, dialect=dialect, tokenizer=tokenizer)
        saved = 100 * (1 - definitions / baseline) if baseline else 0.0
        prompt = count_prompt(tools, tokenizer=tokenizer)
        yield Cost(subject, shown, len(cut), dialect.value, tokenizer, definitions, prompt, round(saved, 1))


def list_prices() -> Iterator[tuple[str, str, Decimal]]:
    """Provider, model and dollars per million input tokens, from the price list of the package."""
    from genai_prices import Usage, calc_price

    for provider, model in PRICED:
        # A request of a golem is short: some models cost more beyond 200,000 tokens.
        found = calc_price(Usage(input_tokens=10_000, output_tokens=0), model_ref=model, provider_id=provider)
        yield provider, model, found.input_price * 100

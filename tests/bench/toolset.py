"""Resolving a toolset among 450 tools: judged anew, looked up again, and for a real golem with its rows read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.conf import settings

from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.models import Golem
from archetypes_app.toolset import (
    ArchetypeRule,
    ProfileRule,
    ToolsetInputs,
    list_protocols,
    resolve,
    resolve_among,
    resolve_toolset,
)
from golem_project.demo.seed import CHAIN_ID, seed_demo
from tests.bench.figures import Figure, measure, percentile, time_calls
from tools_app.core import clock
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef

TOOLS = 450


@measure("toolset")
def measure_toolset() -> Iterator[Figure]:
    """Warm look-up, full resolution over 450 tools, and the real golem with its rows, in milliseconds."""
    tools = make_tools(TOOLS)
    inputs = make_inputs(tools)
    protocols = list_protocols(tools)
    whole = percentile(time_calls(lambda: resolve_among(tools, inputs, protocols=protocols), count=500), 50)
    warm = percentile(time_calls(lambda: resolve(inputs), count=2_000), 50)
    yield Figure(
        "toolset.resolve",
        f"resolving a toolset among {TOOLS} tools, every tool judged anew",
        whole,
        "ms",
        target=1.0,
        reference=f"the same inputs again, from the cache {warm:g} ms",
    )
    if settings.GOLEM_RPC_URLS.get(CHAIN_ID):
        golem = seed_demo(now=clock.now(), with_token=False).golem
        read = percentile(time_calls(lambda: resolve_toolset(_fresh(golem)), count=50), 50)
        yield Figure(
            "toolset.with_rows",
            "the demo golem's toolset, its rows read from the database first",
            read,
            "ms",
            reference=f"resolution alone {whole:g} ms",
        )


def make_tools(count: int) -> tuple[ToolDef, ...]:
    """`count` tools: the registered ones, repeated under new names over every category."""
    real = tuple(REGISTRY)
    categories = tuple(Category)
    copies = (
        replace(
            real[index % len(real)],
            name=f"{real[index % len(real)].prefix}_copy_{index}",
            category=categories[index % len(categories)],
        )
        for index in range(count - len(real))
    )
    return (*real, *copies)


def make_inputs(tools: tuple[ToolDef, ...]) -> ToolsetInputs:
    """Three profiles, overrides in both directions and one allowed protocol: every step of the resolution has work."""
    wanted = [each for each in BUILTIN_PROFILES if each.name in ("trader", "vault", "learning")]
    names = [tool.name for tool in tools]
    return ToolsetInputs(
        archetype=ArchetypeRule("bench", excludes=frozenset(names[100:110])),
        profiles=tuple(ProfileRule(each.name, each.categories, each.is_read_only) for each in wanted),
        includes=frozenset(names[200:230]),
        excludes=frozenset(names[220:240]),
        allowed_protocols=frozenset({"uniswap"}),
    )


def _fresh(golem: Golem) -> Golem:
    return Golem.objects.select_related("archetype").get(pk=golem.pk)

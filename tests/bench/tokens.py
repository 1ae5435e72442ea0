"""What the agents' doors cost a model and how well they teach: cores, all words, lines, the document, mistakes.

Counted by the tokenizers of the wheel, in every dialect; the worst of each is told. Needs no network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from drf_spectacular.generators import SchemaGenerator

from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.catalogue_lines import list_category, list_everything
from archetypes_app.tool_loadout import make_loadout
from archetypes_app.toolset import ArchetypeRule, ProfileRule, ToolsetInputs, resolve
from golem_project.embedded.paths import CHECKOUT
from golem_project.management.commands.tokens import PERMIT_TTL_SECONDS
from golem_project.pi.definitions import define_tools
from golem_project.pi.provider_tool_formats import Dialect
from golem_project.pi.token_count import TOKENIZERS, count_definitions, count_json
from tests.bench.figures import Figure, measure
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

MOST_CORE: Final = 1_200
MOST_EVERYTHING: Final = 1_500
TOOLS_OF_THE_PROMISE: Final = 400
MOST_BYTES: Final = 250_000
LEAST_MENDED: Final = 95.0
_MISTAKES: Final = (
    "tests/golem_project/pi/test_add_next_call.py"
    "::test_of_120_typical_mistakes_nearly_all_are_put_right_by_one_more_call"
)
_MOST_SECONDS: Final = 1_500
_LENT: Final = ("GOLEM_", "DJANGO_", "DATABASE_URL", "REDIS_URL")
"""What this run was lent: the test finds its own, the settings of tests before all."""


@measure("tokens")
def measure_tokens() -> Iterator[Figure]:
    """The worst core, what it costs to read every word there is, lines that are cut, the document, mended mistakes."""
    cost, profile, dialect, tokenizer = max(_weigh_cores())
    yield Figure(
        "tokens.core",
        "the dearest core of a profile, in its dearest dialect",
        cost,
        "tokens",
        target=MOST_CORE,
        reference=f"{profile} as {dialect} in {tokenizer}, of {len(BUILTIN_PROFILES)} profiles",
    )
    everything = list_everything(toolset=Toolset.of(REGISTRY, "all"))
    told = max(count_json(everything, tokenizer=each) for each in TOKENIZERS)
    yield Figure(
        "tokens.everything",
        f"one answer with every word there is, at {TOOLS_OF_THE_PROMISE} tools",
        round(told / len(REGISTRY) * TOOLS_OF_THE_PROMISE),
        "tokens",
        target=MOST_EVERYTHING,
        reference=f"{told} tokens for the {len(REGISTRY)} there are",
    )
    lines = list(_list_lines())
    yield Figure(
        "tokens.cut_lines",
        "lines of categories that are cut",
        sum("…" in line for line in lines),
        "lines",
        target=0,
        reference=f"of {len(lines)} lines",
    )
    document = SchemaGenerator().get_schema(request=None, public=True)
    yield Figure(
        "tokens.document",
        f"bytes of the OpenAPI document for {len(REGISTRY)} tools",
        len(json.dumps(document, separators=(",", ":"))),
        "bytes",
        target=MOST_BYTES,
        reference="890,000 bytes for 119 tools when each body was told whole",
    )
    yield _count_mended()


def _weigh_cores() -> Iterator[tuple[int, str, str, str]]:
    for each in BUILTIN_PROFILES:
        rule = ProfileRule(each.name, each.categories, each.is_read_only, each.is_conservative)
        toolset = resolve(ToolsetInputs(ArchetypeRule("any"), profiles=(rule,)))
        cut = make_loadout(toolset=toolset, first=()).cut(toolset)
        tools = define_tools(
            toolset=cut,
            permit_ttl_seconds=PERMIT_TTL_SECONDS,
            has_writes=toolset.has_writes,
            has_more=len(cut) < len(toolset),
        )
        for dialect in Dialect:
            for tokenizer in TOKENIZERS:
                cost = count_definitions(tools, dialect=dialect, tokenizer=tokenizer)
                yield cost, each.name, dialect.value, tokenizer


def _list_lines() -> Iterator[str]:
    toolset = Toolset.of(REGISTRY, "all")
    loadout = make_loadout(toolset=toolset, first=())
    for category in {tool.category for tool in REGISTRY}:
        yield from list_category(toolset=toolset, loadout=loadout, category=category)["tools"].values()


def _count_mended() -> Figure:
    """By the test that makes the mistakes, on servers of its own; it says how many there were and were mended."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        argv = [sys.executable, "-m", "pytest", _MISTAKES, "-n", "0", "-q", "-p", "no:cacheprovider"]
        told = subprocess.run(
            [*argv, f"--junitxml={report}", "-o", "junit_family=xunit1", f"--timeout={_MOST_SECONDS}"],
            cwd=CHECKOUT,
            env={name: value for name, value in os.environ.items() if not name.startswith(_LENT)},
            capture_output=True,
            text=True,
            timeout=_MOST_SECONDS,
            check=False,
        )
        if not report.exists():
            raise RuntimeError(f"no mistake was made: {told.stdout[-300:]} {told.stderr[-300:]}")
        properties = ElementTree.parse(report).iter("property")
        said = {each.get("name"): int(each.get("value", "0")) for each in properties}
    if "mended" not in said:
        raise RuntimeError(f"the mistakes were not made to their end: {told.stdout[-600:]}")
    return Figure(
        "tokens.mended",
        "mistakes of agents that are mended by one more call, by what the answer tells",
        round(100 * said["mended"] / said["mistakes"], 1),
        "%",
        target=LEAST_MENDED,
        reference=f"{said['mended']} of {said['mistakes']}; 84% of 114 before",
        at_least=True,
    )

"""A prompt begins with what changes least, so that a provider that keeps its beginning keeps most of it."""

from __future__ import annotations

import os.path

import pytest

from archetypes_app.models import Archetype
from golem_project.heartbeat.thinking.prompt import HOUSE_RULES, write_instructions
from golem_project.pi.definitions import define_tools
from tests.builtin_rows import provide_builtins
from tools_app.toolkit.enums import Category, Phase
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY


def write(archetype: Archetype, phase: Phase, category: Category, *, is_live: bool = True) -> str:
    toolset = Toolset.of(REGISTRY.by_category(category), "chosen")
    tools = define_tools(toolset=toolset, permit_ttl_seconds=60)
    return write_instructions(
        archetype=archetype, golem_name="G", phase=phase, is_live=is_live, tools=tools, toolset=toolset
    )


@pytest.mark.django_db
def test_a_change_of_phase_leaves_all_but_the_end_and_a_change_of_tools_the_golem_and_the_house() -> None:
    provide_builtins()
    archetype = Archetype.objects.get(name="golem-instance")
    calm = write(archetype, Phase.THRIVING, Category.TRADING)
    kept = os.path.commonprefix([calm, write(archetype, Phase.CAUTIOUS, Category.TRADING)])
    assert kept.endswith("Your phase is ")
    assert len(kept) > 0.9 * len(calm)
    kept = os.path.commonprefix([calm, write(archetype, Phase.THRIVING, Category.LP)])
    assert HOUSE_RULES[-1] in kept
    assert archetype.output_format.strip() in kept

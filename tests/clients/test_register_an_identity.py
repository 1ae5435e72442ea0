"""The program of the page, as an owner's agent runs it against a running server."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from archetypes_app.models import ApiKey, ToolOverride, ToolProfile
from archetypes_app.tool_loadout import MOST_TOOLS
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.how_to import read_block


@pytest.mark.protocols("erc8004")
def test_the_program_of_the_page_registers_an_agent_and_finds_it(door: Door, live_server: Any) -> None:
    ToolOverride.objects.filter(golem=door.agent.golem, tool_name__startswith="identity_").delete()
    door.agent.golem.profiles.add(ToolProfile.objects.get(name="erc8004"))
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])
    program = read_block("register-an-identity.md", 0)
    environment = {
        "PYTHONPATH": str(ROOT / "clients" / "python"),
        "GOLEM_URL": live_server.url,
        "GOLEM_TOKEN": door.agent.key.token,
    }
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=90)
    told = ran.stdout.splitlines()
    assert told[:1] == ["COMMITTED"], ran.stdout + ran.stderr
    assert "'Night watch', 'untrusted': True" in told[1]
    assert told[2:] == ["on_chain True", "bronze"]

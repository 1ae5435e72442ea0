"""Every fenced block of the page of a door is run, word for word, by the test that stands beside it here.

A command that a reader is to give stands in such a block and nowhere else.
"""

from __future__ import annotations

import re

import pytest

from tests.architecture.sources import ROOT, list_tracked
from tests.how_to import list_blocks

RUN_BY = {
    "write-an-agent.md": (
        "test_the_agent_of_the_documents_acts_and_mends_what_it_is_told_to_mend",
        "test_the_command_of_the_page_runs_the_agent",
        "test_the_commands_of_the_page_sign_an_agent_in",
        *["test_each_call_of_a_job_is_accepted_as_it_stands"] * 5,
        "test_the_plan_of_the_guide_is_one_that_owners_are_asked_about",
    ),
    "use-pi.md": (
        "test_the_commands_of_the_page_build_and_install_it",
        "test_the_commands_of_the_page_build_and_install_it",
        "test_the_command_of_the_page_starts_pi_with_the_golem",
    ),
    "talk-a2a.md": ("test_the_program_and_the_command_of_the_page_swap",) * 2,
    "use-mcp.md": ("test_the_program_of_the_page_goes_from_the_tools_to_the_outcome",),
    "use-the-python-client.md": ("test_the_command_and_the_program_of_the_page_swap",) * 2,
    "use-the-typescript-client.md": (
        "test_the_commands_and_the_program_of_the_page_go_from_the_manifest_to_the_outcome",
    )
    * 2,
    "use-an-agent-framework.md": ("test_the_commands_of_the_page_start_an_example",),
    "register-an-identity.md": ("test_the_program_of_the_page_registers_an_agent_and_finds_it",),
}
"""The page of each door, and who runs its blocks, in their order."""


@pytest.mark.parametrize("page", RUN_BY)
def test_every_block_of_the_page_of_a_door_is_run_by_a_test(page: str) -> None:
    tests = "\n".join((ROOT / path).read_text() for path in list_tracked() if re.match(r"tests/.*\.py$", path))
    assert len(list_blocks(page)) == len(RUN_BY[page])
    assert [name for name in RUN_BY[page] if f"def {name}(" not in tests] == []
    read = {int(number) for number in re.findall(rf'read_block\("{re.escape(page)}", (\d+)\)', tests)}
    assert read == set(range(len(RUN_BY[page])))


@pytest.mark.parametrize("page", RUN_BY)
def test_a_program_or_command_of_the_page_of_a_door_has_no_gap_that_only_a_reader_can_fill(page: str) -> None:
    assert [block for block in list_blocks(page) if "…" in block.replace("/…", "") or "GOLEM_ID" in block] == []


@pytest.mark.parametrize("page", RUN_BY)
def test_no_command_of_the_page_of_a_door_stands_in_its_prose_alone(page: str) -> None:
    text = re.sub(
        r"^ *```.*?^ *```$", "", (ROOT / "docs" / "how-to" / page).read_text(), flags=re.DOTALL | re.MULTILINE
    )
    told = re.findall(r"`((?:pip|npm|npx|python|pi|sh|export|curl|git) [^`]+)`", text)
    assert told == []

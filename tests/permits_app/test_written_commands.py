"""Programs an owner wrote down: values fill whole arguments, and the rest is the way of every local write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from archetypes_app.actions.include_coding_tools import include_coding_tools
from archetypes_app.errors import LiveToolsRefused
from archetypes_app.models import DefinitionApproval, Golem, ToolOverride
from archetypes_app.toolset import resolve_toolset
from permits_app.actions.approve_definition import approve_definition, compare_definitions
from permits_app.actions.bring_definition import bring_definition
from permits_app.actions.revoke_definition import revoke_definition
from permits_app.limits.policy import load_golem
from permits_app.models import ChangeRequest
from tests import factories
from tests.coding_agent import CodingAgent, Refused, make_coding_agent
from tests.golem_project.test_let_a_golem_code import eager
from tests.sshd import Sshd
from tests.tools_app.subsystems.coding.test_six_tools import put
from tests.tools_app.subsystems.coding.test_ssh import public_key, remote
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.models import ToolDefinition
from tools_app.sandbox.definition import DefinitionRefused
from tools_app.sandbox.owner_toml_definition import LONGEST_COMMAND_MS, read_written
from tools_app.sandbox.stored_definition import write_toml
from tools_app.subsystems.coding.detect_sandbox_fences import Fences
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.presets import Preset

__all__ = ["eager", "remote"]

WORDS = """
name = "say_words"
summary = "Says a word"
description = "Prints a word between brackets. Does not write a file."
category = "coding"
"""
WORD = '[parameters.word]\nkind = "text"\nlongest = 200\ndescription = "The word."\n'
SAY = '[command]\nargv = ["printf", "[%s]", "$word"]\n'


def bring(owner: Any, text: str) -> ToolDefinition:
    return bring_definition(owner=owner, definition_text=text, module=None, now=clock.now())


def give(agent: CodingAgent, text: str = WORDS + WORD + SAY) -> ToolDefinition:
    row = bring(agent.owner, text)
    approve_definition(
        definition=row, seen_hash=row.definition_hash, golem_ids=[agent.golem.pk], owner=agent.owner, now=clock.now()
    )
    return row


def say(agent: CodingAgent, **params: Any) -> dict[str, Any]:
    return agent.do("say_words", venue="command", **params)


# ---- the way of every local write ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("transactional_db", "eager")
@pytest.mark.parametrize("place", ["here", "by SSH"])
def test_a_program_waits_for_its_owner_and_runs_once_over_the_agents_door(
    coding_folder: Path, tmp_path: Path, sshd: Sshd, place: str
) -> None:
    agent = make_coding_agent(coding_folder)
    agent.writes_over_rest = True
    agent.choose(needs_owner="COMMANDS")
    if place == "by SSH":
        (tmp_path / "there").mkdir()
        sshd.authorized.write_text(public_key(agent.golem.pk) + "\n")
        host_key = " ".join(sshd.host_key.split()[:2])
        machine = {"host": "127.0.0.1", "port": sshd.port, "username": sshd.username, "host_key": host_key}
        agent.choose(place="SSH", folder=str(tmp_path / "there"), **machine)
    row = give(agent)
    (route,) = [each for each in agent.get("manifest")["actions"] if each["tool"] == "say_words"]
    assert route["definition_hash"] == row.definition_hash and route["is_transaction"] is False
    permit = agent.preview("say_words", venue="command", word="one; two $(id)")
    assert permit["status"] == "AWAITING_APPROVAL"
    (line,) = permit["expected_outcome"]["differences"]
    assert line["after"] == "printf '[%s]' 'one; two $(id)'" and "no shell reads" in line["note"]
    assert permit["expected_outcome"]["details"]["argv"] == ["printf", "[%s]", "one; two $(id)"]
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    assert agent.approve(permit).state == "EXECUTED" and request.pk
    ended = agent.get(f"permits/{permit['permit_id']}")
    told = ended["result"]["data"]
    assert told["untrusted"] is True and ended["status"] == "COMMITTED"
    assert told["value"]["content"][0]["text"] == "[one; two $(id)]"
    with pytest.raises(Refused, match="PERMIT_ALREADY_COMMITTED"):
        agent.commit(permit)
    events = set(AuditEntry.objects.filter(golem_id=agent.golem.pk).values_list("event", flat=True))
    assert {"DefinitionApproved", "PermitCreated", "PermitConsumed"} <= events


def test_a_program_over_its_time_is_killed_and_its_exit_code_is_told(coder: CodingAgent) -> None:
    give(coder, WORDS + '[command]\nargv = ["sleep", "9"]\ntimeout_ms = 300\n')
    told = say(coder)
    assert (told["exit_code"], told["content"][-1]["err_code"]) == (-1, "timeout")
    give(coder, WORDS + '[command]\nargv = ["./nothing-here"]\n')
    assert say(coder)["exit_code"] == 127


def test_where_no_command_is_fenced_no_program_runs(coder: CodingAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    give(coder)
    gone = Fences(False, True, "bwrap is missing")
    monkeypatch.setattr("tools_app.subsystems.coding.detect_sandbox_fences.find_fences", lambda: gone)
    with pytest.raises(Refused, match="COMMANDS_NOT_FENCED"):
        say(coder, word="x")


def test_another_workspace_another_version_and_a_revocation_void_what_was_previewed(coder: CodingAgent) -> None:
    first = give(coder)
    permit = coder.preview("say_words", venue="command", word="x")
    coder.choose(needs_owner="COMMANDS")
    assert coder.commit(permit)["problem"]["code"] == "WORKSPACE_CHANGED"
    coder.choose(needs_owner="NOTHING")
    permit = coder.preview("say_words", venue="command", word="y")
    give(coder, WORDS + WORD + SAY.replace("[%s]", "(%s)"))
    assert coder.commit(permit)["problem"]["code"] == "POLICY_CHANGED"
    permit = coder.preview("say_words", venue="command", word="z")
    approval = DefinitionApproval.objects.get(revoked_at__isnull=True)
    revoke_definition(approval=approval, reason="no", owner=coder.owner, now=clock.now())
    assert coder.commit(permit)["problem"]["code"] == "POLICY_CHANGED"
    with pytest.raises(Refused, match="UNKNOWN_ACTION"):
        coder.preview("say_words", venue="command", word="z")
    assert first.version == 1


# ---- whose it is --------------------------------------------------------------------------------------------------


def test_without_tools_for_code_the_program_does_not_exist(coder: CodingAgent) -> None:
    give(coder)
    include_coding_tools(golem_id=coder.golem.pk, preset=Preset.READ_ONLY, actor="owner:1", now=clock.now())
    assert say(coder, word="x")["exit_code"] == 0
    ToolOverride.objects.filter(golem=coder.golem).delete()
    toolset = resolve_toolset(load_golem(coder.golem.pk))
    assert "say_words" not in toolset and "tools for code" in toolset.reasons["say_words"]
    with pytest.raises(Refused, match="UNKNOWN_ACTION"):
        coder.preview("say_words", venue="command", word="x")


def test_an_exclude_and_an_archetype_that_only_reads_take_it_out(coder: CodingAgent) -> None:
    give(coder)
    ToolOverride.objects.create(golem=coder.golem, tool_name="say_words", mode="EXCLUDE")
    assert "say_words" not in resolve_toolset(load_golem(coder.golem.pk))
    ToolOverride.objects.filter(tool_name="say_words").delete()
    archetype = coder.golem.archetype
    type(archetype).objects.filter(pk=archetype.pk).update(is_read_only=True)
    assert "say_words" not in resolve_toolset(load_golem(coder.golem.pk))


def test_one_owner_alone_gives_a_live_golem_no_program(coder: CodingAgent) -> None:
    Golem.objects.filter(pk=coder.golem.pk).update(is_live=True)
    with pytest.raises(LiveToolsRefused, match="Back to rehearsal"):
        give(coder)
    Golem.objects.filter(pk=coder.golem.pk).update(is_live=False)
    row = give(coder)
    Golem.objects.filter(pk=coder.golem.pk).update(is_live=True)
    assert give(coder).pk == row.pk


# ---- values -------------------------------------------------------------------------------------------------------

HOSTILE = [
    "; id",
    "$(id)",
    "`id`",
    "a b",
    "*",
    "'",
    '"',
    "\\",
    "$HOME",
    "${PATH}",
    "&& id",
    "| id",
    "> x",
    "~",
    "#",
    "!!",
]


def test_a_value_is_one_argument_whatever_it_holds(coder: CodingAgent) -> None:
    give(
        coder, WORDS + WORD + WORD.replace("word", "more") + '[command]\nargv = ["printf", "[%s]", "$word", "$more"]\n'
    )
    for value in HOSTILE:
        assert say(coder, word=value, more="м°")["content"][0]["text"] == f"[{value}][м°]"
    assert not list(coder.folder.iterdir())


def test_a_value_is_one_argument_on_another_machine_too(remote: CodingAgent) -> None:
    give(remote)
    for value in HOSTILE:
        assert say(remote, word=value)["content"][0]["text"] == f"[{value}]"
    assert not list(remote.folder.iterdir())


@pytest.mark.parametrize(
    "value", ["-n", "--help", "-", "a\nb", "a\x00b", "a\tb", "a\u200bb", "a\u202eb", "a\x1b[31m", ""]
)
def test_a_value_that_could_be_an_option_or_is_not_seen_is_refused(coder: CodingAgent, value: str) -> None:
    give(coder)
    with pytest.raises(Refused, match="INVALID_PARAMS"):
        say(coder, word=value)


def test_behind_the_end_of_options_a_hyphen_is_a_character(coder: CodingAgent) -> None:
    give(coder, WORDS + WORD + SAY.replace('"printf",', '"printf", "--",'))
    assert say(coder, word="-n")["content"][0]["text"] == "[-n]"


def test_what_is_left_out_is_no_argument(coder: CodingAgent) -> None:
    give(coder, WORDS + WORD + "required = false\n" + '[command]\nargv = ["echo", "one", "$word", "two"]\n')
    assert say(coder)["content"][0]["text"] == "one two"
    assert say(coder, word="x")["content"][0]["text"] == "one x two"


def test_a_program_of_the_folder_gets_its_values_through_an_interpreter(coder: CodingAgent) -> None:
    put(coder, "show.py", "import sys\nprint(sys.argv[1:])\n")
    give(coder, WORDS + WORD + '[command]\nargv = ["python3", "./show.py", "$word"]\n')
    assert say(coder, word="__import__('os')")["content"][0]["text"] == "[\"__import__('os')\"]"


# ---- what a text may say ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv",
    [
        '["$word"]',
        '["-c", "$word"]',
        '["bash", "-c", "$word"]',
        '["/bin/sh", "$word"]',
        '["env", "$word"]',
        '["env", "A=b", "bash", "-c", "$word"]',
        '["timeout", "5", "$word"]',
        '["xargs", "-a", "$word"]',
        '["python3", "-c", "$word"]',
        '["python3", "$word"]',
        '["python3", "-m", "$word"]',
        '["perl", "-e", "$word"]',
        '["awk", "$word", "a.txt"]',
        '["make", "$word"]',
        '["find", ".", "$word"]',
        '["git", "-c", "$word", "log"]',
        '["echo", "--x=$word"]',
        '["echo", "$word $word"]',
        '["echo", "$$word"]',
        '["echo", "$word.more"]',
        '["echo", "a\\nb", "$word"]',
        '["echo", "a\\u0000b", "$word"]',
        '["echo", "", "$word"]',
        '["echo", "$nobody", "$word"]',
        '["echo"]',
        "[]",
        '"echo $word"',
        "[1]",
        str(["echo"] * 40).replace("'", '"'),
    ],
)
def test_a_command_whose_value_would_be_more_than_a_value_is_refused(argv: str) -> None:
    with pytest.raises(DefinitionRefused):
        read_written(WORDS + WORD + f"[command]\nargv = {argv}\n")


@pytest.mark.parametrize(
    "text",
    [
        WORDS.replace('"coding"', '"data"') + WORD + SAY,
        WORDS + 'budget = "fast"\n' + WORD + SAY,
        WORDS + WORD + SAY + "timeout_ms = 45001\n",
        WORDS + WORD + SAY + "timeout_ms = 0\n",
        WORDS + WORD + SAY + 'cwd = "/"\n',
        WORDS + WORD + SAY + 'env = { A = "b" }\n',
        WORDS + WORD + SAY + "shell = true\n",
        WORDS + WORD + "required = false\n" + '[command]\nargv = ["head", "--lines", "$word"]\n',
        WORDS.replace("say_words", "coding_shell") + WORD + SAY,
        WORDS.replace("say_words", "coding_bash") + WORD + SAY,
        WORDS.replace("say_words", "coding_read") + WORD + SAY,
    ],
)
def test_a_command_that_says_more_or_otherwise_is_refused(text: str, db: None) -> None:
    with pytest.raises(DefinitionRefused):
        bring(factories.make_owner(name="ana"), text)
    assert not ToolDefinition.objects.exists()


def test_a_choice_may_be_what_an_interpreter_runs() -> None:
    choice = WORD.replace('"text"\nlongest = 200', '"choice"\nvalues = ["unit", "lint"]')
    assert read_written(WORDS + choice + '[command]\nargv = ["make", "$word"]\n').name == "say_words"


def test_every_word_of_the_command_and_its_time_is_in_the_hash(coder: CodingAgent) -> None:
    first = give(coder)
    for text in (SAY.replace("printf", "echo"), SAY.replace("[%s]", "<%s>"), SAY + "timeout_ms = 100\n"):
        second = bring(coder.owner, WORDS + WORD + text)
        assert second.definition_hash != first.definition_hash
        assert compare_definitions(first, second)[0]["where"].startswith("command.")
        assert read_written(write_toml(second.body)).hash == second.definition_hash
    assert LONGEST_COMMAND_MS == LIMITS.longest_bash_ms

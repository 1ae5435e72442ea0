"""The extension as a person sees it: the real pi on a real terminal, with the keys that are pressed and the screen."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from archetypes_app.models import ApiKey, Golem
from archetypes_app.tool_loadout import MOST_TOOLS
from permits_app.models import ActionPermit, OutcomeRecord
from tests.catalogue.door import CASES, Door
from tests.catalogue.shelf import find_write
from tests.clients.conftest import FOLDER, NEW, OLD, Installed
from tests.clients.lossy_line import LossyLine
from tests.clients.npm_package import tree_or_skip
from tests.clients.pi_agent import command_of, environment_of, streamed
from tests.clients.pi_terminal import DOWN, ENTER, HALT_KEY, PiTerminal, terminal
from tests.how_to import read_block
from tests.scripted_model import MODEL, Answer, Reply, ScriptedModel, call, commit_last, say, serve_model

# Whichever test is first waits for the npm registry.
pytestmark = pytest.mark.timeout(600)

SWAP: dict[str, Any] = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
OpenTerminal = Callable[..., Any]


@pytest.fixture
def open_terminal(door: Door, line: LossyLine, extension: Path, tmp_path: Path) -> OpenTerminal:
    """Opens pi on a terminal for the golem of the test: `open_terminal(script, version=…)`."""
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])

    @contextmanager
    def open_one(script: list[Answer], *, version: str = NEW) -> Iterator[tuple[PiTerminal, ScriptedModel]]:
        with serve_model([streamed(each) for each in script]) as model:
            environment = environment_of(tmp_path, model_url=model.url, golem_url=line.url, token=door.agent.key.token)
            command = command_of(tree_or_skip(FOLDER), version)
            argv = [*command, "--offline", "--no-session", "-e", str(extension), "--provider", "stub", "--model", MODEL]
            with terminal(argv, environment=environment) as pi:
                pi.see(f"golem {door.agent.golem.name}")
                yield pi, model

    return open_one


@pytest.mark.parametrize("version", [NEW, OLD])
def test_a_person_reads_the_permit_agrees_and_sees_what_became_of_it(open_terminal: OpenTerminal, version: str) -> None:
    with open_terminal([call("preview_action", **SWAP), commit_last(), say("all done")], version=version) as (pi, _):
        pi.say("swap 500 USDC")
        asked = pi.see("Commit this permit?", "Yes", "No")
        # What the preview's renderer shows, and again in the question.
        assert len(re.findall(r"swap at uniswap on chain \d+: CREATED", asked)) == 2
        assert len(re.findall(r"balance -500(\.0+)? USDC", asked)) == 2
        assert re.search(r"risk \w+, worst case \$\d[\d,.]+", asked)
        permit = ActionPermit.objects.get()
        assert f"permit {permit.pk}, good until" in asked
        assert '"permit_id"' not in asked
        pi.press(ENTER)
        ended = pi.see("all done", "COMMITTED")
    assert re.search(r"swap at uniswap on chain \d+: COMMITTED", ended)
    assert "transaction 0x" in ended
    assert OutcomeRecord.objects.get(permit=permit).is_verified


def test_who_says_no_on_the_screen_has_nothing_sent(open_terminal: OpenTerminal, door: Door) -> None:
    nonce = door.stage.live.mined_nonce()
    with open_terminal([call("preview_action", **SWAP), commit_last(), say("as you wish")]) as (pi, _):
        pi.say("swap")
        pi.see("Commit this permit?")
        pi.press(DOWN)
        pi.press(ENTER)
        assert "The owner did not agree" in pi.see("as you wish")
    assert ActionPermit.objects.get().status == "CREATED"
    assert door.stage.live.mined_nonce() == nonce


@pytest.mark.parametrize("version", [NEW, OLD])
def test_the_halting_key_stops_the_golem_while_its_model_thinks(
    open_terminal: OpenTerminal, door: Door, version: str
) -> None:
    is_thinking = Event()

    def long_thought(request: dict[str, Any]) -> Reply:
        is_thinking.set()
        return replace(call("preview_action", **SWAP)(request), wait_seconds=30)

    with open_terminal([long_thought, call("preview_action", **SWAP), say("stopped")], version=version) as (pi, _):
        pi.say("swap")
        assert is_thinking.wait(60)
        pi.press(HALT_KEY)
        pi.see("The golem is halted.")
        pi.say("swap again")
        pi.see("The owner halted the golem")
    assert Golem.objects.get(pk=door.agent.golem.pk).is_halted
    assert not ActionPermit.objects.exists()


@pytest.mark.protocols("aave_v3")
@pytest.mark.parametrize(("version", "words"), [(NEW, ["load and supply"]), (OLD, ["load", "supply"])])
def test_what_is_loaded_is_counted_on_the_screen_and_can_be_called_at_once_or_from_the_next_word_on(
    open_terminal: OpenTerminal, door: Door, version: str, words: list[str]
) -> None:
    case = CASES["aave_supply"].case
    supply, wanted = find_write(case), door.stage.params(case)
    door.stage.prepare(case)
    # An older pi offers a model what there was when its user last spoke.
    script = [
        call("query_state", query="load_tools", tools=["aave_supply"]),
        *(say("now it is there") for _ in words[1:]),
        call("preview_action", action_type=supply.key, **wanted),
        say("that was it"),
    ]
    with open_terminal(script, version=version) as (pi, model):
        before = actions_of(pi.see(" actions"))
        for word in words[:-1]:
            pi.say(word)
            pi.see("now it is there")
        pi.say(words[-1])
        shown = pi.see("that was it", f"{before + 1} actions")
        assert re.search(rf"supply at {supply.venue} on chain \d+", shown)
    assert len(model.requests) == len(script)


def test_the_command_of_the_page_starts_pi_with_the_golem(door: Door, line: LossyLine, installed: Installed) -> None:
    with serve_model([streamed(call("preview_action", **SWAP)), streamed(say("shown"))]) as model:
        # The home where the page's other commands have been run, and a model that pi takes by itself.
        environment = environment_of(
            installed.home, model_url=model.url, golem_url=line.url, token=door.agent.key.token
        )
        agent = installed.home / ".pi" / "agent"
        shutil.copy(Path(environment["PI_CODING_AGENT_DIR"]) / "models.json", agent)
        kept = json.loads((agent / "settings.json").read_text())
        (agent / "settings.json").write_text(json.dumps({**kept, "defaultProvider": "stub", "defaultModel": MODEL}))
        environment |= {
            "PATH": f"{installed.home / 'bin'}:{environment['PATH']}",
            "PI_CODING_AGENT_DIR": str(agent),
        }
        with terminal(["sh", "-eu", "-c", read_block("use-pi.md", 2)], environment=environment) as pi:
            pi.see(f"golem {door.agent.golem.name}: ")
            pi.say("swap")
            pi.see("swap at uniswap", "shown")
    assert ActionPermit.objects.get().status == "CREATED"


def actions_of(text: str) -> int:
    """How many actions the line at the foot says the golem has loaded."""
    *_, told = re.findall(r": (\d+) actions", text)
    return int(told)

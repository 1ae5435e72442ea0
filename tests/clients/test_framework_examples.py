"""The examples in three frameworks, each as it stands in its file, against the running server with a scripted model."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import pytest
from golem_client import GolemClient
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from archetypes_app.models import ApiKey
from archetypes_app.tool_loadout import MOST_TOOLS
from permits_app.models import ActionPermit, OutcomeRecord
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.clients.lossy_line import LossyLine
from tests.how_to import read_block, run_in_shell
from tests.scripted_model import MODEL, Answer, Reply, call, say, serve_model

FOLDER = ROOT / "clients" / "python" / "examples"
SWAP: dict[str, Any] = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
LOAD: dict[str, Any] = {"query": "load_tools", "tools": ["aave_supply"]}


@pytest.fixture
def line(live_server: Any, door: Door) -> Iterator[LossyLine]:
    """A line to the server; the golem's key is an ordinary one."""
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])
    found = LossyLine((live_server.thread.host, live_server.thread.port))
    yield found
    found.close()


@pytest.fixture
def load_example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports an example by its name, the way its folder's own programs do."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.fixture
def client(line: LossyLine, door: Door) -> GolemClient:
    return GolemClient(line.url, door.agent.key.token, sleep=lambda seconds: None)


def commit_newest(request: dict[str, Any]) -> Reply:
    """commit_action with the permit of the newest answer, which the desk has marked as data."""
    told = [json.loads(each["content"]) for each in request["messages"] if each["role"] == "tool"]
    assert all(each["untrusted"] for each in told)
    return call("commit_action", permit_id=told[-1]["answer"]["permit_id"])(request)


SCRIPT: list[Answer] = [call("query_state", **LOAD), call("preview_action", **SWAP), commit_newest, say("done")]


def actions_of(request: Mapping[str, Any]) -> list[str]:
    (tool,) = [each["function"] for each in request["tools"] if each["function"]["name"] == "preview_action"]
    return read_words(tool["parameters"]["properties"]["action_type"])


def read_words(parameter: Mapping[str, Any]) -> list[str]:
    """The shown words, a line each of the description: no list of values keeps others out."""
    return [line.partition("@")[0] for line in str(parameter["description"]).splitlines()[1:]]


@pytest.mark.parametrize("program", ["pydantic_ai_agent", "openai_agents_agent"])
def test_the_program_loads_previews_asks_and_commits(line: LossyLine, door: Door, program: str) -> None:
    with serve_model(SCRIPT) as model:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{FOLDER.parent}:{FOLDER}",
            "GOLEM_URL": line.url,
            "GOLEM_TOKEN": door.agent.key.token,
            "OPENAI_API_KEY": "stub",
            "OPENAI_BASE_URL": model.url,
        }
        argv = [sys.executable, str(FOLDER / f"{program}.py"), MODEL, "swap 500 USDC"]
        ran = subprocess.run(argv, env=environment, input="y\n", capture_output=True, text=True, timeout=90)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].endswith("done")
    permit = ActionPermit.objects.get()
    assert OutcomeRecord.objects.get(permit=permit).is_verified
    assert "supply" not in actions_of(model.requests[0])
    assert "supply" in actions_of(model.requests[1])
    assert "never an instruction" in json.dumps(model.requests[0]["messages"])
    assert door.agent.key.token not in json.dumps(model.requests) + ran.stdout + ran.stderr


class ToldModel(GenericFakeChatModel):
    """LangChain's own fake, which notes the tools it is given and commits what it was answered."""

    bound: list[list[str]] = []

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        found = {tool.name: tool.args_schema for tool in tools}
        self.bound.append(read_words(found["preview_action"]["properties"]["action_type"]))
        return self


def wish(name: str, arguments: Mapping[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": dict(arguments), "id": name}])


def test_langchain_loads_previews_asks_and_commits(
    client: GolemClient, load_example: Callable[[str], ModuleType]
) -> None:
    example, desk_module = load_example("langchain_agent"), load_example("golem_desk")
    asked: list[Mapping[str, Any]] = []

    def follow() -> Iterator[AIMessage | str]:
        yield wish("query_state", LOAD)
        yield wish("preview_acton", SWAP)
        yield wish("preview_action", SWAP)
        yield wish("commit_action", {"permit_id": str(ActionPermit.objects.get().pk)})
        yield "done"

    model = ToldModel(messages=follow())

    def approve(permit: Mapping[str, Any]) -> bool:
        asked.append(permit)
        return True

    desk = desk_module.GolemDesk(client, approve=approve)
    assert example.run(desk, model, "swap 500 USDC") == "done"
    permit = ActionPermit.objects.get()
    assert OutcomeRecord.objects.get(permit=permit).is_verified
    assert [each["permit_id"] for each in asked] == [str(permit.pk)]
    assert "supply" not in model.bound[0]
    assert "supply" in model.bound[1]


def test_a_model_is_told_a_refusal_a_missing_approval_and_a_server_that_went_away(
    client: GolemClient, line: LossyLine, load_example: Callable[[str], ModuleType]
) -> None:
    desk = load_example("golem_desk").GolemDesk(client, approve=lambda permit: False)

    def answer(name: str, **arguments: Any) -> dict[str, Any]:
        told = json.loads(desk.call(name, arguments))
        assert told["untrusted"] is True
        found: dict[str, Any] = told["answer"]
        return found

    assert answer("query_state", query="gas_price")["tool_schema"]["parameters"]
    assert answer("no_such_tool")["code"] == "UNKNOWN_TOOL"
    permit = answer("preview_action", **SWAP)
    assert answer("commit_action", permit_id=permit["permit_id"])["code"] == "NOT_APPROVED"
    assert ActionPermit.objects.get().status == "CREATED"
    line.loses = 1_000
    assert answer("emergency_halt", reason="cut off")["code"] == "GOLEM_UNREACHABLE"


def test_the_commands_of_the_page_start_an_example(line: LossyLine, door: Door) -> None:
    with serve_model(SCRIPT) as model:
        told = {"GOLEM_URL": line.url, "GOLEM_TOKEN": door.agent.key.token, "OPENAI_API_KEY": "stub"}
        ran = run_in_shell(
            read_block("use-an-agent-framework.md", 0),
            folder=ROOT,
            environment={**told, "OPENAI_BASE_URL": model.url},
            typed="y\n",
        )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].endswith("done")
    assert OutcomeRecord.objects.get(permit=ActionPermit.objects.get()).is_verified


def test_the_page_names_every_example() -> None:
    page = (ROOT / "docs" / "how-to" / "use-an-agent-framework.md").read_text()
    for path in FOLDER.glob("*_agent.py"):
        assert f"{path.name}" in page, path

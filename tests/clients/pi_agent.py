"""The real pi, driven over its RPC mode: what a person types, what they are asked, and what a scripted model does."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from golem_project.embedded.npm_tree import newest_node
from tests.scripted_model import MODEL, Answer, Reply

PATIENCE_SECONDS = 120


def streamed(answer: Answer) -> Answer:
    """An answer of the script the way pi asks for it: piece by piece."""

    def told(request: dict[str, Any]) -> Reply:
        reply = answer(request)
        whole = json.loads(reply.body)
        (choice,) = whole["choices"]
        delta = dict(choice["message"])
        delta["tool_calls"] = [{"index": n, **each} for n, each in enumerate(delta.get("tool_calls", ()))]
        pieces = [
            {**whole, "object": "chat.completion.chunk", "usage": None, "choices": [{"index": 0, "delta": delta}]},
            {
                **whole,
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}],
            },
        ]
        text = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
        return replace(reply, body=text.encode(), headers=(("Content-Type", "text/event-stream"),))

    return told


class PiAgent:
    """One running pi. `answer` decides what the person says to a question; its events are kept."""

    def __init__(self, process: subprocess.Popen[str], answer: Callable[[dict[str, Any]], bool]) -> None:
        self.events: list[dict[str, Any]] = []
        self.questions: list[dict[str, Any]] = []
        self._process = process
        self._answer = answer
        self._lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def say(self, text: str) -> None:
        """Type `text` and wait until pi is done with it."""
        self.send({"type": "prompt", "id": text, "message": text})
        self.wait_for(lambda event: event.get("type") == "agent_end")

    def command(self, text: str) -> None:
        """Type a command of the extension, which no model answers."""
        self.send({"type": "prompt", "id": text, "message": text})
        self.wait_for(lambda event: event.get("type") == "response" and event.get("id") == text)

    def send(self, record: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(record) + "\n")
        self._process.stdin.flush()

    def wait_for(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next record that is it; questions on the way are answered. Raises AssertionError after two minutes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                record = self._lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"pi said nothing more; last: {self.events[-3:]}") from None
            self.events.append(record)
            if record.get("type") == "extension_ui_request" and record.get("method") == "confirm":
                self.questions.append(record)
                answer = {"type": "extension_ui_response", "id": record["id"], "confirmed": self._answer(record)}
                self.send(answer)
            if is_it(record):
                return record

    @property
    def notices(self) -> list[str]:
        """What the extension told the person."""
        return [str(e["message"]) for e in self.events if e.get("method") == "notify"]

    @property
    def results(self) -> list[tuple[str, bool, str]]:
        """What the tools answered the model: name, whether it is an error, and the text."""
        ended = [event for event in self.events if event.get("type") == "tool_execution_end"]
        return [(e["toolName"], e["isError"], e["result"]["content"][0]["text"]) for e in ended]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(json.loads(line))


def command_of(tree: Path, package: str) -> list[str]:
    """How to start the pi that the tree holds under the name `package`."""
    return [newest_node(), str(tree / package / "dist" / "cli.js")]


def environment_of(home: Path, *, model_url: str, golem_url: str, token: str, **further: str) -> dict[str, str]:
    """A home of its own, with the scripted model as the only one pi knows."""
    agent = home / "agent"
    agent.mkdir(parents=True, exist_ok=True)
    provider = {"baseUrl": model_url, "api": "openai-completions", "apiKey": "stub", "models": [{"id": MODEL}]}
    (agent / "models.json").write_text(json.dumps({"providers": {"stub": provider}}))
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PI_CODING_AGENT_DIR": str(agent),
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "GOLEM_URL": golem_url,
        "GOLEM_TOKEN": token,
        **further,
    }


@contextmanager
def running(
    command: list[str],
    *,
    extension: Path,
    environment: Mapping[str, str],
    answer: Callable[[dict[str, Any]], bool] = lambda question: True,
) -> Iterator[PiAgent]:
    """A pi with the extension, in RPC mode."""
    home = Path(environment["HOME"])
    argv = [*command, "--offline", "--no-session", "-e", str(extension), "--provider", "stub", "--model", MODEL]
    with (home / "stderr.txt").open("w") as stderr:
        process = subprocess.Popen(
            [*argv, "--mode", "rpc"],
            cwd=home,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        try:
            yield PiAgent(process, answer)
        finally:
            process.kill()
            process.wait(60)

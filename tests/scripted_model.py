"""An OpenAI-compatible server on loopback that plays a model from a script: real HTTP, no model.

Each answer of the script is a function of the request's JSON; the last one is repeated. What was asked is kept.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.proof.serving import serving

Answer = Callable[[dict[str, Any]], "Reply"]
MODEL = "scripted-1"


@dataclass(frozen=True)
class Reply:
    """What goes back: a status, a body as bytes, and how long to wait before it."""

    body: bytes
    status: int = 200
    wait_seconds: float = 0.0
    headers: tuple[tuple[str, str], ...] = ()
    promised: int = 0
    """Bytes the head speaks of beyond those that come."""
    drips: int = 0
    """How many bytes of an answer without end come, a few times a second."""


def say(text: str, *, tokens: tuple[int, int] = (900, 40)) -> Answer:
    """A last word."""
    return lambda _: _completion({"role": "assistant", "content": text}, "stop", tokens)


def call(name: str, *, tokens: tuple[int, int] = (1_000, 60), **arguments: Any) -> Answer:
    """One call of a tool."""
    return calls((name, json.dumps(arguments)), tokens=tokens)


def calls(*wanted: tuple[str, str], tokens: tuple[int, int] = (1_000, 60)) -> Answer:
    """Several calls in one answer; the arguments are text, which may be anything."""

    def answer(request: dict[str, Any]) -> Reply:
        # A call's id is never used twice in one conversation, as with any provider.
        turn = len(request.get("messages", ()))
        listed = [
            {"id": f"call_{turn}_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(wanted)
        ]
        return _completion({"role": "assistant", "content": None, "tool_calls": listed}, "tool_calls", tokens)

    return answer


def commit_last(*, tokens: tuple[int, int] = (1_200, 30)) -> Answer:
    """commit_action with the permit_id of the newest answer that has one."""

    def answer(request: dict[str, Any]) -> Reply:
        for message in reversed(request["messages"]):
            if message["role"] == "tool" and "permit_id" in message["content"]:
                permit_id = json.loads(message["content"])["permit_id"]
                return call("commit_action", permit_id=permit_id, tokens=tokens)(request)
        raise AssertionError("no permit in the conversation")

    return answer


def raw(body: bytes, *, status: int = 200, content_type: str = "application/json") -> Answer:
    """Any bytes."""
    return lambda _: Reply(body, status, headers=(("Content-Type", content_type),))


def slow(seconds: float) -> Answer:
    """An answer that comes too late."""
    return lambda _: Reply(_completion({"role": "assistant", "content": "late"}, "stop", (1, 1)).body, 200, seconds)


def drip(pieces: int) -> Answer:
    """An answer whose bytes come one by one."""
    return lambda _: Reply(b"", 200, drips=pieces)


def cut_off(body: bytes) -> Answer:
    """The beginning of an answer, after which the line is cut."""
    return lambda _: Reply(body, 200, promised=1_000)


def redirect(to: str) -> Answer:
    """An answer that points elsewhere."""
    return lambda _: Reply(b"", 307, headers=(("Location", to),))


def last_tool_answer(request: dict[str, Any]) -> dict[str, Any]:
    """What the golem answered to the newest call."""
    texts = [message["content"] for message in request["messages"] if message["role"] == "tool"]
    found: dict[str, Any] = json.loads(texts[-1])
    return found


def anthropic_says(text: str) -> Answer:
    """A last word as Anthropic's messages say it."""
    return _anthropic([{"type": "text", "text": text}], "end_turn")


def anthropic_calls(name: str, **arguments: Any) -> Answer:
    """One call of a tool, the same way."""
    return _anthropic([{"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}], "tool_use")


def _anthropic(content: list[dict[str, Any]], stop: str) -> Answer:
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 800, "output_tokens": 20},
    }
    return raw(json.dumps(body).encode())


@dataclass
class ScriptedModel:
    """The server while it runs."""

    url: str
    script: list[Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def answer(self, request: dict[str, Any], authorization: str | None) -> Reply:
        """The script's answer to the request that comes next."""
        number = len(self.requests)
        self.requests.append(request)
        self.authorizations.append(authorization)
        return self.script[min(number, len(self.script) - 1)](request)

    @property
    def instructions(self) -> str:
        """The standing part of the first request."""
        return str(self.requests[0]["messages"][0]["content"])

    @property
    def opening(self) -> str:
        """The first message of the user's side."""
        return next(str(m["content"]) for m in self.requests[0]["messages"] if m["role"] == "user")


@contextmanager
def serve_model(script: Sequence[Answer]) -> Iterator[ScriptedModel]:
    """A scripted model on a free port of loopback."""
    model = ScriptedModel("", list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.paths.append(self.path)
            reply = model.answer(body, self.headers.get("Authorization") or self.headers.get("x-api-key"))
            stopping.wait(reply.wait_seconds)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers or (("Content-Type", "application/json"),):
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body) + reply.promised + reply.drips))
                self.end_headers()
                self.wfile.write(reply.body)
                self.close_connection = bool(reply.promised)
                for _ in range(reply.drips):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    if stopping.wait(0.05):
                        return
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            return

    stopping = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with serving(server):
        try:
            yield model
        finally:
            stopping.set()


def _completion(message: dict[str, Any], finish: str, tokens: tuple[int, int]) -> Reply:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.monotonic()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }
    return Reply(json.dumps(body).encode())

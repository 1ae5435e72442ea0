"""What was measured and proven is kept when the servers it ran on are thrown away."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from golem_project.embedded.throwaway import throwaway_paths
from tests.bench.agents import HttpAgent
from tests.bench.command import Command
from tests.bench.figures import MEASURES, Figure
from tests.proof.registry import Progress, load_rows
from tests.proof.serving import serving


def test_reports_lie_outside_of_what_is_thrown_away() -> None:
    with throwaway_paths() as paths:
        assert not settings.GOLEM_REPORT_DIR.is_relative_to(paths.var_dir)


@pytest.mark.django_db
def test_a_figure_is_written_where_reports_are_kept(settings: Any, tmp_path: Path) -> None:
    settings.GOLEM_REPORT_DIR = tmp_path
    call_command(Command(), only="toolset.")
    assert [figure["id"].split(".")[0] for figure in json.loads((tmp_path / "bench.json").read_text())] == ["toolset"]


@pytest.mark.django_db
def test_a_measure_that_ends_early_leaves_what_it_and_others_measured(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure_half() -> Iterator[Figure]:
        yield Figure("broken.first", "w", 1.0, "ms")
        raise ConnectionError("the second half met a closed door")

    monkeypatch.setitem(MEASURES, "broken", measure_half)
    monkeypatch.setitem(MEASURES, "broken.not", lambda: [Figure("broken.not.this", "w", 1.0, "ms")])
    settings.GOLEM_REPORT_DIR = tmp_path
    with pytest.raises(CommandError, match=r"ended early: broken \(ConnectionError\)"):
        call_command(Command(), only="broken.")
    figures = json.loads((tmp_path / "bench.json").read_text())
    assert [figure["id"] for figure in figures] == ["broken.first", "broken.not.this"]


def test_an_agent_that_was_idle_asks_on_a_connection_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_impatient() as server:
        agent = HttpAgent(port=server.server_address[1], token="t")
        assert agent.call("query_state", {})[0] == agent.call("query_state", {})[0] == 200
        assert server.connections == 1
        server.hang_up()
        monkeypatch.setattr("tests.bench.agents._KEPT_IDLE_MS", 0)
        assert agent.call("query_state", {})[0] == 200
    assert (server.connections, server.asked) == (2, 3)


class _Impatient(ThreadingHTTPServer):
    """Answers everything; closes what is open when it is told to."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.connections = self.asked = 0
        self.open: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.connections += 1
        self.open.append(connection)
        return connection, address

    def hang_up(self) -> None:
        for connection in self.open:
            connection.shutdown(socket.SHUT_RDWR)


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Impatient

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serve_impatient() -> Iterator[_Impatient]:
    server = _Impatient()
    with serving(server):
        yield server


def test_an_interrupted_proof_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = Progress(id="p", what="w", rounds=3, path=tmp_path / "proof.json")
    rounds = first.remaining()
    assert [next(rounds), next(rounds)] == [0, 1]
    again = Progress(id="p", what="w", rounds=3, path=first.path, done=load_rows(first.path)["p"]["done"])
    assert list(again.remaining()) == [1, 2]
    assert load_rows(first.path)["p"]["ok"]

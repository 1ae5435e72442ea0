"""The world's own JSON-RPC client against a socket: what is tried once more, and what is told at once."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Sequence

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.rpc import JsonRpc

BODY = b'{"jsonrpc": "2.0", "id": 1, "result": "0x1"}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


def serve(server: socket.socket, script: Sequence[Sequence[bytes]]) -> threading.Thread:
    """A node of so many connections: on each it answers so many requests, then it hangs up on the next."""

    def run() -> None:
        # The test that was hung up on is over, and its server closed, before the next connection is waited for.
        with contextlib.suppress(OSError):
            for answers in script:
                connection, _ = server.accept()
                with connection:
                    for answer in answers:
                        connection.recv(65_536)
                        connection.sendall(answer)
                    connection.recv(65_536)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_a_node_that_hangs_up_on_a_new_connection_is_not_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        serve(server, [[], [ANSWER]])
        rpc = JsonRpc(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_seconds=60)
        with pytest.raises(EmbeddedError, match="hung up"):
            rpc.call("eth_chainId")


def test_a_connection_that_was_kept_and_closed_meanwhile_is_opened_once_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        serve(server, [[ANSWER], [ANSWER]])
        rpc = JsonRpc(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_seconds=60)
        assert [rpc.call("eth_chainId"), rpc.call("eth_chainId")] == ["0x1", "0x1"]


def test_a_node_that_takes_too_long_is_told_with_the_call_and_the_seconds_and_not_as_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        for ask, named in (
            (lambda rpc: rpc.call("anvil_mine", "0x2710"), "anvil_mine"),
            (lambda rpc: rpc.call_all([("eth_call", []), ("eth_call", [])]), "2 calls from eth_call on"),
        ):
            rpc = JsonRpc(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_seconds=0.1)
            with pytest.raises(EmbeddedError, match=f"did not answer {named} within 0.1 seconds. Fix: ask for less"):
                ask(rpc)

"""Starts anvil: the one place that knows its options. Loopback only, no cross-origin calls, no log."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.process import Child, free_port, listens_on, start_child

CHAIN_ID = 31337
SECOND_CHAIN_ID = 31338
"""A twin of the first: the same contracts at the same addresses, for what goes from one chain to another."""
# Prague: the newest rules that the in-process EVM runs too, so both engines agree.
HARDFORK = "prague"
START_TIMEOUT_SECONDS = 20
# Cost of finding a port, losing it to someone else and trying again: nothing. More than that is another fault.
PORT_ATTEMPTS = 5
# Of so many blocks the balances can still be asked for; about 0.7 MB of memory each. Without a bound the node writes
# the whole state of every block beyond the 500th to a file of 2.2 MB, which takes it longer than all else it does.
BLOCKS_WITH_STATE = 512


def node_argv(anvil: Path, port: int, *options: str, chain_id: int = CHAIN_ID) -> list[str]:
    """The command line of a node on 127.0.0.1:port."""
    return [
        str(anvil),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--chain-id",
        str(chain_id),
        "--hardfork",
        HARDFORK,
        "--accounts",
        "0",
        "--no-cors",
        "--no-request-size-limit",
        "--quiet",
        "--prune-history",
        str(BLOCKS_WITH_STATE),
        *options,
    ]


def node_environment(folder: Path) -> dict[str, str]:
    """Without the caller's variables (anvil reads several); its home is `folder`, where it leaves what it leaves."""
    return {"HOME": str(folder), "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TMPDIR": str(folder)}


def ask_chain_id(port: int, *, timeout_seconds: float = 1.0) -> int | None:
    """The chain id that a node on this port answers with, None when none answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_seconds)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []})
    try:
        connection.request("POST", "/", body, {"Content-Type": "application/json"})
        return int(json.loads(connection.getresponse().read())["result"], 16)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()


def wait_until_ready(child: Child, port: int, *, log: Path, chain_id: int = CHAIN_ID) -> None:
    """Until the node answers. Raises EmbeddedError when it ended or took too long, with the last line it wrote."""
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if child.has_ended():
            lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
            raise EmbeddedError(f"anvil ended while starting ({lines[-1] if lines else 'no output'}). Fix: see {log}")
        if listens_on(child.pid, port) and ask_chain_id(port) == chain_id:
            return
        time.sleep(0.005)
    raise EmbeddedError(f"anvil did not answer within {START_TIMEOUT_SECONDS} s. Fix: see {log}")


def launch_node(anvil: Path, folder: Path, *options: str, port: int, chain_id: int = CHAIN_ID) -> tuple[Child, Path]:
    """Start anvil without waiting for it; returns it and its log."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "anvil.log"
    with log.open("wb") as file:
        child = start_child(
            node_argv(anvil, port, *options, chain_id=chain_id),
            name="chain",
            environment=node_environment(folder),
            log=file,
            cwd=folder,
        )
    return child, log


@contextmanager
def run_node(anvil: Path, folder: Path, *options: str) -> Iterator[str]:
    """A private node for the length of a block; gives its address."""
    port = free_port()
    child, log = launch_node(anvil, folder, *options, port=port)
    try:
        wait_until_ready(child, port, log=log)
        yield f"http://127.0.0.1:{port}"
    finally:
        child.stop(grace_seconds=0)

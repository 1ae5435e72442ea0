"""Keeps a copy of a chain on disk while it runs, so that a kill loses at most the last seconds.

The node's own dumping writes in place and also when nothing changed; a kill in the middle would leave half a file. Here
the copy is written whenever there are new blocks, beside the old one, and the one before is kept too. A dump is no
moment of the chain either: its blocks are read before its accounts, and the node mines meanwhile. What belongs together
`whole_states.py` finds.
"""

from __future__ import annotations

import gzip
import http.client
import json
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.reconstruct_chain_state import Dump, list_unexplained, make_whole
from golem_project.embedded.world.saved_world import replace_file

LOOK_INTERVAL_SECONDS = 0.2
# A dump holds the node up, and grows with the chain: at most a tenth of the time goes into dumps.
PAUSE_PER_DUMP = 9
REQUEST_TIMEOUT_SECONDS = 60


def ask(port: int, method: str, *params: object) -> Any:  # Any: every method of the node answers another type
    """One JSON-RPC call to a local node. Raises EmbeddedError."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REQUEST_TIMEOUT_SECONDS)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    try:
        connection.request("POST", "/", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise EmbeddedError(f"The local chain does not answer ({error}). Fix: start it again.") from error
    finally:
        connection.close()
    if "error" in answer:
        raise EmbeddedError(f"The local chain refused {method}: {answer['error'].get('message')}")
    return answer["result"]


def head_of(port: int) -> str:
    """The hash of the newest block. Raises EmbeddedError."""
    return hash_of(port, "latest")


def hash_of(port: int, block: str) -> str:
    """The hash of a block, by number in 0x-hex or by name. Raises EmbeddedError."""
    return str(ask(port, "eth_getBlockByNumber", block, False)["hash"])


def dump_state(port: int) -> bytes:
    """The chain as anvil loads it; of no one moment while it mines. Raises EmbeddedError."""
    return gzip.decompress(bytes.fromhex(ask(port, "anvil_dumpState")[2:]))


def copy_state(
    port: int, *, explained: Collection[tuple[str, int]] = ()
) -> tuple[bytes, str, frozenset[tuple[str, int]]]:
    """The chain at one of its blocks as anvil loads it, the hash of that block, and the accounts that used nonces in no
    block it keeps; `explained` are those of an earlier copy. Raises EmbeddedError.
    """
    raw = dump_state(port)
    first = Dump(json.loads(raw))
    unexplained = list_unexplained(first)
    is_at_rest = hash_of(port, "latest") == hash_of(port, hex(first.best)) and unexplained <= frozenset(explained)
    if not is_at_rest:
        # What was mined while the accounts were read lies in the blocks of a later dump.
        whole = make_whole(first, Dump(json.loads(dump_state(port))))
        first, raw = whole, json.dumps(whole.data, separators=(",", ":")).encode()
    return raw, hash_of(port, hex(first.best)), list_unexplained(first)


class StateCopy:
    """The state file of one chain, the one before it, and the head that the newer holds."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state.json"
        self.previous = folder / "state.previous.json"
        self._head = folder / "state.head"

    def head(self) -> str:
        """The hash of the newest block in the copy, empty when there is none."""
        try:
            return self._head.read_text().strip()
        except OSError:
            return ""

    def write(self, state: bytes, head: str) -> None:
        """Replace the copy, keeping the one before. A copy whose head is not told is never taken for an unused one."""
        self._head.unlink(missing_ok=True)
        if self.state.exists():
            self.state.replace(self.previous)
        replace_file(self.state, state)
        replace_file(self._head, head.encode())

    def recover(self) -> None:
        """The newer one is damaged: the one before takes its place."""
        self._head.unlink(missing_ok=True)
        self.previous.replace(self.state)

    def forget(self) -> None:
        """Remove it, older one included."""
        for path in (self._head, self.state, self.previous):
            path.unlink(missing_ok=True)


class Checkpoints:
    """Writes a copy after new blocks, from a thread of its own, until stopped or the node is gone."""

    def __init__(self, copy: StateCopy, port: int, *, say: Callable[[str], None]) -> None:
        self._copy = copy
        self._port = port
        self._say = say
        self._problem = ""
        self._explained: frozenset[tuple[str, int]] = frozenset()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chain-checkpoints", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Write a last copy if there is anything new."""
        self._stop.set()
        self._thread.join()
        self._write_if_new()

    def _run(self) -> None:
        pause = LOOK_INTERVAL_SECONDS
        while not self._stop.wait(pause):
            begun = time.monotonic()
            if not self._write_if_new():
                return
            pause = max(LOOK_INTERVAL_SECONDS, PAUSE_PER_DUMP * (time.monotonic() - begun))

    def _write_if_new(self) -> bool:
        """False when the node does not answer any more, which is its owner's business."""
        try:
            head = head_of(self._port)
            if head == self._copy.head():
                return True
            state, head, self._explained = copy_state(self._port, explained=self._explained)
        except EmbeddedError:
            return False
        try:
            self._copy.write(state, head)
        except OSError as error:
            if str(error) != self._problem:
                self._say(f"the local chain could not be saved ({error}). Fix: free some space; it tries again.")
            self._problem = str(error)
        return True

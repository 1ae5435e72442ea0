"""The local chain: anvil on loopback, chain 31337, with the world of real protocol contracts on it; 31338 is its twin.

Unless throw-away it remembers its port and its state. A chain that was used is kept as it is, so its day's figures fade
as it rests; one that was not is replaced by a fresh world, whose history ends now. The rest of the product only sees
the URL; agents never do.
"""

from __future__ import annotations

import hashlib
import signal
import time
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Say, say_to_stderr
from golem_project.embedded.own_server import OwnServer
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import (
    hold_lock,
    is_port_free,
    read_record,
    write_record,
)
from golem_project.embedded.world.keep_chain_on_disk import Checkpoints, StateCopy
from golem_project.embedded.world.node import (
    CHAIN_ID,
    PORT_ATTEMPTS,
    ask_chain_id,
    launch_node,
    node_argv,
    wait_until_ready,
)
from golem_project.embedded.world.saved_world import SavedWorld, ensure_saved, find_anvil, state_file

DEPLOYMENTS_FILE = CHECKOUT / "tools_app" / "chain" / "deployments" / f"{CHAIN_ID}.json"
LOCK_WAIT_SECONDS = 60


class EmbeddedChain(OwnServer):
    """One chain in one folder. `port` fixes the port; otherwise a free one is taken and remembered."""

    title = "anvil"
    leftover_signals = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))

    def __init__(
        self,
        data_dir: Path,
        throwaway: bool = False,
        port: int | None = None,
        *,
        say: Say = say_to_stderr,
        chain_id: int = CHAIN_ID,
    ) -> None:
        super().__init__(record=data_dir / "chain.json", port_file=data_dir / "port")
        self.data_dir = data_dir
        self.chain_id = chain_id
        self.throwaway = throwaway
        self.port = port or 0
        self.is_fresh = False
        self._fixed_port = port
        self._say = say
        self._copy = StateCopy(data_dir)
        self._checkpoints: Checkpoints | None = None
        self._origin = data_dir / "origin.json"

    @property
    def rpc_url(self) -> str:
        """The address of the node; whoever has it can mint anything."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws_url(self) -> str:
        """The same node over WebSocket."""
        return f"ws://127.0.0.1:{self.port}"

    def argv(self) -> list[str]:
        """The command line of the node. Raises EmbeddedError when it is not set up."""
        return node_argv(find_anvil(), self.port, "--load-state", str(self._loaded_from()), chain_id=self.chain_id)

    def start(self) -> bool:
        """Make the chain run. True when it is ours, False when another's is shared. Raises EmbeddedError.

        `is_fresh` tells afterwards whether it began as a new world, that is, whether nonces and balances start over.
        """
        self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold_lock(self.data_dir / "chain.lock", wait_seconds=LOCK_WAIT_SECONDS):
            if self._share_running():
                return False
            self._discard_checkpoints()
            self.is_fresh = self._choose_state()
            self._launch_from_best_state()
            if not self.throwaway:
                self._checkpoints = Checkpoints(self._copy, self.port, say=self._say)
                self._checkpoints.start()
            return True

    def stop(self) -> None:
        """Save and stop the chain if this object started it."""
        if self.child is None:
            return
        self._discard_checkpoints()
        self._end_child(graceful_signal=signal.SIGTERM, grace_seconds=2.0)

    def is_ready(self) -> bool:
        """Whether the node answers as its chain."""
        return self.port != 0 and ask_chain_id(self.port) == self.chain_id

    def _loaded_from(self) -> Path:
        return state_file() if self.throwaway or not self._copy.state.exists() else self._copy.state

    def _discard_checkpoints(self) -> None:
        """Also after a crash of the node: its watcher has nobody to watch, and what it wrote last is what there is."""
        if self._checkpoints is not None:
            self._checkpoints.stop()
            self._checkpoints = None

    def _choose_state(self) -> bool:
        """Put the state to start from in place; True when it is a fresh world. Raises EmbeddedError."""
        now = int(time.time())
        if self.throwaway:
            ensure_saved(now=now)
            return True
        origin = read_record(self._origin)
        if not self._copy.state.exists() and not self._copy.previous.exists():
            self._begin_fresh(ensure_saved(now=now))
            return True
        if origin.get("addresses") != hash_addresses():
            self._put_aside("it was made for contracts at other addresses")
            self._begin_fresh(ensure_saved(now=now))
            return True
        is_unused = self._copy.head() == origin.get("block_hash")
        saved = ensure_saved(now=now) if is_unused else None
        if saved is not None and saved.block_hash != origin.get("block_hash"):
            self._begin_fresh(saved)
            return True
        return is_unused

    def _begin_fresh(self, saved: SavedWorld) -> None:
        self._copy.forget()
        write_record(self._origin, {"block_hash": saved.block_hash, "addresses": hash_addresses()})
        self._copy.write(state_file().read_bytes(), saved.block_hash)

    def _put_aside(self, reason: str) -> None:
        """Keep a state that cannot be used, out of the way, and say so."""
        aside = self.data_dir / "state.put-aside.json"
        newest = self._copy.state if self._copy.state.exists() else self._copy.previous
        newest.replace(aside)
        self._copy.forget()
        self._say(f"the local chain starts over as a fresh world: {reason}. The old state is in {aside}")

    def _launch_from_best_state(self) -> None:
        """The newest state that the node accepts. Raises EmbeddedError when not even a fresh world starts."""
        if self.throwaway:
            self._launch(state_file())
            return
        for candidate in (self._copy.state, self._copy.previous):
            if not candidate.exists():
                continue
            try:
                self._launch(candidate)
                if candidate == self._copy.previous:
                    self._say("the local chain lost its newest state and goes on from the one before")
                    self._copy.recover()
                return
            except EmbeddedError as error:
                problem = str(error)
        self._put_aside(f"its state cannot be read ({problem})")
        self._begin_fresh(ensure_saved(now=int(time.time())))
        self.is_fresh = True
        self._launch(self._copy.state)

    def _launch(self, state: Path) -> None:
        anvil = find_anvil()
        port = self._fixed_port or self._remembered_port()
        for attempt in range(PORT_ATTEMPTS):
            child, log = launch_node(
                anvil, self.data_dir, "--load-state", str(state), port=port, chain_id=self.chain_id
            )
            self._record_child(child, port)
            try:
                wait_until_ready(child, port, log=log, chain_id=self.chain_id)
            except EmbeddedError:
                child.stop(grace_seconds=0)
                if self._fixed_port or is_port_free(port) or attempt == PORT_ATTEMPTS - 1:
                    raise
                port = self._another_port(port)
                continue
            self.child = child
            self._keep_port(port)
            return


def hash_addresses() -> str:
    """sha256 of the committed table: states made for another one are of no use."""
    return hashlib.sha256(DEPLOYMENTS_FILE.read_bytes()).hexdigest()

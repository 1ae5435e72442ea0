"""The private test chains that run on this machine: a folder each, with a record that any process can read.

Starting, finding and ending them; what is done on a chain is `dev_chain`. Nothing is left behind: the keeper of a chain
ends it with the program it belongs to, and whatever else is found without a living node is removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.process import (
    ProcessIdentity,
    free_port,
    hold_lock,
    identify,
    identity_from,
    listens_on,
    read_record,
    write_record,
)
from golem_project.embedded.world.dev_pool import DevPool
from golem_project.embedded.world.node import CHAIN_ID, ask_chain_id, node_argv, node_environment
from golem_project.embedded.world.saved_world import find_anvil

KEEPER = Path(__file__).with_name("dev_chain_keeper.py")
START_TIMEOUT_SECONDS = 20
LOCK_WAIT_SECONDS = 60


class DevChainUnknown(EmbeddedError):
    """This golem started no such chain, or it has ended."""


class DevChainsExhausted(EmbeddedError):
    """This golem has as many chains as it may."""


@dataclass(frozen=True)
class Limits:
    """How many chains there may be, and for how long."""

    most_per_golem: int
    most_in_all: int
    max_age_seconds: int


@dataclass(frozen=True)
class DevRecord:
    """One chain of the registry. `started_at_ns` is unix nanoseconds, `expires_at` unix seconds."""

    chain_ref: str
    golem_id: str
    node: ProcessIdentity
    port: int
    started_at_ns: int
    expires_at: int
    versions: tuple[str, ...]
    funded_addresses: tuple[str, ...]
    pools: tuple[DevPool, ...]


class DevRegistry:
    """The chains recorded below one folder. `anchor` is the program they belong to, by default our session's leader."""

    def __init__(
        self, folder: Path, *, limits: Limits, clock: Callable[[], float], anchor: ProcessIdentity | None
    ) -> None:
        self._folder = folder
        self._limits = limits
        self._clock = clock
        self._anchor = anchor

    def launch(
        self, golem_id: UUID, *, state: Path, versions: Sequence[str], funded_addresses: Sequence[str]
    ) -> DevRecord:
        """Start a node from a state file. Raises DevChainsExhausted, EmbeddedError when it does not start."""
        with self._locked():
            self._remove_ended()
            self._check_room(golem_id)
            chain_ref = f"dev-{secrets.token_hex(8)}"
            folder = self._folder / chain_ref
            folder.mkdir(mode=0o700)
            try:
                node, port = self._start_node(folder, state)
                now = self._clock()
                record = DevRecord(
                    chain_ref=chain_ref,
                    golem_id=str(golem_id),
                    node=node,
                    port=port,
                    started_at_ns=int(now * 10**9),
                    expires_at=int(now) + self._limits.max_age_seconds,
                    versions=tuple(versions),
                    funded_addresses=tuple(funded_addresses),
                    pools=(),
                )
                self.write(record)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            return record

    def find(self, golem_id: UUID, chain_ref: str | None) -> DevRecord:
        """A running chain of this golem, its latest when none is named. Raises DevChainUnknown.

        Another golem's chain is as unknown as one that never was.
        """
        for record in self.running():
            if record.golem_id == str(golem_id) and chain_ref in {None, record.chain_ref}:
                return record
        named = f"chain_ref {chain_ref[:80]!r}" if chain_ref else "test chain"
        raise DevChainUnknown(f"This golem runs no {named}. Fix: start one (testnet_setup_local).")

    def running(self) -> list[DevRecord]:
        """Running chains, latest first."""
        records = [
            record
            for path in self._folder.glob("*/record.json")
            if (record := parse(read_record(path))) and record.node.is_alive() and record.expires_at > self._clock()
        ]
        return sorted(records, key=lambda record: (record.started_at_ns, record.chain_ref), reverse=True)

    def write(self, record: DevRecord) -> None:
        """Record a chain, or what became of it."""
        write_record(self._folder / record.chain_ref / "record.json", asdict(record))

    def end(self, record: DevRecord) -> None:
        """End a chain and remove its folder. The keeper would see the folder go; this is only sooner."""
        if record.node.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(record.node.pid, signal.SIGKILL)
        shutil.rmtree(self._folder / record.chain_ref, ignore_errors=True)

    def reap(self) -> int:
        """Remove what is left of chains that ended or are too old; returns how many."""
        with self._locked():
            return self._remove_ended()

    def _remove_ended(self) -> int:
        running = {record.chain_ref for record in self.running()}
        ended = [folder for folder in self._folder.iterdir() if folder.is_dir() and folder.name not in running]
        for folder in ended:
            record = parse(read_record(folder / "record.json"))
            if record is not None:
                self.end(record)
            shutil.rmtree(folder, ignore_errors=True)
        return len(ended)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold_lock(self._folder / ".lock", wait_seconds=LOCK_WAIT_SECONDS):
            yield

    def _check_room(self, golem_id: UUID) -> None:
        records = self.running()
        own = sum(record.golem_id == str(golem_id) for record in records)
        if own >= self._limits.most_per_golem:
            raise DevChainsExhausted(
                f"This golem runs {own} test chains, its most. Fix: stop one (testnet_stop_local)."
            )
        if len(records) >= self._limits.most_in_all:
            raise DevChainsExhausted(f"{len(records)} test chains run on this machine, its most. Fix: try again later.")

    def _start_node(self, folder: Path, state: Path) -> tuple[ProcessIdentity, int]:
        port = free_port()
        node = self._start_keeper(folder, node_argv(find_anvil(), port, "--load-state", str(state)))
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while not listens_on(node.pid, port) or ask_chain_id(port) != CHAIN_ID:
            if not node.is_alive() or time.monotonic() > deadline:
                raise EmbeddedError("The test chain did not start. Fix: try again.")
            time.sleep(0.005)
        return node, port

    def _start_keeper(self, folder: Path, command: list[str]) -> ProcessIdentity:
        """Start a keeper, which starts the node; returns the node."""
        anchor = self._anchor or session_leader()
        argv = [sys.executable, "-I", "-S", str(KEEPER), str(folder), str(self._limits.max_age_seconds)]
        argv += [str(anchor.pid), str(anchor.started_at_ticks), "--", *command]
        result = subprocess.run(  # noqa: S603 (our own keeper and the pinned node)
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=node_environment(folder),
            timeout=START_TIMEOUT_SECONDS,
            check=False,
        )
        try:
            match json.loads(result.stdout):
                case {"node": int(pid)}:
                    identity = identify(pid)
                case _:
                    identity = None
        except ValueError:
            identity = None
        if identity is None:
            raise EmbeddedError("The test chain did not start. Fix: try again.")
        return identity


def parse(record: dict[str, object]) -> DevRecord | None:
    """What `DevRegistry.write` wrote, None when it is damaged."""
    match record:
        case {
            "node": dict(told),
            "versions": list(versions),
            "funded_addresses": list(addresses),
            "pools": list(pools),
            **others,
        }:
            pass
        case _:
            return None
    node = identity_from(told)
    if node is None:
        return None
    known: dict[str, Any] = others  # Any: the fields that are plain values
    try:
        return DevRecord(
            **known,
            node=node,
            versions=tuple(versions),
            funded_addresses=tuple(addresses),
            pools=tuple(DevPool(**pool) for pool in pools),
        )
    except TypeError:
        return None


def session_leader() -> ProcessIdentity:
    """The process whose end ends the session we run in; ourselves when it is gone already."""
    leader = identify(os.getsid(0)) or identify(os.getpid())
    if leader is None:
        raise EmbeddedError("This system does not tell about processes (/proc). Fix: run on Linux.")
    return leader

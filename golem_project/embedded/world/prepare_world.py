"""Builds the world on a private node, saves it, and tells what is where."""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from pathlib import Path

from golem_project.embedded.npm import say_to_stderr
from golem_project.embedded.world import deployments, saved_world
from golem_project.embedded.world.artifacts import Artifacts, fetch_artifacts
from golem_project.embedded.world.build import BuiltWorld, build_world, genesis_time
from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.world_table import WorldTable


def prepare_world() -> None:
    """Fetch and build, and see that the committed addresses are those. Raises EmbeddedError."""
    deployments.check_committed(build_and_save(fetch_artifacts(), now=int(time.time())))


def update_addresses(*, write: bool) -> None:
    """Build anew; write the table of addresses, or compare it. Raises EmbeddedError when it differs."""
    description = build_and_save(fetch_artifacts(), now=int(time.time()))
    if write:
        deployments.DEPLOYMENTS_FILE.parent.mkdir(parents=True, exist_ok=True)
        deployments.DEPLOYMENTS_FILE.write_text(deployments.render(description))
    deployments.check_committed(description)


def build_and_save(artifacts: Artifacts, *, now: int) -> WorldTable:
    """Build the world on a private node and save it; returns its description. Raises EmbeddedError."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="golem-world-") as scratch:
        with run_node(artifacts.anvil, Path(scratch), "--timestamp", str(genesis_time(now))) as url:
            rpc = JsonRpc(url)
            bare: list[bytes] = []
            world = build_world(rpc, artifacts, now=now, when_bare=lambda: bare.append(dump(rpc)))
            block = rpc.read_block()
            record = saved_world.SavedWorld(
                inputs=saved_world.hash_inputs(),
                built_at=now,
                block_number=block.number,
                block_hash=block.hash,
            )
            saved_world.write_saved(record, state=dump(rpc), bare=bare[0])
            rpc.close()
    description = deployments.describe_world(world, artifacts)
    say_to_stderr(f"built the local world in {time.monotonic() - started:.1f} s: {count(world)}")
    return description


def count(world: BuiltWorld) -> str:
    """What is in it, in a few words."""
    trades = sum(pool.pool.trades for pool in world.pools)
    return f"{len(world.deployed.tokens)} tokens, {len(world.pools)} pools, {trades} trades"


def dump(rpc: JsonRpc) -> bytes:
    """The chain's state as anvil loads it, without what nobody needs."""
    state = json.loads(gzip.decompress(bytes.fromhex(rpc.call("anvil_dumpState")[2:])))
    for transaction in state["transactions"]:
        # Half of the file, and of the time to load it; nobody debugs how the world was made.
        transaction["info"]["traces"] = []
    return json.dumps(state, separators=(",", ":")).encode()

"""`python -m golem_project.embedded.world`: fetch, build and describe the local world, and compile our Solidity."""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import say_to_stderr
from golem_project.embedded.world import deployments, saved, solidity
from golem_project.embedded.world.artifacts import Artifacts, fetch_artifacts
from golem_project.embedded.world.build import BuiltWorld, build_world, genesis_time
from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc


def build_and_save(artifacts: Artifacts, *, now: int) -> dict[str, Any]:
    """Build the world on a private node and save it; returns its description. Raises EmbeddedError."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="golem-world-") as scratch:
        with run_node(artifacts.anvil, Path(scratch), "--timestamp", str(genesis_time(now))) as url:
            rpc = JsonRpc(url)
            bare: list[bytes] = []
            world = build_world(rpc, artifacts, now=now, when_bare=lambda: bare.append(dump(rpc)))
            block = rpc.call("eth_getBlockByNumber", "latest", False)
            record = saved.SavedWorld(
                inputs=saved.hash_inputs(),
                built_at=now,
                block_number=int(block["number"], 16),
                block_hash=block["hash"],
            )
            saved.write_saved(record, state=dump(rpc), bare=bare[0])
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


def prepare(arguments: argparse.Namespace) -> None:
    """Fetch, check the compiled contracts, build if the saved world is not current."""
    with saved.lock_world():
        artifacts = fetch_artifacts()
        solidity.check_outputs_match_sources()
        now = int(time.time())
        found = saved.read_saved()
        if found is not None and found.is_current(now=now) and not arguments.force:
            return
        deployments.check_committed(build_and_save(artifacts, now=now))


def addresses(arguments: argparse.Namespace) -> None:
    """Build the world anew and compare its addresses with the committed table, or write the table."""
    with saved.lock_world():
        description = build_and_save(fetch_artifacts(), now=int(time.time()))
        if arguments.write:
            deployments.DEPLOYMENTS_FILE.parent.mkdir(parents=True, exist_ok=True)
            deployments.DEPLOYMENTS_FILE.write_text(deployments.render(description))
        deployments.check_committed(description)


def compile_sources(_: argparse.Namespace) -> None:
    """Compile `contracts/src` into `contracts/out`."""
    outputs = solidity.compile_contracts()
    solidity.write_outputs(outputs)
    say_to_stderr(f"compiled {len(outputs)} contracts into {solidity.OUTPUT_DIR}")


def main() -> int:
    """Exit status 0, or 1 with one line that names the fix."""
    parser = argparse.ArgumentParser(prog="python -m golem_project.embedded.world", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run, text in (
        ("prepare", prepare, "fetch what is missing and build the world if it is not current (set-up calls this)"),
        ("build", prepare, "the same; --force builds in any case"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--force", action="store_true", help="build even if the saved world is current")
        command.set_defaults(run=run)
    command = commands.add_parser("addresses", help="compare the committed table of addresses with a fresh build")
    choice = command.add_mutually_exclusive_group(required=True)
    choice.add_argument("--check", action="store_true", help="exit 1 when they differ")
    choice.add_argument("--write", action="store_true", help="write the table")
    command.set_defaults(run=addresses)
    command = commands.add_parser("compile", help="compile contracts/src into contracts/out")
    command.set_defaults(run=compile_sources)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except (EmbeddedError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"golem: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m golem_project.embedded.world`: fetch, build and describe the local world, and compile our Solidity."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from golem_project.embedded.environment import LOCAL_RPC_VARIABLE, current_environment
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import is_fetched, say_to_stderr
from golem_project.embedded.token_list import fetch_token_list
from golem_project.embedded.world import saved_world, solidity


def prepare(arguments: argparse.Namespace) -> None:
    """Fetch, check the compiled contracts, build if the saved world is not current; then the token list."""
    with saved_world.lock_world():
        solidity.check_outputs_match_sources()
        found = saved_world.read_saved()
        is_complete = all(is_fetched(package) for package in saved_world.world_packages().values())
        if found is None or not is_complete or not found.is_current(now=int(time.time())) or arguments.force:
            # Imported here: its libraries take a second, and mostly there is nothing to do.
            from golem_project.embedded.world.prepare_world import prepare_world

            prepare_world()
    fetch_token_list()
    if arguments.protocols:
        compile_protocols()
        bundle_sdk()


def compile_protocols() -> None:
    """Compile what further protocols come as, so that no test waits for it."""
    # Imported here: who only starts the product needs nothing of it.
    from golem_project.embedded.world.protocols import compile_all

    try:
        compile_all()
    except EmbeddedError as error:
        # The world stands without them: whoever builds a protocol compiles it then.
        say_to_stderr(f"not compiled now: {error}")


def bundle_sdk() -> None:
    """Put Uniswap's SDKs together, so that the product starts them."""
    # Imported here: who only starts the product needs nothing of it.
    from golem_project.embedded.sdk_bundle import make_bundle

    try:
        make_bundle()
    except EmbeddedError as error:
        # The product does without them, and says so to whoever asks for a second opinion.
        say_to_stderr(f"not bundled now: {error}")


def addresses(arguments: argparse.Namespace) -> None:
    """Build the world anew and compare its addresses with the committed table, or write the table."""
    from golem_project.embedded.world.prepare_world import update_addresses

    with saved_world.lock_world():
        update_addresses(write=arguments.write)


def protocols(arguments: argparse.Namespace) -> None:
    """Build further protocols on a running local chain."""
    from golem_project.embedded.world.protocols import deploy_protocols, find_protocol_worlds, list_in_run

    url = arguments.rpc or current_environment().get(LOCAL_RPC_VARIABLE)
    if not url:
        raise EmbeddedError(f"No local chain is named. Fix: --rpc http://127.0.0.1:PORT, or {LOCAL_RPC_VARIABLE}.")
    deploy_protocols(url, arguments.key or list_in_run(find_protocol_worlds()))
    if arguments.stay:
        # Imported here: nothing else needs them.
        from golem_project.embedded.world.people import work_on

        work_on(url, say=say_to_stderr)


def compile_sources(arguments: argparse.Namespace) -> None:
    """Compile `contracts/src`, or the files that are named, into `contracts/out`."""
    # Imported here: hashing loads what takes a third of a second, and set-up asks nothing of it.
    from golem_project.embedded.world import bindings

    outputs = solidity.compile_contracts(frozenset(arguments.file))
    solidity.write_outputs(outputs, are_all=not arguments.file)
    bindings.write_bindings()
    say_to_stderr(f"compiled {len(outputs)} contracts into {solidity.OUTPUT_DIR}")


def write_bindings(_: argparse.Namespace) -> None:
    """Write the Python bindings of the compiled contracts."""
    from golem_project.embedded.world import bindings

    bindings.write_bindings()


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
        command.add_argument("--protocols", action="store_true", help="compile what further protocols come as, too")
        command.set_defaults(run=run)
    command = commands.add_parser("addresses", help="compare the committed table of addresses with a fresh build")
    choice = command.add_mutually_exclusive_group(required=True)
    choice.add_argument("--check", action="store_true", help="exit 1 when they differ")
    choice.add_argument("--write", action="store_true", help="write the table")
    command.set_defaults(run=addresses)
    command = commands.add_parser("protocols", help="build further protocols on a running local chain")
    command.add_argument("--key", action="append", help="only this one, and what it needs; may be given again")
    command.add_argument("--rpc", help=f"the address of the chain; otherwise {LOCAL_RPC_VARIABLE} names it")
    command.add_argument("--stay", action="store_true", help="then do what their people do, such as finalising a queue")
    command.set_defaults(run=protocols)
    command = commands.add_parser("compile", help="compile contracts/src into contracts/out, and write the bindings")
    command.add_argument("file", nargs="*", help="only these, such as PolicyCage.sol: seconds where all take minutes")
    command.set_defaults(run=compile_sources)
    command = commands.add_parser("bindings", help="write the Python bindings of the compiled contracts")
    command.set_defaults(run=write_bindings)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except (EmbeddedError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"golem: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Further protocols of the local world, one module each; built on a running chain when they are first asked for.

A module says `WORLD = ProtocolWorld(key, deploy)`; the packages it needs are pinned beside it, in `<key>.json`. What
was built is written on the chain itself, so whoever asks twice gets the same and builds nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import CACHE_DIR, Say, fetch_packages, load_lock, say_to_stderr
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import hold_lock
from golem_project.embedded.world import saved_world
from golem_project.embedded.world.fetched_packages import Fetched
from golem_project.embedded.world.world_table import read_world_table

if TYPE_CHECKING:
    from golem_project.embedded.world.protocol_deployer import Site
    from golem_project.embedded.world.rpc import JsonRpc

FOLDER = Path(__file__).parent
DEPLOYMENTS_FILE = CHECKOUT / "tools_app" / "chain" / "deployments" / "31337.json"
LOCK_WAIT_SECONDS = 900
COMPILED_DIR = CACHE_DIR.parent / "compiled"
# No contract runs from here: the first byte is the invalid instruction, the rest is text.
NOTE_HEAD = "fe"


@dataclass(frozen=True)
class ProtocolWorld:
    """One protocol's part of the world. `key` is the module's name and the protocol's.

    `deploy` builds it and returns its contracts by key, which are the protocol's own constants for the local chain.
    `needs` are keys of others that must be there before. `version_of` is the key of the protocol that this is another
    version of: it is built when it is named, and never with all of them. `in_run` says that `make run` builds it all
    the same, because owners use both versions. `compiles` compiles its authors' sources, where it comes as those;
    set-up asks for it, so that no test waits for a compiler.
    """

    key: str
    deploy: Callable[[Site], Mapping[str, str]]
    needs: tuple[str, ...] = ()
    version_of: str = ""
    in_run: bool = False
    compiles: Callable[[Fetched], object] | None = None

    @property
    def lock_file(self) -> Path:
        """Its pinned packages; it need not exist."""
        return FOLDER / f"{self.key}.json"

    @property
    def recipe(self) -> str:
        """sha256 of what it is built from."""
        digest = hashlib.sha256((FOLDER / f"{self.key}.py").read_bytes())
        if self.lock_file.exists():
            digest.update(self.lock_file.read_bytes())
        return digest.hexdigest()

    def fetch(self, *, say: Say = say_to_stderr) -> Fetched:
        """Its packages. Raises EmbeddedError when they cannot be had."""
        packages = load_lock(self.lock_file) if self.lock_file.exists() else {}
        folders = fetch_packages(packages.values(), say=say)
        return Fetched(packages, {key: folders[package.name] for key, package in packages.items()})


def find_protocol_worlds() -> dict[str, ProtocolWorld]:
    """Every protocol that can be built, by key, in the order of the keys."""
    found = {}
    for module in sorted(pkgutil.iter_modules([str(FOLDER)]), key=lambda one: one.name):
        world: ProtocolWorld = importlib.import_module(f"{__name__}.{module.name}").WORLD
        if world.key != module.name:
            raise EmbeddedError(f"{module.name}.py calls itself {world.key!r}. Fix: one name.")
        found[world.key] = world
    return found


def compile_all(*, say: Say = say_to_stderr) -> None:
    """Compile what protocols come as, unless the same was compiled here. Raises EmbeddedError.

    A stamp says so, because asking the protocols themselves takes a second of imports at every start.
    """
    stamp, wanted = COMPILED_DIR / "protocols.stamp", _hash_folder()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    for world in find_protocol_worlds().values():
        if world.compiles is not None:
            world.compiles(world.fetch(say=say))
    COMPILED_DIR.mkdir(parents=True, exist_ok=True)
    stamp.write_text(wanted)


def _hash_folder() -> str:
    """A digest of all modules and lock files of protocols."""
    digest = hashlib.sha256()
    for path in sorted([*FOLDER.glob("*.py"), *FOLDER.glob("*.json")]):
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def list_plain(worlds: Mapping[str, ProtocolWorld]) -> list[str]:
    """Keys of all that stand on the shelf under their own name."""
    return [key for key, world in worlds.items() if not world.version_of]


def list_in_run(worlds: Mapping[str, ProtocolWorld]) -> list[str]:
    """Keys of all that `make run` builds."""
    return [key for key, world in worlds.items() if not world.version_of or world.in_run]


def deploy_protocols(
    url: str, keys: Iterable[str] | None = None, *, say: Say = say_to_stderr
) -> dict[str, dict[str, str]]:
    """Build the protocols of these keys (None: all) and what they need; returns their contracts, by protocol and key.

    What is there already is left as it is. Raises EmbeddedError.
    """
    from golem_project.embedded.world.rpc import JsonRpc

    worlds = find_protocol_worlds()
    saved_world.WORLD_DIR.mkdir(parents=True, exist_ok=True)
    rpc = JsonRpc(url)
    try:
        with hold_lock(saved_world.WORLD_DIR / f".protocols-{urlsplit(url).port}", wait_seconds=LOCK_WAIT_SECONDS):
            built: dict[str, dict[str, str]] = {}
            for key in list_plain(worlds) if keys is None else keys:
                provide(rpc, worlds, key, built, say=say)
            return built
    finally:
        rpc.close()


def provide(
    rpc: JsonRpc, worlds: Mapping[str, ProtocolWorld], key: str, built: dict[str, dict[str, str]], *, say: Say
) -> None:
    """See that one protocol and what it needs are there; `built` gets them. Raises EmbeddedError."""
    if key in built:
        return
    if key not in worlds:
        raise EmbeddedError(f"No protocol {key!r} in the local world. Fix: choose from {', '.join(worlds)}.")
    world = worlds[key]
    for needed in world.needs:
        provide(rpc, worlds, needed, built, say=say)
    note = read_note(rpc, key)
    if note is not None and note.recipe == world.recipe:
        built[key] = note.contracts
        return
    if note is not None:
        raise EmbeddedError(f"The local chain holds {key} as another version built it. Fix: make reset.")
    built[key] = build(rpc, world, {needed: built[needed] for needed in world.needs}, say=say)


def build(rpc: JsonRpc, world: ProtocolWorld, others: Mapping[str, Mapping[str, str]], *, say: Say) -> dict[str, str]:
    """Build one protocol; returns its contracts by key. Raises EmbeddedError."""
    # Imported here: its libraries take half a second, and mostly there is nothing to build.
    from golem_project.embedded.world.protocol_deployer import Site

    begun = time.monotonic()
    fetched = world.fetch(say=say)
    site = Site(world.key, rpc, fetched, read_world_table(DEPLOYMENTS_FILE), say, others)
    contracts = dict(world.deploy(site))
    site.flush()
    write_note(rpc, world, contracts)
    say(f"{world.key} is on the local chain ({time.monotonic() - begun:.1f} s)")
    return contracts


def note_address(key: str) -> str:
    """Where the chain keeps what was built."""
    return "0x" + hashlib.sha256(f"golem local world: {key}".encode()).hexdigest()[:40]


def write_note(rpc: JsonRpc, world: ProtocolWorld, contracts: Mapping[str, str]) -> None:
    """Write down that all of it is there; the last thing done."""
    text = json.dumps({"recipe": world.recipe, "contracts": dict(contracts)})
    rpc.call("anvil_setCode", note_address(world.key), f"0x{NOTE_HEAD}{text.encode().hex()}")


@dataclass(frozen=True, slots=True)
class Note:
    """What the chain says was built of one protocol: from which recipe, and its contracts by key."""

    recipe: str
    contracts: dict[str, str]


def read_note(rpc: JsonRpc, key: str) -> Note | None:
    """What was built of one protocol; None when it is not there. Raises EmbeddedError for a note that is none."""
    code = str(rpc.call("eth_getCode", note_address(key), "latest")).removeprefix("0x")
    if not code.startswith(NOTE_HEAD):
        return None
    match json.loads(bytes.fromhex(code[len(NOTE_HEAD) :])):
        case {"recipe": str(recipe), "contracts": dict(contracts)}:
            return Note(recipe, contracts)
    raise EmbeddedError(f"The local chain's note of {key} is damaged. Fix: make reset.")

"""The saved world under `var/cache/world`: state files for anvil, and beside it what it was made from and when.

Its history ends when it was built. Past MAX_AGE_SECONDS it is built again, which takes about two seconds, so that a
day's figures are always those of a whole day. Light on imports: the supervisor reads this at every start.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import CACHE_DIR, Package, is_fetched, load_lock
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import hold_lock

WORLD_DIR = CHECKOUT / "var" / "cache" / "world"
SOURCE_DIR = Path(__file__).parent
LOCK_FILE = SOURCE_DIR / "packages.json"
COMPILED_DIR = CHECKOUT / "contracts" / "out"
MAX_AGE_SECONDS = 6 * 3_600
# Longer than any download of set-up: whoever waits here waits for the one who builds.
LOCK_WAIT_SECONDS = 900
COMPILER = "solc"


@dataclass(frozen=True)
class SavedWorld:
    """A saved world: `inputs` is the hash of all it was made from, times are unix seconds."""

    inputs: str
    built_at: int
    block_number: int
    block_hash: str

    def is_current(self, *, now: int) -> bool:
        """Whether it was made from what is in the checkout now, and lately."""
        return self.inputs == hash_inputs() and 0 <= now - self.built_at <= MAX_AGE_SECONDS


def state_file(folder: Path = WORLD_DIR) -> Path:
    """The whole world, as anvil loads it."""
    return folder / "state.json"


def bare_state_file(folder: Path = WORLD_DIR) -> Path:
    """Its contracts only: no pool, and nobody has a token."""
    return folder / "bare.json"


def read_saved(folder: Path = WORLD_DIR) -> SavedWorld | None:
    """What is saved, None when there is nothing whole."""
    try:
        record = json.loads((folder / "world.json").read_text())
        saved = SavedWorld(**record)
        if 0 in (state_file(folder).stat().st_size, bare_state_file(folder).stat().st_size):
            return None
    except (OSError, ValueError, TypeError):
        return None
    return saved


def write_saved(saved: SavedWorld, *, state: bytes, bare: bytes, folder: Path = WORLD_DIR) -> None:
    """Replace the saved world; the record comes last, so a half-written one is never taken for whole."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "world.json").unlink(missing_ok=True)
    replace_file(state_file(folder), state)
    replace_file(bare_state_file(folder), bare)
    replace_file(folder / "world.json", json.dumps(asdict(saved)).encode())


def replace_file(path: Path, content: bytes) -> None:
    """Write beside it, flush to disk, rename: a reader sees the old file or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


@contextmanager
def lock_world(folder: Path = WORLD_DIR) -> Iterator[None]:
    """One builder at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / ".lock", wait_seconds=LOCK_WAIT_SECONDS):
        yield


def hash_inputs() -> str:
    """sha256 over the pinned packages, our compiled contracts and the code that builds the world."""
    digest = hashlib.sha256()
    for path in (LOCK_FILE, *sorted(SOURCE_DIR.glob("*.py")), *sorted(COMPILED_DIR.glob("*.json"))):
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def world_packages() -> dict[str, Package]:
    """Everything pinned but the compiler, which only the rebuilding test needs."""
    packages = load_lock(LOCK_FILE)
    return {key: package for key, package in packages.items() if key != COMPILER}


def find_anvil() -> Path:
    """The node's binary in the cache. Raises EmbeddedError when set-up has not fetched it."""
    package = load_lock(LOCK_FILE)["anvil"]
    if not is_fetched(package):
        raise EmbeddedError("The local chain is not set up. Fix: python -m golem_project.embedded.world prepare")
    return CACHE_DIR / package.folder_name / "bin" / "anvil"


def ensure_saved(*, now: int) -> SavedWorld:
    """The current saved world, built first if need be. Raises EmbeddedError.

    The building runs in a process of its own: its libraries take a second to import, and almost no start needs them.
    """
    saved = read_saved()
    if saved is not None and saved.is_current(now=now) and is_fetched(load_lock(LOCK_FILE)["anvil"]):
        return saved
    command = [sys.executable, "-m", "golem_project.embedded.world", "prepare"]
    result = subprocess.run(command, cwd=CHECKOUT, stdin=subprocess.DEVNULL, check=False)  # noqa: S603 (our own module)
    saved = read_saved()
    if result.returncode != 0 or saved is None:
        raise EmbeddedError(f"The local world could not be prepared. Fix: see above, or run {' '.join(command[1:])}")
    return saved

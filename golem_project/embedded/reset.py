"""`make reset` wipes what was stored, `make clean` what set-up made; wallets are only ever removed on an explicit wish.

The standard library only and no third-party package, because after `make clean` there is no environment.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import runpy
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

LOCAL_CHAIN_IDS = {31337, 31338}
CHECKOUT = Path(__file__).resolve().parents[2]
# What lies directly in the var folder and survives a reset: downloads, and wallets with what opens them.
KEPT_BY_RESET = frozenset({"cache", "keystore", "keystore_passphrase", "run"})
TOOL_CACHES = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache", "node_modules")
IN_USE = "golem is running. Fix: stop it (Ctrl-C where `make run` was typed), then again."


class ResetError(Exception):
    """One line with the fix."""


def chains_of(key: Path) -> set[int] | None:
    """The chains a wallet was used on, from `<address>.chains` beside it; None when that cannot be known."""
    try:
        lines = key.with_suffix(".chains").read_text().split()
    except OSError:
        return None
    try:
        return {int(line) for line in lines}
    except ValueError:
        return None


def remove_wallets(keystore: Path) -> list[str]:
    """Remove the wallets that were used on the local chains only. Returns one line for each that stays."""
    staying = []
    for key in sorted(keystore.glob("*.json")):
        chains = chains_of(key)
        if chains is None:
            staying.append(f"{key.name} stays: the chains it was used on are not recorded")
        elif foreign := chains - LOCAL_CHAIN_IDS:
            numbers = ", ".join(str(chain) for chain in sorted(foreign))
            staying.append(f"{key.name} stays: it was used on chain {numbers}")
        else:
            key.unlink()
            key.with_suffix(".chains").unlink(missing_ok=True)
    return staying


@contextlib.contextmanager
def nobody_else(var_dir: Path) -> Iterator[None]:
    """Hold the locks of the supervisor and of the database. Raises ResetError while somebody uses them."""
    run_dir = var_dir / "run"
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        for name in ("supervisor.lock", "postgres.users"):
            lock = stack.enter_context((run_dir / name).open("a"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ResetError(IN_USE) from None
        yield


def remove(path: Path) -> None:
    """Remove a file or a folder; a link is removed, what it leads to is not."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_unused(system_dir: Path) -> None:
    """Remove the system folder once it holds nothing but the note of whom it belongs to."""
    if system_dir.is_dir() and {entry.name for entry in system_dir.iterdir()} <= {"belongs-to"}:
        remove(system_dir)


def reset(var_dir: Path, system_dir: Path, *, with_keys: bool) -> list[str]:
    """Wipe the data. Returns what to tell: one line for each wallet or group of wallets that stays."""
    if not var_dir.exists():
        return ["there is no data"]
    with nobody_else(var_dir):
        keystore = var_dir / "keystore"
        wallets = len(list(keystore.glob("*.json")))
        told: list[str] = []
        if with_keys:
            told = remove_wallets(keystore)
        elif wallets:
            told = [f"{wallets} wallet(s) in {keystore} stay; KEYS=1 removes those used on local chains only"]
        for entry in sorted(var_dir.iterdir()):
            if entry.name not in KEPT_BY_RESET:
                remove(entry)
        if with_keys and not any(keystore.glob("*.json")):
            remove(keystore)
            remove(var_dir / "keystore_passphrase")
        # The locks are held through files in here, so they go last, and the folder itself stays.
        for entry in (var_dir / "run").iterdir():
            if entry.name not in {"supervisor.lock", "postgres.users"}:
                remove(entry)
        remove(system_dir / "postgres")
        remove_unused(system_dir)
    return told


def clean(checkout: Path, var_dir: Path, system_dir: Path) -> None:
    """Remove what set-up made; it comes back with the next `make setup`."""
    if var_dir.exists():
        with nobody_else(var_dir):
            pass
    for name in (".venv", ".setup.lock", "var/cache", *TOOL_CACHES):
        remove(checkout / name)
    remove(system_dir / "binaries")
    remove_unused(system_dir)
    for folder, names, _ in os.walk(checkout):
        names[:] = [name for name in names if name not in {".git", "var"}]
        if "__pycache__" in names:
            names.remove("__pycache__")
            remove(Path(folder) / "__pycache__")


def main(argv: Sequence[str]) -> int:
    """`reset [--keys]` or `clean`."""
    # By path, not by import: the packages around this file need an environment that may be gone.
    system_data_dir = runpy.run_path(str(Path(__file__).with_name("system_folder.py")))["system_data_dir"]
    parser = argparse.ArgumentParser(prog="reset", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("reset", help="wipe the data").add_argument("--keys", action="store_true")
    commands.add_parser("clean", help="remove what set-up made")
    arguments = parser.parse_args(argv)
    var_dir = Path(os.environ.get("GOLEM_VAR_DIR") or CHECKOUT / "var").absolute()
    system_dir = system_data_dir(var_dir)
    try:
        if arguments.command == "clean":
            clean(CHECKOUT, var_dir, system_dir)
        else:
            for line in reset(var_dir, system_dir, with_keys=arguments.keys):
                sys.stderr.write(f"golem: {line}\n")
    except (ResetError, OSError) as error:
        sys.stderr.write(f"golem: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

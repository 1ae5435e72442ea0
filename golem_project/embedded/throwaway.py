"""Data folders that live as long as the process that made them; those of killed processes are swept by the next one."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from golem_project.embedded.paths import CHECKOUT, Paths, locate, throwaway_root
from golem_project.embedded.process import identify, identity_from, read_record, write_record

PREFIX = "golem-throwaway-"
OWNER_FILE = "owner.json"


def sweep_abandoned(root: Path) -> list[Path]:
    """Remove the folders of ours under `root` whose maker is gone. Returns what was removed."""
    removed = []
    for folder in root.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
        except FileNotFoundError:
            continue
        owner = identity_from(read_record(folder / OWNER_FILE))
        # Without a record it may be in the making right now.
        if owner is not None and not owner.is_alive():
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def make_throwaway_paths() -> Paths:
    """A fresh set of folders; the cache of downloads stays the checkout's."""
    root = throwaway_root()
    sweep_abandoned(root)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    folder.chmod(0o711)
    owner = identify(os.getpid())
    if owner is not None:
        write_record(folder / OWNER_FILE, dataclasses.asdict(owner))
    return locate({"GOLEM_VAR_DIR": str(folder)}, checkout=CHECKOUT)


@contextlib.contextmanager
def throwaway_paths() -> Iterator[Paths]:
    """`make_throwaway_paths` for the length of a block."""
    paths = make_throwaway_paths()
    try:
        yield paths
    finally:
        shutil.rmtree(paths.var_dir, ignore_errors=True)

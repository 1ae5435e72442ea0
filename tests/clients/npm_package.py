"""A package of ours as npm makes it: built with its pinned compiler, packed, and unpacked where nothing of ours is."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import npm_command, npm_environment
from golem_project.embedded.npm_tree import install_tree


def tree_or_skip(folder: Path) -> Path:
    """What `folder` is built with; without a network the test is skipped, and on the build machine it fails."""
    try:
        return install_tree(folder)
    except EmbeddedError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"not run: {error}")


def copy_source(folder: Path, scratch: Path, *, has_modules: bool = True) -> Path:
    """The package's sources as a checkout has them, after `npm ci` or, without `has_modules`, before it."""
    source = scratch / "source"
    shutil.copytree(folder, source, ignore=shutil.ignore_patterns("node_modules", "dist"))
    if has_modules:
        (source / "node_modules").symlink_to(tree_or_skip(folder))
    return source


def pack(folder: Path, scratch: Path) -> Path:
    """The package unpacked from its own archive, beside what it runs with."""
    source = copy_source(folder, scratch)
    ran = subprocess.run(
        [*npm_command(), "pack", "--pack-destination", str(scratch), "--loglevel=error"],
        cwd=source,
        env=npm_environment(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (archive,) = scratch.glob("*.tgz")
    # An archive that was made a moment ago; early Pythons 3.11 know no filters of archives.
    shutil.unpack_archive(archive, scratch / "installed", "gztar")
    return scratch / "installed" / "package"

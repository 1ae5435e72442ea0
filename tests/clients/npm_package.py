"""A package of ours as npm makes it: built with its pinned compiler, packed, and unpacked where nothing of ours is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
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

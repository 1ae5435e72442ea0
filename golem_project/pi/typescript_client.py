"""Generates the TypeScript client's types from the OpenAPI document."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import find_node
from golem_project.embedded.npm_tree import install_tree
from golem_project.settings.environment import BASE_DIR

FOLDER: Final = BASE_DIR / "clients" / "typescript"
PATH: Final = FOLDER / "src" / "schema.ts"
_HEAD: Final = "/* Every operation of a golem's HTTP interface. Written by `manage.py clients` from OpenAPI. */\n"
_SECONDS: Final = 60


def write_schema(document: Mapping[str, object]) -> str:
    """The text of schema.ts for the OpenAPI `document`. Raises EmbeddedError without npm, Node or the registry."""
    generator = install_tree(FOLDER) / "openapi-typescript" / "bin" / "cli.js"
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "openapi.json", Path(scratch) / "schema.ts"
        source.write_text(json.dumps(document, default=str), encoding="utf-8")
        ran = subprocess.run(  # noqa: S603 (the pinned generator, nothing from outside in the command)
            [find_node(), str(generator), str(source), "-o", str(target)],
            cwd=scratch,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if ran.returncode != 0:
            raise EmbeddedError(f"openapi-typescript failed: {ran.stderr.strip()[-400:]}")
        _, _, types = target.read_text(encoding="utf-8").partition("*/\n")
    return _HEAD + types

"""Compiles other people's sources out of fetched packages; what came out is kept under `var/cache/compiled`.

Some of them must not be handed on, and some take a minute: each machine compiles once and keeps the result.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import CACHE_DIR, Package, Say, fetch_packages, find_node, say_to_stderr
from golem_project.embedded.world.artifact import Artifact, read_artifact
from golem_project.embedded.world.saved_world import replace_file
from golem_project.embedded.world.solidity import COMPILE_SCRIPT, read_answer

COMPILED_DIR = CACHE_DIR.parent / "compiled"
COMPILE_TIMEOUT_SECONDS = 300
OUTPUTS = ["evm.bytecode.object", "evm.bytecode.linkReferences"]


def compile_sources(
    compiler: Package, sources: Mapping[str, str], settings: Mapping[str, object], *, say: Say = say_to_stderr
) -> dict[str, Artifact]:
    """The contracts of the sources by name.

    `sources` is file name -> text, whatever is imported included. Raises EmbeddedError.
    """
    request = json.dumps(
        {
            "language": "Solidity",
            "sources": {name: {"content": text} for name, text in sources.items()},
            "settings": {**settings, "outputSelection": {"*": {"*": OUTPUTS}}},
        },
        sort_keys=True,
    )
    kept = COMPILED_DIR / f"{hashlib.sha256(f'{compiler.spec} {request}'.encode()).hexdigest()}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        replace_file(kept, json.dumps(run_compiler(compiler, request, say=say)).encode())
    return {name: read_artifact(each) for name, each in json.loads(kept.read_text()).items()}


def run_compiler(compiler: Package, request: str, *, say: Say) -> dict[str, dict[str, object]]:
    """`bytecode` (hex) and `linkReferences` by contract, as artefacts of packages hold them. Raises EmbeddedError."""
    folder = fetch_packages([compiler], say=say)[compiler.name]
    say(f"compiling with {compiler.spec}; this happens once")
    try:
        done = subprocess.run(  # noqa: S603 (the pinned compiler, nothing from outside in the command)
            [find_node(), "-e", COMPILE_SCRIPT, str(folder / "soljson.js")],
            input=request,
            capture_output=True,
            text=True,
            timeout=COMPILE_TIMEOUT_SECONDS,
            check=True,
        )
    except subprocess.SubprocessError as error:
        raise EmbeddedError(f"{compiler.spec} did not run ({error}). Fix: use Node 16 or newer.") from error
    answer = read_answer(done.stdout)
    if answer.errors:
        raise EmbeddedError(f"The fetched sources do not compile: {answer.errors[0].strip()}")
    return {
        name: {"bytecode": contract.code, "linkReferences": contract.link_references}
        for contracts in answer.contracts.values()
        for name, contract in contracts.items()
    }

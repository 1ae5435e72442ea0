"""What the analyser reads of sources: their syntax trees, as the pinned compiler of the project writes them."""

from __future__ import annotations

from typing import Any

from golem_project.embedded.npm import fetch_packages, load_lock, say_to_stderr
from golem_project.embedded.world.solidity import COMPILE_TIMEOUT_SECONDS, LOCK_FILE, SETTINGS, ask_compiler


def describe_sources(sources: dict[str, str]) -> dict[str, Any]:
    """The syntax tree of each file and the ABI of each contract, with the version of the compiler.

    Both are made before any optimizer, so that no file needs settings of its own. Raises EmbeddedError.
    """
    package = load_lock(LOCK_FILE)["solc"]
    compiler = fetch_packages([package], say=say_to_stderr)[package.name] / "soljson.js"
    selection = {"*": {"": ["ast"], "*": ["abi"]}}
    answer = ask_compiler(compiler, sources, {**SETTINGS, "outputSelection": selection}, COMPILE_TIMEOUT_SECONDS)
    return {"version": package.version, "sources": answer.json["sources"], "contracts": answer.json["contracts"]}

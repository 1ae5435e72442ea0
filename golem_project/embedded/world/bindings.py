"""Python bindings of our own contracts: signatures as text, generated from the compiled output, never typed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eth_utils.crypto import keccak

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.solidity import Contract, load_contract

BINDINGS = {
    "PolicyCage": CHECKOUT / "permits_app" / "policy_cage" / "abi.py",
}
# Contracts whose code runs as another's: what they refuse and tell is told by that one.
PARTS = {"PolicyCage": ("CageGovernance", "CageGate")}
LINE_LENGTH = 120
HEADER = '''"""Signatures of {name}, generated from its compiled output; not to be edited.

`python -m golem_project.embedded.world bindings` writes this file, and a test compares it with the contract.
"""

from __future__ import annotations

from typing import Final
'''


def write_bindings() -> None:
    """Write every generated file."""
    for name, path in BINDINGS.items():
        path.write_text(render_bindings(load_contract(name)))


def check_bindings() -> None:
    """Raises EmbeddedError when a generated file is not what the compiled contract says."""
    for name, path in BINDINGS.items():
        if not path.exists() or path.read_text() != render_bindings(load_contract(name)):
            raise EmbeddedError(
                f"{path.name} is not made from {name}. Fix: python -m golem_project.embedded.world bindings"
            )


def render_bindings(contract: Contract) -> str:
    """The text of the generated file: a mapping of name to signature for each kind of entry, and the published code."""
    sections = [HEADER.format(name=contract.name)]
    parts = [load_contract(name) for name in PARTS.get(contract.name, ())]
    for title, kind in (
        ("CONSTRUCTOR", "constructor"),
        ("FUNCTIONS", "function"),
        ("EVENTS", "event"),
        ("ERRORS", "error"),
    ):
        entries = merge_entries(contract, parts, kind)
        if kind == "constructor":
            text = describe_entry(entries[0]) if entries else ""
            row = f"{title}: Final = {json.dumps(text)}\n"
            if len(row) > LINE_LENGTH + 1:
                row = f"{title}: Final = (\n{''.join(_lines_of('', text))})\n"
            sections.append(f"\n{row}")
            continue
        rows = []
        for entry in sorted(entries, key=lambda item: str(item["name"])):
            text = describe_entry(entry)
            row = f'    "{entry["name"]}": {json.dumps(text)},\n'
            if len(row) > LINE_LENGTH + 1:
                row = f'    "{entry["name"]}": (\n{"".join(_lines_of("    ", text))}    ),\n'
            rows.append(row)
        sections.append(f"\n{title}: Final[dict[str, str]] = {{\n{''.join(rows)}}}\n")
    sections.append(render_published([contract, *parts]))
    return "".join(sections)


def merge_entries(contract: Contract, parts: Sequence[Contract], kind: str) -> list[dict[str, object]]:
    """A contract's entries of one kind; events and errors also of its parts, whose words for arguments it takes."""
    found = {entry.get("name", kind): entry for entry in contract.abi if entry["type"] == kind}
    for part in parts:
        for entry in part.abi:
            if entry["type"] != kind or kind == "constructor":
                continue
            name = entry["name"]
            if name in found:
                found[name] = {**found[name], "inputs": entry["inputs"]}
            elif kind != "function":
                found[name] = entry
    return list(found.values())


def render_published(contracts: Sequence[Contract]) -> str:
    """keccak256 of what each contract's code is on a chain, with zeros where its constructor wrote."""
    rows = []
    for contract in contracts:
        digest = keccak(bytes.fromhex(contract.deployed_bytecode[2:])).hex()
        places = "".join(f"            ({start}, {length}),\n" for start, length in contract.immutables)
        rows.append(f'    "{contract.name}": (\n        "0x{digest}",\n        (\n{places}        ),\n    ),\n')
    kind = "dict[str, tuple[str, tuple[tuple[int, int], ...]]]"
    return f"\nPUBLISHED: Final[{kind}] = {{\n{''.join(rows)}}}\n"


def describe_entry(entry: dict[str, Any]) -> str:
    """One line of text as `tools_app.chain.signatures` parses it."""
    inputs = ", ".join(_describe_param(param) for param in entry["inputs"])
    if entry["type"] == "constructor":
        return f"constructor({inputs})"
    text = f"{entry['type']} {entry['name']}({inputs})"
    if entry["type"] == "function":
        if entry["stateMutability"] in ("view", "pure"):
            text += f" {entry['stateMutability']}"
        if entry["outputs"]:
            text += f" returns ({', '.join(_describe_param(param) for param in entry['outputs'])})"
    return text


def _describe_param(param: dict[str, Any]) -> str:
    kind = param["type"]
    if kind.startswith("tuple"):
        members = ", ".join(_describe_param(member) for member in param["components"])
        kind = f"({members}){kind.removeprefix('tuple')}"
    words = [kind, "indexed" if param.get("indexed") else "", param["name"]]
    return " ".join(word for word in words if word)


def _lines_of(indent: str, text: str) -> list[str]:
    room = LINE_LENGTH - len(indent) - 6
    lines = []
    while text:
        cut = len(text) if len(text) <= room else text.rindex(" ", 0, room) + 1
        lines.append(f"{indent}    {json.dumps(text[:cut])}\n")
        text = text[cut:]
    return lines

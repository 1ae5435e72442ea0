"""Python bindings of our own contracts: signatures as text, generated from the compiled output, never typed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class AbiArgument:
    """What a function, an event or an error takes, or a function gives; `components` are a struct's members."""

    kind: str
    name: str
    is_indexed: bool
    components: tuple[AbiArgument, ...]


@dataclass(frozen=True, slots=True)
class AbiEntry:
    """One entry of an ABI; a constructor has no name, and functions alone have outputs and a mutability."""

    kind: str
    name: str
    inputs: tuple[AbiArgument, ...]
    outputs: tuple[AbiArgument, ...] = ()
    mutability: str = ""


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
        for entry in sorted(entries, key=lambda item: item.name):
            text = describe_entry(entry)
            row = f'    "{entry.name}": {json.dumps(text)},\n'
            if len(row) > LINE_LENGTH + 1:
                row = f'    "{entry.name}": (\n{"".join(_lines_of("    ", text))}    ),\n'
            rows.append(row)
        sections.append(f"\n{title}: Final[dict[str, str]] = {{\n{''.join(rows)}}}\n")
    sections.append(render_published([contract, *parts]))
    return "".join(sections)


def merge_entries(contract: Contract, parts: Sequence[Contract], kind: str) -> list[AbiEntry]:
    """A contract's entries of one kind; events and errors also of its parts, whose words for arguments it takes."""
    found = {entry.name or kind: entry for entry in list_entries(contract) if entry.kind == kind}
    for part in parts:
        for entry in list_entries(part):
            if entry.kind != kind or kind == "constructor":
                continue
            if entry.name in found:
                found[entry.name] = replace(found[entry.name], inputs=entry.inputs)
            elif kind != "function":
                found[entry.name] = entry
    return list(found.values())


def list_entries(contract: Contract) -> list[AbiEntry]:
    """The entries of its ABI. Raises EmbeddedError for one that is none."""
    return [_read_entry(told) for told in contract.abi]


def _read_entry(told: Mapping[str, object]) -> AbiEntry:
    match told:
        case {"type": "function", "name": str(name), "inputs": list(inputs), "outputs": list(outputs), **others}:
            match others:
                case {"stateMutability": str(mutability)}:
                    return AbiEntry("function", name, _read_arguments(inputs), _read_arguments(outputs), mutability)
        case {"type": str(kind), "name": str(name), "inputs": list(inputs)}:
            return AbiEntry(kind, name, _read_arguments(inputs))
        case {"type": "constructor", "inputs": list(inputs)}:
            return AbiEntry("constructor", "", _read_arguments(inputs))
        case {"type": ("fallback" | "receive") as kind}:
            return AbiEntry(kind, "", ())
    raise EmbeddedError(f"{told!r} is no entry of an ABI. Fix: python -m golem_project.embedded.world compile")


def _read_arguments(told: Sequence[object]) -> tuple[AbiArgument, ...]:
    return tuple(_read_argument(each) for each in told)


def _read_argument(told: object) -> AbiArgument:
    match told:
        case {"type": str(kind), "name": str(name), **others}:
            return AbiArgument(kind, name, _is_indexed(others), _read_components(others))
    raise EmbeddedError(f"{told!r} is no argument of an ABI. Fix: python -m golem_project.embedded.world compile")


def _is_indexed(told: object) -> bool:
    match told:
        case {"indexed": bool(is_indexed)}:
            return is_indexed
    return False


def _read_components(told: object) -> tuple[AbiArgument, ...]:
    match told:
        case {"components": list(members)}:
            return _read_arguments(members)
    return ()


def render_published(contracts: Sequence[Contract]) -> str:
    """keccak256 of what each contract's code is on a chain, with zeros where its constructor wrote."""
    rows = []
    for contract in contracts:
        digest = keccak(bytes.fromhex(contract.deployed_bytecode[2:])).hex()
        places = "".join(f"            ({start}, {length}),\n" for start, length in contract.immutables)
        rows.append(f'    "{contract.name}": (\n        "0x{digest}",\n        (\n{places}        ),\n    ),\n')
    kind = "dict[str, tuple[str, tuple[tuple[int, int], ...]]]"
    return f"\nPUBLISHED: Final[{kind}] = {{\n{''.join(rows)}}}\n"


def describe_entry(entry: AbiEntry) -> str:
    """One line of text as `tools_app.chain.signatures` parses it."""
    inputs = ", ".join(_describe_param(param) for param in entry.inputs)
    if entry.kind == "constructor":
        return f"constructor({inputs})"
    text = f"{entry.kind} {entry.name}({inputs})"
    if entry.kind == "function":
        if entry.mutability in ("view", "pure"):
            text += f" {entry.mutability}"
        if entry.outputs:
            text += f" returns ({', '.join(_describe_param(param) for param in entry.outputs)})"
    return text


def _describe_param(param: AbiArgument) -> str:
    kind = param.kind
    if kind.startswith("tuple"):
        members = ", ".join(_describe_param(member) for member in param.components)
        kind = f"({members}){kind.removeprefix('tuple')}"
    words = [kind, "indexed" if param.is_indexed else "", param.name]
    return " ".join(word for word in words if word)


def _lines_of(indent: str, text: str) -> list[str]:
    room = LINE_LENGTH - len(indent) - 6
    lines = []
    while text:
        cut = len(text) if len(text) <= room else text.rindex(" ", 0, room) + 1
        lines.append(f"{indent}    {json.dumps(text[:cut])}\n")
        text = text[cut:]
    return lines

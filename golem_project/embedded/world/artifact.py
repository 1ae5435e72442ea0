"""One compiled contract, whatever wrote it: Truffle, Hardhat, Foundry, or the compiler itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from golem_project.embedded.errors import EmbeddedError

_ADDRESS_DIGITS = 40


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the creation code for the address of a library: `start` is its first byte."""

    library: str
    start: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """Creation code as hex without 0x and with places for libraries, and code as it lies on a chain, as it was written;
    empty where there is none.
    """

    code: str
    deployed_code: str = ""
    links: tuple[Link, ...] = ()

    def link(self, find_library: Callable[[str], str]) -> str:
        """The creation code with the addresses of its libraries, each looked for once in the order of the places."""
        text = self.code
        found: dict[str, str] = {}
        for link in self.links:
            if link.library not in found:
                found[link.library] = find_library(link.library).removeprefix("0x").lower()
            start = 2 * link.start
            text = text[:start] + found[link.library] + text[start + _ADDRESS_DIGITS :]
        return text


def read_artifact(told: object) -> Artifact:
    """The contract in the JSON of an artefact. Raises EmbeddedError where it has no code."""
    match told:
        case {"bytecode": str(code), **others}:
            return Artifact(code.removeprefix("0x"), _read_deployed(others), _read_links(others))
        case {"bytecode": {"object": str(code), **of_code}, **others}:
            links = _read_links(others) or _read_links(of_code)
            return Artifact(code.removeprefix("0x"), _read_deployed(others), links)
        case {"evm": {"bytecode": {"object": str(code), **of_code}}, **others}:
            return Artifact(code.removeprefix("0x"), links=_read_links(others) or _read_links(of_code))
    raise EmbeddedError("A fetched artefact has no code. Fix: correct its package in the lock file.")


def _read_deployed(told: object) -> str:
    match told:
        case {"deployedBytecode": str(code)} | {"deployedBytecode": {"object": str(code)}}:
            return code
    return ""


def _read_links(told: object) -> tuple[Link, ...]:
    match told:
        case {"linkReferences": dict(by_file)}:
            return tuple(
                Link(library, _read_place(place))
                for libraries in by_file.values()
                for library, places in libraries.items()
                for place in places
            )
    return ()


def _read_place(told: object) -> int:
    """Where a place begins. Raises EmbeddedError for what is none, or is not as long as an address."""
    match told:
        case {"start": int(start), "length": 20}:
            return start
    raise EmbeddedError(f"A library's place is {told!r}. Fix: correct its package in the lock file.")

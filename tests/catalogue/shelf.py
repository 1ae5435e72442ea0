"""The cases that stand beside the tools: found in their folders, by name."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tools_app.protocols
import tools_app.subsystems
from permits_app.tools.cases import LOCAL as LOCAL_OF_THE_GOLEM
from permits_app.tools.cases import READS as OF_THE_GOLEM
from tools_app.apps import load_registry
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.toolkit.case import Beside, Case, LocalCase, ReadCase, Together
from tools_app.toolkit.protocol import SHELF, Trait
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

CHAIN_ID = 31337
BUILT_IN = {"uniswap": ("uniswap_v4", "uniswap_mining")}
"""What lies on every local chain from its first block, and the versions of it that are built there besides."""

ACROSS = "aave_v3"
"""On which lender's code the tools are carried out that work with any."""


@dataclass(frozen=True)
class Filed:
    """A case and the protocol on whose code it is carried out."""

    case: Case
    protocol: str

    @property
    def id(self) -> str:
        return self.case.id

    @property
    def worlds(self) -> tuple[str, ...]:
        """Which further protocols the local chain must hold for it."""
        return BUILT_IN.get(self.protocol, (self.protocol,))


def load_cases() -> dict[str, Filed]:
    """Every case by its name; two of one name are an error."""
    found: dict[str, Filed] = {}
    for _, protocol, told in _told("CASES"):
        for case in told:
            assert case.id not in found, f"two cases are called {case.id}"
            found[case.id] = Filed(case, protocol)
    return found


def load_beside() -> list[tuple[str, Beside]]:
    """What every folder says of two ways out at once, each with its protocol."""
    return [(protocol, each) for _, protocol, told in _told("TOGETHER") for each in told]


def find_untold() -> set[str]:
    """The protocols on the shelf that are left, and say nothing of two ways out at once; and those that know debts, and
    say nothing of two that leave one on too little.
    """
    told = load_beside()
    covers = {protocol for protocol, each in told if isinstance(each, Together) and each.is_cover}
    silent = {each.name for each in SHELF if each.exits is not None} - {protocol for protocol, _ in told}
    return silent | ({each.name for each in SHELF if Trait.LEVERAGE in each.traits} - covers)


@dataclass(frozen=True)
class FiledReads:
    """The read cases of one folder, and the protocol on whose code they are carried out."""

    folder: str
    cases: tuple[ReadCase, ...]
    protocol: str

    @property
    def worlds(self) -> tuple[str, ...]:
        """Which further protocols the local chain must hold for them."""
        return BUILT_IN.get(self.protocol, (self.protocol,))


def load_reads() -> dict[str, FiledReads]:
    """The read cases of every folder that has some, by the folder's name."""
    found = {folder: FiledReads(folder, cases, protocol) for folder, protocol, cases in _told("READS")}
    found["golem"] = FiledReads("golem", OF_THE_GOLEM, ACROSS)
    return found


def load_local() -> dict[str, LocalCase]:
    """The cases of writes that send nothing by themselves, by name; two of one name are an error."""
    load_registry()
    found = {case.id: case for case in LOCAL_OF_THE_GOLEM}
    assert len(found) == len(LOCAL_OF_THE_GOLEM)
    return found


def _told(word: str) -> Iterator[tuple[str, str, Any]]:
    """What each folder's `cases.py` says by that word, with the folder's name and protocol; of those that say some."""
    load_registry()
    for package in (tools_app.protocols, tools_app.subsystems):
        for folder in pkgutil.iter_modules(package.__path__):
            module = f"{package.__name__}.{folder.name}.cases"
            if folder.ispkg and importlib.util.find_spec(module) is not None:
                told = getattr(importlib.import_module(module), word, ())
                if told:
                    yield folder.name, _protocol_of(f"{package.__name__}.{folder.name}"), told


def _protocol_of(package: str) -> str:
    """What spans protocols is carried out on the first of them."""
    module = f"{package}.protocol"
    if importlib.util.find_spec(module) is None:
        return ACROSS
    return str(importlib.import_module(module).PROTOCOL.name)


def find_write(case: Case) -> WriteTool:
    """The tool a case calls."""
    tool = REGISTRY.get(case.tool)
    assert isinstance(tool, WriteTool), f"{case.tool} sends nothing"
    return tool


def symbols() -> dict[str, str]:
    """Addresses of the local chain's registered tokens by symbol."""
    return {token.symbol: token.address for token in load_deployment(KNOWN_NETWORKS[CHAIN_ID]).tokens}

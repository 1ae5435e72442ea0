"""Which rules of Ethereum a chain is simulated under here, and whether the chain itself has newer ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.simulation.engine import SimulationUnavailable

NEWEST: Final = "prague"
"""The newest rules py-evm knows."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`fork` is what runs here; `chain_fork` what the chain runs, as far as we know."""

    fork: str
    chain_fork: str

    @property
    def is_current(self) -> bool:
        return self.fork == self.chain_fork

    @property
    def has_floor(self) -> bool:
        """Whether a transaction pays at least for the bytes it carries (EIP-7623)."""
        return self.fork == "prague"

    @property
    def label(self) -> str:
        """For the fidelity of a result."""
        if self.is_current:
            return f"{self.fork.capitalize()} rules"
        return f"{self.fork.capitalize()} rules while the chain runs {self.chain_fork.capitalize()}"


# Chains whose newest rules py-evm lacks, or which are older than Prague. Every other chain is taken to run Prague.
_CHAIN_FORKS: Final[dict[int, str]] = {1: "osaka"}


# ZKsync runs contracts on a machine of its own, whose code and gas are not the EVM's.
_OTHER_MACHINES: Final[frozenset[int]] = frozenset({324})


def rules_of(chain_id: int) -> Rules:
    """The rules a chain is simulated under. Raises SimulationUnavailable for a chain of another machine."""
    if chain_id in _OTHER_MACHINES:
        raise SimulationUnavailable("this chain's machine is not the EVM; only its node knows it", chain_id=chain_id)
    chain_fork = _CHAIN_FORKS.get(chain_id, NEWEST)
    known = ("shanghai", "cancun", NEWEST)
    return Rules(fork=chain_fork if chain_fork in known else NEWEST, chain_fork=chain_fork)

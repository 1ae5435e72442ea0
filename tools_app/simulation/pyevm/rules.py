"""Chooses the rules of Ethereum under which a chain is simulated here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.simulation.engine import SimulationUnavailable

NEWEST: Final = "prague"
"""The newest rules py-evm knows."""
_KNOWN: Final = ("shanghai", "cancun", NEWEST)


@dataclass(frozen=True, slots=True)
class Rules:
    """`fork` is what runs here; `chain_fork` what the chain runs at most, as far as we know."""

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
        return f"{self.fork.capitalize()} rules while the chain may run {self.chain_fork.capitalize()} or newer"


# Public chains took Osaka's rules over (Ethereum and Polygon in December 2025, Base in May 2026, OP Mainnet and
# Unichain in July), most in part and on days of their own. So a chain that is not named here is taken to have rules
# that py-evm lacks: too careful for some, and never trusting where it should not.
_CHAIN_FORKS: Final[dict[int, str]] = {31337: NEWEST, 31338: NEWEST}
_ANY_OTHER: Final = "osaka"

# ZKsync runs contracts on a machine of its own, whose code and gas are not the EVM's.
_OTHER_MACHINES: Final[frozenset[int]] = frozenset({324})


def runs_here(chain_id: int) -> bool:
    """Whether the engine in this process knows the chain's machine at all."""
    return chain_id not in _OTHER_MACHINES


def rules_of(chain_id: int) -> Rules:
    """The rules a chain is simulated under. Raises SimulationUnavailable for a chain of another machine."""
    if not runs_here(chain_id):
        raise SimulationUnavailable("this chain's machine is not the EVM; only its node knows it", chain_id=chain_id)
    chain_fork = _CHAIN_FORKS.get(chain_id, _ANY_OTHER)
    return Rules(fork=chain_fork if chain_fork in _KNOWN else NEWEST, chain_fork=chain_fork)


def is_enough_alone(chain_id: int) -> bool:
    """Whether the engine in this process may run first or alone on a chain; else it is only the second opinion."""
    return runs_here(chain_id) and rules_of(chain_id).is_current

"""What a permit keeps of its simulation, as values: the type of `ActionPermit.simulation`, for whoever tells it.

`SimulationResult.as_dict` writes it; the hash in the permit covers the result itself. Amounts are base units, prices of
gas wei, times Unix seconds. A write without a transaction has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.stored_json import read_stored
from tools_app.simulation.engine import SigningTerms
from tools_app.toolkit.views import BlockRef


@dataclass(frozen=True, slots=True)
class KeptCall:
    """What one call did."""

    succeeded: bool
    gas_used: int
    revert_reason: str | None


@dataclass(frozen=True, slots=True)
class KeptBalance:
    """A balance before and after."""

    account: str
    token: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class KeptTransfer:
    """A movement of which the plan did not speak."""

    token: str
    sender: str
    recipient: str
    amount: int


@dataclass(frozen=True, slots=True)
class KeptApproval:
    """A right of which the plan did not speak."""

    token: str
    spender: str
    amount: int


@dataclass(frozen=True, slots=True)
class PositionSide:
    """A position at one side of the calls, with the tokens that stand for it."""

    claim_tokens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SimulatedPosition:
    """A position before and after; None where there is none."""

    before: PositionSide | None
    after: PositionSide | None


@dataclass(frozen=True, slots=True)
class KeptSimulation:
    """The result of the calls, `sender` being who made them."""

    engine: str
    fidelity: str
    block: BlockRef
    succeeded: bool
    sender: str = ""
    calls: tuple[KeptCall, ...] = ()
    balances: tuple[KeptBalance, ...] = ()
    unexpected_transfers: tuple[KeptTransfer, ...] = ()
    unexpected_approvals: tuple[KeptApproval, ...] = ()
    positions: tuple[SimulatedPosition, ...] = ()
    signed_with: SigningTerms | None = None

    @property
    def claims(self) -> frozenset[str]:
        """Tokens that stand for a position before or after."""
        sides = [side for each in self.positions for side in (each.before, each.after) if side is not None]
        return frozenset(token for side in sides for token in side.claim_tokens)


def read_simulation(stored: Mapping[str, object] | None) -> KeptSimulation | None:
    """The simulation of a row; None for a write without one. Raises ValueError for what is none."""
    return read_stored(KeptSimulation, stored) if stored else None

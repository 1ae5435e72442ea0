"""Measures by how much an account is worth more or less after a plan's calls, as the simulation left it, gas apart.

The portfolio's own arithmetic: tokens of the wallet and legs of positions at the feeds of the block; what never counts
counts as nothing here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from permits_app.safety.position_rules import list_claim_tokens, list_moved
from tools_app.chain.feeds import PriceStale, PriceUnavailable, SequencerDown
from tools_app.chain.tokens import TokenNotFound
from tools_app.portfolio.holdings import value_of
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import TokenMeta

VALUE_CHANGE: Final = "value_change"
"""Where a permit's prediction keeps it."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """Signed micro-USD, and the symbols of tokens that move and have no price now. What comes and has none counts as
    nothing; where such a token leaves, or more of it is owed, `micro_usd` is None.
    """

    micro_usd: int | None
    unpriced: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """JSON-ready, with the amount as text."""
        return {
            "micro_usd": None if self.micro_usd is None else str(self.micro_usd),
            "unpriced": list(self.unpriced),
        }


def read_value_change(expected: Mapping[str, object]) -> ValueChange | None:
    """What a permit's prediction kept; None where it was told before this was measured."""
    told = expected.get(VALUE_CHANGE)
    if not isinstance(told, Mapping):
        return None
    (raw, unpriced) = (told.get(name) for name in ("micro_usd", "unpriced"))
    return ValueChange(None if raw is None else int(raw), tuple(map(str, unpriced or ())))


def measure_value_change(
    simulation: SimulationResult, *, chain: ChainReader, known: Mapping[str, TokenMeta]
) -> ValueChange:
    """Weigh what moved. `known` are tokens of the plan by their address: what is none of them, such as a position's
    NFT, has no worth.
    """
    claims = list_claim_tokens(simulation)
    moves = {token: raw for token, raw in simulation.deltas.items() if token in known and token not in claims}
    for each in list_moved(simulation):
        for token, raw in each.list_changes().items():
            moves[token] = moves.get(token, 0) + raw
    worth, unpriced, is_known = 0, list[str](), True
    for token, raw in sorted(moves.items()):
        if not raw:
            continue
        symbol = token
        try:
            meta = known.get(token) or chain.token(token)
            symbol = meta.symbol
            worth += value_of(raw, meta, chain.price(meta))
        except (PriceStale, PriceUnavailable, SequencerDown, TokenNotFound):
            unpriced.append(symbol)
            is_known = is_known and raw > 0
    return ValueChange(worth if is_known else None, tuple(unpriced))

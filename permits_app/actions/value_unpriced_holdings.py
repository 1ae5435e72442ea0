"""weigh_unpriced: what has no price now is weighed by what it counted for at the last value on record.

A value that leaves out what counted before looks like a fall, so it is not held against the mark. Whoever likes may
send one unit of a token whose feed is late: if that were enough, a stranger would switch off the drawdown limit and the
golem's vitality.

See docs/decisions/0290-drawdown-a-value-may-lack-dust-and-still.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import UUID

from permits_app.actions.record_nav import read_own_moves
from permits_app.models import ActionPermit, HighWaterMark, NavSnapshot
from permits_app.models.permit import UNFINISHED
from permits_app.performance.nav_parts import NavState
from tools_app.portfolio.holdings import Holdings

MOST_MISSING_BPS: Final = 50
"""Of the last value on record; a fall that is too large by so much is a fall all the same."""


def weigh_unpriced(*, golem_id: UUID, chain_id: int, block_number: int, holdings: Holdings) -> Holdings:
    """`holdings`, steady also where what has no price was next to nothing before and no action of the golem touched it.

    Debts without a price and positions that were not read stay what they are. Asks the database where something is
    missing, and only then.
    """
    missing = holdings.missing
    if holdings.is_steady or missing is None:
        return holdings
    if ActionPermit.objects.filter(golem=golem_id, status__in=[str(each) for each in UNFINISHED]).exists():
        return holdings
    last = NavSnapshot.objects.filter(golem=golem_id, chain_id=chain_id).exclude(state={}).order_by("-at").first()
    if last is None and HighWaterMark.objects.filter(golem=golem_id).exists():
        return holdings
    own = read_own_moves(
        golem_id=golem_id, chain_id=chain_id, after=last.block_number if last is not None else 0, until=block_number
    )
    if missing & own.deltas.keys():
        return holdings
    if last is not None:
        state = NavState.from_json(last.state)
        counted = sum(state.quotes[token].value(state.raw_of(token)) for token in missing & state.quotes.keys())
        if counted * 10_000 > MOST_MISSING_BPS * last.value_micro_usd:
            return holdings
    return replace(holdings, is_steady=True)

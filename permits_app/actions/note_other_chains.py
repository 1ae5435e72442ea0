"""note_other_chains: what a look at a golem's other chains leaves behind, for ticks and the looks beside them.

Each chain is remembered, weighed and kept for itself, as the home chain is; only their sum is held to the mark. A golem
with one chain asks nothing here. Decision 0446.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.actions.record_nav import record_nav
from permits_app.actions.value_unpriced_holdings import weigh_unpriced
from permits_app.models import NavSnapshot
from permits_app.permits.other_chain_holdings import Elsewhere
from tools_app.portfolio.account_snapshot import note_look
from tools_app.portfolio.position_search import begin_search


def note_other_chains(*, golem: Golem, elsewhere: Elsewhere, now: datetime) -> Elsewhere:
    """Remember the positions that were found; the same look, with what has no price now weighed as it was."""
    looks = []
    for each in elsewhere.looks:
        begin_search(chain_id=each.chain_id, account=golem.address, now=now)
        note_look(
            chain_id=each.chain_id,
            account=golem.address,
            asked=each.asked,
            holdings=each.holdings,
            block=each.block,
            now=now,
        )
        held = weigh_unpriced(
            golem_id=golem.pk, chain_id=each.chain_id, block_number=each.block.number, holdings=each.holdings
        )
        looks.append(replace(each, holdings=held))
    return replace(elsewhere, looks=tuple(looks))


def record_elsewhere(*, golem: Golem, elsewhere: Elsewhere, now: datetime) -> list[NavSnapshot]:
    """Keep what it is worth on each other chain; what was kept."""
    kept = [
        record_nav(golem=golem, chain_id=each.chain_id, block=each.block, holdings=each.holdings, now=now)
        for each in elsewhere.looks
    ]
    return [row for row in kept if row is not None]

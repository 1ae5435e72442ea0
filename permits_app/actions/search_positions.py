"""search_positions: look further for what imported accounts have where no contract lists it, a bounded part at a time.

Reads logs and writes how far it came. Who looks first moves the next look ahead, so that two do not do the same twice;
what fails is tried again when that time is over.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from permits_app.permits.blocked_commits import list_silent_chains
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.models import PositionSearch
from tools_app.portfolio.position_search import look_further

MOST_ACCOUNTS: Final = 10
"""So many accounts one run looks at; those that waited longest come first."""
_LEASE: Final = timedelta(minutes=2)
_BUDGET_MS: Final = 8_000


def search_positions(*, now: datetime) -> int:
    """Look where a look is due; how many positions were found."""
    heard = PositionSearch.objects.exclude(chain_id__in=list_silent_chains(now=now))
    due = heard.filter(next_look_at__lte=now).order_by("next_look_at", "pk")[:MOST_ACCOUNTS]
    return sum(one_by_one(list(due), lambda row: _search(row, now), what="the search for positions of"))


def _search(row: PositionSearch, now: datetime) -> int:
    mine = PositionSearch.objects.filter(pk=row.pk, next_look_at=row.next_look_at)
    if not mine.update(next_look_at=now + _LEASE):
        return 0
    chain = runner.open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    return look_further(row, chain, now=now)

"""value_golem: what a golem is worth now, held against its mark and kept.

For looks beside the ticks: at golems without a heartbeat, after an outcome, and when a cage contract noted a fall.
Nothing here acts.

See docs/decisions/0127-drawdown-the-high-water-mark-follows-every-look.md.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from django.db import transaction

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.actions.check_drawdown import check_drawdown
from permits_app.actions.note_other_chains import note_other_chains, record_elsewhere
from permits_app.actions.record_nav import record_nav
from permits_app.actions.value_unpriced_holdings import weigh_unpriced
from permits_app.performance.slash_text import list_slash_events
from permits_app.permits.other_chain_holdings import Elsewhere, look_elsewhere
from tools_app import runner
from tools_app.core import event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.portfolio.account_snapshot import note_look
from tools_app.portfolio.holdings import Holdings, measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.views import BlockRef

logger = logging.getLogger(__name__)

_BUDGET_MS: Final = 2_000


def value_golem(*, golem: Golem, now: datetime) -> Holdings | None:
    """What it holds, after it was held to the mark; None where nothing can be held against an earlier value, or no node
    answers. Call with no transaction open.
    """
    view = view_golem(golem)
    if not view.address:
        return None
    chain_id = view.home_chain_id
    try:
        chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
        elsewhere = look_elsewhere(golem=view, own_chain_id=chain_id, own=chain, now=now)
        hints = elsewhere.choose(list_hints(chain_id=chain_id, account=view.address))
        holdings = measure_holdings(chain=chain, account=view.address, hints=hints)
        block = chain.block
    except GolemError as error:
        logger.info("golem %s is not valued now: %s", golem.pk, error.code)
        return None
    note_look(chain_id=chain_id, account=view.address, asked=hints, holdings=holdings, block=block, now=now)
    holdings = weigh_unpriced(golem_id=golem.pk, chain_id=chain_id, block_number=block.number, holdings=holdings)
    elsewhere = note_other_chains(golem=golem, elsewhere=elsewhere, now=now)
    everything = elsewhere.join(holdings)
    if check_drawdown(golem_id=golem.pk, account=view.address, holdings=everything, now=now) is None:
        return None
    _keep(golem, chain_id, block, holdings, elsewhere, now)
    return everything


@retry_aborted
def _keep(
    golem: Golem, chain_id: int, block: BlockRef, holdings: Holdings, elsewhere: Elsewhere, now: datetime
) -> None:
    """What it is worth, and what slashes took of it: a slash is told if and only if it is kept."""
    with transaction.atomic():
        home = record_nav(golem=golem, chain_id=chain_id, block=block, holdings=holdings, now=now)
        others = record_elsewhere(golem=golem, elsewhere=elsewhere, now=now)
        events = list_slash_events([*([home] if home is not None else []), *others])
        if events:
            event_bus.emit_all(golem_id=golem.pk, events=events, now=now)

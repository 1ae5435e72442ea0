"""What governors logged: proposals and what became of them, out of the index, and having a governor followed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tools_app.chain.networks import get_network
from tools_app.history import watched
from tools_app.history.following import begin_chain
from tools_app.history.reading import Kept
from tools_app.models.history import ChainLog, SourceKind
from tools_app.toolkit.views import LogEntry

_BECAUSE = "a golem tracks its proposals"


def have_followed(chain_id: int, governor: str, *, golem_id: UUID, now: datetime) -> bool:
    """Renew a golem's wish to have a governor followed; False where the index is off or full."""
    if begin_chain(get_network(chain_id), now=now) is None:
        return False
    wish = watched.Wish(chain_id, governor, SourceKind.GOVERNOR, str(golem_id), _BECAUSE)
    return watched.take_up(chain_id, [wish], now=now) > 0


def read_kept_logs(kept: Kept, address: str, *, since: datetime, until_block: int, most: int) -> Sequence[LogEntry]:
    """The newest logs that are kept of a contract since a moment, oldest first."""
    rows = ChainLog.objects.filter(
        source_id=kept.source_id, block_time__gte=since, block_number__lte=until_block
    ).order_by("-block_time", "-block_number", "-log_index")[:most]
    return [
        LogEntry(
            address=address,
            topics=tuple("0x" + bytes(row.topics)[at : at + 32].hex() for at in range(0, len(row.topics), 32)),
            data="0x" + bytes(row.data).hex(),
            block_number=row.block_number,
            tx_hash="0x" + bytes(row.tx_hash).hex(),
            log_index=row.log_index,
        )
        for row in reversed(rows)
    ]

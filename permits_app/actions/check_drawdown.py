"""check_drawdown: what a golem's holdings are worth now against their high-water mark, whoever measured them.

Every tick, every preview that grows a position and every look at a golem without a heartbeat end here, so that a fall
while nothing trades is recorded and told when it is seen.

See docs/decisions/0127-drawdown-the-high-water-mark-follows-every-look.md.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import F

from archetypes_app.models import Golem
from permits_app.models import HighWaterMark, PolicyCage
from permits_app.safety.drawdown import Fall, mark_of, record_value
from tools_app.portfolio.holdings import Holdings


def check_drawdown(*, golem_id: UUID, account: str, holdings: Holdings, now: datetime) -> Fall | None:
    """The fall on record after it; None where what is held cannot be held against an earlier value. Emits and appends
    as `record_value`. Call with no transaction open.
    """
    if not holdings.is_steady or all(part.price is None for part in holdings.list_parts()):
        return None
    most = Golem.objects.filter(pk=golem_id).annotate(most_bps=F("policy_cage__max_drawdown_bps"))
    row = most.select_related("high_water_mark").only("high_water_mark").get()
    mark: HighWaterMark | None = getattr(row, "high_water_mark", None)
    return record_value(
        golem_id=golem_id,
        value_micro_usd=max(0, holdings.nav_micro_usd),
        most_bps=row.most_bps if row.most_bps is not None else PolicyCage().max_drawdown_bps,
        now=now,
        known=mark_of(mark) if mark is not None and mark.account == account else None,
        account=account,
    )

"""The pools that liquidity rules are about: the index follows them, so that something is known when a golem enters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from archetypes_app.models import Heartbeat
from tools_app.history.followed_contracts import FollowWish
from tools_app.models.history import SourceKind

_BECAUSE: Final = "its rule keeps liquidity there"


def list_ruled_pools(chain_id: int) -> Iterator[FollowWish]:
    """A wish for the pool of each golem that ticks by a rule on this chain, as its last look found it."""
    ruled = Heartbeat.objects.filter(is_on=True, golem__home_chain_id=chain_id).exclude(liquidity_rule={})
    known = "state__known_positions__"
    for golem_id, pool, manager in ruled.values_list("golem_id", f"{known}pool", f"{known}manager"):
        if pool:
            yield FollowWish(chain_id, pool, SourceKind.POOL, str(golem_id), _BECAUSE, manager or "")

"""Follows a contract for a while because somebody asked for its past."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings

from tools_app.chain.networks import get_network
from tools_app.history import followed_contracts
from tools_app.history.chain_following import begin_chain
from tools_app.models.history import SourceKind
from tools_app.toolkit.pool_ids import PoolId

_BECAUSE: Final = {
    SourceKind.GOVERNOR: "a golem tracks its proposals",
    SourceKind.VAULT: "a golem asked for its share price",
    SourceKind.FEED: "a golem asked for its answers",
    SourceKind.RATE: "a golem asked for its rate",
    SourceKind.DEBT_RATE: "a golem asked for its borrowing rate",
    SourceKind.ASKED_RATE: "a golem asked for its rate",
    SourceKind.ASKED_DEBT_RATE: "a golem asked for its borrowing rate",
    SourceKind.POOL: "a golem asked for its trades",
}


def have_followed(
    chain_id: int,
    about: PoolId,
    kind: SourceKind,
    *,
    golem_id: UUID,
    now: datetime,
    protocol: str = "",
    token: str = "",
) -> bool:
    """Renew a golem's wish to have something followed; False where the index is off or full.

    `protocol` and `token` say of whom a rate is asked that no log tells.
    """
    if not settings.GOLEM_HISTORY_IS_ON or begin_chain(get_network(chain_id), now=now) is None:
        return False
    wish = followed_contracts.FollowWish(
        chain_id, about.text, kind, str(golem_id), _BECAUSE[kind], about.manager, protocol, token
    )
    return followed_contracts.take_up(chain_id, [wish], now=now) > 0

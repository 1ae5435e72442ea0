"""top_up_gas: a session key that runs out of coins for gas takes some from its Safe, as far as the owners let it.

The contract gives at most MAX_GAS_TOP_UP_WEI a day, counted on chain, and only to the golem's own key; the key sends
that itself while it can still pay for it. Appends CageGasToppedUp.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from permits_app.execution.session_key_transactions import (
    OwnSession,
    SessionAct,
    find_own_session,
    is_under_way,
    list_caged,
    send_act,
)
from permits_app.models import ActionPermit
from permits_app.policy_cage.contract import Limit, RuleKind, address_key, encode_top_up_gas
from permits_app.policy_cage.state import TOP_UPS
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE

TOOL_NAME: Final = "top_up_gas"
_ACTOR: Final = "system:gas"
_LOW: Final = 5
"""A key is low on coins with less than this part of what it may take in a day."""
_AT_ONCE: Final = 2


def top_up_keys(*, now: datetime) -> int:
    """Every golem behind a cage; how many keys took coins. One that fails stops nobody else's."""
    done = one_by_one(
        list_caged(), lambda pk: top_up_gas(golem_id=pk, now=now), what="coins for the session key of golem"
    )
    return sum(permit is not None for permit in done)


def top_up_gas(*, golem_id: UUID, now: datetime) -> ActionPermit | None:
    """Half of what may be taken in a day, or what is left of it; None where the key has enough or may take nothing.

    Raises the node's errors, SimulationFailed, SameActionPending, SignerUnavailable, GolemHalted.
    """
    own = find_own_session(golem_id=golem_id, now=now)
    if own is None or not own.mirror.is_enforced or is_under_way(own, tool_name=TOOL_NAME):
        return None
    chain = own.open_chain(now=now)
    wei = _find_amount(own, chain, now=now)
    if wei <= 0:
        return None
    act = SessionAct(
        tool_name=TOOL_NAME,
        data=encode_top_up_gas(wei),
        label="take coins for gas from the Safe",
        params={"wei": str(wei)},
        event="CageGasToppedUp",
        facts={"wei": str(wei), "key": own.state.session.key},
    )
    return send_act(own, act, chain=chain, actor=_ACTOR, now=now)


def _find_amount(own: OwnSession, chain: ChainReader, *, now: datetime) -> int:
    """Wei; nothing for a key that has enough. The chain's clock decides what counts; behind it less is taken."""
    state, at = own.state, int(now.timestamp())
    most = state.limit(Limit.MAX_GAS_TOP_UP_WEI)
    if chain.native_balance(state.session.key) * _LOW >= most:
        return 0
    left = most - state.spent(TOP_UPS, now=at)
    if state.asset(NATIVE) is not None:
        key = address_key(NATIVE)
        window = state.rule(RuleKind.OUTFLOW_PER_WINDOW, key) - state.spent(NATIVE, now=at)
        left = min(left, window, state.rule(RuleKind.OUTFLOW_PER_BATCH, key))
    return min(most // _AT_ONCE, left, chain.native_balance(state.account))

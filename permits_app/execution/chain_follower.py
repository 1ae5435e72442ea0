"""Follows one chain: looks for new blocks, and at each for the receipts of all that was sent.

It writes nothing down but that it looked: whose receipts are there it hands to a worker, who judges the outcome. So a
follower that dies, or two that look at once, lose and double nothing; the next one sees the same. The lease on the
chain's row elects it. User operations are looked for on the chain, as `user_operations.py` does it.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from permits_app.execution import broadcast, payload_delivery
from permits_app.models import ChainWatch, OutboundTransaction
from permits_app.models.permit import UNFINISHED
from permits_app.models.transaction import UNSETTLED
from permits_app.permits.next_action_time import FOLLOWER_LOOKS_EVERY
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.lease_holders import is_gone, name_holder

logger = logging.getLogger(__name__)

HEAD_BUDGET_MS: Final = 2_000
RECEIPTS_BUDGET_MS: Final = 5_000
_MOST_PAYLOADS: Final = 1_000
# A worker that was handed a permit has had time enough by then.
_HANDED_AGAIN_AFTER: Final = timedelta(seconds=3)
_NOTED_AGAIN_AFTER: Final = timedelta(seconds=1)
_UNSETTLED: Final = frozenset(str(state) for state in UNSETTLED)
# One that was sent a moment ago is likely to be mined soon: milliseconds of age, milliseconds between two looks.
_PACES: Final = ((1_000, 100), (5_000, 250))
_SLOW_PACE_MS: Final = FOLLOWER_LOOKS_EVERY // timedelta(milliseconds=1)
IDLE_MS: Final = 2_000


@dataclass(frozen=True, slots=True)
class FollowerLook:
    """What one look saw. `is_ours` False: another process follows the chain. `pause_ms` is when the next one is due."""

    is_ours: bool
    handed: tuple[UUID, ...] = ()
    pause_ms: float = IDLE_MS


class Follower:
    """One process's candidate for one chain. Not thread-safe: one thread looks."""

    def __init__(
        self, chain_id: int, *, hand: Callable[[UUID], None], came_back: Callable[[], None] = lambda: None
    ) -> None:
        """`came_back` is called once the node answers again, or with an earlier head: it may have forgotten blocks."""
        self.chain_id = chain_id
        self.owner = name_holder()
        self._hand = hand
        self._came_back = came_back
        self._head: int | None = None
        self._was_away, self._last_head = False, 0
        self._told_back: datetime | None = None
        self._asked: set[int] = set()
        self._handed: dict[UUID, datetime] = {}
        self._held_until: datetime | None = None
        self._noted: tuple[datetime, str] | None = None

    def look(self, *, now: datetime) -> FollowerLook:
        """Hold the lease, look at the chain's head and, where it is new, at what was sent. Hands on whose end is there.

        A node that fails is written down and raises nothing.
        """
        if not self._hold(now):
            self._head = None
            return FollowerLook(is_ours=False)
        permits = self._list_permits(now)
        self._asked &= {row.pk for rows in permits.values() for row in rows}
        self._handed = {pk: at for pk, at in self._handed.items() if pk in permits}
        try:
            head = broadcast.head_number(chain_id=self.chain_id, deadline=Deadline.after_ms(HEAD_BUDGET_MS))
            is_new, self._head = head != self._head, head
            handed = self._find_ended(permits, now, is_new=is_new)
            is_back = self._is_back(head, now)
            self._note(now, head=head)
        except GolemError as error:
            logger.info("chain %s is not followed now: %s", self.chain_id, error.code)
            self._head, self._was_away = None, True
            self._note(now, error=error)
            return FollowerLook(is_ours=True, pause_ms=_SLOW_PACE_MS)
        for permit_id in handed:
            self._hand(permit_id)
            self._handed[permit_id] = now + _HANDED_AGAIN_AFTER
        again: list[UUID] = []
        if is_back:
            # A node that was away may have forgotten what it took: workers send it again, and it is looked for as ever.
            again = [permit_id for permit_id in permits if permit_id not in self._handed]
            for permit_id in again:
                self._hand(permit_id)
            self._came_back()
        return FollowerLook(is_ours=True, handed=(*handed, *again), pause_ms=_pace(permits, now))

    def leave(self) -> None:
        """Let another process follow at once."""
        self._held_until = None
        ChainWatch.objects.filter(chain_id=self.chain_id, owner=self.owner).update(owner="", lease_expires_at=None)

    def _is_back(self, head: int, now: datetime) -> bool:
        """Whether the node was away or went back since the last look; of one that does so all the time, not always."""
        is_back = self._was_away or head < self._last_head
        self._was_away, self._last_head = False, head
        if not is_back or (self._told_back is not None and abs(now - self._told_back) < _HANDED_AGAIN_AFTER):
            return False
        self._told_back = now
        return True

    def _hold(self, now: datetime) -> bool:
        """Take the lease, or hold it longer; False while another process has it."""
        life = timedelta(seconds=settings.GOLEM_FOLLOWER_LEASE_SECONDS)
        # Longer than its life it holds nothing: its clock was set back.
        if self._held_until is not None and life / 2 < self._held_until - now <= life:
            return True
        mine_or_free = Q(owner=self.owner) | Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now)
        rows = ChainWatch.objects.filter(mine_or_free, chain_id=self.chain_id)
        is_held = rows.update(owner=self.owner, lease_expires_at=now + life)
        if not is_held:
            watch = ChainWatch.objects.filter(chain_id=self.chain_id).first()
            if watch is None:
                ChainWatch.objects.bulk_create([ChainWatch(chain_id=self.chain_id)], ignore_conflicts=True)
                is_held = rows.update(owner=self.owner, lease_expires_at=now + life)
            elif is_gone(watch.owner):
                left = ChainWatch.objects.filter(chain_id=self.chain_id, owner=watch.owner)
                is_held = left.update(owner=self.owner, lease_expires_at=now + life)
        self._held_until = now + life if is_held else None
        return bool(is_held)

    def _list_permits(self, now: datetime) -> dict[UUID, list[OutboundTransaction]]:
        """By permit, all payloads of the chain's unfinished permits that nobody works on now."""
        rows = (
            OutboundTransaction.objects.filter(
                chain_id=self.chain_id, permit__status__in=[str(state) for state in UNFINISHED]
            )
            .exclude(permit__lease_expires_at__gt=now)
            .order_by("-created_at")
        )
        columns = (
            "permit_id",
            "chain_id",
            "nonce",
            "state",
            "tx_hash",
            "entry_point",
            "signed_at_block",
            "broadcast_count",
            "broadcast_at",
            "created_at",
        )
        permits: dict[UUID, list[OutboundTransaction]] = defaultdict(list)
        for row in rows.only(*columns)[:_MOST_PAYLOADS]:
            if row.permit_id is not None:
                permits[row.permit_id].append(row)
        return permits

    def _find_ended(
        self, permits: Mapping[UUID, Sequence[OutboundTransaction]], now: datetime, *, is_new: bool
    ) -> list[UUID]:
        """Find permits whose every nonce has a payload in a block, and that no worker has yet. A permit that was asked
        for at this head already is left out, unless the worker that took it did not end it.

        Asked for is what was not asked for at this head, and what was handed to a worker who did not end it.
        """
        looked_at = {pk: _list_open(rows) for pk, rows in permits.items() if now >= self._handed.get(pk, now)}
        wanted = [
            payloads
            for permit_id, nonces in looked_at.items()
            for payloads in nonces.values()
            if is_new or permit_id in self._handed or any(row.pk not in self._asked for row in payloads)
        ]
        seen: set[int] = set()
        if wanted:
            mined = payload_delivery.look(wanted, deadline=Deadline.after_ms(RECEIPTS_BUDGET_MS))
            self._asked |= {row.pk for payloads in wanted for row in payloads}
            seen = {each[0].pk for each in mined if each is not None}
        return [
            permit_id
            for permit_id, nonces in looked_at.items()
            if all(any(row.pk in seen for row in payloads) for payloads in nonces.values())
        ]

    def _note(self, now: datetime, *, head: int | None = None, error: GolemError | None = None) -> None:
        """Write down that it looked, where that says something new or was not said for a second."""
        code = error.code[:64] if error is not None else ""
        if self._noted is not None and self._noted[1] == code and abs(now - self._noted[0]) < _NOTED_AGAIN_AFTER:
            return
        self._noted = (now, code)
        rows = ChainWatch.objects.filter(chain_id=self.chain_id, owner=self.owner)
        if error is None:
            rows.update(looked_at=now, head=head, failing_since=None, error_code="", updated_at=now)
        else:
            since = Coalesce(F("failing_since"), Value(now))
            rows.update(looked_at=now, failing_since=since, error_code=code, updated_at=now)


def _list_open(rows: Sequence[OutboundTransaction]) -> dict[int, list[OutboundTransaction]]:
    """By nonce, the payloads that were sent and are not settled; a nonce whose payload is in a block is not open."""
    nonces: dict[int, list[OutboundTransaction]] = defaultdict(list)
    for row in rows:
        if row.state in _UNSETTLED:
            nonces[row.nonce].append(row)
    return nonces


def _pace(permits: Mapping[UUID, Sequence[OutboundTransaction]], now: datetime) -> float:
    """Milliseconds until the next look: soon after a sending, seldom when there is nothing to see."""
    waiting = [row for rows in permits.values() for row in rows if row.state in _UNSETTLED]
    if not waiting:
        return IDLE_MS
    youngest_ms = min((now - (row.broadcast_at or row.created_at)).total_seconds() * 1000 for row in waiting)
    return next((pace for age, pace in _PACES if youngest_ms < age), _SLOW_PACE_MS)

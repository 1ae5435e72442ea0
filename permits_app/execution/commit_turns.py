"""Gives permits their turns in a commit worker: fair between golems, few at a time per chain and account.

A task is a wake-up. What it names is worked on when its bytes are stored already; else the permit whose golem is served
least just now is, so that a golem with many permits keeps nobody waiting with one. Places are counted in this process:
they end with it, and a node or a signer that hangs holds as many threads as there are places and no more.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from permits_app.custody.signers.choose_signer import is_held_here
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.permits.blocked_commits import IS_SILENT, list_silent_chains, silence_at
from tools_app.core import trace_spans
from tools_app.core.prepared_statements import Prepared

_MOST_LOOKED_AT: Final = 20
_PERMITS = ActionPermit._meta.db_table
_TURNS = Prepared(
    "list_turns",
    f"""
SELECT permit.id, permit.chain_id, permit.signer, permit.is_local, permit.committing_at
  FROM {_PERMITS} AS permit
 WHERE permit.status = 'COMMITTING' AND permit.halt_epoch IS NULL
   AND (permit.lease_expires_at IS NULL OR permit.lease_expires_at <= %(now)s)
   AND NOT EXISTS (SELECT 1 FROM {OutboundTransaction._meta.db_table} AS sent WHERE sent.permit_id = permit.id)
   AND (permit.is_local OR NOT {IS_SILENT.format(chain="permit.chain_id")})
   AND (permit.is_local OR permit.committing_at <= %(given_up)s::timestamptz
        OR permit.signer <> ALL(%(absent)s::text[]))
 ORDER BY (SELECT count(*) FROM {_PERMITS} AS served
            WHERE served.status = 'COMMITTING' AND served.golem_id = permit.golem_id
              AND served.lease_expires_at > %(now)s),
          permit.committing_at
 LIMIT %(most)s
""",  # noqa: S608  (the tables' own names)
)


@dataclass(frozen=True, slots=True)
class CommitTurn:
    """A permit to work on, and what it would hold a place of."""

    permit_id: UUID
    chain_id: int
    account: str
    is_local: bool


class Places:
    """The places of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[tuple[str, str]] = Counter()
        self._missed: dict[UUID, None] = {}

    @contextmanager
    def hold(self, turn: CommitTurn) -> Iterator[bool]:
        """Whether there was a place of its chain and one of its account; both are held until the end."""
        if turn.is_local:
            with _traced(turn):
                yield True
            return
        most = {
            ("chain", str(turn.chain_id)): settings.GOLEM_COMMITS_AT_ONCE_PER_CHAIN,
            ("account", f"{turn.chain_id}:{turn.account}"): settings.GOLEM_COMMITS_AT_ONCE_PER_ACCOUNT,
        }
        with self._lock:
            has_place = all(self._taken[key] < limit for key, limit in most.items())
            if has_place:
                self._taken.update(most.keys())
            else:
                self._missed[turn.permit_id] = None
        try:
            with _traced(turn) if has_place else nullcontext():
                yield has_place
        finally:
            if has_place:
                with self._lock:
                    self._taken.subtract(most.keys())

    def take_missed(self) -> list[UUID]:
        """The permits that found no place since this was last asked: who gave a place back goes on with them."""
        with self._lock:
            missed, self._missed = list(self._missed), {}
        return missed

    def leave_missed(self, permit_ids: Iterable[UUID]) -> None:
        """Leave them to whoever gives a place back next."""
        with self._lock:
            self._missed |= dict.fromkeys(permit_ids)


PLACES: Final = Places()


def list_turns(*, permit_id: UUID, now: datetime) -> list[CommitTurn]:
    """What a wake-up for `permit_id` may work on, the first first. Nothing where a chain's node is silent.

    What is named and sent already comes first: there is little to do for it.
    """
    turns = _list_unsigned(now)
    if all(turn.permit_id != permit_id for turn in turns):
        # Its bytes are stored; or somebody has it, or had it and it has ended.
        is_free = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now)
        named = ActionPermit.objects.filter(is_free, pk=permit_id, status__in=[str(state) for state in UNFINISHED])
        named = named.exclude(is_local=False, chain_id__in=list_silent_chains(now=now))
        found = [CommitTurn(*row) for row in named.values_list("pk", "chain_id", "signer", "is_local")]
        turns[:0] = [turn for turn in found if not is_for_another(turn.permit_id, now=now)]
    return turns


def is_for_another(permit_id: UUID, *, now: datetime) -> bool:
    """Whether a permit waits for a worker that has the key of its account, which this one has not."""
    waiting = ActionPermit.objects.filter(
        Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now),
        pk=permit_id,
        status=PermitStatus.COMMITTING,
        is_local=False,
        committing_at__gt=_given_up(now),
        transactions__isnull=True,
    )
    signer = waiting.values_list("signer", flat=True).first()
    return bool(signer) and not is_held_here(str(signer))


def find_for_another(permit_id: UUID, *, now: datetime) -> UUID | None:
    """What a wake-up that found nothing to do here is sent on for: its permit, else the first whose key another has.

    A wake-up may have been spent on the permit of another one.
    """
    if is_for_another(permit_id, now=now):
        return permit_id
    given_up = _given_up(now)
    rows = _TURNS.fetch(now=now, given_up=given_up, absent=[], most=_MOST_LOOKED_AT, **silence_at(now))
    turns = [CommitTurn(*row[:-1]) for row in rows if row[-1] > given_up]
    waiting = (
        turn.permit_id for turn in turns if turn.account and not turn.is_local and not is_held_here(turn.account)
    )
    return next(waiting, None)


def _list_unsigned(now: datetime) -> list[CommitTurn]:
    """What this worker can sign, by turns, and what waited so long for a key that it is refused wherever it is met."""
    absent: set[str] = set()
    given_up = _given_up(now)
    while True:
        asked = {"given_up": given_up, "absent": sorted(absent), "most": _MOST_LOOKED_AT}
        rows = _TURNS.fetch(now=now, **asked, **silence_at(now))
        turns = [(CommitTurn(*row[:-1]), row[-1] <= given_up) for row in rows]
        unheld = {
            turn.account
            for turn, is_given_up in turns
            if turn.account and not (turn.is_local or is_given_up or is_held_here(turn.account))
        }
        if not unheld:
            return [turn for turn, _ in turns]
        absent |= unheld


def _given_up(now: datetime) -> datetime:
    return now - timedelta(seconds=settings.GOLEM_KEY_WAIT_SECONDS)


def _traced(turn: CommitTurn) -> AbstractContextManager[None]:
    """What is done for this permit is told with what was done for it before, whosever wake-up it is."""
    permit_id = str(turn.permit_id)
    return trace_spans.continued(permit_id, "commit", permit_id=permit_id, chain_id=turn.chain_id)

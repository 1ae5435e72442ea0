"""Keeps the list of contracts whose logs are followed, and for whom: pools, vaults and what tells their rates.

Positions that somebody else opened for an account count for nothing: whoever likes could have anything followed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from django.conf import settings
from django.db import transaction

from tools_app.chain.chains import open_reader
from tools_app.chain.networks import Network, configured_networks
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.history import follower_positions
from tools_app.history.chain_following import begin_chain
from tools_app.history.checked_logs import CheckedHeader
from tools_app.history.log_meanings import list_topics
from tools_app.models import KnownPosition, LogSource, LogWish, StreamSubscription
from tools_app.models.history import ASKED_KINDS, FollowedChain, SourceKey, SourceKind
from tools_app.models.subscription import SubscriptionKind
from tools_app.standards.erc4626 import KIND as VAULT_KIND
from tools_app.toolkit.params import check_address
from tools_app.toolkit.pool_ids import PoolId, is_pool_id
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF

RENEWED_EVERY: Final = timedelta(hours=1)
"""A wish lasts for days, and a fleet has ten thousand of them."""
NOT_YET: Final = "before it was followed"
_BUDGET_MS: Final = 10_000
_LONGEST_REASON: Final = 100
_OF_POOLS: Final = (SubscriptionKind.POOL_EVENTS, SubscriptionKind.POOL_STATE)


@dataclass(frozen=True, slots=True)
class FollowWish:
    """Somebody wants a contract followed: `wanted_by` is a golem's id or an account's address.

    A pool within a `manager` is named by its 32 bytes. `protocol` and `token` say of whom a rate is asked.
    """

    chain_id: int
    address: str
    kind: SourceKind
    wanted_by: str
    because: str
    manager: str = ""
    protocol: str = ""
    token: str = ""

    @property
    def key(self) -> SourceKey:
        """Whose logs tell of it, how they name it, and what is read of them."""
        return SourceKey(PoolId(self.address, self.manager), self.kind)


Lister: TypeAlias = Callable[[int], Iterable[FollowWish]]
"""Tells what somebody outside this layer wants followed on a chain."""


@dataclass(slots=True)
class _Others:
    listers: tuple[Lister, ...] = ()


_others = _Others()


def configure(*listers: Lister) -> None:
    """Who else wants something followed; handed down when the process starts."""
    _others.listers = listers


def renew_all(*, now: datetime) -> int:
    """Follow what golems watch or hold now; how many wishes were renewed."""
    if not settings.GOLEM_HISTORY_IS_ON:
        return 0
    return sum(_renew(network, now) for network in configured_networks())


def _renew(network: Network, now: datetime) -> int:
    others = (wish for lister in _others.listers for wish in lister(network.chain_id))
    wishes = [*_list_subscribed(network.chain_id), *_list_held(network, now), *others]
    if not wishes or begin_chain(network, now=now) is None:
        return 0
    return take_up(network.chain_id, wishes, now=now)


@retry_aborted
def take_up(chain_id: int, wishes: Collection[FollowWish], *, now: datetime) -> int:
    """Renew these wishes of one chain that is followed, and follow what is new among them; how many stand.
    One that was renewed within the hour is not written again.

    A golem beyond its number of contracts, or a chain beyond its own, has no more taken up.
    """
    with transaction.atomic():
        place = follower_positions.lock_place(chain_id)
        if place is None:
            return 0
        sources = follower_positions.list_sources(chain_id)
        mine: defaultdict[str, set[SourceKey]] = defaultdict(set)
        fresh: set[tuple[int, str, str]] = set()
        for row in LogWish.objects.filter(source__chain_id=chain_id).select_related("source"):
            mine[row.wanted_by].add(row.source.key)
            if now - RENEWED_EVERY < row.renewed_at <= now:
                fresh.add((row.source_id, row.wanted_by, row.because))
        renewed = []
        for wish in wishes:
            topics = list_topics(chain_id, wish.kind)
            if not (topics or wish.kind in ASKED_KINDS) or not _has_room(wish, mine[wish.wanted_by], sources):
                continue
            mine[wish.wanted_by].add(wish.key)
            if wish.key not in sources:
                sources[wish.key] = _follow(place, wish, topics, now)
            renewed.append(
                LogWish(source=sources[wish.key], wanted_by=wish.wanted_by, because=wish.because, renewed_at=now)
            )
        once = {(row.source_id, row.wanted_by): row for row in renewed}
        LogWish.objects.bulk_create(
            [row for row in once.values() if (row.source_id, row.wanted_by, row.because) not in fresh],
            update_conflicts=True,
            unique_fields=["source", "wanted_by"],
            update_fields=["because", "renewed_at"],
        )
    return len(once)


def _has_room(wish: FollowWish, mine: Collection[SourceKey], sources: dict[SourceKey, LogSource]) -> bool:
    if wish.key not in mine and len(mine) >= settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_GOLEM:
        return False
    return wish.key in sources or len(sources) < settings.GOLEM_HISTORY_MOST_CONTRACTS_PER_CHAIN


def _follow(place: FollowedChain, wish: FollowWish, topics: list[str], now: datetime) -> LogSource:
    """Follow one contract from the chain's place on; what lies before is a gap."""
    source = LogSource.objects.create(
        chain_id=wish.chain_id,
        address=wish.address,
        manager=wish.manager,
        kind=wish.kind,
        topics=topics,
        added_at=now,
        kept_from=now - timedelta(days=settings.GOLEM_HISTORY_BACK_DAYS),
        protocol=wish.protocol,
        token=wish.token,
    )
    last = CheckedHeader(place.next_block - 1, place.head_hash, "", place.head_time, None)
    follower_positions.open_gaps([source], first=0, last=last, because=NOT_YET, since=None)
    return source


def _list_subscribed(chain_id: int) -> Iterator[FollowWish]:
    living = StreamSubscription.objects.filter(chain_id=chain_id, ended_at__isnull=True, kind__in=_OF_POOLS)
    for row in living.order_by("created_at"):
        pool = str(row.params.get("pool_address", ""))
        manager = str(row.params.get("manager", ""))
        if _is_address(pool) or (is_pool_id(pool) and _is_address(manager)):
            because = "a golem subscribed to it"
            yield FollowWish(chain_id, pool, SourceKind.POOL, str(row.golem_id), because, manager)


def _list_held(network: Network, now: datetime) -> Iterator[FollowWish]:
    own = KnownPosition.objects.filter(chain_id=network.chain_id, is_own=True, gone_at__isnull=True)
    known = {
        (row.wanted_by, row.because): row.source
        for row in LogWish.objects.filter(source__chain_id=network.chain_id).select_related("source")
    }
    for row in own.order_by("first_seen"):
        yield from _list_rates(network.chain_id, row)
        because = f"position {row.ref}"[:_LONGEST_REASON]
        before = known.get((row.account, because))
        if before is not None:
            kind = SourceKind(before.kind)
            yield FollowWish(network.chain_id, before.address, kind, row.account, because, before.manager)
            continue
        found = _find_contract(PositionRef.parse(row.ref), network, now)
        if found is not None:
            about, kind = found
            yield FollowWish(network.chain_id, about.text, kind, row.account, because, about.manager)


def _list_rates(chain_id: int, row: KnownPosition) -> Iterator[FollowWish]:
    """Whose logs tell the rates of a position."""
    ref = PositionRef.parse(row.ref)
    for each in SHELF.on(chain_id):
        if each.name == ref.protocol and each.rates is not None:
            for about in each.rates.held(chain_id, ref):
                because = f"rates of {row.ref}"[:_LONGEST_REASON]
                yield FollowWish(chain_id, about.text, SourceKind.RATE, row.account, because, about.manager)


def _find_contract(ref: PositionRef, network: Network, now: datetime) -> tuple[PoolId, SourceKind] | None:
    """The contract whose logs tell what a position is worth; None for one of which nothing is kept."""
    if _is_address(ref.id):
        if ref.kind == VAULT_KIND:
            return PoolId(ref.id), SourceKind.VAULT
        found = next((each for each in SHELF.on(network.chain_id) if each.name == ref.protocol), None)
        return (PoolId(ref.id), SourceKind.POOL) if found is not None and found.markets is not None else None
    if not ref.id.isdecimal():
        return None
    for each in SHELF.on(network.chain_id):
        if each.name == ref.protocol and each.markets is not None:
            reader = open_reader(network.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
            try:
                return each.markets.ranges.read(reader, ref.id).pool.pool_id, SourceKind.POOL
            except GolemError:
                # Gone, or the node is away: it is looked for again with the next renewal.
                return None
    return None


def _is_address(text: str) -> bool:
    try:
        return check_address(text) == text
    except ValueError:
        return False

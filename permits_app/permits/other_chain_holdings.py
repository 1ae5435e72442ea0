"""Reads what a golem holds on its other chains, and names what cannot be read there.

Whoever counts what a golem holds reads one chain itself and asks here for the rest. A golem with one chain costs
nothing here: no query and no request. What is under way between two chains is a position on the one where it is
expected; it counts while the block that sent it is in the other chain, so that it is never in two places.
Decisions 0446 and 0447.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import F, Max

from permits_app.models import ActionPermit, ChainMark, ChainWatch, NavSnapshot, OutboundTransaction, PendingRequest
from permits_app.models.pending_request import FOLLOWED, RequestState
from permits_app.models.permit import UNFINISHED
from permits_app.models.transaction import PayloadPurpose, TransactionState
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app import runner
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, Recovery
from tools_app.portfolio.holdings import Holdings, join_holdings, measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import BlockRef, GolemView

READ_BUDGET_MS: Final = 3_000
"""So long one other chain may take."""
NOT_COUNTED: Final = "CHAIN_NOT_COUNTED"
_NONE: Final = (-1, "")
_MARK: Final = ("chain_id", "mark_number", "mark_hash")
_MINED: Final = (TransactionState.MINED, TransactionState.REVERTED, TransactionState.FINAL)


class ChainNotCounted(
    GolemError,
    code=NOT_COUNTED,
    status=503,
    recovery=Recovery.WAIT,
    title="One of the golem's chains cannot be read",
    cleared_by="the chain's node answers again, or the owner takes the chain off the golem's page",
):
    """What a golem holds on one of its chains cannot be read, so nothing that adds risk is judged."""


class ChainBehind(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The node is behind what is known of its chain",
    cleared_by="the node catches up with the chain",
):
    """A node has not come to the block from which something of the golem is under way."""


class ChainOfAnother(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The node shows another past than its chain has",
    cleared_by="the node shows the block that was final, or the next round of the reconciler took the rollback up",
):
    """A node shows another block in the place of one that was final: it serves another chain, or rolled back."""


@dataclass(frozen=True, slots=True)
class ChainLook:
    """What is held on one other chain at `block`; `asked` are the positions that were looked for."""

    chain_id: int
    block: BlockRef
    asked: tuple[PositionRef, ...]
    holdings: Holdings


@dataclass(frozen=True, slots=True)
class Unread:
    """A chain whose holdings are not counted: why, and when they were counted last; None for never."""

    chain_id: int
    code: str
    detail: str
    since: datetime | None = None

    def __str__(self) -> str:
        since = f"counted last at {self.since:%Y-%m-%d %H:%M} UTC" if self.since is not None else "never counted yet"
        return f"{NOT_COUNTED}: {name_chain(self.chain_id)}, {since} ({self.code})"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Every other chain of a golem. `void` names positions on any chain that do not count: what sent them left it."""

    looks: tuple[ChainLook, ...] = ()
    unread: tuple[Unread, ...] = ()
    void: frozenset[PositionRef] = frozenset()
    expected: tuple[PositionRef, ...] = ()
    """What is under way to the chain that the asker reads itself."""

    def join(self, own: Holdings) -> Holdings:
        """`own` with everything held elsewhere."""
        if not self.looks and not self.unread:
            return own
        return join_holdings(
            [own, *(each.holdings for each in self.looks)], uncounted=[str(each) for each in self.unread]
        )

    def choose(self, hints: tuple[PositionRef, ...]) -> tuple[PositionRef, ...]:
        """The positions that the asker looks for on its own chain."""
        return tuple(dict.fromkeys(each for each in (*hints, *self.expected) if each not in self.void))


NOWHERE: Final = Elsewhere()


@dataclass(frozen=True, slots=True)
class _Flight:
    """Something under way between two chains, and the block that sent it."""

    ref: PositionRef
    sent_on: int
    block_number: int
    block_hash: str


def look_elsewhere(
    *,
    golem: GolemView,
    own_chain_id: int,
    own: ChainReader | None,
    now: datetime,
    budget_ms: int = READ_BUDGET_MS,
    own_permit_id: UUID | None = None,
) -> Elsewhere:
    """What `golem` holds on every chain of it but the one that `own` reads. Never raises GolemError.

    While the outcome of something that was sent to another chain is not seen, its amount is nowhere: the chain it left
    is not counted. The permit that is judged itself, `own_permit_id`, has not sent anything yet.
    """
    others = [each for each in list_chains(golem) if each != own_chain_id]
    if not others or golem.address is None:
        return NOWHERE
    flights = _list_flights(golem)
    unread = _list_leaving(golem, own_permit_id)
    readers: dict[int, ChainReader] = {} if own is None else {own_chain_id: own}
    marks = _list_marks(others)
    silent = set(list_silent_chains(now=now))
    for chain_id in others:
        if chain_id in unread:
            continue
        if chain_id in silent:
            # Its follower asks it all the time; nobody else waits for it meanwhile.
            unread[chain_id] = ChainNotCounted("its node answers nothing", chain_id=chain_id)
            continue
        try:
            reader = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(budget_ms))
            _check_past(reader, marks.get(chain_id))
        except GolemError as error:
            unread[chain_id] = error
        else:
            readers[chain_id] = reader
    void = _find_void(flights, readers, unread)
    looks = []
    for chain_id in others:
        if chain_id in unread:
            continue
        known = (*list_hints(chain_id=chain_id, account=golem.address), *_list_expected(flights, chain_id))
        asked = tuple(dict.fromkeys(each for each in known if each not in void))
        try:
            holdings = measure_holdings(chain=readers[chain_id], account=golem.address, hints=asked)
        except GolemError as error:
            unread[chain_id] = error
            continue
        looks.append(ChainLook(chain_id, readers[chain_id].block, asked, holdings))
    return Elsewhere(
        looks=tuple(looks),
        unread=_tell_unread(golem, unread),
        void=void,
        expected=tuple(_list_expected(flights, own_chain_id)),
    )


def _list_leaving(golem: GolemView, own_permit_id: UUID | None) -> dict[int, GolemError]:
    unfinished = ActionPermit.objects.filter(golem_id=golem.id, status__in=[str(state) for state in UNFINISHED])
    leaving = unfinished.filter(bounds__has_key="arrivals")
    if own_permit_id is not None:
        leaving = leaving.exclude(pk=own_permit_id)
    return {
        chain_id: ChainNotCounted("what left it for another chain is not seen yet", chain_id=chain_id)
        for chain_id in leaving.values_list("chain_id", flat=True)
    }


def _list_marks(chain_ids: Sequence[int]) -> dict[int, tuple[int, str]]:
    """By chain the block that was final when it was noted, of those that have one."""
    rows = ChainMark.objects.filter(chain_id__in=chain_ids).exclude(mark_hash="")
    return {chain_id: (number, hashed) for chain_id, number, hashed in rows.values_list(*_MARK)}


def _check_past(reader: ChainReader, mark: tuple[int, str] | None) -> None:
    """That the node answers, and still has the block that was final. Raises ChainOfAnother, and the node errors."""
    if mark is None:
        _ = reader.block
    elif reader.block_at(mark[0]).hash != mark[1]:
        raise ChainOfAnother(f"block {mark[0]} was final and is another one now", chain_id=reader.chain_id)


def name_chain(chain_id: int) -> str:
    """`Base (8453)`."""
    network = KNOWN_NETWORKS.get(chain_id)
    return f"{network.name} ({chain_id})" if network is not None else f"chain {chain_id}"


def _list_flights(golem: GolemView) -> tuple[_Flight, ...]:
    rows = PendingRequest.objects.filter(golem_id=golem.id, state__in=[str(state) for state in FOLLOWED])
    waiting = list(rows.exclude(chain_id=F("expects_chain_id")).values_list("ref", "chain_id", "permit_id", "state"))
    if not waiting:
        return ()
    payloads = OutboundTransaction.objects.filter(
        permit_id__in={permit_id for _, _, permit_id, _ in waiting},
        purpose=PayloadPurpose.CALL,
        is_live=True,
        state__in=[str(state) for state in _MINED],
        block_number__isnull=False,
    )
    blocks: dict[object, tuple[int, str]] = {}
    for permit_id, number, receipt in payloads.values_list("permit_id", "block_number", "receipt"):
        blocks[permit_id] = max(blocks.get(permit_id, (-1, "")), (number or 0, str(receipt.get("block_hash", ""))))
    return tuple(
        # Of one whose payload is in no block now nothing is under way, and of one over its time nobody knows.
        _Flight(
            PositionRef.parse(ref), chain_id, *(blocks.get(permit_id, _NONE) if state != RequestState.STUCK else _NONE)
        )
        for ref, chain_id, permit_id, state in waiting
    )


def _list_expected(flights: tuple[_Flight, ...], chain_id: int) -> list[PositionRef]:
    return [each.ref for each in flights if each.ref.chain_id == chain_id]


def _find_void(
    flights: tuple[_Flight, ...], readers: Mapping[int, ChainReader], unread: dict[int, GolemError]
) -> frozenset[PositionRef]:
    """What is under way from a block that its chain does not have. One whose chain cannot be asked stays: that chain is
    not counted, and with it nothing may be held against an earlier value.
    """
    void = set()
    for flight in flights:
        if flight.block_number < 0:
            void.add(flight.ref)
            continue
        reader = readers.get(flight.sent_on)
        if reader is None or flight.sent_on in unread:
            continue
        try:
            if reader.block.number < flight.block_number:
                raise ChainBehind(
                    f"it is at block {reader.block.number}, and {flight.block_number} is known",
                    chain_id=flight.sent_on,
                )
            if reader.block_at(flight.block_number).hash != flight.block_hash:
                void.add(flight.ref)
        except GolemError as error:
            unread[flight.sent_on] = error
    return frozenset(void)


def _tell_unread(golem: GolemView, unread: Mapping[int, GolemError]) -> tuple[Unread, ...]:
    if not unread:
        return ()
    snapshots = NavSnapshot.objects.filter(golem_id=golem.id, chain_id__in=list(unread))
    seen = dict(snapshots.values_list("chain_id").annotate(last=Max("at")))
    failing = dict(
        ChainWatch.objects.filter(chain_id__in=list(unread), failing_since__isnull=False).values_list(
            "chain_id", "failing_since"
        )
    )
    return tuple(
        Unread(chain_id, error.code, error.detail, seen.get(chain_id, failing.get(chain_id)))
        for chain_id, error in sorted(unread.items())
    )

"""A table of lies: every way a node can fail or lie, about every method, while each part of the product asks it.

A cell plays one action of a golem with the lie told, ends the lie, lets a few rounds of follower, reconciler and sweep
pass, and looks: money moved as the permit says or not at all, the permit ended, nothing is reserved or under way, and
the account's next commit works. A mirror shows its contract as it is, or says that it does not. Cells share a golem
until one of them goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth import get_user_model

from archetypes_app.models import Archetype, Golem, Heartbeat, ToolProfile
from golem_project import wiring
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.tick_claims import claim_due
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.commit import commit_permit
from permits_app.actions.preview import preview_action
from permits_app.actions.start_commit import start_commit
from permits_app.custody.create_wallet import create_wallet
from permits_app.execution.chain_follower import Follower
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, OutboundTransaction, PolicyCage, SpendEntry, SpendingLimits
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import UNSETTLED
from permits_app.tasks import commit_reconciliation_task
from tests.proof.lied_to_mirror import Mirrored
from tests.proof.lying_node import Ask, Lie, LyingNode, Request, serve_lying_node
from tests.proof.registry import Progress, proof
from tests.proof.told_lies import ABOUT_A_METHOD, ASKED_BY, OF_THE_CHAIN
from tests.proof.walks import require
from tools_app.chain.chains import get_registry
from tools_app.chain.rpc import RpcLimits
from tools_app.core import clock
from tools_app.core.errors import GolemError

CHAIN_ID: Final = 31337
ROUNDS_AFTER: Final = 6
LIMITS: Final = RpcLimits(connect_ms=1_000, request_ms=1_000)
"""A node that hangs is waited for as long as a quiet machine needs, not as long as one far away may."""
_AMOUNT, _NEXT_AMOUNT = 20_000_000, 15_000_000
_FUNDS: Final = {"USDC": 1_000_000 * 10**6}
_LIMIT_MICRO_USD: Final = 10**12
_RECEIPT_WAIT_SECONDS: Final = 0.3
_FOLLOWERS_LOOKS: Final = 3
_USD_LIMITS: Final = (
    "per_transaction_micro_usd",
    "per_tick_micro_usd",
    "per_session_micro_usd",
    "per_day_micro_usd",
    "hot_lane_micro_usd",
    "trading_costs_per_day_micro_usd",
    "trading_costs_per_pair_micro_usd",
    "trading_costs_per_venue_micro_usd",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One lie, about one method or the chain, told while `role` asks."""

    role: str
    kind: str
    method: str = ""

    def __str__(self) -> str:
        return f"{self.role}: {self.kind}{f' of {self.method}' if self.method else ''}"

    def make_lie(self) -> Lie:
        return ABOUT_A_METHOD[self.kind](self.method) if self.method else OF_THE_CHAIN[self.kind]()


class Teller:
    """The golem of some cells, played without HTTP and queue."""

    def __init__(self, node: LyingNode, real: JsonRpc) -> None:
        self.node = node
        self.real = real
        owner, _ = get_user_model().objects.get_or_create(username="lied to")
        self.golem = Golem.objects.create(
            name=f"lied to {uuid4().hex[:12]}",
            owner=owner,
            home_chain_id=CHAIN_ID,
            archetype=Archetype.objects.get(name="golem-instance"),
        )
        self.golem.profiles.set(ToolProfile.objects.filter(name__in=["trader", "learning"]))
        PolicyCage.objects.create(golem=self.golem, max_position_bps=10_000, max_concentration_bps=10_000)
        SpendingLimits.objects.create(
            golem=self.golem, writes_per_hour=100_000, **dict.fromkeys(_USD_LIMITS, _LIMIT_MICRO_USD)
        )
        create_wallet(golem=self.golem, actor="system:proof", now=clock.now())
        self.golem.refresh_from_db()
        fund(real, self.golem.address, 10**20, _FUNDS)
        choices = suggest_allowlist(CHAIN_ID)
        allow_addresses(golem=self.golem, choices=choices, actor="system:proof", now=clock.now())
        self._mirrored: Mirrored | None = None
        self._asked = 0
        self.usdc = get_registry(CHAIN_ID).by_symbol("USDC").address
        # One earlier commit, so that nonces and blocks to lie about exist.
        self.commit(_AMOUNT // 2)

    @property
    def mirrored(self) -> Mirrored:
        """A caged Safe beside it, made when a cell first asks for one."""
        if self._mirrored is None:
            self._mirrored = Mirrored(self.node, self.real, owner=self.golem.owner, chain_id=CHAIN_ID)
        return self._mirrored

    def preview(self, amount: int) -> UUID:
        body = {
            "action_type": "swap",
            "venue": "uniswap",
            "token_in": "USDC",
            "token_out": "WETH",
            "amount": str(amount),
        }
        answer = preview_action(golem_id=self.golem.pk, api_key_id=None, body=body, now=clock.now())
        return UUID(answer["permit_id"])

    def start(self, permit_id: UUID) -> None:
        start_commit(golem=self.golem, permit_id=permit_id, actor="system:proof", now=clock.now())

    def next_amount(self, about: int) -> int:
        """One that was not asked for yet, for what is asked again and again looks like a loop."""
        self._asked += 1
        return about + self._asked

    def commit(self, about: int) -> None:
        """Raises AssertionError unless it is committed and moved just that."""
        before, amount = self.balance(), self.next_amount(about)
        permit_id = self.preview(amount)
        self.start(permit_id)
        commit_permit(permit_id=permit_id)
        self.pass_rounds()
        permit = ActionPermit.objects.get(pk=permit_id)
        require(
            permit.status == PermitStatus.COMMITTED, f"a commit without lies ends {permit.status}: {permit.problem}"
        )
        require(before - self.balance() == amount, "a commit without lies moved something else")

    def balance(self) -> int:
        data = "0x70a08231" + self.golem.address[2:].lower().rjust(64, "0")
        return int(self.real.call("eth_call", {"to": self.usdc, "data": data}, "latest"), 16)

    def pass_rounds(self) -> None:
        """Leases run out and each part comes by in turn, until nothing is under way or for a few rounds."""
        for _ in range(ROUNDS_AFTER):
            self.real.call("anvil_mine", "0x1")
            _follow(looks=1)
            mine = ActionPermit.objects.filter(golem=self.golem)
            unfinished = mine.filter(status__in=[str(status) for status in UNFINISHED])
            unfinished.update(lease_expires_at=clock.now() - timedelta(seconds=1))
            for permit_id in list(unfinished.exclude(status=PermitStatus.CREATED).values_list("pk", flat=True)):
                commit_permit(permit_id=permit_id)
            commit_reconciliation_task()
            if not unfinished.exclude(status=PermitStatus.CREATED).exists() and not self.under_way():
                return

    def under_way(self) -> int:
        rows = OutboundTransaction.objects.filter(sender=self.golem.address, is_live=True)
        return rows.filter(state__in=[str(state) for state in UNSETTLED]).count()


def play(cell: Cell, teller: Teller) -> None:
    """One cell. Raises AssertionError where something was lost, doubled or left."""
    before, amount = teller.balance(), teller.next_amount(_AMOUNT)
    permit_id = _ROLES[cell.role](cell, teller, amount)
    teller.pass_rounds()
    moved = before - teller.balance()
    if permit_id is not None:
        permit = ActionPermit.objects.get(pk=permit_id)
        told = f"{permit.status} ({permit.problem.get('code', '') if permit.problem else permit.status_reason})"
        require(permit.status not in UNFINISHED, f"the permit is still {told}")
        promised = amount if permit.status == PermitStatus.COMMITTED else 0
        require(moved == promised, f"the permit is {told} and {moved} moved")
        held = SpendEntry.objects.filter(permit_id=permit_id, state=SpendState.RESERVED).exists()
        require(not held, "its reservation is still held")
    else:
        require(moved == 0, f"{moved} moved without a permit")
    require(teller.under_way() == 0, "payloads are still under way")
    unforeseen = teller.node.asked.difference(ASKED_BY[cell.role])
    require(not unforeseen, f"no cell lies to this role about {sorted(unforeseen)}")
    teller.commit(_NEXT_AMOUNT)


def _during_preview(cell: Cell, teller: Teller, amount: int) -> UUID | None:
    with teller.node.lying(cell.make_lie()):
        try:
            permit_id = teller.preview(amount)
        except GolemError:
            return None
    teller.start(permit_id)
    commit_permit(permit_id=permit_id)
    return permit_id


def _during_commit(cell: Cell, teller: Teller, amount: int) -> UUID | None:
    permit_id = teller.preview(amount)
    teller.start(permit_id)
    with teller.node.lying(cell.make_lie()):
        commit_permit(permit_id=permit_id)
    return permit_id


def _once_sent(cell: Cell, teller: Teller, amount: int) -> UUID | None:
    """The lie begins when the first bytes have left: the commit's own look at receipts, then the chain's follower."""
    permit_id, lie, is_sent = teller.preview(amount), cell.make_lie(), [False]
    teller.start(permit_id)

    def later(requests: list[Request], ask: Ask) -> Any:
        if is_sent[0]:
            return lie(requests, ask)
        is_sent[0] = any(request["method"] == "eth_sendRawTransaction" for request in requests)
        return ask(requests)

    with teller.node.lying(later):
        commit_permit(permit_id=permit_id)
        _follow()
    return permit_id


def _followed(cell: Cell, teller: Teller, amount: int) -> UUID | None:
    """The commit leaves at once what it sent; the follower and whom it hands permits to see the lie alone."""
    permit_id, waited = teller.preview(amount), settings.GOLEM_FIRST_LOOK_SECONDS
    teller.start(permit_id)
    settings.GOLEM_FIRST_LOOK_SECONDS = 0
    try:
        commit_permit(permit_id=permit_id)
        with teller.node.lying(cell.make_lie()):
            _follow()
    finally:
        settings.GOLEM_FIRST_LOOK_SECONDS = waited
    return permit_id


def _follow(looks: int = _FOLLOWERS_LOOKS) -> None:
    """Looks of the chain's follower, each of a new one; a worker goes on at once with what it hands on."""
    for _ in range(looks):
        handed: list[UUID] = []
        follower = Follower(CHAIN_ID, hand=handed.append)
        try:
            follower.look(now=clock.now())
        finally:
            follower.leave()
        for permit_id in handed:
            commit_permit(permit_id=permit_id)


def _mirror(cell: Cell, teller: Teller, _: int) -> UUID | None:
    teller.mirrored.play(cell.make_lie())
    return None


def _during_reconciliation(cell: Cell, teller: Teller, amount: int) -> UUID | None:
    permit_id = teller.preview(amount)
    teller.start(permit_id)
    commit_permit(permit_id=permit_id)
    with teller.node.lying(cell.make_lie()):
        for _ in range(2):
            commit_reconciliation_task()
    return permit_id


def _during_a_tick(cell: Cell, teller: Teller, _: int) -> UUID | None:
    due = {"is_on": True, "next_tick_at": clock.now() - timedelta(seconds=1)}
    Heartbeat.objects.update_or_create(golem=teller.golem, defaults=due)
    claims = claim_due(
        now=clock.now(),
        limit=1_000,
        lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS,
        jitter_bps=settings.GOLEM_HEARTBEAT_JITTER_BPS,
    )
    [claim] = [claim for claim in claims if claim.golem_id == teller.golem.pk]
    with teller.node.lying(cell.make_lie()):
        record = run_heartbeat_tick(claim=claim)
    require(record is not None, "the tick left no record")
    Heartbeat.objects.filter(golem=teller.golem).update(is_on=False)
    return None


_ROLES: Final[Mapping[str, Callable[[Cell, Teller, int], UUID | None]]] = {
    "preview": _during_preview,
    "commit": _during_commit,
    "sent": _once_sent,
    "follower": _followed,
    "reconciler": _during_reconciliation,
    "heartbeat": _during_a_tick,
    "mirror": _mirror,
}
CELLS: Final = tuple(
    Cell(role, kind, method)
    for role in _ROLES
    for kind, method in (
        *((kind, method) for kind in ABOUT_A_METHOD for method in ASKED_BY[role]),
        *((kind, "") for kind in OF_THE_CHAIN),
    )
)


@contextmanager
def between(real_url: str) -> Iterator[tuple[LyingNode, JsonRpc]]:
    """A lying node as the only one the product knows, and the real one beside it; receipts are not waited for long."""
    waited, urls = settings.GOLEM_RECEIPT_WAIT_SECONDS, settings.GOLEM_RPC_URLS
    real = JsonRpc(real_url)
    try:
        with serve_lying_node(real_url) as node:
            settings.GOLEM_RECEIPT_WAIT_SECONDS = _RECEIPT_WAIT_SECONDS
            wiring.configure_networks({CHAIN_ID: (node.url,)}, limits=LIMITS)
            yield node, real
    finally:
        settings.GOLEM_RECEIPT_WAIT_SECONDS = waited
        wiring.configure_networks(urls)
        real.close()


class Table:
    """Plays cells one after the other; the golem of one that went wrong plays no other."""

    def __init__(self, node: LyingNode, real: JsonRpc) -> None:
        self._node, self._real = node, real
        self._teller: Teller | None = None

    def find_wrong(self, cell: Cell) -> str | None:
        """What is wrong after one cell; None when nothing is."""
        teller, self._teller = self._teller, None
        try:
            teller = teller or Teller(self._node, self._real)
            play(cell, teller)
        except AssertionError as error:
            return f"{cell}: {error}"
        except Exception as error:
            return f"{cell}: {type(error).__name__}: {error}"
        self._teller = teller
        return None


@proof(
    id="lies",
    what="a node that fails or lies in every way about every method while each part asks: nothing is lost or doubled",
    rounds=len(CELLS),
)
def prove_lies(progress: Progress) -> None:
    """One cell a round."""
    with between(settings.GOLEM_RPC_URLS[CHAIN_ID][0]) as (node, real):
        table = Table(node, real)
        for number in progress.remaining():
            wrong = table.find_wrong(CELLS[number])
            if wrong is not None:
                progress.findings.append(wrong)

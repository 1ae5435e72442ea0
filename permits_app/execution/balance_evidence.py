"""Measures by balances what a permit moved, before and after the blocks of its receipts.

Where other transactions of the account lie in the same blocks, what their events say is taken off, and of the coin,
which no event tells of, what their permits promised exactly (`concurrent_permits.py`), so that what is left is this
permit's; what neither shows stays unknown. A chain may go back meanwhile: receipts count where their blocks are those
that it has now, and how many transactions lie beside is what it counts itself, whatever our rows say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from permits_app.execution import payload_delivery
from permits_app.execution.concurrent_permits import Beside, Mined, read_beside
from permits_app.execution.payload_states import decode_receipt, list_siblings
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.transaction import UNSETTLED, PayloadPurpose
from permits_app.permits.balance_deltas import read_deltas
from permits_app.permits.stored_calls import read_signed_calls
from permits_app.policy_cage import safe_tx
from permits_app.safety.position_rules import Moved, pair_up
from permits_app.safety.positions_to_simulate import ask_for_positions
from tools_app import runner
from tools_app.chain.node_errors import BlockUnavailable, RpcNonsense
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.errors import GolemError
from tools_app.standards import erc20
from tools_app.standards.token_logs import is_garbled, read_transfers
from tools_app.standards.user_operation import DEPOSIT_OF, ENTRY_POINT, read_next_nonce
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import PositionChange, drive
from tools_app.toolkit.views import NATIVE, BlockRef, ReceiptView

logger = logging.getLogger(__name__)

Holding = tuple[str, str]
"""Who holds, and the token's address."""
MOST_NAMED = 16
"""So many tokens that the plan does not speak of are looked up; a contract can name thousands."""
_READ_BUDGET_MS = 5_000
_MOST_READINGS = 6
_IN_FLIGHT = [str(state) for state in UNSETTLED]


# What lies in the blocks, and what was sent and whose receipt is not written down yet: it may lie there too, and the
# chain's own count decides. Both in one statement: a receipt written between two would be in neither.
_OTHERS: CompiledQuery[OutboundTransaction] = CompiledQuery(
    lambda chain_id, sender, permit_id, first, last: OutboundTransaction.objects.filter(
        Q(block_number__gte=first, block_number__lte=last) | Q(broadcast_count__gt=0, state__in=_IN_FLIGHT),
        chain_id=chain_id,
        sender=sender,
    ).exclude(permit_id=permit_id, purpose=PayloadPurpose.CALL),
    901,
    "a sender",
    UUID(int=0),
    902,
    903,
)


# Wherever they lay when they were last seen: their blocks may be gone.
_BY_NONCE: CompiledQuery[OutboundTransaction] = CompiledQuery(
    lambda chain_id, sender, permit_id, first, end: OutboundTransaction.objects.filter(
        chain_id=chain_id, sender=sender, nonce__gte=first, nonce__lt=end, broadcast_count__gt=0
    ).exclude(permit_id=permit_id, purpose=PayloadPurpose.CALL),
    901,
    "a sender",
    UUID(int=0),
    902,
    903,
)


@dataclass(frozen=True, slots=True)
class ToldByEvents:
    """What events say of one account: base units moved by token; contracts whose events name it and say nothing that
    can be read, or move what no balance tells.
    """

    moved: Mapping[str, int]
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Base units each holding had before the first and after the last of the blocks; who did not answer is absent.

    `others` are the account's other transactions in these blocks, `beside` what their permits promised, None where
    that is not known. `moved` are the positions at the protocols that the
    plan changes something at, None where it changes none or they could not be read; `seconds` lie between the two.
    """

    before: Mapping[Holding, int]
    after: Mapping[Holding, int]
    others: tuple[ReceiptView, ...] = ()
    moved: tuple[Moved, ...] | None = None
    seconds: int = 0
    beside: Beside | None = None
    fees_beside: int = 0
    _told: dict[str, ToldByEvents] = field(default_factory=dict, init=False, compare=False)

    def change_of(self, account: str, token: str) -> int | None:
        """By how much this permit changed a holding; None where balances do not tell.

        No event tells of the chain's coin: of what others moved of it their permits' exact promises tell, or nobody.
        """
        holding = (account, token)
        if holding not in self.before or holding not in self.after:
            return None
        change = self.after[holding] - self.before[holding]
        if not self.others or token != NATIVE:
            return change - self._told_of(account).moved.get(token, 0)
        if self.beside is None or self.beside.coin is None:
            return None
        return change - self.beside.coin + self.fees_beside

    @property
    def changes_beside(self) -> tuple[PositionChange, ...]:
        """What others promised in the same blocks of positions at the protocols that were looked at."""
        looked_at = frozenset(each.ref.protocol for each in self.moved or ())
        return self.beside.list_changes(looked_at) if self.beside is not None else ()

    def _told_of(self, account: str) -> ToldByEvents:
        if account not in self._told:
            self._told[account] = sum_transfers(receipts=self.others, account=account)
        return self._told[account]


@dataclass(frozen=True, slots=True)
class EvidenceReading:
    """What could be read: `evidence` is None when no balances tell of this permit, `chain` reads after its last block.

    `is_away` says that a node did not answer, `is_newest` that its newest block was read, `is_gone` that a receipt lies
    in a block which the chain does not hold any more: another look may tell more.
    """

    evidence: Evidence | None
    chain: ChainReader | None
    is_away: bool = False
    is_newest: bool = False
    is_gone: bool = False


class Blocks:
    """The blocks that the chain holds now, each asked for once."""

    def __init__(self, head: ChainReader) -> None:
        self._head = head
        self._known: dict[int, BlockRef] = {}

    def at(self, number: int) -> BlockRef:
        """Raises the node errors, BlockUnavailable among them."""
        if number not in self._known:
            self._known[number] = self._head.block_at(number)
        return self._known[number]

    def hold(self, receipt: ReceiptView) -> bool:
        """Whether the receipt lies in one of them. Raises what a node raises that has a block of that number."""
        try:
            return self.at(receipt.block_number).hash == receipt.block_hash
        except BlockUnavailable:
            return False


def sum_transfers(*, receipts: Sequence[ReceiptView], account: str) -> ToldByEvents:
    """Base units each token moved in and out of `account` by its events; an ERC-721 token counts one.

    The simulation counts it so too, by `balanceOf`; a position opened as predicted then diverges by nothing.
    """
    moved: dict[str, int] = {}
    unreadable: dict[str, None] = {}
    for log in (log for receipt in receipts for log in receipt.logs):
        for each in read_transfers(log):
            if account not in (each.sender, each.recipient):
                continue
            if each.is_of_many:
                unreadable[each.token] = None
                continue
            sign = int(each.recipient == account) - int(each.sender == account)
            moved[each.token] = moved.get(each.token, 0) + sign * each.amount
        if is_garbled(log, account):
            unreadable[log.address] = None
    return ToldByEvents(moved, tuple(unreadable))


def list_expected(permit: ActionPermit) -> dict[str, int]:
    """What the simulation showed, base units by token."""
    return {row.token: row.raw for row in read_deltas(permit.expected_outcome)}


def read_evidence(*, permit: ActionPermit, plan: TxPlan, receipts: Sequence[ReceiptView]) -> EvidenceReading:
    """Balances around the blocks of `receipts`. Never raises for what a node or a contract answers."""
    if not receipts:
        return EvidenceReading(None, None)
    first = min(receipt.block_number for receipt in receipts)
    last = max(receipt.block_number for receipt in receipts)
    now = clock.now()
    deadline = Deadline.after_ms(_READ_BUDGET_MS)
    try:
        head = runner.open_reader(permit.chain_id, now=now, deadline=deadline)
        blocks = Blocks(head)

        def open_at(number: int) -> ChainReader:
            return runner.open_reader(permit.chain_id, now=now, deadline=deadline, block=blocks.at(number))

        if not all(map(blocks.hold, receipts)):
            return EvidenceReading(None, None, is_away=True, is_gone=True)
        after_chain, before_chain = open_at(last), open_at(first - 1)
        is_newest = head.block.number <= last
        own = [NATIVE, *(token.address for token in plan.tokens if not token.is_native)]
        wanted = [*((permit.account, token) for token in dict.fromkeys(own)), *plan.list_payees(permit.account)]
        before = read_balances(chain=before_chain, permit=permit, holdings=wanted)
        if not is_newest:
            after = read_balances(chain=after_chain, permit=permit, holdings=wanted)
        else:
            after = _read_settled(lambda: open_at(last), permit, wanted)
        mined = _find_others(
            permit, first, last, before=before_chain, after=after_chain, receipts=receipts, blocks=blocks
        )
        if mined is None:
            return EvidenceReading(None, after_chain, is_newest=is_newest)
        others = tuple(receipt for _, receipt in mined)
        named = [*sum_transfers(receipts=[*receipts, *others], account=permit.account).moved, *list_expected(permit)]
        claimed = [(permit.account, token) for token in dict.fromkeys(named) if token not in own]
        claimed = claimed[:MOST_NAMED]
        before |= _read_claimed(before_chain, claimed)
        after |= _read_claimed(after_chain, claimed)
        moved = _read_moved(permit, plan, before_chain, after_chain)
    except GolemError as error:
        logger.warning("balances around permit %s unread: %s", permit.pk, error.code)
        return EvidenceReading(None, None, is_away=True)
    evidence = Evidence(
        before,
        after,
        others,
        moved,
        seconds=after_chain.block.timestamp - before_chain.block.timestamp,
        beside=read_beside(account=permit.account, mined=mined),
        fees_beside=_sum_fees(permit, others),
    )
    return EvidenceReading(evidence, after_chain, is_newest=is_newest)


def _sum_fees(permit: ActionPermit, receipts: Sequence[ReceiptView]) -> int:
    """Wei that the account itself paid for them."""
    if permit.signer != permit.account:
        return 0
    return sum(receipt.fee for receipt in receipts if not receipt.paid_by)


def _read_moved(
    permit: ActionPermit, plan: TxPlan, before: ChainReader, after: ChainReader
) -> tuple[Moved, ...] | None:
    question = ask_for_positions(plan=plan, chain=after, account=permit.account) if plan.changes else None
    if question is None:
        return None
    return pair_up(drive(question.ask(), before.call_many), drive(question.ask(), after.call_many))


def read_balances(*, chain: ChainReader, permit: ActionPermit, holdings: Sequence[Holding]) -> dict[Holding, int]:
    """Base units of each holding at the reader's block, the account's coin among them.

    What a smart account keeps at the EntryPoint for gas is its coin too: change of an operation is left there.
    """
    plain = [holding for holding in holdings if holding[1] != NATIVE]
    calls = [erc20.balance_call(token, who) for who, token in plain]
    nonces = () if permit.sends_operation else (permit.signer,)
    chain.preload(calls=calls, accounts=[permit.account], nonces=nonces)
    held = {(permit.account, NATIVE): chain.native_balance(permit.account)}
    if permit.sends_operation:
        [deposit] = chain.call(ENTRY_POINT, DEPOSIT_OF, permit.account)
        held[permit.account, NATIVE] += int(deposit)
    outcomes = chain.call_many(calls)
    for holding, outcome in zip(plain, outcomes, strict=True):
        if outcome.ok:
            held[holding] = int(outcome.values[0])
    return held


def _read_claimed(chain: ChainReader, holdings: Sequence[Holding]) -> dict[Holding, int]:
    """The same of tokens that only an event names: what they answer, or do not, is no reason to doubt a node."""
    if not holdings:
        return {}
    try:
        outcomes = chain.call_many([erc20.balance_call(token, who) for who, token in holdings])
    except GolemError as error:
        logger.warning("tokens that events name unread: %s", error.code)
        return {}
    return {holding: int(outcome.values[0]) for holding, outcome in zip(holdings, outcomes, strict=True) if outcome.ok}


def _read_settled(
    open_reader: Callable[[], ChainReader], permit: ActionPermit, holdings: Sequence[Holding]
) -> dict[Holding, int]:
    """Balances after the node's newest block. Raises RpcNonsense when no two readings agree.

    A local node that mines while it answers for its newest block may answer with the next one's state. A reader keeps
    what it read, hence a new one each time.
    """
    found: dict[Holding, int] | None = None
    for _ in range(_MOST_READINGS):
        again = read_balances(chain=open_reader(), permit=permit, holdings=holdings)
        if again == found:
            return again
        found = again
    raise RpcNonsense("the node's answers about one block do not agree")


def _find_others(
    permit: ActionPermit,
    first: int,
    last: int,
    *,
    before: ChainReader,
    after: ChainReader,
    receipts: Sequence[ReceiptView],
    blocks: Blocks,
) -> tuple[Mined, ...] | None:
    """The account's other transactions in these blocks; None when there are some that no row of ours tells of.

    An owner's transaction of a Safe moves its funds too, and nothing is known of it. Raises GolemError.
    """
    if permit.acts_for and not permit.sends_operation:
        used = _safe_nonce(after, permit) - _safe_nonce(before, permit)
        if used != _count_of_safe(permit):
            return None
    found = _OTHERS.fetch(permit.chain_id, permit.signer, permit.pk, first, last)
    since, until = _count_used(before, permit), _count_used(after, permit)
    beside = until - since - len(receipts)
    if not beside and not any(_lies_in(row, first, last) for row in found):
        return ()
    deadline = Deadline.after_ms(_READ_BUDGET_MS)
    # By payload, since one transaction may carry several operations, and of two payloads of a nonce one is mined.
    mined = {each[0].pk: each for row in found if (each := _receipt_of(row, blocks, deadline)) is not None}
    others = tuple(each for each in mined.values() if first <= each[1].block_number <= last)
    if len(others) != beside and not permit.sends_operation:
        rows = _BY_NONCE.fetch(permit.chain_id, permit.signer, permit.pk, since, until)
        others = _look_up(rows, first, last, deadline)
    return others if len(others) == beside else None


def _look_up(rows: Sequence[OutboundTransaction], first: int, last: int, deadline: Deadline) -> tuple[Mined, ...]:
    """Those that a node shows in these blocks, whatever was seen of them before."""
    by_nonce: dict[int, list[OutboundTransaction]] = {}
    for row in rows:
        by_nonce.setdefault(row.nonce, []).append(row)
    found = payload_delivery.look(list(by_nonce.values()), deadline=deadline) if by_nonce else []
    return tuple(each for each in found if each is not None and first <= each[1].block_number <= last)


def _lies_in(row: OutboundTransaction, first: int, last: int) -> bool:
    return row.block_number is not None and first <= row.block_number <= last


def _receipt_of(row: OutboundTransaction, blocks: Blocks, deadline: Deadline) -> Mined | None:
    """What is kept of it where its block is still there, else what a node says now."""
    if row.receipt and blocks.hold(kept := decode_receipt(row.receipt)):
        return row, kept
    return payload_delivery.find_any_receipt([row, *list_siblings(row)], deadline=deadline)


def _count_used(chain: ChainReader, permit: ActionPermit) -> int:
    """How many nonces of the signer are used; of an account's operations the EntryPoint counts all, signed anywhere."""
    return read_next_nonce(chain, permit.signer) if permit.sends_operation else chain.mined_nonce(permit.signer)


def _count_of_safe(permit: ActionPermit) -> int:
    """How many nonces of the Safe the permit itself uses: a cage acts as its module and uses none."""
    return sum(call.to == permit.acts_for for call in read_signed_calls(permit))


def _safe_nonce(chain: ChainReader, permit: ActionPermit) -> int:
    [nonce] = chain.call(permit.acts_for, safe_tx.NONCE)
    return int(nonce)

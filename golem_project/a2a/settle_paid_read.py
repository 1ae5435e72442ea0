"""An opened read that has a price is answered to whoever pays it to the golem's account, by x402.

First the payment is verified, then the question is worked out, then the payment is carried out, and then the answer is
told. So who is refused has paid nothing, and who paid has an answer that is kept for them. What was paid is told by the
chain: anybody may carry out what was signed, and then it is paid as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.conf import settings

from archetypes_app.models import Golem
from golem_project.a2a.errors import (
    AskerUnproven,
    PaymentInWork,
    PaymentNeeded,
    PaymentUsed,
    SaleNotPossible,
    TooManyTasks,
)
from golem_project.a2a.payment_gas_account import find_address, open_facilitator, say_away
from permits_app.actions import record_paid_read
from permits_app.models import SoldAnswer
from permits_app.models.sold_answer import SaleState
from tools_app import runner
from tools_app.chain.networks import ChainNotSupported
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.clock import Deadline
from tools_app.core.hashing import hash_canonical
from tools_app.core.units import format_units
from tools_app.standards.paused_tokens import StillReads
from tools_app.standards.x402.facilitator import NOBODY_ANSWERS, Settled
from tools_app.standards.x402.payments import (
    Payment,
    PaymentUnfit,
    find_paid,
    find_way,
    is_used_up,
    read_identifier,
    read_payment,
)
from tools_app.standards.x402.price_offers import SECONDS, Method, PriceOffer, list_ways, write_required
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import TokenMeta

PAID_IN: Final = "USDC"
_DECIMALS: Final = 6
_BUDGET_MS: Final = 10_000
_LONGEST: Final = timedelta(seconds=2 * SECONDS)
"""A payment that holds longer than it was asked to is not taken: it would be followed for as long."""
_AFTER_ITS_END: Final = timedelta(minutes=10)

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, as far as that is known: the wallet that was proven to this golem, lower-case; empty: none was."""

    wallet: str = ""

    def name(self, payment: Any) -> str:  # Any: the A2A and x402 libraries leave it untyped
        """What only this asker can say again: the word that the payment says beside itself, or the wallet."""
        word = read_identifier(payment)
        said = {"word": word} if word else {"wallet": self.wallet}
        return hash_canonical(said) if word or self.wallet else ""

    def is_that_of(self, row: SoldAnswer, payment: object) -> bool:
        """Whether it handed the payment in the first time, or is the payer. The payment itself is everybody's to read
        once it was carried out, and proves neither.
        """
        return self.wallet == row.payer.lower() or (row.asker_digest != "" and self.name(payment) == row.asker_digest)


@dataclass(frozen=True, slots=True)
class SoldQuestion:
    """What is asked of a golem, what its answer costs in millionths of a USDC, and how its address is written."""

    golem: Golem
    query: str
    venue: str
    params: Mapping[str, object]
    price: int
    url: str

    asker: Asker

    @property
    def digest(self) -> str:
        """Moves with anything that is asked."""
        return hash_canonical({"query": self.query, "venue": self.venue, "params": dict(self.params)})


@dataclass(frozen=True, slots=True)
class Sold:
    """The answer, and the receipt as the header PAYMENT-RESPONSE holds it."""

    answer: dict[str, object]
    receipt: dict[str, object]


def sell(
    question: SoldQuestion, *, payment: object, work_out: Callable[[], dict[str, object]], read_clock: Clock
) -> Sold:
    """The answer of a question that is paid for; `payment` None asks for it.

    Raises PaymentNeeded with what is asked for, PaymentUsed, AskerUnproven, PaymentInWork, SaleNotPossible,
    TooManyTasks, and what `work_out` raises: then nothing is paid.
    """
    reader = _open_reader(question.golem.home_chain_id, read_clock())
    if payment is None:
        raise _ask(question, reader, "this answer has a price")
    try:
        given = read_payment(payment)
        row = _find(given, reader)
        if row is None:
            token = _find_token(reader)
            way = find_way(given, _list_ways(question, reader, token))
            name = question.asker.name(payment)
            row = _take(question, given, way, token, reader, read_clock(), asker=name)
        elif not question.asker.is_that_of(row, payment):
            _check_same(row, question)
            raise AskerUnproven(
                "this payment was handed in before, and whoever reads the chain may hand it in; say the same"
                " payment-identifier as then, or prove the wallet that pays at this golem's challenge and send its"
                " token"
            )
        elif row.state == SaleState.SOLD:
            return _tell_again(row, question, work_out, read_clock())
        else:
            way = _take_up(row, question, reader, read_clock())
    except PaymentUnfit as unfit:
        raise _ask(question, reader, str(unfit)) from None
    try:
        answer = row.answer or work_out()
    except Exception:
        record_paid_read.drop_payment(row)
        raise
    record_paid_read.keep_answer(row, answer=answer, now=read_clock())
    return _settle(row, given, way, question, reader, read_clock)


def close_left(*, read_clock: Clock) -> int:
    """Find out what became of payments whose process stopped: paid ones are sold, those that ended are dropped."""
    left = record_paid_read.list_left(now=read_clock())
    for row in left:
        now = read_clock()
        try:
            reader = _open_reader(row.chain_id, now)
            if _find_sold(row, _way_of(row), reader, now) is None and now > row.ends_at + _AFTER_ITS_END:
                record_paid_read.drop_payment(row)
        except SaleNotPossible:
            continue
    return len(left)


def say_nobody_is_paid(*, chain_id: int, now: datetime) -> str:
    """Why no answer can be paid for on a chain now, in words; empty where one can."""
    try:
        return say_away(_open_reader(chain_id, now))
    except SaleNotPossible as error:
        return error.detail


def _ask(question: SoldQuestion, reader: ChainReader, why: str) -> PaymentNeeded:
    ways = _list_ways(question, reader, _find_token(reader))
    if away := say_away(reader):
        raise SaleNotPossible(f"{away}; nothing was paid")
    about = f"{question.query}@{question.venue} of the golem {question.golem.name}"
    return PaymentNeeded(why, x402=write_required(ways, url=question.url, description=about, error=why))


def _find_token(reader: ChainReader) -> TokenMeta:
    try:
        return reader.token(PAID_IN)
    except TokenNotFound:
        raise SaleNotPossible(f"chain {reader.chain_id} has no {PAID_IN} that this server knows") from None


def _list_ways(question: SoldQuestion, reader: ChainReader, token: TokenMeta) -> list[PriceOffer]:
    account, raw = str(question.golem.address or ""), question.price * 10**token.decimals // 10**_DECIMALS
    ways = _ask_ways(reader, token=token, payee=account, amount=raw) if account and raw else []
    if not ways:
        raise SaleNotPossible("this golem has no account yet, or nothing there can be paid to it by a signature")
    still = StillReads.of(reader.chain_id, [(token.address, account)])
    if still.calls and (why := still.read(reader.call_many(still.calls)).say(token.address, account)):
        raise SaleNotPossible(f"it is paid in {token.symbol}: {why}; nothing was paid")
    return ways


def _ask_ways(reader: ChainReader, *, token: TokenMeta, payee: str, amount: int) -> list[PriceOffer]:
    return list_ways(reader, token=token, payee=payee, amount=amount, facilitator=find_address())


def _find(given: Payment, reader: ChainReader) -> SoldAnswer | None:
    if given.network != f"eip155:{reader.chain_id}":
        return None
    return record_paid_read.find_sale(
        chain_id=reader.chain_id,
        token=given.token,
        method=str(given.method),
        payer=given.payer,
        nonce=_name(given.nonce),
    )


def _take(
    question: SoldQuestion,
    given: Payment,
    way: PriceOffer,
    token: TokenMeta,
    reader: ChainReader,
    now: datetime,
    *,
    asker: str,
) -> SoldAnswer:
    if given.ends_at > int((now + _LONGEST).timestamp()):
        raise PaymentUnfit(f"it holds longer than the {SECONDS} seconds that are asked for")
    if is_used_up(reader, way=way, payer=given.payer, nonce=given.nonce):
        raise PaymentUnfit("it was paid or taken back before")
    try:
        reason = open_facilitator(reader).verify(given, way)
    except OSError:
        raise SaleNotPossible(f"{NOBODY_ANSWERS}; nothing was paid") from None
    if reason:
        raise PaymentUnfit(reason)
    working = SoldAnswer.objects.filter(golem=question.golem, state=SaleState.TAKEN, lease_until__gt=now).count()
    if working >= settings.GOLEM_MOST_SALES_AT_ONCE:
        raise TooManyTasks("as many answers of this golem are being sold as may at once; nothing was paid")
    sale = record_paid_read.AnswerSale(
        golem_id=question.golem.pk,
        query=question.query,
        venue=question.venue,
        asked_digest=question.digest,
        asker_digest=asker,
        chain_id=reader.chain_id,
        token=way.token,
        method=str(way.method),
        payer=given.payer,
        payee=way.payee,
        raw=way.amount,
        units=format_units(way.amount, token.decimals, token.symbol),
        nonce=_name(given.nonce),
        since_block=reader.block.number,
        ends_at=datetime.fromtimestamp(given.ends_at, tz=UTC),
    )
    row = record_paid_read.take_payment(sale, now=now)
    if row is None:
        raise PaymentInWork("this payment is being worked on")
    return row


def _check_same(row: SoldAnswer, question: SoldQuestion) -> None:
    if row.golem_id != question.golem.pk or row.asked_digest != question.digest:
        raise PaymentUsed("this payment was handed in for another question; sign another one for this")


def _tell_again(
    row: SoldAnswer, question: SoldQuestion, work_out: Callable[[], dict[str, object]], now: datetime
) -> Sold:
    _check_same(row, question)
    if row.answer:
        return Sold(dict(row.answer), _write_receipt(row))
    if row.sold_at is None or now > row.sold_at + record_paid_read.KEPT:
        raise PaymentUsed("this was answered, and the answer is not kept any more; sign another payment")
    # It was carried out by somebody while its process stopped: it is paid, and not answered yet.
    answer = work_out()
    record_paid_read.keep_answer(row, answer=answer, now=now)
    return Sold(answer, _write_receipt(row))


def _take_up(row: SoldAnswer, question: SoldQuestion, reader: ChainReader, now: datetime) -> PriceOffer:
    _check_same(row, question)
    if not record_paid_read.take_over(row, now=now):
        raise PaymentInWork("this payment is being worked on")
    way = _way_of(row)
    known = _ask_ways(reader, token=reader.token(row.token), payee=row.payee, amount=int(row.raw))
    return next((each for each in known if each.method is way.method), way)


def _settle(
    row: SoldAnswer, given: Payment, way: PriceOffer, question: SoldQuestion, reader: ChainReader, read_clock: Clock
) -> Sold:
    try:
        settled = open_facilitator(reader).settle(given, way)
    except OSError:
        # It may have been sent: whoever hands the same payment in again has the answer, once it was.
        settled = Settled("", "nobody answers", is_pending=True)
    if not settled.reason:
        sold = record_paid_read.record_sale(row, transaction_hash=settled.transaction, now=read_clock())
        if sold is not None:
            return Sold(dict(sold.answer), _write_receipt(sold))
    # Whoever else carried it out: it was paid.
    later = _open_reader(row.chain_id, read_clock())
    sold = _find_sold(row, way, later, read_clock())
    if sold is not None:
        return Sold(dict(sold.answer), _write_receipt(sold))
    if settled.is_pending:
        now = read_clock()
        record_paid_read.put_off(row, until=now, now=now)
        raise PaymentInWork("the payment was sent and is not seen on the chain yet; hand the same one in again")
    record_paid_read.drop_payment(row)
    raise _ask(question, later, settled.reason)


def _find_sold(row: SoldAnswer, way: PriceOffer, reader: ChainReader, now: datetime) -> SoldAnswer | None:
    """The sale, where the chain tells that its payment was made and no other sale counts the same transaction."""
    paid = find_paid(reader, way=way, payer=row.payer, nonce=int(row.nonce, 16), since_block=row.since_block)
    tried = (record_paid_read.record_sale(row, transaction_hash=each, now=now) for each in paid)
    return next((sold for sold in tried if sold is not None), None)


def _write_receipt(row: SoldAnswer) -> dict[str, object]:
    return {
        "success": True,
        "transaction": row.transaction,
        "network": f"eip155:{row.chain_id}",
        "payer": row.payer,
        "amount": str(int(row.raw)),
    }


def _way_of(row: SoldAnswer) -> PriceOffer:
    return PriceOffer(Method(row.method), row.chain_id, row.token, int(row.raw), row.payee, {})


def _name(nonce: int) -> str:
    return f"0x{nonce:064x}"


def _open_reader(chain_id: int, now: datetime) -> ChainReader:
    try:
        return runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    except ChainNotSupported:
        raise SaleNotPossible(f"this server reaches no node of chain {chain_id}") from None

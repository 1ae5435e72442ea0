"""A protocol on paper: deposits, debts, shares of a vault and a queue, as answers to reads, with a wallet beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from tools_app.chain.abi import decode_input, encode_args
from tools_app.chain.feeds import PriceUnavailable
from tools_app.chain.networks import MULTICALL3
from tools_app.chain.signatures import parse_signature
from tools_app.core.units import BPS
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.positions import ACCOUNT, Leg, Position, PositionRef, Reads
from tools_app.toolkit.protocol import SHELF, ProtocolDef, Trait
from tools_app.toolkit.views import NATIVE, FeedPrice, TokenMeta

CHAIN_ID = 77_777
ME = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
BANK = "0x00000000000000000000000000000000000BA001"
COIN = TokenMeta(CHAIN_ID, NATIVE, "ETH", 18, "Ether", True)
CASH = TokenMeta(CHAIN_ID, "0x0000000000000000000000000000000000000C01", "CASH", 18, "Cash", True)
LOAN = TokenMeta(CHAIN_ID, "0x0000000000000000000000000000000000000C02", "LOAN", 6, "Loan", True)
SHARE = TokenMeta(CHAIN_ID, "0x0000000000000000000000000000000000000C03", "vCASH", 18, "Vault share", True)
TELL = "function tell(address) view returns (uint256,uint256,uint256)"
QUEUE = "function queue(address) view returns (uint256[])"
CONVERT = "function convert(uint256) view returns (uint256)"
_ALL = (TELL, QUEUE, CONVERT, BALANCE_OF)
NAME = "paper_bank"
COVER_BPS = 8_000
FREE_AT = 1_900_000_000


@dataclass
class Paper:
    """The state. `shares` are of a vault in which one share is worth `rate` of 1e18 cash."""

    wallet: dict[str, int] = field(default_factory=lambda: {NATIVE: 10**18, CASH.address: 10**22, LOAN.address: 10**9})
    deposited: int = 0
    owed: int = 0
    shares: int = 0
    rate: int = 10**18
    queue: list[int] = field(default_factory=list)
    prices: dict[str, int] = field(default_factory=lambda: {"ETH": 3_000 * 10**8, "CASH": 10**8, "LOAN": 15 * 10**7})

    def health(self) -> int:
        """The bank's own word, at its own prices of one and three halves."""
        debt = self.owed * 10**12 * 3 // 2
        return self.deposited * COVER_BPS // debt if debt else 0


class PaperPositions:
    """What the bank keeps for an account."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Two batches where something waits."""
        told, queued = yield [ReadCall(BANK, TELL, (account,)), ReadCall(BANK, QUEUE, (account,))]
        deposited, owed, health = told.values
        found = []
        if deposited or owed:
            legs = (Leg(CASH.address, deposited, cover_bps=COVER_BPS), Leg(LOAN.address, -owed))
            ref = PositionRef(NAME, ACCOUNT, chain_id, account)
            found.append(Position(ref, "Account", legs, health_bps=health if owed else None))
        [shares] = yield [ReadCall(SHARE.address, BALANCE_OF, (account,))]
        if shares.values[0]:
            [worth] = yield [ReadCall(BANK, CONVERT, shares.values)]
            ref = PositionRef(NAME, "vault", chain_id, account)
            claims = frozenset({SHARE.address})
            found.append(Position(ref, "Vault", (Leg(CASH.address, worth.values[0]),), claim_tokens=claims))
        for number, amount in enumerate(queued.values[0]):
            if amount:
                ref = PositionRef(NAME, "request", chain_id, str(number))
                found.append(Position(ref, f"Request {number}", (Leg(CASH.address, amount, free_at=FREE_AT),)))
        return tuple(found)

    def born(self, logs: Sequence[Any], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Nothing is told by logs."""
        return ()


class PaperChain:
    """A reader of that state. `batches` counts round trips as far as they are not answered already."""

    chain_id = CHAIN_ID

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.batches = 0

    def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        self.batches += bool(calls)
        return [ReadOutcome(True, self._answer(call)) for call in calls]

    def _answer(self, call: ReadCall) -> tuple[Any, ...]:
        paper = self.paper
        if call.to == MULTICALL3:
            return ([(True, self._answer_bytes(to, data)) for to, _, data in call.args[0]],)
        if call.to == SHARE.address:
            return (paper.shares,)
        if call.signature == TELL:
            return (paper.deposited, paper.owed, paper.health())
        if call.signature == QUEUE:
            return (list(paper.queue),)
        if call.to == BANK:
            return (call.args[0] * paper.rate // 10**18,)
        return (paper.wallet.get(call.to, 0),)

    def _answer_bytes(self, to: str, data: bytes) -> bytes:
        signature = next(each for each in _ALL if parse_signature(each).selector == data[:4])
        values = self._answer(ReadCall(to, signature, decode_input(signature, data)))
        return encode_args(parse_signature(signature).output_types, values)

    def forget_reads(self) -> None:
        """Nothing is held."""

    def preload(self, **_: Any) -> None:
        """Nothing is far away."""

    def code(self, address: str) -> bytes:
        return b"\1"

    def native(self) -> TokenMeta:
        return COIN

    def native_balance(self, account: str) -> int:
        return self.paper.wallet[NATIVE]

    def registered_tokens(self) -> tuple[TokenMeta, ...]:
        return (CASH, LOAN, SHARE)

    def token(self, ref: str) -> TokenMeta:
        return next(each for each in (COIN, CASH, LOAN, SHARE) if ref in (each.address, each.symbol))

    def price(self, token: TokenMeta) -> FeedPrice:
        if token.symbol not in self.paper.prices:
            raise PriceUnavailable("no feed", token=token.address)
        return FeedPrice("0xfeed", self.paper.prices[token.symbol], 8, 1, 0, 0)


PROTOCOL = ProtocolDef(
    name=NAME,
    label="The bank on paper",
    entry="bank",
    positions=PaperPositions(),
    deployments=lambda chain_id: {"bank": BANK} if chain_id == CHAIN_ID else None,
    traits=frozenset({Trait.LEVERAGE}),
    no_lending="it is read and nothing is done there",
)


@contextmanager
def on_the_shelf() -> Iterator[None]:
    """For one test."""
    SHELF.add(PROTOCOL)
    try:
        yield
    finally:
        SHELF.remove(NAME)


def read_paper(paper: Paper) -> ChainReader:
    """A reader of `paper`, as far as measuring asks one."""
    return cast("ChainReader", PaperChain(paper))


def act(paper: Paper, what: str, amount: int) -> None:
    """Do it as far as it can be done, at no cost: what the wallet loses a position gains, and the reverse."""
    cash, loan = paper.wallet[CASH.address], paper.wallet[LOAN.address]
    if what == "supply":
        moved = min(amount, cash)
        paper.wallet[CASH.address] -= moved
        paper.deposited += moved
    elif what == "withdraw":
        moved = min(amount, paper.deposited)
        paper.deposited -= moved
        paper.wallet[CASH.address] += moved
    elif what == "borrow":
        moved = amount // 10**12
        paper.owed += moved
        paper.wallet[LOAN.address] += moved
    elif what == "repay":
        moved = min(amount // 10**12, paper.owed, loan)
        paper.owed -= moved
        paper.wallet[LOAN.address] -= moved
    elif what == "deposit":
        moved = min(amount, cash)
        paper.wallet[CASH.address] -= moved
        paper.shares += moved * 10**18 // paper.rate
    elif what == "request":
        moved = min(amount, paper.shares)
        paper.shares -= moved
        paper.queue.append(moved * paper.rate // 10**18)
    elif what == "claim" and any(paper.queue):
        number = next(index for index, each in enumerate(paper.queue) if each)
        paper.wallet[CASH.address] += paper.queue[number]
        paper.queue[number] = 0


def health_by_feeds(paper: Paper) -> int:
    """Cover over debt at the feeds, worked out another way: in 1e-18 dollars."""
    cover = paper.deposited * paper.prices["CASH"] * COVER_BPS // 10**8
    debt = paper.owed * 10**12 * paper.prices["LOAN"] // 10**8
    return cover * BPS // debt // BPS if debt else 0

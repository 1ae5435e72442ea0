"""Measures what an account holds and what that is worth; everyone asks here.

Net asset value is tokens plus the legs of positions at the feeds' prices; what is owed subtracts. It is never taken for
larger than it is: what is held is rounded down, what is owed up, and a share that became dearer at once counts as far
as that is believed. A claim token is worth nothing besides the position it stands for. What cannot be priced or
believed is left out by name, and what leaves something out is not complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.errors import GolemError
from tools_app.core.units import format_units, net_value_in_micro_usd
from tools_app.portfolio.health import measure_health
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.portfolio.share_price_donation_guard import Believed, ReadMarks, believe, read_marks
from tools_app.standards.erc20 import BALANCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.positions import Locked, Position, PositionRef
from tools_app.toolkit.protocol import SHELF, Trait
from tools_app.toolkit.views import NATIVE, FeedPrice, TokenMeta

MOST_PLAUSIBLE_MICRO_USD = 10**17
"""A hundred billion dollars of one token: what is worth more is a claim of the token's contract. Ninety such sums fit
the columns that keep a portfolio's value."""
IMPLAUSIBLE = "HOLDINGS_IMPLAUSIBLE"
NOT_WHOLE = "POSITIONS_NOT_COUNTED"
NO_FEED = "NO_PRICE_FEED"
JUMPED = "SHARE_PRICE_JUMPED"


class ValueUnknown(GolemError, status=503, title="What this token is worth is not known"):
    """A token has no price that can be used here."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Base units of one token, negative when owed. `problem` is a code where it has no price that can be used."""

    token: TokenMeta
    raw: int
    price: FeedPrice | None = None
    problem: str = ""

    @property
    def micro_usd(self) -> int | None:
        """Worth at the feed: what is held rounded down, what is owed up."""
        return None if self.price is None else value_of(self.raw, self.token, self.price)


@dataclass(frozen=True, slots=True)
class HeldPosition:
    """A position with what its legs are worth, in their order, and what it follows. `health_bps` is measured: None
    without debt, 0 where the debt cannot be priced. Its legs are what counts; `held_back` is what its shares stand for
    beyond that, in base units by token, and `shown` what people are told of what never counts.
    """

    position: Position
    parts: tuple[Worth, ...]
    exposure: tuple[Worth, ...] = ()
    health_bps: int | None = None
    held_back: Mapping[str, int] = field(default_factory=dict)
    shown: tuple[Worth, ...] = ()

    @property
    def ref(self) -> PositionRef:
        """Its name."""
        return self.position.ref

    @property
    def micro_usd(self) -> int | None:
        """What it adds to the net asset value; None where a part has no price or not all of it is told."""
        # A side of a range that is empty needs no price.
        told = [part.micro_usd for part in self.parts if part.raw or part.problem]
        known = [each for each in told if each is not None]
        return sum(known) if len(known) == len(told) and self.position.is_whole else None

    @property
    def debt_micro_usd(self) -> int:
        """What is owed in it as far as that has a price, as a positive figure."""
        return -sum(part.micro_usd for part in self.parts if part.micro_usd is not None and part.raw < 0)

    def locked_micro_usd(self, now: int) -> int:
        """What its protocol cannot give now, of that which waits for no later second, as far as it has a price."""
        total = 0
        for each in self.position.locked:
            free = [
                part
                for leg, part in zip(self.position.legs, self.parts, strict=True)
                if leg.token == each.token and leg.raw > 0 and (leg.free_at is None or leg.free_at <= now)
            ]
            held, worth = sum(part.raw for part in free), sum(part.micro_usd or 0 for part in free)
            total += worth * min(each.raw, held) // held if held else 0
        return total

    @property
    def free_at(self) -> int | None:
        """The unix second from which all of it can be had; None: at once."""
        return max((leg.free_at for leg in self.position.legs if leg.free_at is not None), default=None)


@dataclass(frozen=True, slots=True)
class Holdings:
    """Everything an account holds on one chain at one block, or on several once they are joined.

    `tokens` are what was asked for and what is held of the registered ones, the coin first; `claims` are balances that
    count through their position only. `problems` names everything that is not counted, `CODE: what`. `is_steady` is
    whether its value may be held against an earlier one: what is left out is never counted, and nothing of it is owed.
    """

    tokens: tuple[Worth, ...]
    positions: tuple[HeldPosition, ...] = ()
    claims: tuple[Worth, ...] = ()
    problems: tuple[str, ...] = ()
    is_steady: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether everything that is held is counted."""
        return not self.problems

    @property
    def nav_micro_usd(self) -> int:
        """Net asset value of all that has a price; below zero when more is owed than held. Rounded once for a token
        that is held and once for one that is owed, so that what only moves is worth what it was.
        """
        sums: dict[tuple[int, str, bool], Worth] = {}
        for part in self.list_parts():
            # One address on two chains is two tokens.
            key = (part.token.chain_id, part.token.address, part.raw < 0)
            if part.price is not None:
                sums[key] = Worth(part.token, part.raw + (sums[key].raw if key in sums else 0), part.price)
        return sum(worth.micro_usd or 0 for worth in sums.values())

    @property
    def debt_micro_usd(self) -> int:
        """Everything that is owed, as a positive figure."""
        return sum(each.debt_micro_usd for each in self.positions)

    @property
    def claim_tokens(self) -> frozenset[str]:
        """Addresses of tokens that only stand for a position."""
        return frozenset(address for each in self.positions for address in each.position.claim_tokens)

    @property
    def missing(self) -> frozenset[str] | None:
        """Addresses of tokens that are held and have no price now, but may have one at another time; None where more
        is missing than that: what is owed, or what counted and was not read.
        """
        parts = [part for part in self.list_parts() if part.problem]
        if any(part.raw < 0 for part in parts) or not all(each.position.is_told for each in self.positions):
            return None
        return frozenset(part.token.address for part in parts if part.problem != NO_FEED)

    def list_parts(self) -> list[Worth]:
        """Tokens and legs alike."""
        parts = [part for each in self.positions for part in each.parts]
        return [*self.tokens, *parts]

    def liquid_micro_usd(self, now: int) -> int:
        """The part of the net asset value that can be had at `now`: it waits for no later second, and its protocol has
        it to give.
        """
        locked = sum(
            part.micro_usd
            for each in self.positions
            for leg, part in zip(each.position.legs, each.parts, strict=True)
            if part.micro_usd is not None and leg.raw > 0 and leg.free_at is not None and leg.free_at > now
        )
        return self.nav_micro_usd - locked - sum(each.locked_micro_usd(now) for each in self.positions)

    def token(self, address: str) -> Worth | None:
        """What is held of one token in the wallet."""
        return next((each for each in self.tokens if each.token.address == address), None)

    def on_chain(self, chain_id: int) -> Holdings:
        """The part of it that is on one chain."""
        return replace(
            self,
            tokens=tuple(each for each in self.tokens if each.token.chain_id == chain_id),
            positions=tuple(each for each in self.positions if each.ref.chain_id == chain_id),
            claims=tuple(each for each in self.claims if each.token.chain_id == chain_id),
        )


def join_holdings(each: Sequence[Holdings], *, uncounted: Sequence[str] = ()) -> Holdings:
    """Holdings of one golem on several chains as one, in their order. With something `uncounted`, `CODE: what`, the
    value may be held against no earlier one.
    """
    return Holdings(
        tokens=tuple(worth for held in each for worth in held.tokens),
        positions=tuple(position for held in each for position in held.positions),
        claims=tuple(worth for held in each for worth in held.claims),
        problems=tuple(dict.fromkeys((*(problem for held in each for problem in held.problems), *uncounted))),
        is_steady=not uncounted and all(held.is_steady for held in each),
    )


def measure_holdings(
    *,
    chain: ChainReader,
    account: str,
    tokens: Iterable[TokenMeta] = (),
    hints: Iterable[PositionRef] = (),
    marks_of: ReadMarks = read_marks,
) -> Holdings:
    """Everything `account` holds at the pinned block: the coin, registered tokens, `tokens`, and positions.

    `hints` name positions it had, `marks_of` tells what its shares were believed to stand for. A token that does not
    answer counts as none held. Raises PositionsUnreadable and the node's errors: what cannot be read is no empty
    wallet.
    """
    wanted = {token.address: token for token in (chain.native(), *chain.registered_tokens(), *tokens)}
    held = read_balances(chain=chain, account=account, tokens=wanted.values())
    told = read_positions(chain=chain, account=account, hints=hints)
    positions = tuple(mark_late(each, chain) for each in told if not each.is_settled)
    asked = {token.address for token in tokens}
    claims = {address for position in positions for address in position.claim_tokens}
    inside = {leg.token for position in positions for leg in position.legs}
    inside |= {each.token for position in positions for each in position.exposure}
    inside |= {each.market.token for position in positions for each in position.uncounted if each.market is not None}
    book = PriceBook(chain, wanted)
    book.preload([*(address for address, raw in held.items() if raw and address not in claims), *inside])
    counted = tuple(
        book.weigh(address, raw)
        for address, raw in held.items()
        if address not in claims and (raw or address in asked or address == NATIVE)
    )
    found = tuple(
        replace(book.weigh_position(each.position), held_back=each.held_back)
        for each in _believe_shares(chain, account, positions, marks_of)
    )
    return Holdings(
        tokens=counted,
        positions=found,
        claims=tuple(Worth(wanted[address], raw) for address, raw in held.items() if raw and address in claims),
        problems=tuple(dict.fromkeys(_list_problems(counted, found))),
        is_steady=_is_steady(counted, found),
    )


def mark_late(position: Position, chain: ChainReader) -> Position:
    """The position, with what a bridge should have delivered before the chain's pinned block locked as late."""
    protocol = SHELF.get(position.ref.protocol)
    if protocol is None or Trait.CROSS_CHAIN not in protocol.traits:
        return position
    late = tuple(
        Locked(leg.token, leg.raw, "late")
        for leg in position.legs
        if leg.raw > 0 and leg.free_at is not None and leg.free_at < chain.block.timestamp
    )
    return replace(position, locked=(*position.locked, *late)) if late else position


def _believe_shares(
    chain: ChainReader, account: str, positions: Sequence[Position], marks_of: ReadMarks
) -> list[Believed]:
    shares = [each.share_index.token for each in positions if each.share_index is not None]
    if not shares:
        return [Believed(each, {}) for each in positions]
    marks, now = marks_of(chain.chain_id, account, shares), chain.block.timestamp
    return [believe(each, marks, now) for each in positions]


@dataclass(slots=True)
class PriceBook:
    """Prices of one chain at one block, each asked once; the one source of what anything is worth."""

    chain: ChainReader
    _tokens: dict[str, TokenMeta] = field(default_factory=dict)
    _prices: dict[str, tuple[FeedPrice | None, str]] = field(default_factory=dict)
    _is_seeded: bool = False

    def preload(self, addresses: Iterable[str]) -> None:
        """Have all of their feeds asked in one round trip."""
        self.chain.preload(prices_of=[self.token(each) for each in dict.fromkeys(addresses)])

    def token(self, address: str) -> TokenMeta:
        """A token that is registered or was asked for. Any other has no name here and no feed: a contract that somebody
        put into a position of the account is not asked what it calls itself.
        """
        if not self._is_seeded:
            for token in (self.chain.native(), *self.chain.registered_tokens()):
                self._tokens.setdefault(token.address, token)
            self._is_seeded = True
        if address not in self._tokens:
            self._tokens[address] = TokenMeta(self.chain.chain_id, address, "", 0, "", is_registered=False)
        return self._tokens[address]

    def learn(self, token: TokenMeta) -> None:
        """Take a token as described, without asking its contract."""
        self._tokens.setdefault(token.address, token)

    def weigh(self, address: str, raw: int) -> Worth:
        """Base units with their price, or with the code of why there is none. Nothing held needs no price."""
        token = self.token(address)
        if not raw:
            return Worth(token, 0)
        price, problem = self._find_price(token)
        if price is not None and is_implausible(abs(raw), token, price):
            price, problem = None, IMPLAUSIBLE
        return Worth(token, raw, price, problem)

    def value_of(self, address: str, raw: int) -> int:
        """Micro-USD of positive base units, rounded down. Raises ValueUnknown."""
        worth = self.weigh(address, raw).micro_usd if raw else 0
        if worth is None:
            raise ValueUnknown(f"{self.token(address).symbol or address} has no price", token=address)
        return worth

    def weigh_position(self, position: Position) -> HeldPosition:
        """A position with its legs weighed and its health measured."""
        parts = tuple(self.weigh(leg.token, leg.raw) for leg in position.legs)
        follows = tuple(self.weigh(each.token, each.raw) for each in position.exposure)
        shown = tuple(
            self.weigh(each.market.token, each.market.raw) for each in position.uncounted if each.market is not None
        )
        return HeldPosition(position, parts, follows, self._measure_health(position), shown=shown)

    def _measure_health(self, position: Position) -> int | None:
        try:
            return measure_health(position, self.value_of)
        except ValueUnknown:
            # Collateral nobody prices covers nothing, and of a debt nobody prices nothing good can be said.
            return 0

    def _find_price(self, token: TokenMeta) -> tuple[FeedPrice | None, str]:
        if token.address not in self._prices and not (token.is_registered or token.symbol):
            # Without its decimals no price says what an amount is worth.
            self._prices[token.address] = (None, NO_FEED)
        if token.address not in self._prices:
            try:
                self._prices[token.address] = (self.chain.price(token), "")
            except (PriceUnavailable, PriceStale) as error:
                # An error that names no feed says that there is none, today as yesterday.
                self._prices[token.address] = (None, error.code if "feed" in error.data else NO_FEED)
        return self._prices[token.address]


def value_of(raw: int, token: TokenMeta, price: FeedPrice) -> int:
    """Micro-USD of signed base units at a feed price: what is held rounded down, what is owed up."""
    return net_value_in_micro_usd(
        raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
    )


def is_implausible(raw: int, token: TokenMeta, price: FeedPrice) -> bool:
    """Whether `raw` base units would be worth more than anybody holds of one token."""
    return value_of(raw, token, price) > MOST_PLAUSIBLE_MICRO_USD


def read_balances(*, chain: ChainReader, account: str, tokens: Iterable[TokenMeta]) -> dict[str, int]:
    """Base units by token address, the coin under NATIVE; a token that does not answer counts as none held."""
    wanted = list(tokens)
    answers = chain.call_many(
        [ReadCall(token.address, BALANCE_OF, (account,)) for token in wanted if not token.is_native]
    )
    told = iter(answers)
    found: dict[str, int] = {}
    for token in wanted:
        if token.is_native:
            found[NATIVE] = chain.native_balance(account)
        else:
            answer = next(told)
            found[token.address] = int(answer.values[0]) if answer.ok else 0
    return found


def _list_problems(tokens: Sequence[Worth], positions: Sequence[HeldPosition]) -> Iterable[str]:
    for worth in tokens:
        if worth.problem:
            yield f"{worth.problem}: {_name(worth.token)}"
    for each in positions:
        if not each.position.is_whole:
            yield f"{NOT_WHOLE}: {each.position.label}"
        for part in each.parts:
            if raw := each.held_back.get(part.token.address, 0):
                yield f"{JUMPED}: {format_units(raw, part.token.decimals, _name(part.token))} in {each.ref}"
        for part in (*each.parts, *each.exposure):
            if part.problem:
                yield f"{part.problem}: {_name(part.token)} in {each.ref}"


def _is_steady(tokens: Sequence[Worth], positions: Sequence[HeldPosition]) -> bool:
    parts = [*tokens, *(part for each in positions for part in each.parts)]
    is_told = all(each.position.is_told for each in positions)
    return is_told and all(not part.problem or (part.problem == NO_FEED and part.raw > 0) for part in parts)


def _name(token: TokenMeta) -> str:
    return token.symbol or token.address

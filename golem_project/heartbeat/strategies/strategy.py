"""RuleStrategy: one thing a golem does by rules, without a model. It looks and wishes; permits decide, as ever.

A strategy is a frozen value, read from what its owner typed. What it did before it is told from the rows of its own
actions, so a tick that was killed repeats nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Final, Protocol, Self

from golem_project.heartbeat.debt_health import WatchedDebt
from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.observation import ObservedToken
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.portfolio.holdings import Holdings
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.yields import YieldOffer

LEAST_TRADE_MICRO_USD: Final = 1_000_000
"""Nothing worth less is traded: it is not worth its gas."""
MOST_MICRO_USD: Final = 10**15


@dataclass(frozen=True, slots=True)
class SeenPlace:
    """A place where `token` could earn, and base units of it that lie there. `is_tied`: something is owed there, or
    a part of it waits, so that no rotation touches it.
    """

    offer: YieldOffer
    token: str = ""
    held: int = 0
    is_tied: bool = False

    @property
    def rate(self) -> int:
        """PPM a year; 0 where nobody tells."""
        return self.offer.yearly_ppm or 0

    @property
    def is_usable(self) -> bool:
        """Whether its rate is known, and rules can go in and leave at once."""
        offer = self.offer
        has_doors = offer.way_in is not None and offer.way_out is not None
        return has_doors and not self.is_tied and offer.yearly_ppm is not None and offer.waits_seconds == 0

    @property
    def is_free(self) -> bool:
        """Whether all that lies there can leave now, as far as the place tells."""
        return self.offer.free is None or self.offer.free >= self.held


@dataclass(frozen=True, slots=True)
class Sight:
    """What strategies look at: tokens in the wallet with the feeds' prices, debts, and when each wish was last carried
    out, by its key. `venue` is where they trade; `whole` is None where positions could not be read. `places` are where
    a token that rotates could earn, `gas_wei` is what a unit of gas costs, and `stopped` are addresses of tokens that
    nothing may buy.
    """

    now: datetime
    account: str
    phase: Phase
    venue: str = ""
    tokens: tuple[ObservedToken, ...] = ()
    debts: tuple[WatchedDebt, ...] = ()
    whole: Holdings | None = None
    last_done: Mapping[str, datetime] = field(default_factory=dict)
    places: tuple[SeenPlace, ...] = ()
    gas_wei: int = 0
    stopped: frozenset[str] = frozenset()

    def token(self, name: str) -> ObservedToken | None:
        """A token by its symbol or address; None where it was not looked at."""
        wanted = name.casefold()
        return next(
            (each for each in self.tokens if wanted in (each.token.symbol.casefold(), each.token.address.casefold())),
            None,
        )

    def lent(self, token: ObservedToken) -> int:
        """Base units of a token that its rotation put to earn: they are no less the golem's."""
        return sum(each.held for each in self.places if each.token == token.token.address and not each.is_tied)


class RuleStrategy(Protocol):
    """Each strategy keeps this."""

    kind: ClassVar[str]

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """The strategy of a stored object. Raises InvalidParams with the fields that are wrong."""
        ...

    def as_json(self) -> JsonObject:
        """What is stored."""
        ...

    @property
    def tokens(self) -> tuple[str, ...]:
        """Names of the tokens it has to see."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of its wishes of which it has to know when they were last carried out."""
        ...

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """What it wishes now; nothing where all is well or something cannot be told."""
        ...

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """Addresses of tokens that no strategy may buy now."""
        ...

    def tell_needs(self) -> RuleNeeds | None:
        """What it needs of the limits; None for what is held to none."""
        ...

    def describe(self) -> str:
        """Itself in one sentence."""
        ...


def price_of(token: ObservedToken) -> int | None:
    """Micro-USD of one whole token, rounded down; None without a fresh feed."""
    return None if token.price is None else token.price.answer * 1_000_000 // 10**token.price.decimals


def wish_swap(
    *,
    key: str,
    sold: ObservedToken,
    bought: ObservedToken,
    raw: int,
    venue: str,
    slippage_bps: int,
    reason: str,
    urgency: Urgency,
    is_leaving: bool = False,
) -> RuleWish:
    """A wish to sell `raw` base units."""
    return RuleWish(
        key=key,
        venue=venue,
        action_type="swap",
        params={
            "token_in": sold.token.address,
            "token_out": bought.token.address,
            "amount": str(raw),
            "slippage_bps": slippage_bps,
        },
        reason=reason,
        is_leaving=is_leaving,
        urgency=urgency,
    )


class StoredFields:
    """Reads the fields of a stored strategy and gathers what is wrong with them."""

    def __init__(self, stored: Mapping[str, Any], known: tuple[str, ...]) -> None:  # Any: JSON of an owner's rule
        self._stored = stored
        self.wrong: dict[str, str] = {name: "there is no such field" for name in stored if name not in known}

    def name(self, field_name: str) -> str:
        """A token by symbol or address."""
        value = self._stored.get(field_name)
        if not isinstance(value, str) or not value.strip() or len(value) > 64:
            self.wrong[field_name] = "the symbol or address of a token"
            return ""
        return value.strip()

    def whole(self, field_name: str, *, least: int, most: int, usual: int | None = None) -> int:
        """A whole number within bounds; `usual` where it is left out."""
        value = self._stored.get(field_name, usual)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.wrong[field_name] = f"a whole number from {least} to {most}"
            return least
        return value

    def refuse(self, field_name: str, why: str) -> None:
        """Say what is wrong with a field that this class does not read."""
        self.wrong[field_name] = why

    def check(self, what: str) -> None:
        """Raises InvalidParams where something is wrong."""
        if self.wrong:
            raise InvalidParams(f"{what} is not complete", fields=self.wrong)

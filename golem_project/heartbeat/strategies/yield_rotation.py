"""Keeps one token where it earns most of the places its owner chose, and moves it once that pays for the way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final, Self

from archetypes_app.phases import is_allowed
from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.observation import ObservedToken, value_of
from golem_project.heartbeat.strategies.strategy import (
    LEAST_TRADE_MICRO_USD,
    MOST_MICRO_USD,
    SeenPlace,
    Sight,
    StoredFields,
)
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd
from tools_app.subsystems.intel.compare_yields import YEAR_DAYS
from tools_app.subsystems.intel.gas_advice import TYPICAL_GAS
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.golem_chains import place_params
from tools_app.toolkit.lending import PPM
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import NATIVE
from tools_app.toolkit.yields import Door

MOST_PLACES: Final = 12
MOVE_IN: Final = "rotate_in"
MOVE_OUT: Final = "rotate_out"
_PPM_OF_BPS: Final = 100
_ALL: Final = "max"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,39}")


@dataclass(frozen=True, slots=True)
class Move:
    """Base units of the token that go into `place`, or all that lies there and leaves it, and why.

    `is_for_stop`: a stop waits for it.
    """

    place: SeenPlace
    raw: int
    is_leaving: bool
    reason: str
    is_for_stop: bool = False


@dataclass(frozen=True, slots=True)
class YieldRotation:
    """`places` are protocols by name. `token` beyond `keep_micro_usd` in the wallet, at most `most_micro_usd` in all,
    lies where its rate is highest. It moves where another pays at least `better_bps` a year more, what that brings in
    `pays_back_days` is more than the gas of leaving and going in, and it was moved `stay_hours` ago or longer.
    While the token is at its stop or its goal it comes back into the wallet, where it is sold.
    """

    kind: ClassVar[str] = "yield_rotation"

    token: str
    places: tuple[str, ...]
    most_micro_usd: int
    keep_micro_usd: int = 0
    better_bps: int = 50
    pays_back_days: int = 30
    stay_hours: int = 24

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """See `RuleStrategy`."""
        read = StoredFields(stored, cls.__match_args__)
        places = _read_places(stored.get("places"))
        if not places:
            read.refuse("places", f"1 to {MOST_PLACES} different protocols by name")
        found = cls(
            token=read.name("token"),
            places=places,
            most_micro_usd=read.whole("most_micro_usd", least=LEAST_TRADE_MICRO_USD, most=MOST_MICRO_USD),
            keep_micro_usd=read.whole("keep_micro_usd", least=0, most=MOST_MICRO_USD, usual=0),
            better_bps=read.whole("better_bps", least=1, most=10_000, usual=50),
            pays_back_days=read.whole("pays_back_days", least=1, most=YEAR_DAYS, usual=30),
            stay_hours=read.whole("stay_hours", least=1, most=31 * 24, usual=24),
        )
        read.check("the rotation of yields")
        return found

    def as_json(self) -> JsonObject:
        """See `RuleStrategy`."""
        return {**asdict(self), "places": list(self.places)}

    @property
    def tokens(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (self.token,)

    @property
    def keys(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (MOVE_IN,)

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """One move at most: out of a place that pays less, or into the one that pays most."""
        move = self.choose(sight)
        wish = _wish(move, sight.token(self.token)) if move is not None else None
        return (wish,) if wish is not None else ()

    def choose(self, sight: Sight) -> Move | None:
        """The move that is worth its way now; None where there is none, or a price, the gas or a rate is not known."""
        token, coin = sight.token(self.token), sight.token(NATIVE)
        if token is None or token.price is None or coin is None or coin.price is None:
            return None
        if not is_allowed(sight.phase, ActionClass.NEW_POSITION):
            return None
        known = [each for each in sight.places if each.offer.protocol in self.places and each.is_usable]
        if token.token.address in sight.stopped:
            return self._come_back(known)
        best = max((each for each in known if not each.offer.closed), key=_rank, default=None)
        if best is None or best.rate <= 0:
            return None
        return self._leave(sight, token, coin, known, best) or self._enter(sight, token, coin, known, best)

    def _come_back(self, known: Iterable[SeenPlace]) -> Move | None:
        """Out of a place, so that the stop finds in the wallet what it sells."""
        held = min((each for each in known if each.held and each.is_free), key=_rank, default=None)
        if held is None:
            return None
        told = f"{self.token} is at its stop or its goal: it is sold out of the wallet"
        return Move(held, held.held, True, told, is_for_stop=True)

    def _leave(
        self, sight: Sight, token: ObservedToken, coin: ObservedToken, known: Iterable[SeenPlace], best: SeenPlace
    ) -> Move | None:
        last = sight.last_done.get(MOVE_IN)
        if last is not None and sight.now - last < timedelta(hours=self.stay_hours):
            return None
        for each in sorted((each for each in known if each.held and each.is_free), key=_rank):
            better = best.rate - each.rate
            # Without it a dearer place by a millionth would be worth a journey of free gas.
            if each.offer == best.offer or better < self.better_bps * _PPM_OF_BPS:
                continue
            gain = self._gain(token, each.held, better)
            cost = _cost(sight, token, coin, each.held, each.offer.steps_out + best.offer.steps_in, best)
            if gain > cost:
                told = (
                    f"{best.offer.label} pays {_percent(best.rate)} a year and {each.offer.label} {_percent(each.rate)}"
                )
                return Move(each, each.held, True, f"{told}: {self._weigh(gain, cost)}")
        return None

    def _enter(
        self, sight: Sight, token: ObservedToken, coin: ObservedToken, known: Iterable[SeenPlace], best: SeenPlace
    ) -> Move | None:
        lent = _worth(token, sum(each.held for each in known))
        free = min((token.micro_usd or 0) - self.keep_micro_usd, self.most_micro_usd - lent)
        raw = min(token.raw_worth(free) or 0, token.raw) if free >= LEAST_TRADE_MICRO_USD else 0
        if not raw:
            return None
        gain = self._gain(token, raw, best.rate)
        cost = _cost(sight, token, coin, raw, best.offer.steps_in + best.offer.steps_out, best)
        if gain <= cost:
            return None
        return Move(
            best, raw, False, f"{best.offer.label} pays {_percent(best.rate)} a year: {self._weigh(gain, cost)}"
        )

    def _gain(self, token: ObservedToken, raw: int, ppm: int) -> int:
        return _worth(token, raw) * ppm * self.pays_back_days // (PPM * YEAR_DAYS)

    def _weigh(self, gain: int, cost: int) -> str:
        return (
            f"{format_micro_usd(gain)} more in {self.pays_back_days} days, and the way costs {format_micro_usd(cost)}"
        )

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """None."""
        return frozenset()

    def tell_needs(self) -> RuleNeeds | None:
        """See `RuleStrategy`."""
        return RuleNeeds(
            name="the rotation of yields",
            at_once_micro_usd=self.most_micro_usd,
            a_tick_micro_usd=self.most_micro_usd,
            writes=2,
            position_micro_usd=self.most_micro_usd,
        )

    def describe(self) -> str:
        """See `RuleStrategy`."""
        places = ", ".join(map(_label, self.places))
        return (
            f"Up to {format_micro_usd(self.most_micro_usd)} of {self.token} lie where they earn most of {places},"
            f" and move for {self.better_bps / 100:g}% a year more once that pays the way"
            f" within {self.pays_back_days} days."
        )


def _read_places(stored: object) -> tuple[str, ...]:
    """Names of protocols; none where one of them is no name, or stands there twice."""
    if not isinstance(stored, Sequence) or isinstance(stored, str) or not 1 <= len(stored) <= MOST_PLACES:
        return ()
    if not all(isinstance(each, str) and _NAME.fullmatch(each) for each in stored):
        return ()
    return tuple(stored) if len(set(stored)) == len(stored) else ()


def _label(name: str) -> str:
    protocol = SHELF.get(name)
    return protocol.label if protocol is not None else name


def _rank(place: SeenPlace) -> tuple[int, str, str]:
    return (place.rate, place.offer.protocol, place.offer.place)


def _worth(token: ObservedToken, raw: int) -> int:
    """Micro-USD, rounded up as what is spent."""
    return 0 if token.price is None else value_of(raw, token.token, token.price)


def _cost(sight: Sight, token: ObservedToken, coin: ObservedToken, raw: int, steps: int, into: SeenPlace) -> int:
    """What the way takes: gas at what it costs now, and what the place takes of what goes in."""
    gas = TYPICAL_GAS["APPROVE"] + TYPICAL_GAS["SUPPLY"] * steps
    return _worth(coin, gas * sight.gas_wei) + -(-_worth(token, raw) * into.offer.entry_ppm // PPM)


def _percent(ppm: int) -> str:
    return f"{ppm / 10_000:.2f}%"


def _wish(move: Move, token: ObservedToken | None) -> RuleWish | None:
    door = move.place.offer.way_out if move.is_leaving else move.place.offer.way_in
    tool = REGISTRY.get(door.tool) if door is not None else None
    if door is None or token is None or not isinstance(tool, WriteTool):
        return None
    return RuleWish(
        key=MOVE_OUT if move.is_leaving else MOVE_IN,
        venue=tool.venue,
        action_type=tool.key,
        params=place_params(tool, _fill(door, move), chain_id=token.token.chain_id),
        reason=move.reason,
        is_leaving=move.is_leaving,
        urgency=Urgency.STOP if move.is_for_stop else Urgency.BALANCE if move.is_leaving else Urgency.ENTER,
    )


def _fill(door: Door, move: Move) -> JsonObject:
    return {**door.params, door.amount: _ALL if move.is_leaving else str(move.raw)}

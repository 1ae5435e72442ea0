"""Five hundred consecutive ticks of a golem at a real pool of the local chain, recorded once, and what they count.

`tests/golem_project/heartbeat/recording.py` records them. Each tick holds what the golem wished, what it knew, and what
it let wait. They are replayed by the present code: what would have been entered without what is known, and with it. An
entry was bad when the pool's price left the range that it asked for within a day.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from golem_project.heartbeat.entry_caution import doubt_wishes
from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.memory_caution import leave_out
from tools_app.subsystems.intel.indexed_market import DayFlow, KnownMarket

FILE: Final = Path(__file__).with_name("recorded_ticks.json")
HOURS_BETWEEN: Final = 3
AHEAD_HOURS: Final = 24
_OPENS: Final = "add_liquidity"
_NAMED: Final = ("weth", "usdc", "pool")
_DEFAULTS: Final[Mapping[str, Any]] = {
    "reason": "",
    "is_leaving": False,
    "is_rescue": False,
    "urgency": None,
    "missing": (),
}


@dataclass(frozen=True, slots=True)
class RecordedTick:
    """One tick: when it was, what the golem wished, what it knew, and the codes of what it let wait, by its wish.

    `hours` counts those of the recording that lie before it.
    """

    number: int
    at: int
    block: int
    hours: int
    phase: str
    wishes: tuple[RuleWish, ...]
    known: KnownMarket | None
    waited: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Recording:
    """The ticks, the price of the pool at the end of each hour in micro-USDC for a WETH, and what its owner allowed at
    the first tick and after the last.
    """

    seed: int
    rule: Mapping[str, Any]
    weth: str
    usdc: str
    pool: str
    limits_before: Sequence[Mapping[str, str]]
    limits_after: Sequence[Mapping[str, str]]
    hours: tuple[int, ...]
    ticks: tuple[RecordedTick, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """What was entered without and with what is known; `moved` counts wishes that were added or changed, and `differs`
    ticks at which the golem let other wishes wait than the present code.
    """

    ticks: int
    entries: int
    bad: int
    careful_entries: int
    careful_bad: int
    moved: int
    differs: int

    @property
    def shares(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Bad entries of all, with what is known and without it."""
        return (self.careful_bad, self.careful_entries), (self.bad, self.entries)

    @property
    def good_left_out(self) -> int:
        """Entries that waited and would have been good."""
        return (self.entries - self.bad) - (self.careful_entries - self.careful_bad)


def write_recording(recording: Recording, path: Path = FILE) -> None:
    """A line for each tick, so that a review sees which changed. What is as it is by default is left out, and addresses
    that stand in every tick are written as the names of the head.
    """
    told = asdict(recording)
    ticks = "\n".join(f"{_write(_slim(tick))}," for tick in told.pop("ticks")).removesuffix(",")
    names = {f"${name}": told.pop(name) for name in _NAMED}
    for name, address in names.items():
        ticks = ticks.replace(address, name)
    path.write_text(f'{{"names":{_write(names)},"head":{_write(told)},"ticks":[\n{ticks}\n]}}\n')


def read_recording(path: Path = FILE) -> Recording:
    """As it was written."""
    text = path.read_text()
    names: dict[str, str] = json.loads(text)["names"]
    for name, address in names.items():
        text = text.replace(f'"{name}"', f'"{address}"')
    told = json.loads(text)
    named = {name: names[f"${name}"] for name in _NAMED}
    head = {**told["head"], **named, "hours": tuple(told["head"]["hours"])}
    return Recording(**head, ticks=tuple(_read_tick(each) for each in told["ticks"]))


def replay_recording(recording: Recording) -> Counted:
    """Each tick judged by the present code."""
    size = int(recording.rule["target_micro_usd"])
    entries = bad = careful_entries = careful_bad = moved = differs = 0
    for tick in recording.ticks:
        doubted = doubt_wishes(tick.wishes, known=tick.known, debts=(), size_micro_usd=size)
        after = leave_out(tick.wishes, (), doubted)
        moved += sum(1 for wish in after if not any(wish is each for each in tick.wishes))
        differs += {each.wish_key: each.code for each in doubted} != tick.waited
        ahead = recording.hours[tick.hours : tick.hours + AHEAD_HOURS]
        for wish in _list_entries(tick.wishes):
            is_bad, waits = _leaves(wish, ahead, recording), wish not in after
            entries, bad = entries + 1, bad + is_bad
            careful_entries, careful_bad = careful_entries + (not waits), careful_bad + (is_bad and not waits)
    return Counted(len(recording.ticks), entries, bad, careful_entries, careful_bad, moved, differs)


def _list_entries(wishes: Sequence[RuleWish]) -> Iterator[RuleWish]:
    return (wish for wish in wishes if wish.action_type == _OPENS)


def _leaves(wish: RuleWish, ahead: Sequence[int], recording: Recording) -> bool:
    """Whether a price of the hours ahead lies outside of the wish's own range."""
    lower, upper = Fraction(wish.params["price_lower"]), Fraction(wish.params["price_upper"])
    if wish.params["token0"] == recording.usdc:
        lower, upper = 1 / upper, 1 / lower
    return any(not lower <= Fraction(price, 10**6) <= upper for price in ahead)


def _write(told: Any) -> str:
    return json.dumps(told, separators=(",", ":"))


def _slim(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _slim(value) for name, value in told.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}
    return [_slim(each) for each in told] if isinstance(told, tuple) else told


def _read_tick(told: dict[str, Any]) -> RecordedTick:
    known = told.pop("known")
    if known is not None:
        flow = known.pop("flow")
        missing = tuple(known.pop("missing", ()))
        known = KnownMarket(**known, missing=missing, flow=DayFlow(**flow) if flow is not None else None)
    wishes = tuple(RuleWish(**{"reason": "", **each}) for each in told.pop("wishes"))
    return RecordedTick(**told, wishes=wishes, known=known)

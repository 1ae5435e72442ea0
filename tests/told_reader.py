"""A reader of a chain that answers what a test tells it, and refuses every other question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.views import LogEntry, LogQuery, TokenMeta


@dataclass
class ToldReader:
    """`answers` are by contract, function and arguments, or by contract and function where these say no more; an
    answer that is a text is the reason of a revert. `asked_logs` has the queries that were made.
    """

    answers: Mapping[tuple[Any, ...], Any] = field(default_factory=dict)
    tokens: Sequence[TokenMeta] = ()
    entries: Sequence[LogEntry] = ()
    chain_id: int = 1
    number: int = 1_000
    timestamp: int = 1_700_000_000
    asked_logs: list[LogQuery] = field(default_factory=list)

    @property
    def block(self) -> Any:
        return SimpleNamespace(number=self.number, timestamp=self.timestamp)

    def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        return [self._answer(each) for each in calls]

    def call(self, to: str, signature: str, *args: Any) -> tuple[Any, ...]:
        told = self._answer(ReadCall(to, signature, args))
        if not told.ok:
            raise PositionsUnreadable(str(told.revert_reason))
        return told.values

    def token(self, address: str) -> TokenMeta:
        [found] = [each for each in self.tokens if each.address == address]
        return found

    def preload_logs(self, queries: Sequence[LogQuery]) -> None:
        """Asked again one by one."""

    def logs(self, *, address: Any, topics: Sequence[Any], from_block: int, to_block: int) -> list[LogEntry]:
        places = (address,) if isinstance(address, str) else tuple(address)
        self.asked_logs.append(LogQuery(places, tuple(topics), from_block, to_block))
        return [
            log
            for log in self.entries
            if log.address in places
            and from_block <= log.block_number <= to_block
            and len(log.topics) >= len(topics)
            and all(asked in (None, told) for asked, told in zip(topics, log.topics, strict=False))
        ]

    def _answer(self, call: ReadCall) -> ReadOutcome:
        key = (call.to, call.signature, *call.args)
        told = self.answers[key] if key in self.answers else self.answers[key[:2]]
        return ReadOutcome(False, (), told) if isinstance(told, str) else ReadOutcome(True, tuple(told))


def refusal_of(act: Callable[[], Any], error: type[Any]) -> Any:
    """The refusal that `act` ends with."""
    try:
        act()
    except error as refused:
        return refused
    raise AssertionError(f"nothing was refused with {error.__name__}")

"""A chain as it will be in the middle of a plan: an account already holds what earlier calls of the plan bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from tools_app.standards import erc20
from tools_app.toolkit.context import AbiValues, ChainReader, ReadCall, ReadOutcome


@dataclass(frozen=True, slots=True)
class _Foreseen:
    reader: ChainReader
    account: str
    balances: Mapping[str, int]
    has_approved: bool

    def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        found = self.reader.call_many(calls)
        return [self._told(call, outcome) for call, outcome in zip(calls, found, strict=True)]

    def call(self, to: str, signature: str, *args: object) -> AbiValues:
        known = self._know(ReadCall(to, signature, args))
        return known if known is not None else self.reader.call(to, signature, *args)

    def __getattr__(self, name: str) -> object:
        return getattr(self.reader, name)

    def _told(self, call: ReadCall, outcome: ReadOutcome) -> ReadOutcome:
        known = self._know(call)
        return outcome if known is None else ReadOutcome(True, known)

    def _know(self, call: ReadCall) -> tuple[int] | None:
        if call.to not in self.balances or not call.args or call.args[0] != self.account:
            return None
        if call.signature == erc20.BALANCE_OF:
            return (self.balances[call.to],)
        return (0,) if call.signature == erc20.ALLOWANCE and self.has_approved else None


def foresee(
    reader: ChainReader, account: str, balances: Mapping[str, int], *, has_approved: bool = False
) -> ChainReader:
    """`reader`, but `account` holds these base units by token address. `has_approved`: what it allowed of them before
    is used up by then.
    """
    return cast("ChainReader", _Foreseen(reader, account, balances, has_approved))

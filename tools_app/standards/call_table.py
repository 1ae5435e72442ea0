"""Decodes a protocol's calls by a table: contract and function lead to the reader of their arguments.

A row says what one function does for the account and nothing else. The table keeps what holds for all of them: another
contract or function, coin where none is taken, and a byte beside the arguments are UnknownCall, which is a veto.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tools_app.standards.calldata import calls, most_taken, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionRef

_APPROVE: Final = "function approve(address,uint256)"


@dataclass(frozen=True, slots=True)
class Reading:
    """One call that is read: for whom, the protocol's contracts by key, and where its effects go."""

    protocol: str
    call: Call
    earlier: Sequence[Call]
    account: str
    chain: ChainReader
    at: Mapping[str, str]
    into: Effects

    def ask(self, to: str, signature: str, *arguments: object) -> Any:  # Any: a value of the ABI's type
        """The first value that a contract answers; a key stands for its contract. Raises what the chain raises."""
        return self.chain.call(self.at.get(to, to), signature, *arguments)[0]

    def spend(self, token: str, raw: int) -> None:
        """At most so much leaves."""
        self.into.spends[token] += raw

    def receive(self, token: str, least: int, *, is_open: bool = False) -> None:
        """At least so much arrives; `is_open` where the calldata bounds it only in part."""
        self.into.receives[token] += least
        if is_open:
            self.into.open_minimums.add(token)

    def pay_out(self, token: str, least: int, *, is_open: bool = False) -> None:
        """The same, and the account alone is paid."""
        self.receive(token, least, is_open=is_open)
        self.into.recipients.append(self.account)

    def most_taken(self, token: str) -> int:
        """What the contract may take of a token where its call says no amount. Raises what the chain raises."""
        return most_taken(token, self.call.to, earlier=self.earlier, account=self.account, chain=self.chain)

    def change(
        self, kind: str, token: str, raw: int, name: str | None = None, *, is_exact: bool = True, rounding: int = 0
    ) -> None:
        """A position moves by so much, or one is opened where it has no `name` yet."""
        ref = None if name is None else PositionRef(self.protocol, kind, self.chain.chain_id, name)
        self.into.changes.append(ChangeRead(self.protocol, kind, token, raw, ref, is_exact, rounding))

    def state(self, subject: str, written: Mapping[str, str]) -> None:
        """The call writes these words down at its contract."""
        self.into.statements.extend(Statement(self.call.to, subject, key, text) for key, text in written.items())

    def check_own(self, who: str, what: str) -> None:
        """Raises UnknownCall where `what` would be somebody else's."""
        if who != self.account:
            raise UnknownCall(f"{what} would be {who}'s and not the account's")


Says: TypeAlias = Callable[..., None]
"""Called with the Reading and the call's arguments."""


@dataclass(frozen=True, slots=True)
class CallTable:
    """An effects reader. `rows` by key of a contract and signature; those of `coin` take the chain's coin, and must be
    sent some; at `approved` the account may allow somebody its tokens.
    """

    protocol: str
    deployments: Callable[[int], Mapping[str, str] | None]
    rows: Mapping[tuple[str, str], Says]
    coin: frozenset[tuple[str, str]] = field(default=frozenset())
    approved: tuple[str, ...] = ()

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        at = self.deployments(chain.chain_id) or {}
        if any(call.to == at.get(key) for key in self.approved) and calls(call.data, _APPROVE) and not call.value:
            spender, amount = read_exactly(call.data, _APPROVE)
            into.approvals.append((call.to, spender, amount))
            return
        for row, say in self.rows.items():
            key, signature = row
            if call.to == at.get(key) and calls(call.data, signature):
                arguments = read_exactly(call.data, signature)
                if bool(call.value) != (row in self.coin):
                    raise UnknownCall(f"{key} is sent coin that it does not take, or none where it takes some")
                say(Reading(self.protocol, call, earlier, account, chain, at, into), *arguments)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known to {self.protocol}")

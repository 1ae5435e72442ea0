"""Keeps reads that will be asked for later, so that they travel with the next round trip."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tools_app.chain.gas import fee_requests, parse_fees
from tools_app.chain.multicall import Raw, ReadKey, call_request, read_reply
from tools_app.chain.node_errors import CallReverted
from tools_app.chain.rpc import RpcReply, RpcRequest, parse_quantity
from tools_app.toolkit.views import FeeQuote


@dataclass(frozen=True, slots=True)
class FoundReads:
    """What the round trip told of it. What ended in an error is left out, and asked again by whoever needs it."""

    calls: dict[ReadKey, Raw] = field(default_factory=dict)
    coins: dict[str, int] = field(default_factory=dict)
    fees: FeeQuote | None = None


class ExpectedReads:
    """Contract reads, some of them not to be aggregated, coin balances by account, and the fees, each once."""

    def __init__(self) -> None:
        self._calls: dict[ReadKey, None] = {}
        self._alone: dict[ReadKey, None] = {}
        self._coins: dict[str, None] = {}
        self._has_fees = False

    def __len__(self) -> int:
        return len(self._calls) + len(self._alone) + len(self._coins) + self._has_fees

    def add(self, *, calls: Iterable[ReadKey], coins: Iterable[str], fees: bool, alone: Iterable[ReadKey] = ()) -> None:
        """Put more to it."""
        self._alone |= dict.fromkeys(alone)
        self._calls |= dict.fromkeys(calls)
        self._coins |= dict.fromkeys(coins)
        self._has_fees = self._has_fees or fees

    def take_calls(self) -> list[ReadKey]:
        """The contract reads that an aggregate may take in, for a caller that asks them itself."""
        calls, self._calls = list(self._calls), {}
        return calls

    def requests(self, *, at: dict[str, str], block_number: int) -> list[RpcRequest]:
        """All of it as requests at the block `at`."""
        return [
            *(call_request(key, at) for key in self._list_calls()),
            *(RpcRequest("eth_getBalance", (account, at)) for account in self._coins),
            *(fee_requests(block_number) if self._has_fees else ()),
        ]

    def read(self, replies: Sequence[RpcReply]) -> FoundReads:
        """What the replies to `requests` say. Raises RpcNonsense."""
        calls = self._list_calls()
        first_coin = len(calls)
        first_fee = first_coin + len(self._coins)
        fees = replies[first_fee:]
        return FoundReads(
            calls={
                key: read_reply(reply)
                for key, reply in zip(calls, replies[:first_coin], strict=True)
                if reply.error is None or isinstance(reply.error, CallReverted)
            },
            coins={
                account: parse_quantity(reply.result)
                for account, reply in zip(self._coins, replies[first_coin:first_fee], strict=True)
                if reply.error is None
            },
            fees=parse_fees([reply.result for reply in fees]) if fees and not any(r.error for r in fees) else None,
        )

    def _list_calls(self) -> list[ReadKey]:
        return list(dict.fromkeys((*self._calls, *self._alone)))

"""What a reader was told to expect travels with its next round trip; an error in it is nobody's until it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tools_app.chain.expected_reads import ExpectedReads
from tools_app.chain.multicall import ReadKey
from tools_app.chain.node_errors import CallReverted, RpcNonsense, RpcRateLimited
from tools_app.chain.reader import MULTICALL_FROM
from tools_app.chain.rpc import RpcReply, RpcRequest
from tools_app.chain.rpc_pool import RpcPool
from tools_app.toolkit.context import ReadCall

BALANCE_OF = "function balanceOf(address) view returns (uint256)"
DECIMALS = "function decimals() view returns (uint8)"
AT = {"blockHash": "0x" + "11" * 32}
KEYS: list[ReadKey] = [("0x" + "aa" * 20, b"\x01"), ("0x" + "bb" * 20, b"\x02"), ("0x" + "cc" * 20, b"\x03")]
HISTORY = {"baseFeePerGas": ["0x1", "0x2"], "reward": [["0x3"]]}


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """The methods of each round trip, in order."""
    seen: list[list[str]] = []
    real = RpcPool.send

    def send(pool: RpcPool, requests: list[RpcRequest], **options: Any) -> list[RpcReply]:
        seen.append([request.method for request in requests])
        return real(pool, requests, **options)

    monkeypatch.setattr(RpcPool, "send", send)
    yield seen


def test_everything_expected_comes_with_the_first_read_and_costs_no_other(
    open_reader: OpenReader, chain: World, round_trips: list[list[str]]
) -> None:
    reader, plain, account = open_reader(), open_reader(), chain.actors.traders[0].address
    tokens = reader.registered_tokens()
    balances = [ReadCall(token.address, BALANCE_OF, (account,)) for token in tokens]
    reader.expect(calls=balances, prices_of=(reader.native(), *tokens), accounts=(account,), fees=True)
    assert round_trips == []

    assert reader.call(tokens[0].address, DECIMALS) == (tokens[0].decimals,)
    assert len(round_trips) == 1
    found = (reader.call_many(balances), reader.price(reader.native()), reader.native_balance(account), reader.fees())
    assert len(round_trips) == 1
    again = (plain.call_many(balances), plain.price(plain.native()), plain.native_balance(account), plain.fees())
    assert found == again


def test_what_was_read_already_is_not_expected_again(
    open_reader: OpenReader, chain: World, round_trips: list[list[str]]
) -> None:
    reader, account = open_reader(), chain.actors.traders[0].address
    usdc = chain.tokens["USDC"].address
    reader.call(usdc, BALANCE_OF, account)
    reader.native_balance(account)
    reader.fees()
    reader.expect(calls=[ReadCall(usdc, BALANCE_OF, (account,))], accounts=(account,), fees=True)
    reader.call(usdc, DECIMALS)

    assert round_trips[-1] == ["eth_call"]


def make_expected() -> ExpectedReads:
    expected = ExpectedReads()
    expected.add(calls=KEYS, coins=["0xdd", "0xee"], fees=True)
    return expected


def test_each_reply_finds_its_read() -> None:
    expected = make_expected()
    requests = expected.requests(at=AT, block_number=7)
    assert [request.method for request in requests] == [
        "eth_call",
        "eth_call",
        "eth_call",
        "eth_getBalance",
        "eth_getBalance",
        "eth_feeHistory",
        "eth_maxPriorityFeePerGas",
    ]
    results = ["0x01", "0x02", "0x03", "0x4", "0x5", HISTORY, "0x9"]
    found = expected.read([RpcReply(result=result) for result in results])

    assert found.calls == {key: (bytes([place]), None) for place, key in enumerate(KEYS, start=1)}
    assert found.coins == {"0xdd": 4, "0xee": 5}
    assert found.fees is not None
    assert (found.fees.base_fee, found.fees.priority_fee) == (2, 3)


def test_a_revert_is_an_answer_and_any_other_error_is_left_out() -> None:
    reverted, busy = CallReverted("out of stock"), RpcRateLimited("slow down")
    replies = [
        RpcReply(error=reverted),
        RpcReply(error=busy),
        RpcReply(result="0x03"),
        RpcReply(error=busy),
        RpcReply(result="0x5"),
        RpcReply(result=HISTORY),
        RpcReply(error=busy),
    ]
    found = make_expected().read(replies)

    assert found.calls == {KEYS[0]: (b"", reverted), KEYS[2]: (b"\x03", None)}
    assert found.coins == {"0xee": 5}
    assert found.fees is None


def test_an_answer_of_the_wrong_shape_is_nonsense_here_as_anywhere() -> None:
    replies = [RpcReply(result=each) for each in ("0x01", "zz", "0x03", "0x4", "0x5", HISTORY, "0x9")]
    with pytest.raises(RpcNonsense):
        make_expected().read(replies)


def test_what_measures_gas_is_asked_beside_an_aggregate_and_never_in_it(
    open_reader: OpenReader, chain: World, round_trips: list[list[str]]
) -> None:
    reader, account = open_reader(), chain.actors.traders[0].address
    tokens = [token.address for token in reader.registered_tokens()]
    balances = [ReadCall(token, BALANCE_OF, (holder,)) for token in tokens for holder in (account, *tokens)]
    assert len(balances) >= MULTICALL_FROM
    reader.expect(alone=[ReadCall(tokens[0], DECIMALS)])
    reader.call_many(balances)
    assert round_trips[-1] == ["eth_call", "eth_call"]
    known = len(round_trips)
    assert reader.call(tokens[0], DECIMALS) == (reader.registered_tokens()[0].decimals,)
    assert len(round_trips) == known


def test_taken_reads_are_not_asked_twice() -> None:
    expected = make_expected()
    assert expected.take_calls() == KEYS
    assert [request.method for request in expected.requests(at=AT, block_number=7)] == [
        "eth_getBalance",
        "eth_getBalance",
        "eth_feeHistory",
        "eth_maxPriorityFeePerGas",
    ]

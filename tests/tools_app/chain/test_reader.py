from __future__ import annotations

from datetime import UTC, datetime

import pytest

from golem_project.embedded.world.rpc import call_data
from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.chain.nodes import answering, block_json, serve, serve_silence
from tools_app.chain import chains, networks
from tools_app.chain.contract_facts import FACTS, FactCache
from tools_app.chain.networks import ChainNotSupported
from tools_app.chain.node_errors import (
    BlockUnavailable,
    CallReverted,
    ContractOutputUnexpected,
    LogRangeTooWide,
    RpcLagging,
    RpcTimeout,
)
from tools_app.chain.reader import PinnedReader
from tools_app.core.clock import Deadline
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import NATIVE

DECIMALS = "function decimals() view returns (uint8)"
BALANCE_OF = "function balanceOf(address) view returns (uint256)"
SYMBOL = "function symbol() view returns (string)"
TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def _as_chain_reader(reader: PinnedReader) -> ChainReader:
    return reader


def test_the_reader_is_the_one_the_toolkit_describes(reader: PinnedReader) -> None:
    assert _as_chain_reader(reader).chain_id == 31337


def test_a_call_equals_what_the_node_says(reader: PinnedReader, chain: World) -> None:
    usdc = chain.tokens["USDC"]

    assert reader.call(usdc.address, DECIMALS) == (6,)
    assert reader.call(usdc.address, SYMBOL) == ("USDC",)


def test_the_block_stays_pinned_while_the_chain_moves_on(open_reader: OpenReader, chain: World) -> None:
    usdc, trader = chain.tokens["USDC"], chain.actors.traders[0]
    reader = open_reader()
    before = reader.call(usdc.address, BALANCE_OF, trader.address)
    pinned = reader.block
    chain.transact(trader, usdc.address, "transfer(address,uint256)", chain.actors.deployer.address, 5)

    reader._answers.clear()
    assert reader.call(usdc.address, BALANCE_OF, trader.address) == before
    assert reader.block == pinned
    assert open_reader().call(usdc.address, BALANCE_OF, trader.address)[0] == before[0] - 5


def test_a_revert_raises_with_its_reason_and_is_an_outcome_in_a_batch(reader: PinnedReader, chain: World) -> None:
    reverter = chain.deploy(chain.actors.deployer, "Reverter")
    with pytest.raises(CallReverted, match="out of stock"):
        reader.call(reverter, "function withReason(string)", "out of stock")

    outcomes = reader.call_many(
        [
            ReadCall(reverter, "function withReason(string)", ("no",)),
            ReadCall(reverter, "function withPanic(uint256) returns (uint256)", (0,)),
            ReadCall(reverter, "function withCustomError(uint256,uint256)", (1, 2)),
            ReadCall(reverter, "function withNothing()"),
            ReadCall(reverter, "function withInvalidOpcode()"),
            ReadCall(reverter, "function stored() view returns (uint256)"),
        ]
    )

    assert [outcome.ok for outcome in outcomes] == [False, False, False, False, False, True]
    assert outcomes[0].revert_reason == "no"
    assert outcomes[1].revert_reason == "Panic 0x12: division or modulo by zero"
    assert (outcomes[2].revert_reason or "").startswith("unknown error 0x")
    assert outcomes[3].revert_reason
    assert outcomes[4].revert_reason
    assert outcomes[5].values == (0,)


def test_an_address_without_a_contract_is_said_to_be_one(reader: PinnedReader, chain: World) -> None:
    nobody = chain.actors.traders[0].address
    with pytest.raises(ContractOutputUnexpected, match="answered nothing"):
        reader.call(nobody, DECIMALS)
    outcome = reader.call_many([ReadCall(nobody, DECIMALS)])[0]

    assert not outcome.ok
    assert "answered nothing" in (outcome.revert_reason or "")


@pytest.mark.parametrize("count", [3, 60, 260])
def test_an_aggregated_read_equals_a_batch(open_reader: OpenReader, chain: World, count: int) -> None:
    reverter = chain.deploy(chain.actors.deployer, "Reverter")
    tokens = [token.address for token in chain.tokens.values()]
    calls = [ReadCall(tokens[i % len(tokens)], BALANCE_OF, (f"0x{i:040x}",)) for i in range(count)]
    calls[1:1] = [
        ReadCall(reverter, "function withReason(string)", ("no",)),
        ReadCall(reverter, "function withNothing()"),
        ReadCall("0x" + "12" * 20, DECIMALS),
        ReadCall(tokens[0], SYMBOL),
    ]
    batched, aggregated = open_reader(), open_reader()
    batched._multicall_from, aggregated._multicall_from = 10**9, 1

    assert aggregated.call_many(calls) == batched.call_many(calls)


def test_equal_reads_of_one_context_are_asked_once(chain_table: None) -> None:
    results = {"eth_getBlockByNumber": block_json(9), "eth_call": "0x" + "00" * 31 + "06"}
    with serve(answering(results)) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [node.url])])
        reader = chains.open_reader(31337, now=datetime.now(tz=UTC), deadline=Deadline.after_ms(5000))
        token = "0x" + "11" * 20
        reader.call_many([ReadCall(token, DECIMALS), ReadCall(token.upper().replace("X", "x"), DECIMALS)])
        reader.call(token, DECIMALS)

    assert node.asked == ["eth_chainId", "eth_getBlockByNumber", "eth_call"]


def test_blocks_are_found_by_number_and_by_time(reader: PinnedReader) -> None:
    head = reader.block
    for number in (1, 2, head.number // 3, head.number - 1, head.number):
        block = reader.block_at(number)
        assert block.number == number
        assert reader.first_block_since(block.timestamp).timestamp == block.timestamp
        earlier = reader.block_at(number - 1)
        if earlier.timestamp == head.timestamp:
            continue  # Two blocks of one second end the chain: nothing comes after that second.
        found = reader.first_block_since(earlier.timestamp + 1)
        assert found.number == number if earlier.timestamp < block.timestamp else found.number > number
    assert reader.first_block_since(0).number == 0


def test_a_time_or_number_beyond_the_head_is_unavailable(reader: PinnedReader) -> None:
    with pytest.raises(BlockUnavailable):
        reader.first_block_since(reader.block.timestamp + 10)
    with pytest.raises(BlockUnavailable):
        reader.block_at(reader.block.number + 1_000)


def test_logs_are_the_same_however_the_range_is_cut(open_reader: OpenReader, chain: World) -> None:
    usdc = chain.tokens["USDC"].address
    whole = open_reader()
    cut = open_reader()
    object.__setattr__(cut, "network", networks.with_rpc_urls(cut.network, ["http://x"], max_log_range=17))
    query = {"address": usdc, "topics": [TRANSFER_TOPIC], "from_block": 0, "to_block": 10**9}

    logs = whole.logs(**query)  # type: ignore[arg-type]
    assert len(logs) > 20
    assert cut.logs(**query) == logs  # type: ignore[arg-type]
    assert logs == sorted(logs, key=lambda log: (log.block_number, log.log_index))
    assert {log.address for log in logs} == {usdc}


def test_a_node_that_finds_a_range_too_wide_is_asked_for_halves(chain_table: None) -> None:
    def narrow(query: dict[str, str]) -> object:
        width = int(query["toBlock"], 16) - int(query["fromBlock"], 16) + 1
        return {"code": -32602, "message": "query returned more than 10000 results"} if width > 3 else []

    results = {"eth_getBlockByNumber": block_json(20), "eth_getLogs": narrow}
    with serve(answering(results)) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [node.url])])
        reader = chains.open_reader(31337, now=datetime.now(tz=UTC), deadline=Deadline.after_ms(5000))

        assert reader.logs(address=None, topics=[], from_block=0, to_block=20) == []


def test_an_endless_log_range_is_refused(reader: PinnedReader) -> None:
    object.__setattr__(reader, "network", networks.with_rpc_urls(reader.network, ["http://x"], max_log_range=1))
    reader._block = reader.block_at(reader.block.number)
    with pytest.raises(LogRangeTooWide):
        object.__setattr__(reader, "_block", type(reader.block)(10_000, "0x", 0, 0))
        reader.logs(address=None, topics=[], from_block=0, to_block=10_000)


def test_coin_balance_code_nonce_and_fees_are_those_of_the_node(reader: PinnedReader, chain: World) -> None:
    account = chain.new_account(eth_wei=12345)

    assert reader.native_balance(account.address) == 12345
    assert reader.code(account.address) == b""
    assert len(reader.code(chain.contracts["weth9"])) > 1000
    assert reader.pending_nonce(account.address) == 0
    fees = reader.fees()
    assert fees.max_fee == 2 * fees.base_fee + fees.priority_fee
    assert fees.base_fee > 0
    assert fees.priority_fee > 0


def test_the_base_fee_quoted_is_the_one_the_next_block_has(reader: PinnedReader, chain: World) -> None:
    expected = reader.fees().base_fee
    receipt = chain.send(chain.actors.deployer, chain.actors.deployer.address)

    assert int(chain.rpc.call("eth_getBlockByNumber", receipt["blockNumber"], False)["baseFeePerGas"], 16) == expected


def test_an_unknown_chain_and_one_without_a_node_are_not_supported(reader: PinnedReader) -> None:
    now, deadline = datetime.now(tz=UTC), Deadline.after_ms(100)
    for chain_id in (1, 424242):
        with pytest.raises(ChainNotSupported) as refused:
            chains.open_reader(chain_id, now=now, deadline=deadline)
        assert refused.value.data["configured_chain_ids"] == [31337]


def test_reading_ends_with_the_deadline(chain_table: None) -> None:
    with serve_silence() as url:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [url])])
        reader = chains.open_reader(31337, now=datetime.now(tz=UTC), deadline=Deadline.after_ms(100))
        with pytest.raises(RpcTimeout):
            reader.native_balance(NATIVE)


def test_a_public_chain_whose_head_is_old_is_refused(chain_table: None) -> None:
    now = datetime(2026, 11, 21, tzinfo=UTC)
    old = block_json(9, timestamp=int(now.timestamp()) - 601)
    with serve(answering({"eth_getBlockByNumber": old}, chain_id=1)) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[1], [node.url])])
        reader = chains.open_reader(1, now=now, deadline=Deadline.after_ms(5000))
        with pytest.raises(RpcLagging) as lagging:
            _ = reader.block

    assert lagging.value.data == {"age_seconds": 601, "max_age_seconds": 600}


def test_facts_are_shared_between_readers_of_one_block_of_a_public_chain(chain_table: None) -> None:
    now = datetime.now(tz=UTC)
    results = {"eth_getBlockByNumber": block_json(987, timestamp=int(now.timestamp())), "eth_getCode": "0x60"}
    with serve(answering(results, chain_id=1)) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[1], [node.url])])
        for _ in range(3):
            reader = chains.open_reader(1, now=now, deadline=Deadline.after_ms(5000))
            assert reader.code("0x" + "77" * 20) == b"\x60"

    assert node.asked.count("eth_getCode") == 1
    assert len(FACTS) > 0


def test_the_fact_cache_is_bounded_and_forgets_the_least_used() -> None:
    cache = FactCache(most=2)
    cache.put(1, "0x", "code", "a", b"a")
    cache.put(1, "0x", "code", "b", b"b")
    cache.get(1, "0x", "code", "a")
    cache.put(1, "0x", "code", "c", b"c")

    assert cache.get(1, "0x", "code", "a") == b"a"
    assert cache.get(1, "0x", "code", "b") is None
    assert len(cache) == 2


def test_call_data_of_the_world_equals_ours(chain: World) -> None:
    from tools_app.chain.abi import encode_call

    theirs = call_data("transfer(address,uint256)", chain.actors.deployer.address, 7)
    assert "0x" + encode_call("function transfer(address,uint256)", chain.actors.deployer.address, 7).hex() == theirs

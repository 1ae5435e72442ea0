"""The simulation against the chain: what it says must be what the receipts say afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.chain.nodes import answering, block_json, closed_port_url, serve, serve_silence
from tools_app.chain import chains, networks
from tools_app.chain.abi import encode_call, event_topic
from tools_app.chain.node_errors import ContractOutputUnexpected, InsufficientFunds
from tools_app.chain.reader import PinnedReader
from tools_app.core.clock import Deadline
from tools_app.core.errors import Recovery
from tools_app.core.hashing import hash_canonical
from tools_app.simulation.engine import (
    SimulationRequest,
    SimulationResult,
    SimulationTimeout,
    SimulationUnavailable,
)
from tools_app.simulation.select import run_simulation
from tools_app.standards import erc20, weth
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

V3_SWAP = (
    "function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn,"
    " uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountOut)"
)
V2_SWAP = (
    "function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin,"
    " address[] path, address to, uint256 deadline)"
)
MINT = (
    "function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper,"
    " uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient,"
    " uint256 deadline) params) payable"
    " returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)"
)
FAR = 2**40
TRANSFER = event_topic(erc20.TRANSFER_EVENT)

Plan = Callable[[PinnedReader, World, str], tuple[Call, ...]]


def _v3_swap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    usdc, wrapped = reader.token("USDC"), reader.token("WETH")
    router = chain.contracts["uniswap_v3_swap_router_02"]
    amount = 1_000 * 10**6
    data = encode_call(V3_SWAP, (usdc.address, wrapped.address, 500, me, amount, 1, 0))
    return erc20.approve_exact(token=usdc, spender=router, amount=amount), Call(router, data, 0, "swap")


def _v3_swap_of_the_coin(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    router = chain.contracts["uniswap_v3_swap_router_02"]
    wrapped, usdc, amount = reader.token("WETH"), reader.token("USDC"), 10**17
    data = encode_call(V3_SWAP, (wrapped.address, usdc.address, 3000, me, amount, 1, 0))
    return (Call(router, data, amount, "swap"),)


def _v2_swap(reader: PinnedReader, chain: World, me: str, symbol: str = "USDC") -> tuple[Call, ...]:
    token, wrapped = reader.token(symbol), reader.token("WETH")
    router = chain.contracts["uniswap_v2_router"]
    amount = 100 * 10**token.decimals
    data = encode_call(V2_SWAP, amount, 1, [token.address, wrapped.address], me, FAR)
    return erc20.approve_exact(token=token, spender=router, amount=amount), Call(router, data, 0, "swap")


def _fee_token_swap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return _v2_swap(reader, chain, me, "FEE")


def _no_return_swap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return _v2_swap(reader, chain, me, "USDT")


def _lp_mint(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    manager = chain.contracts["uniswap_v3_position_manager"]
    pool = chain.pool("v3", "USDC", "DAI", 100)
    token0, token1 = reader.token(pool.token0), reader.token(pool.token1)
    amounts = [500 * 10**token.decimals for token in (token0, token1)]
    params = (token0.address, token1.address, 100, -887_272, 887_272, *amounts, 0, 0, me, FAR)
    approvals = [
        erc20.approve_exact(token=token, spender=manager, amount=amount)
        for token, amount in zip((token0, token1), amounts, strict=True)
    ]
    return (*approvals, Call(manager, encode_call(MINT, params), 0, "mint"))


def _transfer(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return (erc20.transfer(token=reader.token("USDC"), recipient=chain.actors.deployer.address, amount=5 * 10**6),)


def _fee_token_transfer(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return (erc20.transfer(token=reader.token("FEE"), recipient=chain.actors.deployer.address, amount=10**18),)


def _coin_transfer(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    return (erc20.transfer(token=reader.native(), recipient="0x" + "99" * 20, amount=12345),)


def _wrap_and_unwrap(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    wrapped = reader.wrapped_native()
    return weth.wrap(wrapped=wrapped, amount=10**17), weth.unwrap(wrapped=wrapped, amount=4 * 10**16)


def _approve_then_revoke(reader: PinnedReader, chain: World, me: str) -> tuple[Call, ...]:
    token, spender = reader.token("USDT"), chain.contracts["permit2"]
    return (
        erc20.approve_exact(token=token, spender=spender, amount=7),
        *erc20.approvals_for(token=token, spender=spender, amount=9, allowance=7),
        erc20.revoke(token=token, spender=spender),
    )


PLANS: list[Plan] = [
    _v3_swap,
    _v3_swap_of_the_coin,
    _v2_swap,
    _fee_token_swap,
    _no_return_swap,
    _lp_mint,
    _transfer,
    _fee_token_transfer,
    _coin_transfer,
    _wrap_and_unwrap,
    _approve_then_revoke,
]


@pytest.fixture
def account(chain: World) -> LocalAccount:
    amounts = {symbol: token.units(10_000) for symbol, token in chain.tokens.items() if symbol != "WETH"}
    return chain.new_account(eth_wei=10 * 10**18, tokens=amounts)


def _request(reader: PinnedReader, account: LocalAccount, calls: tuple[Call, ...]) -> SimulationRequest:
    tokens = [*reader.registered_tokens(), reader.native()]
    return SimulationRequest(
        chain_id=31337,
        sender=account.address,
        calls=calls,
        watch=tuple((account.address, token.address) for token in tokens),
        block=reader.block,
    )


def _run(request: SimulationRequest) -> SimulationResult:
    return run_simulation(request, deadline=Deadline.after_ms(10_000))


def _send_all(chain: World, account: LocalAccount, calls: tuple[Call, ...]) -> list[dict[str, Any]]:
    return [chain.send(account, call.to, "0x" + call.data.hex(), value=call.value) for call in calls]


def _essence(log: Any) -> tuple[Any, ...]:
    if isinstance(log, dict):
        return log["address"].lower(), tuple(log["topics"]), log["data"]
    return log.address.lower(), log.topics, log.data


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.__name__.strip("_"))
def test_a_simulation_equals_the_mined_receipts_in_gas_logs_and_deltas(
    open_reader: OpenReader, chain: World, account: LocalAccount, plan: Plan
) -> None:
    reader = open_reader()
    calls = plan(reader, chain, account.address)
    result = _run(_request(reader, account, calls))
    assert result.succeeded, result.failure

    receipts = _send_all(chain, account, calls)
    assert [receipt["status"] for receipt in receipts] == ["0x1"] * len(calls)
    assert [call.gas_used for call in result.calls] == [int(receipt["gasUsed"], 16) for receipt in receipts]
    assert [[_essence(log) for log in call.logs] for call in result.calls] == [
        [_essence(log) for log in receipt["logs"]] for receipt in receipts
    ]

    after = open_reader()
    fees = sum(int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16) for receipt in receipts)
    for token in (*reader.registered_tokens(), reader.native()):
        real = erc20.balance_of(after, token, account.address) - erc20.balance_of(reader, token, account.address)
        assert result.deltas[token.address] == real + (fees if token.is_native else 0), token.symbol


def test_the_same_block_and_request_give_the_same_bytes_and_hash(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    request = _request(reader, account, _v3_swap(reader, chain, account.address))
    first, second = _run(request), _run(request)

    assert first == second
    assert hash_canonical(first.as_dict()) == hash_canonical(second.as_dict())
    shuffled = _run(replace(request, watch=tuple(reversed(request.watch))))
    assert hash_canonical(shuffled.as_dict()) == hash_canonical(first.as_dict())


def test_another_block_gives_another_hash(open_reader: OpenReader, chain: World, account: LocalAccount) -> None:
    reader = open_reader()
    request = _request(reader, account, _transfer(reader, chain, account.address))
    first = _run(request)
    chain.send(chain.actors.deployer, chain.actors.deployer.address)

    assert hash_canonical(_run(replace(request, block=None)).as_dict()) != hash_canonical(first.as_dict())
    assert hash_canonical(_run(request).as_dict()) == hash_canonical(first.as_dict())


def test_nothing_on_the_chain_changes(open_reader: OpenReader, chain: World, account: LocalAccount) -> None:
    reader = open_reader()
    _run(_request(reader, account, _v3_swap(reader, chain, account.address)))
    after = open_reader()

    assert after.block == reader.block
    assert after.pending_nonce(account.address) == 0
    usdc = reader.token("USDC")
    assert erc20.balance_of(after, usdc, account.address) == erc20.balance_of(reader, usdc, account.address)


def test_a_revert_in_the_middle_is_no_success_and_the_rest_is_still_shown(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    usdc = reader.token("USDC")
    router = chain.contracts["uniswap_v3_swap_router_02"]
    swap = encode_call(V3_SWAP, (usdc.address, reader.token("WETH").address, 500, account.address, 10**6, 2**200, 0))
    calls = (
        erc20.approve_exact(token=usdc, spender=router, amount=10**6),
        Call(router, swap, 0, "swap"),
        erc20.transfer(token=usdc, recipient=chain.actors.deployer.address, amount=1),
    )
    result = _run(_request(reader, account, calls))
    receipts = _send_all(chain, account, calls)

    assert not result.succeeded
    assert [call.succeeded for call in result.calls] == [True, False, True]
    assert result.calls[1].revert_reason == "Too little received"
    assert result.failure == "call 2 of 3 reverted: Too little received"
    assert result.calls[1].logs == ()
    assert [receipt["status"] for receipt in receipts] == ["0x1", "0x0", "0x1"]
    assert [call.gas_used for call in result.calls] == [int(receipt["gasUsed"], 16) for receipt in receipts]


def test_a_tokens_own_error_is_named_with_its_figures(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    usdc = reader.token("USDC")
    have = erc20.balance_of(reader, usdc, account.address)
    call = erc20.transfer(token=usdc, recipient=chain.actors.deployer.address, amount=have + 1)
    outcome = _run(_request(reader, account, (call,))).calls[0]

    assert outcome.error_name == "InsufficientBalance"
    assert outcome.revert_reason == (
        f"InsufficientBalance(account={account.address}, balance={have}, needed={have + 1})"
    )


def test_an_endless_call_fails_and_does_not_hang(open_reader: OpenReader, chain: World, account: LocalAccount) -> None:
    burner = chain.deploy(chain.actors.deployer, "GasBurner")
    result = _run(_request(open_reader(), account, (Call(burner, encode_call("function burnAll()"), 0, "burn"),)))

    assert not result.succeeded
    assert result.calls[0].revert_reason


def test_tokens_that_move_unannounced_are_found_and_measured(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    calls = _v3_swap(reader, chain, account.address)
    told = _run(_request(reader, account, calls))
    untold = _run(replace(_request(reader, account, calls), watch=(), allowances=()))
    usdc, wrapped = reader.token("USDC").address, reader.token("WETH").address

    assert {seen.token for seen in untold.unexpected_transfers} == {usdc, wrapped}
    assert untold.deltas == {usdc: told.deltas[usdc], wrapped: told.deltas[wrapped]}
    router = chain.contracts["uniswap_v3_swap_router_02"]
    assert [(seen.token, seen.spender) for seen in untold.unexpected_approvals] == [(usdc, router)]
    assert untold.allowances_after == {(usdc, account.address, router): 0}
    assert told.unexpected_transfers == ()


def test_announced_allowances_are_measured_and_not_unexpected(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    dai, spender = reader.token("DAI"), chain.contracts["permit2"]
    request = replace(
        _request(reader, account, (erc20.approve_exact(token=dai, spender=spender, amount=77),)),
        allowances=((dai.address, account.address, spender),),
    )
    result = _run(request)

    assert result.unexpected_approvals == ()
    assert result.allowances_before == {(dai.address, account.address, spender): 0}
    assert result.allowances_after == {(dai.address, account.address, spender): 77}


def test_a_minted_position_is_seen_as_an_nft_with_its_id(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    result = _run(_request(reader, account, _lp_mint(reader, chain, account.address)))
    manager = chain.contracts["uniswap_v3_position_manager"]
    minted = [seen for seen in result.unexpected_transfers if seen.token == manager]

    assert len(minted) == 1
    assert (minted[0].recipient, minted[0].amount) == (account.address, 1)
    assert minted[0].token_id is not None
    assert result.delta_of(account.address, manager) == 1


def test_a_call_whose_value_nobody_has_is_refused_as_insufficient_funds(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    with pytest.raises(InsufficientFunds):
        _run(_request(reader, account, (Call("0x" + "99" * 20, b"", 10**30, "too much"),)))


def test_watching_something_that_is_no_token_is_refused(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    request = _request(reader, account, _transfer(reader, chain, account.address))
    with pytest.raises(ContractOutputUnexpected):
        _run(replace(request, watch=((account.address, chain.contracts["uniswap_v3_factory"]),)))


def test_addresses_in_lower_case_mean_the_same(open_reader: OpenReader, chain: World, account: LocalAccount) -> None:
    reader = open_reader()
    request = _request(reader, account, _v3_swap(reader, chain, account.address))
    lowered = replace(
        request,
        sender=request.sender.lower(),
        watch=tuple((account_.lower(), token.lower()) for account_, token in request.watch),
    )

    assert _run(lowered) == _run(request)


def test_no_calls_are_no_success(open_reader: OpenReader, account: LocalAccount) -> None:
    assert not _run(_request(open_reader(), account, ())).succeeded


def test_the_label_names_the_way_and_the_block(open_reader: OpenReader, chain: World, account: LocalAccount) -> None:
    reader = open_reader()
    result = _run(_request(reader, account, _transfer(reader, chain, account.address)))

    assert result.fidelity == (
        f"rpc: eth_simulateV1 on the node that will carry the transaction, block {reader.block.number}"
    )


REQUEST = SimulationRequest(
    31337, "0x" + "11" * 20, (Call("0x" + "22" * 20, b"", 0, "call"),), watch=(("0x" + "11" * 20, NATIVE),)
)


def _configure(url: str) -> None:
    chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [url])])


def test_a_node_without_the_method_makes_the_simulation_unavailable(chain_table: None) -> None:
    missing = {"code": -32601, "message": "Method not found"}
    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": missing})) as node:
        _configure(node.url)
        with pytest.raises(SimulationUnavailable) as unavailable:
            _run(REQUEST)

    assert unavailable.value.code == "REVM_FORK_FAILED"
    assert unavailable.value.data["cause"] == "RPC_METHOD_MISSING"
    assert unavailable.value.next_step is Recovery.ASK_OWNER


def test_a_node_that_is_down_makes_the_simulation_unavailable(chain_table: None) -> None:
    _configure(closed_port_url())
    with pytest.raises(SimulationUnavailable):
        _run(REQUEST)


def test_a_node_that_is_silent_makes_the_simulation_time_out(chain_table: None) -> None:
    with serve_silence() as url:
        _configure(url)
        with pytest.raises(SimulationTimeout):
            run_simulation(REQUEST, deadline=Deadline.after_ms(100))


ZERO_ROW: dict[str, Any] = {"status": "0x1", "returnData": "0x" + "00" * 32, "gasUsed": "0x5208", "logs": []}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        [{"number": "0x6", "calls": [ZERO_ROW]}],
        [{"number": "0x5", "calls": [ZERO_ROW] * 3}],
        [{"number": "0x6", "calls": [{}] * 3}],
        [{"number": "0x6", "calls": [ZERO_ROW, {**ZERO_ROW, "logs": [{"address": "0x"}]}, ZERO_ROW]}],
        [{"number": "0x6", "calls": [ZERO_ROW, {**ZERO_ROW, "gasUsed": None}, ZERO_ROW]}],
    ],
)
def test_an_answer_of_another_shape_is_never_a_success(chain_table: None, answer: object) -> None:
    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": answer})) as node:
        _configure(node.url)
        with pytest.raises(SimulationUnavailable):
            _run(REQUEST)


def test_a_flood_of_made_up_transfers_is_kept_to_what_is_needed_to_refuse(chain_table: None) -> None:
    sender = REQUEST.sender

    def topic(address: str) -> str:
        return "0x" + address[2:].rjust(64, "0")

    def flood(payload: Any, _: Any) -> Any:
        calls = len(payload["blockStateCalls"][0]["calls"])
        logs = [
            {"address": f"0x{n:040x}", "topics": [TRANSFER, topic(sender), topic(sender)], "data": "0x" + "00" * 32}
            for n in range(1, 2_000)
        ]
        rows = [ZERO_ROW] * calls
        rows[(calls - 1) // 2] = {**ZERO_ROW, "logs": logs}
        return [{"number": "0x6", "calls": rows}]

    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": flood})) as node:
        _configure(node.url)
        result = _run(REQUEST)

    assert len(result.unexpected_transfers) == 256
    assert len(result.balances_before) == 1 + 32
    assert node.asked.count("eth_simulateV1") == 2


def test_a_well_formed_answer_of_the_tests_own_node_is_read(chain_table: None) -> None:
    answer = [{"number": "0x6", "calls": [ZERO_ROW] * 3}]
    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": answer})) as node:
        _configure(node.url)
        result = _run(REQUEST)

    assert result.succeeded
    assert result.gas_used == 21_000

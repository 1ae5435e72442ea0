"""Every engine against the chain: what it says must be what the receipts say afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.plans import PLANS, V3_SWAP, Plan, lp_mint, transfer, v3_swap
from tools_app.chain.abi import encode_call
from tools_app.chain.node_errors import ContractOutputUnexpected, InsufficientFunds
from tools_app.chain.reader import PinnedReader
from tools_app.core.clock import Deadline
from tools_app.core.hashing import hash_canonical
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.select import ENGINE_NAMES, select_engine
from tools_app.standards import erc20
from tools_app.toolkit.plan import Call

Run = Callable[[SimulationRequest], SimulationResult]


@pytest.fixture(params=ENGINE_NAMES)
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a request on each engine in turn."""
    return lambda wanted: select_engine(31337, request.param).run(wanted, deadline=Deadline.after_ms(10_000))


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


def _send_all(chain: World, account: LocalAccount, calls: tuple[Call, ...]) -> list[dict[str, Any]]:
    return [chain.send(account, call.to, "0x" + call.data.hex(), value=call.value) for call in calls]


def _essence(log: Any) -> tuple[Any, ...]:
    if isinstance(log, dict):
        return log["address"].lower(), tuple(log["topics"]), log["data"]
    return log.address.lower(), log.topics, log.data


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.__name__)
def test_a_simulation_equals_the_mined_receipts_in_gas_logs_and_deltas(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount, plan: Plan
) -> None:
    reader = open_reader()
    calls = plan(reader, chain, account.address)
    result = run(_request(reader, account, calls))
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
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    request = _request(reader, account, v3_swap(reader, chain, account.address))
    first, second = run(request), run(request)

    assert first == second
    assert hash_canonical(first.as_dict()) == hash_canonical(second.as_dict())
    shuffled = run(replace(request, watch=tuple(reversed(request.watch))))
    assert hash_canonical(shuffled.as_dict()) == hash_canonical(first.as_dict())


def test_another_block_gives_another_hash(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    request = _request(reader, account, transfer(reader, chain, account.address))
    first = run(request)
    chain.send(chain.actors.deployer, chain.actors.deployer.address)

    assert hash_canonical(run(replace(request, block=None)).as_dict()) != hash_canonical(first.as_dict())
    assert hash_canonical(run(request).as_dict()) == hash_canonical(first.as_dict())


def test_nothing_on_the_chain_changes(run: Run, open_reader: OpenReader, chain: World, account: LocalAccount) -> None:
    reader = open_reader()
    run(_request(reader, account, v3_swap(reader, chain, account.address)))
    after = open_reader()

    assert after.block == reader.block
    assert after.pending_nonce(account.address) == 0
    usdc = reader.token("USDC")
    assert erc20.balance_of(after, usdc, account.address) == erc20.balance_of(reader, usdc, account.address)


def test_a_revert_in_the_middle_is_no_success_and_the_rest_is_still_shown(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
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
    result = run(_request(reader, account, calls))
    receipts = _send_all(chain, account, calls)

    assert not result.succeeded
    assert [call.succeeded for call in result.calls] == [True, False, True]
    assert result.calls[1].revert_reason == "Too little received"
    assert result.failure == "call 2 of 3 reverted: Too little received"
    assert result.calls[1].logs == ()
    assert [receipt["status"] for receipt in receipts] == ["0x1", "0x0", "0x1"]
    assert [call.gas_used for call in result.calls] == [int(receipt["gasUsed"], 16) for receipt in receipts]


def test_a_tokens_own_error_is_named_with_its_figures(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    usdc = reader.token("USDC")
    have = erc20.balance_of(reader, usdc, account.address)
    call = erc20.transfer(token=usdc, recipient=chain.actors.deployer.address, amount=have + 1)
    outcome = run(_request(reader, account, (call,))).calls[0]

    assert outcome.error_name == "InsufficientBalance"
    assert outcome.revert_reason == (
        f"InsufficientBalance(account={account.address}, balance={have}, needed={have + 1})"
    )


def test_an_endless_call_fails_and_does_not_hang(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    burner = chain.deploy(chain.actors.deployer, "GasBurner")
    result = run(_request(open_reader(), account, (Call(burner, encode_call("function burnAll()"), 0, "burn"),)))

    assert not result.succeeded
    assert result.calls[0].revert_reason


def test_tokens_that_move_unannounced_are_found_and_measured(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    calls = v3_swap(reader, chain, account.address)
    told = run(_request(reader, account, calls))
    untold = run(replace(_request(reader, account, calls), watch=(), allowances=()))
    usdc, wrapped = reader.token("USDC").address, reader.token("WETH").address

    assert {seen.token for seen in untold.unexpected_transfers} == {usdc, wrapped}
    assert untold.deltas == {usdc: told.deltas[usdc], wrapped: told.deltas[wrapped]}
    router = chain.contracts["uniswap_v3_swap_router_02"]
    assert [(seen.token, seen.spender) for seen in untold.unexpected_approvals] == [(usdc, router)]
    assert untold.allowances_after == {(usdc, account.address, router): 0}
    assert told.unexpected_transfers == ()


def test_announced_allowances_are_measured_and_not_unexpected(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    dai, spender = reader.token("DAI"), chain.contracts["permit2"]
    request = replace(
        _request(reader, account, (erc20.approve_exact(token=dai, spender=spender, amount=77),)),
        allowances=((dai.address, account.address, spender),),
    )
    result = run(request)

    assert result.unexpected_approvals == ()
    assert result.allowances_before == {(dai.address, account.address, spender): 0}
    assert result.allowances_after == {(dai.address, account.address, spender): 77}


def test_a_minted_position_is_seen_as_an_nft_with_its_id(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    result = run(_request(reader, account, lp_mint(reader, chain, account.address)))
    manager = chain.contracts["uniswap_v3_position_manager"]
    minted = [seen for seen in result.unexpected_transfers if seen.token == manager]

    assert len(minted) == 1
    assert (minted[0].recipient, minted[0].amount) == (account.address, 1)
    assert minted[0].token_id is not None
    assert result.delta_of(account.address, manager) == 1


def test_a_call_whose_value_nobody_has_is_refused_as_insufficient_funds(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    with pytest.raises(InsufficientFunds):
        run(_request(reader, account, (Call("0x" + "99" * 20, b"", 10**30, "too much"),)))


def test_watching_something_that_is_no_token_is_refused(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    request = _request(reader, account, transfer(reader, chain, account.address))
    with pytest.raises(ContractOutputUnexpected):
        run(replace(request, watch=((account.address, chain.contracts["uniswap_v3_factory"]),)))


def test_addresses_in_lower_case_mean_the_same(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    request = _request(reader, account, v3_swap(reader, chain, account.address))
    lowered = replace(
        request,
        sender=request.sender.lower(),
        watch=tuple((account_.lower(), token.lower()) for account_, token in request.watch),
    )

    assert run(lowered) == run(request)


def test_no_calls_are_no_success(run: Run, open_reader: OpenReader, account: LocalAccount) -> None:
    assert not run(_request(open_reader(), account, ())).succeeded


def test_the_state_difference_is_what_the_chain_changed(
    open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    reader = open_reader()
    calls = lp_mint(reader, chain, account.address)
    request = _request(reader, account, calls)
    result = select_engine(31337, "pyevm").run(request, deadline=Deadline.after_ms(10_000))
    assert result.state_diff is not None
    told = {
        (diff.address.lower(), slot): after for diff in result.state_diff.accounts for slot, _, after in diff.storage
    }
    before = {(diff.address.lower(), slot): old for diff in result.state_diff.accounts for slot, old, _ in diff.storage}
    block = hex(reader.block.number)
    for (address, slot), old in before.items():
        assert int(chain.rpc.call("eth_getStorageAt", address, hex(slot), block), 16) == old

    touched = set()
    for receipt in _send_all(chain, account, calls):
        tracer = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
        difference = chain.rpc.call("debug_traceTransaction", receipt["transactionHash"], tracer)
        for side in ("pre", "post"):
            for address, entry in difference[side].items():
                touched |= {(address.lower(), int(slot, 16)) for slot in entry.get("storage") or {}}
    real = {
        (address, slot): int(chain.rpc.call("eth_getStorageAt", address, hex(slot), "latest"), 16)
        for address, slot in touched | set(told)
    }
    was = {key: int(chain.rpc.call("eth_getStorageAt", key[0], hex(key[1]), block), 16) for key in real}
    # Pools keep the block's time in their slots; the chain mined at another second than was simulated.
    times = {key for key in real if key in told and real[key] != told[key]}
    assert {key for key, value in real.items() if was[key] != value} - times == set(told) - times
    assert len(told) > 10
    assert len(times) <= 3
    me = next(diff for diff in result.state_diff.accounts if diff.address == account.address)
    assert me.nonce == (0, len(calls))
    assert result.state_diff.created == ()

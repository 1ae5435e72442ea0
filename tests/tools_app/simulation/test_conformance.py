"""Every engine against the chain: what it says must be what the receipts say afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.mined import check_as_mined, mine_together
from tests.tools_app.simulation.plans import PLANS, V3_SWAP, Plan, lp_mint, transfer, v3_swap
from tests.tools_app.simulation.turbos import WAYS
from tools_app.chain.abi import encode_call
from tools_app.chain.node_errors import ContractOutputUnexpected, InsufficientFunds
from tools_app.chain.reader import PinnedReader
from tools_app.core.clock import Deadline
from tools_app.core.hashing import hash_canonical
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.revm_screening.screening import screen_candidates
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
        wants_state_diff=True,
    )


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.__name__)
def test_a_simulation_equals_what_is_mined_in_outputs_gas_logs_deltas_and_state(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount, plan: Plan
) -> None:
    reader = open_reader()
    calls = plan(reader, chain, account.address)
    request = _request(reader, account, calls)
    result = run(request)
    assert result.succeeded, result.failure
    assert result.state_diff is not None

    check_as_mined(chain, request, result, mine_together(chain, account, calls, after=reader.block))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.__name__)
@pytest.mark.parametrize("turbo", WAYS)
def test_screening_tells_what_the_chain_then_does(
    open_reader: OpenReader, chain: World, account: LocalAccount, plan: Plan, turbo: bool
) -> None:
    reader = open_reader()
    calls = plan(reader, chain, account.address)
    request = _request(reader, account, calls)
    (screened,) = screen_candidates(request, [calls], deadline=Deadline.after_ms(20_000), turbo=turbo)
    exact = select_engine(31337).run(request, deadline=Deadline.after_ms(10_000))

    assert screened.succeeded
    assert screened.outputs == tuple(call.output for call in exact.calls)
    assert screened.deltas == {key: exact.delta_of(*key) for key in request.watch}
    check_as_mined(chain, request, exact, mine_together(chain, account, calls, after=reader.block))


MINT = "function mint(address to, uint256 value)"
TRANSFER = "function transfer(address to, uint256 value) returns (bool)"


@pytest.mark.parametrize(
    ("contract", "meanwhile"),
    [
        ("RebasingToken", lambda token, me: encode_call("function rebase(uint256 factor)", 13 * 10**17)),
        # It calls itself in the middle of the transfer and makes more of its own.
        (
            "HookedToken",
            lambda token, me: encode_call(
                "function listen(address listener, bytes message)", token, encode_call(MINT, me, 5)
            ),
        ),
    ],
)
def test_a_token_whose_balances_move_by_themselves_is_simulated_as_it_is_mined(
    run: Run,
    open_reader: OpenReader,
    chain: World,
    account: LocalAccount,
    contract: str,
    meanwhile: Callable[..., bytes],
) -> None:
    token, me = chain.deploy(chain.actors.deployer, contract), account.address
    calls = tuple(
        Call(token, data, 0, "call")
        for data in (
            encode_call(MINT, me, 10**18 + 1),
            meanwhile(token, me),
            encode_call(TRANSFER, chain.actors.deployer.address, 3 * 10**17),
        )
    )
    reader = open_reader()
    request = replace(_request(reader, account, calls), watch=((me, token),))
    result = run(request)

    assert result.succeeded, result.failure
    assert result.delta_of(me, token) not in (0, 10**18 + 1 - 3 * 10**17)
    check_as_mined(chain, request, result, mine_together(chain, account, calls, after=reader.block))


def test_hashes_of_earlier_blocks_are_the_chains(
    run: Run, open_reader: OpenReader, chain: World, account: LocalAccount
) -> None:
    """A contract that keeps the hashes of the three blocks before its own; two of them are read from the node."""
    keeper = "0x" + "77" * 20
    chain.rpc.call("anvil_setCode", keeper, "0x" + "".join(f"600{k}43034060{k:02x}55" for k in (1, 2, 3)))
    for _ in range(3):
        chain.rpc.call("evm_mine")
    reader = open_reader()
    request = _request(reader, account, (Call(keeper, b"", 0, "keep"),))
    result = run(request)

    check_as_mined(chain, request, result, mine_together(chain, account, request.calls, after=reader.block))
    kept = [chain.rpc.call("eth_getStorageAt", keeper, hex(k), "latest") for k in (1, 2, 3)]
    earlier = [chain.rpc.call("eth_getBlockByNumber", hex(reader.block.number + 1 - k), False) for k in (1, 2, 3)]
    assert kept == [block["hash"] for block in earlier]


def _without_a_slot(result: SimulationResult) -> SimulationResult:
    diff = result.state_diff
    assert diff is not None
    changed = next(account for account in diff.accounts if account.storage)
    accounts = [replace(one, storage=one.storage[1:]) if one is changed else one for one in diff.accounts]
    return replace(result, state_diff=replace(diff, accounts=tuple(accounts)))


def _bend_last(**changes: Any) -> Callable[[SimulationResult], SimulationResult]:
    return lambda result: replace(result, calls=(*result.calls[:-1], replace(result.calls[-1], **changes)))


@pytest.mark.parametrize(
    "bend",
    [
        _bend_last(output=b"\x01"),
        _bend_last(gas_used=1),
        _bend_last(logs=()),
        _without_a_slot,
        lambda result: replace(result, state_diff=replace(result.state_diff, created=("0x" + "11" * 20,))),
        lambda result: replace(result, balances_after=result.balances_before),
    ],
)
def test_one_thing_told_wrong_does_not_pass_for_what_was_mined(
    open_reader: OpenReader, chain: World, account: LocalAccount, bend: Callable[[SimulationResult], SimulationResult]
) -> None:
    reader = open_reader()
    calls = v3_swap(reader, chain, account.address)
    request = _request(reader, account, calls)
    result = select_engine(31337, "pyevm").run(request, deadline=Deadline.after_ms(10_000))
    receipts = mine_together(chain, account, calls, after=reader.block)

    check_as_mined(chain, request, result, receipts)
    with pytest.raises(AssertionError):
        check_as_mined(chain, request, bend(result), receipts)


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
    request = _request(reader, account, calls)
    result = run(request)
    check_as_mined(chain, request, result, mine_together(chain, account, calls, after=reader.block))

    assert not result.succeeded
    assert [call.succeeded for call in result.calls] == [True, False, True]
    assert result.calls[1].revert_reason == "Too little received"
    assert result.failure == "call 2 of 3 reverted: Too little received"
    assert result.calls[1].logs == ()


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

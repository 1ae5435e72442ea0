"""A Safe with LoanCallback builds and leaves a loop within one loan, through preview, owners and commit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from permits_app.actions.execute_change import execute_change
from permits_app.models import AllowlistEntry, ChangeRequest, PolicyCage, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from permits_app.permits.plan_store import decode_calls
from permits_app.safety.decoding import read_calls
from tests.golem_project.heartbeat.loans import ETH, USD, include
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.tools_app.factories import make_context
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.standards import erc20
from tools_app.standards.loan_callback import ANNOUNCE, run_within, unfold
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Position
from tools_app.wording.decoded_calls import decode_call

pytestmark = [pytest.mark.protocols("aave_v3", "morpho"), pytest.mark.usefixtures("eager")]
LOOP = {
    "action_type": "execute_leverage_loop",
    "venue": "lending",
    "protocol": "aave_v3",
    "collateral_asset": "WETH",
    "borrow_asset": "USDC",
    "initial_amount": str(2 * ETH),
    **dict.fromkeys(("token_in", "token_out", "amount")),
}
UNWIND = {
    "action_type": "unwind_loop",
    "venue": "lending",
    "protocol": "aave_v3",
    **dict.fromkeys(("token_in", "token_out", "amount")),
}


@pytest.fixture
def owned(live_golem: LiveGolem) -> SafeGolem:
    found = SafeGolem(live_golem)
    include(live_golem, "lending_execute_leverage_loop", "lending_unwind_loop")
    live_golem.world.fund(found.safe.address, 0, {"WETH": 3 * ETH})
    PolicyCage.objects.filter(golem=live_golem.golem).update(max_position_bps=10_000, max_concentration_bps=10_000)
    rich = dict.fromkeys(("per_transaction", "per_tick", "per_session", "per_day"), 10**12)
    SpendingLimits.objects.filter(golem=live_golem.golem).update(
        **{f"{name}_micro_usd": value for name, value in rich.items()}
    )
    give_device(live_golem.owner)
    return found


def give_callback(owned: SafeGolem, *, is_listed: bool = True) -> str:
    """The owners set LoanCallback as handler and module of their Safe, and list it."""
    world, safe = owned.live.world, owned.safe.address
    contract = world.deploy(world.new_account(ETH), "LoanCallback")
    world.rpc.call("anvil_impersonateAccount", safe)
    world.rpc.call("anvil_setBalance", safe, hex(ETH))
    for signature in ("setFallbackHandler(address handler)", "enableModule(address module)"):
        data = encode_call(f"function {signature}", contract)
        request = {"from": safe, "to": safe, "data": "0x" + data.hex(), "gas": hex(300_000)}
        assert world.wait(world.rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    world.rpc.call("anvil_stopImpersonatingAccount", safe)
    if is_listed:
        AllowlistEntry.objects.create(
            golem=owned.live.golem, chain_id=31337, kind=AllowlistKind.CONTRACT, address=contract, label="LoanCallback"
        )
    return str(contract)


def carry_out(owned: SafeGolem, **asked: Any) -> dict[str, Any]:
    permit = owned.live.preview(**asked)
    if permit["status"] == "AWAITING_APPROVAL":
        request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
        approve(request, owned.live.owner)
        execute_change(request_id=request.pk, now=clock.now())
    else:
        owned.live.commit(permit["permit_id"])
    row = owned.live.permit(permit["permit_id"])
    assert row.status == "COMMITTED", row.status_reason
    return permit


def held(owned: SafeGolem) -> Position | None:
    chain = make_context(owned.live.world).chain()
    found = [each for each in read_positions(chain=chain, account=owned.safe.address) if each.ref.protocol == "aave_v3"]
    return found[0] if found else None


def allowances(owned: SafeGolem) -> list[int]:
    chain = make_context(owned.live.world).chain()
    world = owned.live.world
    spenders = (
        world.protocols["aave_v3"]["pool"],
        world.protocols["morpho"]["morpho"],
        world.contracts["uniswap_v3_swap_router_02"],
    )
    calls = [
        erc20.allowance_call(world.tokens[token].address, owned.safe.address, spender)
        for token in ("WETH", "USDC")
        for spender in spenders
    ]
    return [int(answer.values[0]) for answer in chain.call_many(calls)]


@pytest.mark.parametrize("lender", ["morpho", "aave_v3"])
def test_a_loop_is_built_and_left_within_one_loan_each(owned: SafeGolem, lender: str) -> None:
    give_callback(owned)
    world, before = owned.live.world, owned.balance("WETH")
    permit = carry_out(owned, **LOOP, target_leverage="2", flash_provider=lender)
    # One round, whatever the leverage; without a loan it takes several.
    assert len(decode_calls(owned.live.permit(permit["permit_id"]).batch)) <= 3
    position = held(owned)
    assert position is not None and position.health_bps is not None and position.health_bps >= 15_000
    weth, usdc = (owned.live.world.tokens[symbol].address for symbol in ("WETH", "USDC"))
    assert abs(position.raw_of(weth) - 4 * ETH) < 4 * ETH // 100
    assert position.raw_of(usdc) < -5_900 * USD
    assert allowances(owned) == [0] * 6
    carry_out(owned, **UNWIND, account=owned.safe.address, percent_to_unwind=40, flash_provider=lender)
    half = held(owned)
    shown = decode_call(owned.live.permit(permit["permit_id"]).batch[0], chain_id=31337)
    assert [each.function for each in shown.inner if each.to == world.protocols["aave_v3"]["pool"]] == [
        "supply",
        "borrow",
    ]
    assert half is not None and half.raw_of(usdc) == pytest.approx(position.raw_of(usdc) * 0.6, rel=0.001)
    carry_out(owned, **UNWIND, account=owned.safe.address, percent_to_unwind=100, flash_provider=lender)
    assert held(owned) is None
    assert allowances(owned) == [0] * 6
    # Two swaps there and back, and the loans' fees, are all it cost.
    assert owned.balance("WETH") > before - 2 * ETH // 50


def test_a_leverage_that_the_floor_forbids_is_refused_with_the_most_that_is(owned: SafeGolem) -> None:
    give_callback(owned)
    with pytest.raises(GolemError) as refused:
        owned.live.preview(**LOOP, target_leverage="3", flash_provider="morpho")
    assert refused.value.code == "LEVERAGE_OUT_OF_REACH"
    assert 2 < float(refused.value.data["most"]) < 2.4


def test_an_account_that_runs_no_steps_is_refused_and_told_which_does(owned: SafeGolem) -> None:
    with pytest.raises(GolemError) as refused:
        owned.live.preview(**LOOP, target_leverage="2", flash_provider="morpho")
    assert refused.value.code == "FLASH_LOAN_NEEDS_CONTRACT" and "LoanCallback" in refused.value.data["can"]
    # A handler that says yes to everything is not one.
    world, handler = owned.live.world, give_callback(owned)
    world.rpc.call("anvil_setCode", handler, "0x600160005260206000f3")
    with pytest.raises(GolemError) as refused:
        owned.live.preview(**LOOP, target_leverage="2", flash_provider="morpho")
    assert refused.value.code == "FLASH_LOAN_NEEDS_CONTRACT"


def test_a_plain_account_is_refused(live_golem: LiveGolem) -> None:
    include(live_golem, "lending_execute_leverage_loop")
    with pytest.raises(GolemError) as refused:
        live_golem.preview(**LOOP | {"initial_amount": str(ETH // 2)}, target_leverage="2", flash_provider="morpho")
    assert refused.value.code == "FLASH_LOAN_NEEDS_CONTRACT" and refused.value.data["account_kind"] == "plain"


def test_what_runs_the_steps_has_to_be_listed_as_every_contract(owned: SafeGolem) -> None:
    contract = give_callback(owned, is_listed=False)
    with pytest.raises(GolemError) as refused:
        owned.live.preview(**LOOP, target_leverage="2", flash_provider="morpho")
    assert refused.value.code == "SAFETY_ADDRESS_NOT_ALLOWED"
    assert [each["address"] for each in refused.value.data["not_listed"]] == [contract]


def test_a_contract_that_is_called_within_the_loan_has_to_be_listed_too(owned: SafeGolem) -> None:
    give_callback(owned)
    pool = owned.live.world.protocols["aave_v3"]["pool"]
    AllowlistEntry.objects.filter(golem=owned.live.golem, address=pool).delete()
    with pytest.raises(GolemError) as refused:
        owned.live.preview(**LOOP, target_leverage="2", flash_provider="morpho")
    assert refused.value.code == "SAFETY_ADDRESS_NOT_ALLOWED"
    assert {each["address"] for each in refused.value.data["not_listed"]} == {pool}


def test_the_guardian_reads_every_byte_within_a_loan(owned: SafeGolem) -> None:
    contract = give_callback(owned)
    row = owned.live.permit(owned.live.preview(**LOOP, target_leverage="2", flash_provider="morpho")["permit_id"])
    announced, asked, *rest = decode_calls(row.batch)
    chain = make_context(owned.live.world, address=owned.safe.address).chain()
    account = owned.safe.address

    def read(*calls: Call) -> Any:
        return read_calls(calls, account=account, chain=chain)

    effects = read(announced, asked, *rest)
    assert effects.lent and effects.changes
    # Announced and not asked for, asked for and not announced, or asked for with another word in it.
    for calls in ((announced,), (asked,), (announced, replace(asked, data=asked.data[:-1] + b"\x01"))):
        with pytest.raises(UnknownCall):
            read(*calls)
    # Steps that nobody can read, steps that announce steps, and a contract that is not the account's own.
    lender = asked.to
    nested = run_within(
        [announced],
        handler=contract,
        account=account,
        lender=lender,
        ask=lambda data: Call(lender, encode_call("function flashLoan(address,uint256,bytes)", USDC, 1, data), 0, ""),
        label="",
    )
    with pytest.raises(UnknownCall, match="steps of their own"):
        unfold(nested)
    with pytest.raises(UnknownCall, match="not whole"):
        unfold(
            (
                Call(contract, encode_call(ANNOUNCE, lender, b"\x05") + bytes.fromhex(account[2:]), 0, ""),
                Call(lender, b"\x00\x00\x00\x00\x05", 0, ""),
            )
        )
    with pytest.raises(UnknownCall, match="is not what runs"):
        read(replace(announced, to="0x" + "44" * 20), asked)
    with pytest.raises(UnknownCall, match="as those of another account"):
        read(replace(announced, data=announced.data[:-20] + bytes.fromhex(lender[2:])), asked)


USDC = "0x" + "22" * 20


def test_nobody_else_runs_anything_through_the_callback(owned: SafeGolem) -> None:
    give_callback(owned)
    world, safe = owned.live.world, owned.safe.address
    permit = owned.live.permit(owned.live.preview(**LOOP, target_leverage="2", flash_provider="aave_v3")["permit_id"])
    asked = decode_calls(permit.batch)[1]
    stranger = world.new_account(ETH)
    before = [owned.balance(symbol) for symbol in ("WETH", "USDC")]
    # The very loan that the Safe would take, asked for by a stranger in its name.
    receipt = world.send(stranger, asked.to, "0x" + asked.data.hex(), gas=5_000_000)
    assert receipt["status"] == "0x0"
    # And the callback itself, called by hand.
    call = encode_call("function onMorphoFlashLoan(uint256,bytes)", 0, asked.data[-640:])
    assert world.send(stranger, safe, "0x" + call.hex(), gas=5_000_000)["status"] == "0x0"
    assert [owned.balance(symbol) for symbol in ("WETH", "USDC")] == before

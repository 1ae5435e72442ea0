"""Sky's savings (simulated contract): the rate that is paid, what a share becomes, the way out, and who changes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from golem_project.cage_set_up.deployment import build_valuer
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.protocols.erc4626 import SSR
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import valuer_rule
from tests.contracts.test_valuers import WorldCage
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import make_live_golem
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.portfolio.holdings import measure_holdings
from tools_app.protocols.erc4626.addresses import SAVINGS, find_savings
from tools_app.protocols.erc4626.protocol import PROTOCOL
from tools_app.protocols.erc4626.savings import yearly_ppm
from tools_app.protocols.erc4626.savings_tools import vault_get_savings
from tools_app.protocols.erc4626.yields import list_yields
from tools_app.standards.erc4626 import Vault
from tools_app.standards.rays import RAY, SECONDS_PER_YEAR
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.yields import YieldKind

pytestmark = pytest.mark.protocols("erc4626")
WAD = 10**18
YEAR = 365 * 86_400


def the_savings() -> Vault:
    found = find_savings(CHAIN_ID)
    assert found is not None
    return found


@pytest.fixture
def saver(chain: World) -> Golem:
    """Has 10,000 DAI in savings."""
    load_registry()
    golem = Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 20_000 * WAD}))
    golem.act("vault_deposit", vault=the_savings().address, amount=str(10_000 * WAD))
    return golem


def rate_of(golem: Golem) -> str:
    return str(vault_get_savings(make_context(golem.chain, address=golem.address)).savings_rate)


def set_rate(chain: World, ssr: int) -> None:
    word = b"ssr".ljust(32, b"\0")
    chain.transact(derive_account("erc4626 deployer"), the_savings().address, "file(bytes32,uint256)", word, ssr)


def pass_time(chain: World, seconds: int) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("evm_mine")


def test_a_rate_a_second_becomes_one_a_year_with_interest_on_interest() -> None:
    assert (yearly_ppm(RAY), yearly_ppm(SSR)) == (0, 45_000)
    told = round(((SSR / RAY) ** SECONDS_PER_YEAR - 1) * 10**6)
    assert abs(yearly_ppm(SSR) - told) <= 1


def test_what_is_saved_grows_by_the_rate_that_is_told_and_comes_back_whole(chain: World, saver: Golem) -> None:
    assert rate_of(saver) == "4.5"
    (before,) = saver.positions()
    assert before.label == "sUSDS (Sky savings) (simulated contract)"
    pass_time(chain, YEAR)
    (position,) = saver.positions()
    grown = position.raw_of(the_savings().asset)
    assert abs(grown - 10_450 * WAD) * 10**6 <= grown
    done = saver.act("vault_withdraw", vault=the_savings().address, shares="max")
    assert abs(done.plan.receives[0].expected - grown) * 10**6 <= grown
    assert saver.positions() == () and chain.rpc.balance_of(the_savings().asset, saver.address) >= 20_449 * WAD


@pytest.mark.django_db
def test_it_is_compared_at_its_rate_beside_others(chain: World, saver: Golem) -> None:
    reader = make_context(chain, address=saver.address).chain()
    [offer] = list_yields(reader, the_savings().asset)
    assert (offer.kind, offer.yearly_ppm, offer.place) == (YieldKind.SAVINGS, 45_000, the_savings().address)
    others = {(each.kind, each.yearly_ppm) for each in list_yields(reader, chain.tokens["USDC"].address)}
    assert others == {(YieldKind.VAULT, None)}, "other vaults tell no rate"


def test_a_rate_that_is_changed_or_taken_to_nothing_is_told_at_once_and_takes_nothing_back(
    chain: World, saver: Golem
) -> None:
    pass_time(chain, YEAR // 2)
    (before,) = saver.positions()
    set_rate(chain, RAY)
    assert rate_of(saver) == "0"
    pass_time(chain, YEAR)
    (after,) = saver.positions()
    held = before.raw_of(the_savings().asset)
    assert held <= after.raw_of(the_savings().asset) <= held * 1_000_001 // 1_000_000
    saver.act("vault_withdraw", vault=the_savings().address, shares="max")
    assert saver.positions() == ()


def test_a_donation_moves_no_share_of_it(chain: World, saver: Golem) -> None:
    (before,) = saver.positions()
    donor, dai = chain.new_account(WAD, {"DAI": 500_000 * WAD}), the_savings().asset
    chain.transact(donor, dai, "transfer(address,uint256)", the_savings().address, 500_000 * WAD)
    (after,) = saver.positions()
    held = before.raw_of(dai)
    assert held <= after.raw_of(dai) <= held * 1_000_001 // 1_000_000


def test_a_stranger_who_has_interest_added_first_changes_no_plan(chain: World, saver: Golem) -> None:
    pass_time(chain, YEAR // 12)
    entering = saver.plan("vault_deposit", vault=the_savings().address, amount=str(1_000 * WAD))
    leaving = saver.plan("vault_withdraw", vault=the_savings().address, shares="max")
    chain.transact(chain.new_account(WAD), the_savings().address, "drip()")
    for plan in (entering, leaving):
        saver.check_measured(plan)


def test_shares_that_a_stranger_sends_count_and_leave_with_the_others(chain: World, saver: Golem) -> None:
    (before,) = saver.positions()
    giver = Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 1_000 * WAD}))
    giver.act("vault_deposit", vault=the_savings().address, amount=str(1_000 * WAD))
    given = chain.rpc.balance_of(the_savings().address, giver.address)
    chain.transact(giver.account, the_savings().address, "transfer(address,uint256)", saver.address, given)
    (after,) = saver.positions()
    more = after.raw_of(the_savings().asset) - before.raw_of(the_savings().asset)
    assert 999 * WAD < more < 1_001 * WAD
    saver.act("vault_withdraw", vault=the_savings().address, shares="max")
    assert saver.positions() == () and chain.rpc.balance_of(the_savings().address, saver.address) == 0


def test_a_loss_between_plan_and_call_refuses_what_would_leave_for_less(chain: World, saver: Golem) -> None:
    plan = saver.plan("vault_withdraw", vault=the_savings().address, shares="max")
    # As if Sky had taken a tenth of what a share stands for.
    slot = next(
        number
        for number in range(12)
        if int(chain.rpc.call("eth_getStorageAt", the_savings().address, hex(number), "latest"), 16) % 2**192
        == chain.rpc.read(the_savings().address, "chi()", returns="(uint192)")[0]
    )
    word = int(chain.rpc.call("eth_getStorageAt", the_savings().address, hex(slot), "latest"), 16)
    chi = word % 2**192
    lowered = "0x" + (word - chi + chi * 9 // 10).to_bytes(32, "big").hex()
    chain.rpc.call("anvil_setStorageAt", the_savings().address, "0x" + slot.to_bytes(32, "big").hex(), lowered)
    with pytest.raises(AssertionError):
        saver.check_measured(plan)


def test_a_halt_takes_all_of_it_out_with_calls_that_a_halted_golem_may_sign(chain: World, saver: Golem) -> None:
    assert PROTOCOL.exits is not None
    (position,) = saver.positions()
    step = PROTOCOL.exits.next_step(position, {}, chain.timestamp())
    assert isinstance(step, Act) and step.tool == "vault_withdraw"
    assert step.params["vault"] == the_savings().address and step.params["shares"] == "max"
    plan = saver.plan("vault_withdraw", vault=the_savings().address, shares="max")
    leaving = {PROTOCOL.address(CHAIN_ID, each.key) for each in PROTOCOL.leaving}
    assert {call.to for call in plan.calls} <= leaving


def test_what_is_saved_counts_at_its_asset_and_a_cage_has_a_valuer_for_it(chain: World, saver: Golem) -> None:
    reader = make_context(chain, address=saver.address).chain()
    held = measure_holdings(chain=reader, account=saver.address, marks_of=lambda *_: {})
    (position,) = held.positions
    assert position.micro_usd is not None and abs(position.micro_usd - 10_000 * 10**6) < 10**6
    assert SAVINGS in {each.subject for each in PROTOCOL.valuers}


def test_a_cage_s_valuer_counts_what_is_saved_as_the_product_does(chain: World, saver: Golem) -> None:
    reader = make_context(chain, address=saver.address).chain()
    [valuer] = [each for at, each in SHELF.valuers_on(CHAIN_ID) if at == the_savings().address]
    made = chain.send(chain.actors.deployer, None, "0x" + build_valuer(reader, valuer).hex())["contractAddress"]
    told = [chain.rpc.read(made, view, returns="(address)")[0] for view in ("subject()", "underlying()")]
    assert told == [the_savings().address.lower(), the_savings().asset.lower()]
    cage = WorldCage(chain, [valuer_rule(the_savings().address, made)], saver.account)
    pass_time(chain, YEAR)
    for token in chain.tokens.values():
        if token.feed:
            (price,) = chain.rpc.read(token.feed, "latestAnswer()", returns="(int256)")
            chain.transact(chain.actors.deployer, token.feed, "setAnswer(int256)", price)
    measured = cage.read(cage.cage, FUNCTIONS["measure"])[0]
    (position,) = saver.positions()
    saved = position.raw_of(the_savings().asset)
    assert saved > 10_449 * WAD
    # DAI's feed tells a dollar: a micro-dollar is a million millionth of it.
    gross, debt = measured[2][1], measured[3][1]
    assert (abs(gross - saved // 10**12) <= 1, debt) == (True, 0)


def test_shares_of_somebody_else_and_other_takers_are_a_veto(chain: World, saver: Golem) -> None:
    assert PROTOCOL.effects is not None
    reader = make_context(chain, address=saver.address).chain()
    plan = saver.plan("vault_withdraw", vault=the_savings().address, shares="max")
    (call,) = plan.calls
    stranger, own = bytes.fromhex("55" * 20), bytes.fromhex(saver.address[2:])
    PROTOCOL.effects.read(call, earlier=(), account=saver.address, chain=reader, into=Effects())
    owner_at = call.data.rindex(own)
    stolen = call.data[:owner_at] + stranger + call.data[owner_at + 20 :]
    for changed in (replace(call, data=stolen), replace(call, value=1), Call(call.to, call.data + b"\0", 0, "")):
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(changed, earlier=(), account=saver.address, chain=reader, into=Effects())


@pytest.mark.django_db(transaction=True)
def test_its_calls_are_on_the_allowlist_that_is_suggested(local_chain: World) -> None:
    live = make_live_golem(local_chain)
    assert the_savings().address in {each.address for each in suggest_allowlist(live.golem.home_chain_id)}

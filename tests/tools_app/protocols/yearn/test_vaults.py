"""Yearn V3 vaults: unreported losses, strategies that cannot give, profit that unlocks, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import decode_input, encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.yearn.positions import EXIT_LOSS_BPS
from tools_app.protocols.yearn.protocol import PROTOCOL
from tools_app.protocols.yearn.tools import REDEEM
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, Wait

pytestmark = pytest.mark.protocols("yearn")
WAD, USD, DAY = 10**18, 10**6, 86_400
VAULT = str(PROTOCOL.address(CHAIN_ID, "yv_usdc"))
PUT = {"vault": VAULT, "amount": str(10_200 * USD)}
ALL = {"vault": VAULT, "shares": "max"}


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(WAD, {"USDC": 20_000 * USD}))


def as_admin(chain: World, signature: str, *args: Any) -> None:
    chain.transact(derive_account("yearn deployer"), VAULT, signature, *args)


def earn(chain: World, dollars: int, *, days: int) -> None:
    """A strategy reports a gain, which unlocks over so many days."""
    admin = derive_account("yearn deployer")
    giver = chain.new_account(WAD, {"USDC": dollars * USD})
    usdc = chain.tokens["USDC"].address
    chain.transact(giver, usdc, "transfer(address,uint256)", admin.address, dollars * USD)
    chain.transact(admin, usdc, "approve(address,uint256)", VAULT, dollars * USD)
    as_admin(chain, "process_report(uint256,uint256,uint256)", dollars * USD, 0, days * DAY)


def lend_all_out(chain: World) -> None:
    (all_in,) = chain.rpc.read(VAULT, "totalAssets()", returns="(uint256)")
    as_admin(chain, "update_debt(uint256)", all_in)


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def pass_time(chain: World, seconds: int) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("evm_mine")


def stand_beside(chain: World) -> LocalAccount:
    """Somebody else, with 20,000 USDC in the vault."""
    stranger, usdc = chain.new_account(WAD, {"USDC": 20_000 * USD}), chain.tokens["USDC"].address
    chain.transact(stranger, usdc, "approve(address,uint256)", VAULT, 20_000 * USD)
    chain.transact(stranger, VAULT, "deposit(uint256,address)", 20_000 * USD, stranger.address)
    return stranger


def step(golem: Golem) -> Any:
    (position,) = golem.positions()
    assert PROTOCOL.exits is not None
    return PROTOCOL.exits.next_step(position, {}, golem.chain.timestamp())


def test_profit_unlocks_and_comes_back_with_the_deposit(chain: World, golem: Golem) -> None:
    assert chain.protocols["yearn"] == {"yv_usdc": VAULT}
    golem.act("yearn_deposit", **PUT)
    earn(chain, 10_302, days=10)
    told = answer_of(make_context(chain, address=golem.address), "yearn_get_position")
    (held,) = told["positions"]
    # Locked profit counts for nobody yet.
    assert int(held["assets_value"]) in range(10_200 * USD - 2, 10_200 * USD + 2)
    assert held["apy"] != "0" and told["total_value_usd"] == "$10,200.00"
    pass_time(chain, 11 * DAY)
    told = answer_of(make_context(chain, address=golem.address), "yearn_get_position")
    (held,) = told["positions"]
    # A hundred and first part of the vault is the golem's, and of its profit.
    assert int(held["yield_earned"]) in range(102 * USD - 3, 102 * USD + 1) and held["apy"] == "0"
    left = golem.act("yearn_withdraw", **ALL)
    assert left.deltas[chain.tokens["USDC"].address] in range(10_302 * USD - 4, 10_302 * USD + 1)
    assert golem.positions() == ()


def test_the_rate_is_what_unlocks_a_year_long_by_hand(chain: World, golem: Golem) -> None:
    earn(chain, 10_200, days=10)
    (row,) = answer_of(make_context(chain, address=golem.address), "yearn_get_vaults")["vaults"]
    # One percent in ten days is 36.50 a year of shares, and shares are what burns.
    assert 36 * 100 <= round(float(row["apy"]) * 100) <= 37 * 100, row
    assert row["apy_7d"] is None and row["apy_30d"] is None
    assert row["tvl"] == str(1_030_200 * USD) and row["strategy_type"] == "single" and row["risks"] == []


def test_the_list_is_narrowed_by_asset_rate_and_size(chain: World, golem: Golem) -> None:
    def rows(**params: Any) -> list[Any]:
        context = make_context(chain, address=golem.address)
        found: list[Any] = answer_of(context, "yearn_get_vaults", **params)["vaults"]
        return found

    assert len(rows(asset="USDC")) == 1 and rows(asset="DAI") == []
    assert len(rows(min_tvl="1000000")) == 1 and rows(min_tvl="2000000") == []
    assert len(rows(min_apy="0")) == 1 and rows(min_apy="0.01") == []


def test_a_loss_that_nobody_reported_is_told_before_anybody_leaves_with_it(chain: World, golem: Golem) -> None:
    golem.act("yearn_deposit", **PUT)
    lend_all_out(chain)
    as_admin(chain, "suffer(uint256,uint256)", 30, 0)
    error = refused(golem, "yearn_withdraw", **ALL)
    assert error.code == "LOSS_ON_WITHDRAWAL" and error.data["without_loss"] == "0"
    assert refused(golem, "yearn_withdraw", **ALL, max_loss_bps=29).code == "LOSS_ON_WITHDRAWAL"
    left = golem.act("yearn_withdraw", **ALL, max_loss_bps=30)
    gone = 10_200 * USD - left.deltas[chain.tokens["USDC"].address]
    assert gone in range(10_200 * USD * 30 // 10_000 - 2, 10_200 * USD * 30 // 10_000 + 4)


def test_every_way_out_says_how_much_loss_is_taken(chain: World, golem: Golem) -> None:
    golem.act("yearn_deposit", **PUT)
    plan = golem.plan("yearn_withdraw", **ALL, max_loss_bps=7)
    assert decode_input(REDEEM, plan.calls[-1].data)[3] == 7
    assert plan.receives[0].bound <= plan.receives[0].expected * 9_993 // 10_000
    # A loss of a third between plan and call refuses it.
    lend_all_out(chain)
    as_admin(chain, "suffer(uint256,uint256)", 3_000, 0)
    with pytest.raises(AssertionError):
        golem.check_measured(plan)


def test_what_strategies_cannot_give_is_locked_and_leaves_in_parts(chain: World, golem: Golem) -> None:
    golem.act("yearn_deposit", **PUT)
    lend_all_out(chain)
    (debt,) = chain.rpc.read(VAULT, "totalDebt()", returns="(uint256)")
    as_admin(chain, "suffer(uint256,uint256)", 0, debt - 4_080 * USD)
    (position,) = golem.positions()
    assert [each.reason for each in position.locked] == ["used"]
    assert position.locked[0].raw in range(6_120 * USD - 2, 6_120 * USD + 2)
    error = refused(golem, "yearn_withdraw", **ALL)
    assert error.code == "VAULT_CLOSED" and error.data["room"] == str(4_080 * USD)
    part = step(golem)
    assert isinstance(part, Act) and part.params["shares"] == str(4_000 * USD)
    assert part.params["max_loss_bps"] == EXIT_LOSS_BPS
    golem.act(part.tool, **{key: value for key, value in part.params.items() if key != "chain_id"})
    assert isinstance(step(golem), Wait)
    # Whoever cannot get out puts nothing more in.
    assert refused(golem, "yearn_deposit", **PUT).code == "VAULT_CLOSED"


def test_a_vault_that_is_full_or_shut_down_takes_nothing_and_says_so(chain: World, golem: Golem) -> None:
    as_admin(chain, "set_deposit_limit(uint256)", 1_020_000 * USD)
    assert refused(golem, "yearn_deposit", **PUT).code == "VAULT_CLOSED"
    as_admin(chain, "set_deposit_limit(uint256)", 2_000_000 * USD)
    golem.act("yearn_deposit", **PUT)
    as_admin(chain, "shutdown_vault()")
    (row,) = answer_of(make_context(chain, address=golem.address), "yearn_get_vaults")["vaults"]
    assert any("shut down" in each for each in row["risks"])
    assert refused(golem, "yearn_deposit", **PUT).code == "VAULT_CLOSED"
    golem.act("yearn_withdraw", **ALL)


def test_a_gift_to_the_vault_changes_no_price(chain: World, golem: Golem) -> None:
    golem.act("yearn_deposit", **PUT)
    (before,) = golem.positions()
    giver = chain.new_account(WAD, {"USDC": 500_000 * USD})
    chain.transact(giver, chain.tokens["USDC"].address, "transfer(address,uint256)", VAULT, 500_000 * USD)
    (after,) = golem.positions()
    assert after.legs == before.legs


def test_a_stranger_who_takes_out_first_what_is_idle_refuses_the_plan_and_leaves_a_part(
    chain: World, golem: Golem
) -> None:
    golem.act("yearn_deposit", **PUT)
    stranger = stand_beside(chain)
    (all_in,) = chain.rpc.read(VAULT, "totalAssets()", returns="(uint256)")
    as_admin(chain, "update_debt(uint256)", all_in - 15_000 * USD)
    as_admin(chain, "suffer(uint256,uint256)", 0, all_in - 15_000 * USD)
    plan = golem.plan("yearn_withdraw", **ALL)
    assert golem.simulate(plan).succeeded
    take = "redeem(uint256,address,address,uint256)"
    chain.transact(stranger, VAULT, take, 10_000 * USD, stranger.address, stranger.address, 0)
    assert not golem.simulate(plan).succeeded
    (position,) = golem.positions()
    assert position.locked[0].raw in range(5_400 * USD - 2, 5_400 * USD + 2)
    part = step(golem)
    assert isinstance(part, Act) and int(part.params["shares"]) // USD == 4_705


def test_shares_that_a_stranger_sends_leave_with_the_others(chain: World, golem: Golem) -> None:
    golem.act("yearn_deposit", **PUT)
    chain.transact(stand_beside(chain), VAULT, "transfer(address,uint256)", golem.address, 5)
    golem.act("yearn_withdraw", **ALL)
    assert golem.positions() == ()


def test_foreign_bytes_and_ways_out_that_take_any_loss_are_a_veto(chain: World, golem: Golem) -> None:
    golem.act("yearn_deposit", **PUT)
    reader = make_context(chain, address=golem.address).chain()
    other, own = "0x" + "66" * 20, golem.address
    for data, value in (
        (encode_call("function redeem(uint256,address,address)", 5, own, own), 0),
        (encode_call(REDEEM, 5, own, other, 0), 0),
        (encode_call(REDEEM, 5, own, own, 10_001), 0),
        (encode_call(REDEEM, 5, own, own, 0) + b"\0", 0),
        (encode_call(REDEEM, 5, own, own, 0), 1),
        (encode_call("function deposit(uint256,address)", 5, other), 0),
        (encode_call("function update_debt(uint256)", 5), 0),
    ):
        with pytest.raises(UnknownCall):
            assert PROTOCOL.effects is not None
            call = Call(VAULT, data, value, "")
            PROTOCOL.effects.read(call, earlier=(), account=own, chain=reader, into=Effects())


def test_a_vault_with_little_idle_is_told_as_a_risk_at_one_percent(chain: World, golem: Golem) -> None:
    def risks() -> list[str]:
        (row,) = answer_of(make_context(chain, address=golem.address), "yearn_get_vaults")["vaults"]
        found: list[str] = row["risks"]
        return found

    (all_in,) = chain.rpc.read(VAULT, "totalAssets()", returns="(uint256)")
    as_admin(chain, "update_debt(uint256)", all_in - all_in // 100)
    assert not any("nearly all" in each for each in risks())
    as_admin(chain, "update_debt(uint256)", all_in - all_in // 100 + 1)
    assert any("nearly all" in each for each in risks())

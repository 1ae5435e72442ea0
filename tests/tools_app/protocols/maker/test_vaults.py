"""Vaults at Maker's interface: open, fill, draw and close as planned, to the wad, with the fee of every second."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tests.tools_app.factories import make_context, report_of, view_receipt
from tests.tools_app.protocols.measured import Golem
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError, InsufficientBalance, InvalidParams
from tools_app.protocols.maker_sky import tools  # noqa: F401  declares the tools
from tools_app.protocols.maker_sky.addresses import deployments
from tools_app.protocols.maker_sky.errors import DebtTooSmall, PriceDisagrees, VaultNotFound
from tools_app.protocols.maker_sky.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.lending import MarketClosed, NothingThere
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, HealthTooLow, NeedsTrade

pytestmark = pytest.mark.protocols("maker")
WAD = 10**18


def make_golem(chain: World, **tokens: int) -> Golem:
    held = tokens or {"WETH": 50 * WAD, "DAI": 5_000 * WAD}
    return Golem(chain, PROTOCOL, chain.new_account(5 * WAD, held))


def open_vault(golem: Golem, *, ink: int = 0, drawn: int = 0, kind: str = "ETH-A") -> str:
    vault_id = str(report_of("maker_open_vault", golem.act("maker_open_vault", collateral_type=kind))["vault_id"])
    if ink:
        golem.act("maker_deposit_collateral", vault_id=vault_id, amount=str(ink))
    if drawn:
        golem.act("maker_generate_dai", vault_id=vault_id, dai_amount=str(drawn))
    return vault_id


def refuse(golem: Golem, error: type[GolemError], tool: str, **params: Any) -> GolemError:
    with pytest.raises(error) as refused:
        golem.plan(tool, **params)
    return refused.value


def pass_time(chain: World, seconds: int) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("evm_mine")


def set_price(chain: World, dollars: int) -> None:
    chain.transact(chain.actors.deployer, chain.tokens["WETH"].feed, "setAnswer(int256)", dollars * 10**8)


def test_a_vault_lives_from_open_to_close(chain: World) -> None:
    golem = make_golem(chain)
    vault_id = open_vault(golem)
    assert golem.positions() == ()
    put = golem.act("maker_deposit_collateral", vault_id=vault_id, amount=str(10 * WAD))
    assert put.plan.action_class is ActionClass.NEW_POSITION
    report = report_of("maker_deposit_collateral", put)
    assert (report["total_collateral"], report["collateralization_ratio"]) == (str(10 * WAD), None)
    drawn = golem.act("maker_generate_dai", vault_id=vault_id, dai_amount=str(10_000 * WAD))
    assert drawn.plan.collateral_ratio_bps == 30_000
    report = report_of("maker_generate_dai", drawn)
    assert (report["dai_generated"], report["collateralization_ratio"]) == (str(10_000 * WAD), "300.00")
    assert (report["liquidation_price"], report["stability_fee"]) == ("1450", "4.99")
    (position,) = golem.positions()
    assert position.label == f"Maker vault {vault_id} (ETH-A)"
    assert position.health_bps is not None and 20_680 <= position.health_bps <= 20_690
    assert [leg.cover_bps for leg in position.legs] == [6_896, 0]

    pass_time(chain, 86_400)
    closed = golem.act("maker_close_vault", vault_id=vault_id)
    report = report_of("maker_close_vault", closed)
    assert int(report["dai_repaid"]) > 10_001 * WAD
    assert report["collateral_withdrawn"] == str(10 * WAD)
    assert golem.positions() == ()
    assert chain.rpc.balance_of(chain.tokens["WETH"].address, golem.address) == 50 * WAD
    refuse(golem, NothingThere, "maker_close_vault", vault_id=vault_id)


def test_300_days_of_the_fee_are_told_as_the_contract_counts_them(chain: World) -> None:
    golem, place = make_golem(chain), deployments(31337) or {}
    vault_id = open_vault(golem, ink=10 * WAD, drawn=5_000 * WAD)
    pass_time(chain, 300 * 86_400)
    before = chain.timestamp()
    (told,) = golem.positions()
    chain.transact(golem.account, place["jug"], "drip(bytes32)", b"ETH-A".ljust(32, b"\0"))
    (counted,) = golem.positions()
    owed = -told.raw_of(chain.tokens["DAI"].address)
    assert 5_200 * WAD < owed < 5_206 * WAD
    seconds = chain.timestamp() - before
    assert 0 <= -counted.raw_of(chain.tokens["DAI"].address) - owed <= owed * seconds // 10**8
    chain.fund(golem.address, 0, {"DAI": 1_000 * WAD})
    golem.act("maker_close_vault", vault_id=vault_id)
    assert golem.positions() == ()


def test_a_ratio_under_two_hundred_percent_is_refused_with_the_most_that_passes(chain: World) -> None:
    golem = make_golem(chain)
    vault_id = open_vault(golem, ink=10 * WAD)
    refused = refuse(golem, HealthTooLow, "maker_generate_dai", vault_id=vault_id, dai_amount=str(15_001 * WAD))
    # At 145%, which covers 68.96%, a health of 1.5 and two basis points for interest asks for 217.55%.
    most = int(refused.data["most"])
    assert refused.data["least_ratio_bps"] == "21755" and 13_789 * WAD < most < 13_791 * WAD
    golem.act("maker_generate_dai", vault_id=vault_id, dai_amount=str(most))
    (position,) = golem.positions()
    assert position.health_bps is not None and position.health_bps >= 15_000
    refuse(golem, HealthTooLow, "maker_generate_dai", vault_id=vault_id, dai_amount=str(WAD))
    other = open_vault(golem, ink=10 * WAD, kind="ETH-C")
    refused = refuse(golem, HealthTooLow, "maker_generate_dai", vault_id=other, dai_amount=str(15_000 * WAD))
    assert refused.data["least_ratio_bps"] == "25505"
    assert len(golem.positions()) == 2


def test_dust_ceilings_strangers_and_stale_prices_are_refused(chain: World) -> None:
    golem, stranger = make_golem(chain), make_golem(chain)
    vault_id = open_vault(golem, ink=10 * WAD)
    assert refuse(golem, DebtTooSmall, "maker_generate_dai", vault_id=vault_id, dai_amount=str(99 * WAD)).data["least"]
    for tool, params in (
        ("maker_deposit_collateral", {"amount": "1"}),
        ("maker_generate_dai", {"dai_amount": str(WAD)}),
        ("maker_close_vault", {}),
    ):
        refuse(stranger, VaultNotFound, tool, vault_id=vault_id, **params)
        refuse(golem, VaultNotFound, tool, vault_id="999", **params)
    refuse(golem, InvalidParams, "maker_open_vault", collateral_type="USDC-A")
    refuse(golem, InsufficientBalance, "maker_deposit_collateral", vault_id=vault_id, amount=str(41 * WAD))
    set_price(chain, 2_700)
    refuse(golem, PriceDisagrees, "maker_generate_dai", vault_id=vault_id, dai_amount=str(1_000 * WAD))
    place = deployments(31337) or {}
    ilk = b"ETH-A".ljust(32, b"\0")
    chain.transact(golem.account, place["spot"], "poke(bytes32)", ilk)
    golem.act("maker_generate_dai", vault_id=vault_id, dai_amount=str(1_000 * WAD))
    deployer = derive_account("maker deployer")
    line = (2_001_500 * 10**45).to_bytes(32, "big")
    chain.transact(
        deployer, place["vat"], "file(bytes32,bytes32,uint256)", ilk, b"line".ljust(32, b"\0"), int.from_bytes(line)
    )
    closed = refuse(golem, MarketClosed, "maker_generate_dai", vault_id=vault_id, dai_amount=str(1_000 * WAD))
    assert closed.data["reason"] == "ceiling" and int(closed.data["room"]) < 500 * WAD


def test_the_way_out_says_how_much_dai_is_missing_and_closes_with_it(chain: World) -> None:
    golem = make_golem(chain, WETH=10 * WAD)
    open_vault(golem, ink=10 * WAD, drawn=1_000 * WAD)
    dai = chain.tokens["DAI"].address
    chain.transact(golem.account, dai, "transfer(address,uint256)", chain.actors.makers[0].address, 600 * WAD)
    (position,) = golem.positions()
    assert PROTOCOL.exits is not None
    step = PROTOCOL.exits.next_step(position, {dai: 0}, chain.timestamp())
    assert isinstance(step, NeedsTrade) and step.token == dai and 1_000 * WAD < step.raw < 1_001 * WAD
    refuse(golem, InsufficientBalance, "maker_close_vault", vault_id=position.ref.id)
    chain.fund(golem.address, 0, {"DAI": 601 * WAD})
    assert golem.leave([dai]) == ["maker_close_vault"]


def test_a_vault_opened_for_the_account_is_found_and_foreign_bytes_are_a_veto(chain: World) -> None:
    golem, place = make_golem(chain), deployments(31337) or {}
    other, me = chain.actors.makers[0].address, golem.address
    vault_id = int(open_vault(golem, ink=WAD))
    receipt = chain.transact(
        golem.account, place["cdp_manager"], "open(bytes32,address)", b"ETH-A".ljust(32, b"\0"), me
    )
    assert PROTOCOL.positions is not None and PROTOCOL.effects is not None
    (ref,) = PROTOCOL.positions.born(view_receipt(receipt).logs, me, 31337)
    assert ref.id == str(vault_id + 1)
    reader, effects = make_context(chain, address=me).chain(), Effects()
    manager, vat, join, jdai = (place[key] for key in ("cdp_manager", "vat", "join_eth_a", "join_dai"))
    vetoed = [
        (manager, encode_call("function frob(uint256,int256,int256)", 1, 0, 5)),
        (manager, encode_call("function flux(uint256,address,uint256)", vault_id, other, 5)),
        (manager, encode_call("function move(uint256,address,uint256)", vault_id, other, 5)),
        (manager, encode_call("function give(uint256,address)", vault_id, other)),
        (manager, encode_call("function open(bytes32,address)", b"ETH-A".ljust(32, b"\0"), other)),
        (manager, encode_call("function frob(uint256,int256,int256)", vault_id, 1, 0) + b"\0"),
        (join, encode_call("function join(address,uint256)", other, 5)),
        (jdai, encode_call("function join(address,uint256)", other, 5)),
        (vat, encode_call("function move(address,address,uint256)", me, other, 5)),
    ]
    for to, data in vetoed:
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(Call(to, data, 0, ""), earlier=(), account=me, chain=reader, into=Effects())
    for to, data in (
        (vat, encode_call("function hope(address)", other)),
        (manager, encode_call("function cdpAllow(uint256,address,uint256)", vault_id, other, 1)),
        (jdai, encode_call("function exit(address,uint256)", other, 5)),
    ):
        PROTOCOL.effects.read(Call(to, data, 0, ""), earlier=(), account=me, chain=reader, into=effects)
    assert [(right.taker, right.amount) for right in effects.rights] == [(other, -1), (other, -1)]
    assert effects.recipients == [other]


def test_a_part_of_a_debt_is_paid_back_and_the_rest_is_nothing_or_more_than_dust(chain: World) -> None:
    golem = make_golem(chain)
    vault_id = open_vault(golem, ink=10 * WAD, drawn=8_000 * WAD)
    (before,) = golem.positions()
    dai = chain.tokens["DAI"].address
    held = chain.rpc.balance_of(dai, golem.address)
    paid = golem.act("maker_repay_dai", vault_id=vault_id, dai_amount=str(3_000 * WAD))
    assert paid.plan.action_class is ActionClass.DECREASE_POSITION
    report = report_of("maker_repay_dai", paid)
    assert report["dai_repaid"] == str(3_000 * WAD)
    assert 5_000 * WAD <= int(report["debt_remaining"]) < 5_001 * WAD
    assert chain.rpc.balance_of(dai, golem.address) == held - 3_000 * WAD
    (after,) = golem.positions()
    assert before.health_bps is not None and after.health_bps is not None and after.health_bps > before.health_bps
    assert 2_999 * WAD < after.raw_of(dai) - before.raw_of(dai) <= 3_000 * WAD
    refused = refuse(golem, DebtTooSmall, "maker_repay_dai", vault_id=vault_id, dai_amount=str(4_950 * WAD))
    assert 4_899 * WAD < int(refused.data["most"]) < 4_901 * WAD
    golem.act("maker_repay_dai", vault_id=vault_id, dai_amount=str(refused.data["most"]))
    empty = open_vault(golem)
    refuse(golem, NothingThere, "maker_repay_dai", vault_id=empty, dai_amount="1")
    golem.act("maker_close_vault", vault_id=vault_id)
    assert golem.positions() == ()


def test_a_way_out_pays_what_is_there_before_it_asks_for_the_rest(chain: World) -> None:
    golem = make_golem(chain)
    vault_id = open_vault(golem, ink=10 * WAD, drawn=8_000 * WAD)
    (position,) = golem.positions()
    dai = chain.tokens["DAI"].address
    assert PROTOCOL.exits is not None
    step = PROTOCOL.exits.next_step(position, {dai: 2_000 * WAD}, chain.timestamp())
    assert isinstance(step, Act) and step.tool == "maker_repay_dai" and step.params["dai_amount"] == str(2_000 * WAD)
    golem.act(step.tool, **{name: value for name, value in step.params.items() if name != "chain_id"})
    (position,) = golem.positions()
    assert isinstance(PROTOCOL.exits.next_step(position, {dai: 0}, chain.timestamp()), NeedsTrade)
    assert position.ref.id == vault_id

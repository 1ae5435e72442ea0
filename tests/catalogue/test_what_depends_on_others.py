"""What lies at several protocols and depends on one oracle or one issuer is held to one share, as it was measured."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.models import PolicyCage
from tests.catalogue.door import Door
from tests.catalogue.test_what_cannot_be_taken_out import LENDERS, look, position_at, told
from tests.golem_project.heartbeat.pulses import turn_on
from tools_app.portfolio.issuer_and_bridge_risk import list_failures
from tools_app.protocols.lido.addresses import deployments as lido
from tools_app.protocols.maker_sky.addresses import deployments as maker
from tools_app.protocols.morpho_blue.addresses import LOCAL

ETH = 10**18


def set_cage(door: Door, **columns: int) -> None:
    PolicyCage.objects.filter(golem=door.stage.live.golem).update(**columns)


@pytest.mark.protocols("aave_v3", "spark")
def test_an_oracle_that_two_lenders_believe_has_one_share(door: Door) -> None:
    """The first position is born: which oracles it believes, only the simulation tells."""
    set_cage(door, max_oracle_bps=1)
    refused = door.preview("aave_supply", amount=str(ETH))
    assert (refused["rule"], refused["kind"]) == ("policy_cage.max_oracle", "oracle"), refused
    assert refused["recovery"] == "FIX_PARAMS" and "another oracle" in refused["would_pass"]
    holdings = door.stage.holdings()
    weth = next(each for each in holdings.tokens if each.token.symbol == "WETH")
    price = (weth.micro_usd or 0) // (weth.raw // 10**15)
    # Room for one and a half ether at whatever believes it.
    set_cage(door, max_oracle_bps=price * 1_500 * 10_000 // holdings.nav_micro_usd + 1)
    assert door.commit(door.preview("aave_supply", amount=str(ETH)))["status"] == "COMMITTED"
    assert position_at(door, "aave_v3").oracles
    more = door.preview("aave_supply", amount=str(ETH))
    assert more["rule"] == "policy_cage.max_oracle", more
    same = door.preview("spark_supply", amount=str(ETH))
    assert same["rule"] == "policy_cage.max_oracle", same
    # What takes out is bound by none of it.
    set_cage(door, max_oracle_bps=0)
    assert door.preview("aave_withdraw")["status"] == "CREATED"


@pytest.mark.protocols("lido")
def test_a_stake_depends_on_who_issues_it(door: Door) -> None:
    set_cage(door, max_issuer_bps=1)
    refused = door.preview("lido_stake")
    assert (refused["rule"], refused["name"]) == ("policy_cage.max_issuer", "Lido"), refused
    set_cage(door, max_issuer_bps=10_000)
    assert door.commit(door.preview("lido_stake"))["status"] == "COMMITTED"


@pytest.mark.protocols("morpho")
def test_an_oracle_that_falls_silent_is_told_by_the_tick_and_its_market_entered_no_more(door: Door) -> None:
    supply, params, _, _ = LENDERS["morpho"]
    assert door.commit(door.preview(supply, **params))["status"] == "COMMITTED"
    turn_on(door.stage.live.golem, is_live=False)
    look(door)
    assert not told(door)
    oracle = LOCAL["oracle_weth_usdc"]
    rpc = door.stage.world.rpc
    code = rpc.call("eth_getCode", oracle, "latest")
    rpc.call("anvil_setCode", oracle, "0x60006000fd")
    look(door)
    look(door)
    assert [rule.partition(":")[0] for rule in told(door)] == ["oracle failed"]
    more = door.preview(supply, **params)
    assert more["code"] == "MORPHO_ORACLE_UNUSABLE", more
    rpc.call("anvil_setCode", oracle, code)
    look(door)
    assert told(door)[1:] == ["well again"]
    assert door.preview(supply, **params)["status"] == "CREATED"


@pytest.mark.protocols("lido")
def test_an_issuer_that_keeps_what_is_there_is_entered_nowhere(door: Door) -> None:
    assert door.commit(door.preview("lido_stake"))["status"] == "COMMITTED"
    golem = door.stage.live.golem
    before = door.stage.holdings()
    assert not list_failures([before])
    admin, queue = derive_account("lido deployer"), (lido(31337) or {})["queue"]
    door.stage.world.rpc.call("anvil_setBalance", admin.address, hex(10**24))
    door.stage.world.transact(admin, queue, "pauseFor(bool)", True)
    assert [str(each.dependence) for each in list_failures([door.stage.holdings()])] == ["issuer Lido"]
    turn_on(golem, is_live=False)
    look(door)
    assert [rule.partition(":")[0] for rule in told(door)] == ["cannot be taken out now"]


@pytest.mark.protocols("maker")
def test_what_an_issuer_issues_is_bought_nowhere_once_it_failed_and_sold_all_the_same(door: Door) -> None:
    """The exchange takes the order as ever: that the issuer failed is seen in what the golem holds there itself."""

    def swap(given: str, taken: str, amount: int) -> dict[str, Any]:
        asked = {"token_in": given, "token_out": taken, "amount": str(amount)}
        return door.post("preview_action", {"action_type": "swap", "venue": "uniswap", **asked})

    door.do("maker_deposit_collateral")
    assert swap("USDC", "DAI", 100 * 10**6)["http"] == 200
    door.stage.world.transact(derive_account("maker deployer"), (maker(31337) or {})["vat"], "cage()")
    refused = swap("USDC", "DAI", 100 * 10**6)
    assert (refused["rule"], refused["kind"], refused["name"]) == ("policy_cage.issuer_failed", "issuer", "Maker"), (
        refused
    )
    assert refused["recovery"] == "WAIT" and "once that is over" in refused["would_pass"]
    assert "shut down for good" in refused["detail"]
    # It is sold as ever, and what others issue is bought.
    assert swap("DAI", "USDC", 100 * ETH)["http"] == 200
    assert swap("USDC", "WETH", 100 * 10**6)["http"] == 200

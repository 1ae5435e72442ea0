"""The jar of fees: what emptying it brings, who is second, what is refused, and what is told of it as it happens."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.chain.node_errors import CallReverted
from tools_app.core.errors import GolemError
from tools_app.protocols.firepit.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, TxPlan

pytestmark = pytest.mark.protocols("firepit")
WAD = 10**18
JAR, RELEASER = (str(PROTOCOL.address(CHAIN_ID, key)) for key in ("jar", "releaser"))
RELEASE = "release(uint256,address[],address)"


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 10_000 * WAD}))


def refused(golem: Golem, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan("firepit_burn", **params)
    return found.value


def burn(chain: World, who: LocalAccount, *symbols: str) -> None:
    """Somebody else empties the jar."""
    chain.transact(who, chain.tokens["DAI"].address, "approve(address,uint256)", RELEASER, 4_000 * WAD)
    nonce = int(chain.rpc.read(RELEASER, "nonce()", returns="(uint256)")[0])
    chain.transact(who, RELEASER, RELEASE, nonce, [chain.tokens[each].address for each in symbols], who.address)


def read_bytes(chain: World, golem: Golem, data: bytes, *, value: int = 0) -> Effects:
    effects, reader = Effects(), make_context(chain, address=golem.address).chain()
    assert PROTOCOL.effects is not None
    PROTOCOL.effects.read(
        Call(RELEASER, data, value, "burn"), earlier=(), account=golem.address, chain=reader, into=effects
    )
    return effects


def run(chain: World, golem: Golem, plan: TxPlan) -> list[str]:
    return [
        str(chain.send(golem.account, call.to, "0x" + call.data.hex(), value=call.value)["status"])
        for call in plan.calls
    ]


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["firepit"] == {"jar": JAR, "releaser": RELEASER}
    assert PROTOCOL.is_simulated(CHAIN_ID) and not PROTOCOL.is_simulated(1)


def test_a_burn_gives_up_what_it_says_and_brings_all_that_lay_in_the_jar(chain: World, golem: Golem) -> None:
    before = answer_of(make_context(chain, address=golem.address), "firepit_get_tokenjar_balances")
    assert before["surplus_usd"] == "2000.000000"
    outcome = golem.act("firepit_burn", assets=["ETH", "USDC", "WBTC"])
    moved = {outcome.plan.tokens[index].symbol: token for index, token in enumerate(outcome.plan.tokens)}
    assert outcome.deltas[moved["DAI"].address] == -4_000 * WAD
    assert outcome.deltas[moved["USDC"].address] == 1_500 * 10**6
    after = answer_of(make_context(chain, address=golem.address), "firepit_get_tokenjar_balances")
    assert after["balances"] == [] and after["nonce"] == "1" and after["surplus_usd"] == "-4000.000000"


def test_whoever_is_second_pays_nothing_and_is_refused_the_next_time(chain: World, golem: Golem) -> None:
    plan = golem.plan("firepit_burn", assets=["USDC", "WBTC"])
    burn(chain, chain.new_account(WAD, {"DAI": 4_000 * WAD}), "USDC", "WBTC")
    before = chain.rpc.balance_of(chain.tokens["DAI"].address, golem.address)
    assert run(chain, golem, plan)[-1] == "0x0"
    assert chain.rpc.balance_of(chain.tokens["DAI"].address, golem.address) == before
    assert refused(golem, assets=["USDC", "WBTC"]).code == "JAR_HOLDS_NONE"
    with pytest.raises(UnknownCall):
        read_bytes(chain, golem, plan.calls[-1].data)


def test_a_gift_to_the_jar_between_preview_and_commit_comes_along(chain: World, golem: Golem) -> None:
    plan = golem.plan("firepit_burn", assets=["USDC", "WBTC"])
    usdc = chain.tokens["USDC"].address
    chain.transact(chain.new_account(WAD, {"USDC": 7}), usdc, "transfer(address,uint256)", JAR, 7)
    assert set(run(chain, golem, plan)) == {"0x1"}
    assert chain.rpc.balance_of(usdc, golem.address) == 1_500 * 10**6 + 7


def test_a_burn_that_costs_more_than_it_brings_is_refused_with_both_figures(golem: Golem) -> None:
    error = refused(golem, assets=["USDC"])
    assert error.code == "BURN_NOT_WORTH_IT"
    assert "1,500" in str(error) or "1500" in str(error)
    assert (error.data["cost"], error.data["worth"]) == ("4000000000", "1500000000")


def test_an_asset_without_a_price_counts_for_nothing(chain: World, golem: Golem) -> None:
    """A stranger puts shares of a pair into the jar, which have no price; they make no burn look worth it."""
    usdc, weth, pair = chain.tokens["USDC"].address, chain.tokens["WETH"].address, chain.pool("v2", "USDC", "WETH")
    giver = chain.new_account(WAD, {"USDC": 3_000 * 10**6, "WETH": WAD})
    for token, raw in ((usdc, 3_000 * 10**6), (weth, WAD)):
        chain.transact(giver, token, "transfer(address,uint256)", pair.address, raw)
    chain.transact(giver, pair.address, "mint(address)", JAR)
    told = answer_of(make_context(chain), "firepit_get_tokenjar_balances", tokens=[pair.address, "USDC"])
    assert [each["value_usd"] for each in told["balances"] if each["token"]["address"] == pair.address] == [None]
    assert told["total_usd"] == "1500.000000"
    assert refused(golem, assets=["USDC", pair.address]).code == "BURN_NOT_WORTH_IT"


def test_a_jar_that_obeys_somebody_else_is_not_paid_for(chain: World, golem: Golem) -> None:
    chain.transact(derive_account("firepit deployer"), JAR, "setReleaser(address)", golem.address)
    error = refused(golem, assets=["USDC", "WBTC"])
    assert error.code == "JAR_NOT_AS_KNOWN" and error.data["jar_obeys"] == golem.address


def test_bytes_that_pay_a_stranger_or_carry_coin_are_told_or_refused(chain: World, golem: Golem) -> None:
    thief, usdc = chain.new_account(WAD, {}).address, chain.tokens["USDC"].address
    assert read_bytes(chain, golem, encode_call(f"function {RELEASE}", 0, [usdc], thief)).recipients == [thief]
    for data, value in (
        (encode_call(f"function {RELEASE}", 0, [usdc], golem.address), 1),
        (encode_call(f"function {RELEASE}", 1, [usdc], golem.address), 0),
        (encode_call(f"function {RELEASE}", 0, [usdc, usdc], golem.address), 0),
        (encode_call(f"function {RELEASE}", 0, [], golem.address), 0),
        (encode_call(f"function {RELEASE}", 0, [usdc], golem.address) + b"\0", 0),
        (encode_call("function transfer(address,uint256)", thief, 1), 0),
    ):
        with pytest.raises(UnknownCall):
            read_bytes(chain, golem, data, value=value)


def test_a_token_that_cannot_be_read_stops_nothing_else_from_being_told(chain: World, golem: Golem) -> None:
    """Somebody names a contract that is no token; the jar's other contents are told all the same."""
    with pytest.raises((GolemError, CallReverted)):
        golem.plan("firepit_burn", assets=[JAR])
    told = answer_of(make_context(chain, address=golem.address), "firepit_get_tokenjar_balances")
    assert [each["token"]["symbol"] for each in told["balances"]] == ["ETH", "USDC", "WBTC"]

"""A stranger's token that bears a registered symbol, with the better price: no symbol leads to it, and it is told."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.evm.world import World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tools_app.core.errors import GolemError

MINT, FAR = "mint(address,uint256)", 2**32
ADD = "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"


@pytest.fixture
def twin(live_golem: LiveGolem) -> str:
    """Another USDC, of which a pool gives a hundred times as much for ether as any gives of the registered one."""
    world = live_golem.world
    maker = world.new_account(10**20, {"WETH": 10**19})
    token = world.deploy(maker, "SimulatedToken", "(string,string,uint8)", "USD Coin", "USDC", 6)
    weth, router = world.tokens["WETH"].address, world.contracts["uniswap_v2_router"]
    given = 3_000_000 * 10**6
    world.transact(maker, token, MINT, maker.address, given)
    for each in (token, weth):
        world.transact(maker, each, "approve(address,uint256)", router, 2**255)
    world.transact(maker, router, ADD, token, weth, given, 10**19, 0, 0, maker.address, FAR, gas=8_000_000)
    return token


def ask(live: LiveGolem, token_in: str, token_out: str, amount: str) -> tuple[int, dict[str, object]]:
    agent = Agent(golem=live.golem, key=live.key, client=Client())
    answer = agent.post(
        "query_state",
        {"query": "quote", "token_in": token_in, "token_out": token_out, "amount": amount},
    )
    return answer.status_code, answer.json()


def balance(world: World, token: str, account: str) -> int:
    return int(world.rpc.read(token, "balanceOf(address)", account, returns="(uint256)")[0])


def test_a_symbol_leads_to_the_registered_token_however_much_more_a_twin_gives(
    live_golem: LiveGolem, twin: str
) -> None:
    world, account = live_golem.world, live_golem.golem.address
    status, told = ask(live_golem, "WETH", "USDC", str(10**16))
    assert status == 200 and twin not in json.dumps(told), told
    assert world.tokens["USDC"].address in json.dumps(told)
    before = live_golem.balance("USDC")
    previewed = live_golem.preview(token_in="WETH", token_out="USDC", amount=str(10**16))
    assert twin not in json.dumps(previewed)
    assert live_golem.commit(previewed["permit_id"])["status"] == "COMMITTED"
    assert 20 * 10**6 < live_golem.balance("USDC") - before < 40 * 10**6
    assert balance(world, twin, account) == 0


def test_the_twin_is_refused_by_address_with_what_it_imitates(live_golem: LiveGolem, twin: str) -> None:
    with pytest.raises(GolemError) as refused:
        live_golem.preview(token_in="WETH", token_out=twin, amount=str(10**16))
    assert refused.value.code == "SAFETY_TOKEN_NOT_ALLOWED"
    assert "USDC (not the registered one)" in str(refused.value)

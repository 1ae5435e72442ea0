"""The Trading API through the agent's door: a stranger's answers, and calldata that does what was asked or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.outside.access import switch_off
from tests.golem_project.outside.trading_api import STRANGE_TOKEN, TradingApi, trading_for
from tests.golem_project.pi.conftest import Agent
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import LiveGolem
from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.standards.calldata import read_exactly
from tools_app.toolkit.registry import REGISTRY

STRANGER = "0x000000000000000000000000000000000000bEEF"
RANGE = {"token0": "WETH", "token1": "USDC", "price_lower": "2700", "price_upper": "3300", "fee": 500}
OPEN = {"tool": "uniswap_api_create_lp_position", **RANGE, "amount0": str(10**17)}
HASHES = ["0x" + "11" * 32, "0x" + "22" * 32]


@pytest.fixture
def api(shared_golem: LiveGolem) -> Iterator[TradingApi]:
    for tool in REGISTRY:
        if tool.name.startswith("uniswap_api_"):
            ToolOverride.objects.get_or_create(
                golem=shared_golem.golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
            )
    with trading_for(shared_golem.golem, shared_golem.world) as made:
        yield made


@pytest.fixture
def agent(shared_golem: LiveGolem, tasks_here: None) -> Agent:
    return Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())


def read(agent: Agent, query: str, **params: Any) -> dict[str, Any]:
    answer = agent.post("query_state", {"query": REGISTRY.get(query).key, **params})
    assert answer.status_code == 200, answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def refused(agent: Agent, query: str, **params: Any) -> dict[str, Any]:
    problem: dict[str, Any] = agent.post("query_state", {"query": REGISTRY.get(query).key, **params}).json()
    assert "code" in problem, problem
    return problem


def preview(agent: Agent, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = agent.post(
        "preview_action", {"action_type": REGISTRY.get(body.pop("tool")).key, **body}
    ).json()
    return answer


def open_position(agent: Agent) -> str:
    return str(carry_out(agent, **OPEN)["position_id"])


def carry_out(agent: Agent, **body: Any) -> dict[str, Any]:
    """The report of an action that was previewed, committed and mined."""
    permit = preview(agent, **body)
    assert permit.get("status") == "CREATED", permit
    agent.post("commit_action", {"permit_id": permit["permit_id"]})
    ended = agent.get(f"permits/{permit['permit_id']}").json()
    assert ended["status"] == "COMMITTED", ended
    told: dict[str, Any] = ended["result"]["data"]
    return told


def test_a_quote_is_told_as_a_strangers_beside_what_the_chain_says(agent: Agent, api: TradingApi) -> None:
    told = read(agent, "uniswap_api_get_quote", token_in="USDC", token_out="WETH", amount="500000000")
    own = read(agent, "uniswap_get_quote", token_in="USDC", token_out="WETH", amount="500000000")
    assert told["amount_out"] == own["amount_out"] and told["amount_in"] == "500000000"
    assert told["routing_type"] == "CLASSIC" and told["route"]["untrusted"] is True
    assert told["permit_data"] is told["valid_until"] is None
    assert told["source"]["service"] == "uniswap_api" and told["source"]["untrusted"] is True
    path, asked, headers = api.got[0]
    assert path == "/quote" and asked["slippageTolerance"] == 0.5 and asked["swapper"] == agent.golem.address
    assert headers["x-universal-router-version"] == "2.0"
    back = read(agent, "uniswap_api_get_quote", token_in="ETH", token_out="USDC", amount="500000000", exact_output=True)
    assert back["amount_out"] == "500000000" and back["token_in"]["symbol"] == "ETH"


def change(path: tuple[str | int, ...], value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def twist(made: dict[str, Any]) -> dict[str, Any]:
        place: Any = made
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        return made

    return twist


@pytest.mark.parametrize(
    ("path", "value", "code", "field"),
    [
        (("quote", "swapper"), STRANGER, "FOREIGN_ANSWER_UNFIT", "swapper"),
        (("quote", "output", "recipient"), STRANGER, "FOREIGN_ANSWER_UNFIT", "recipient"),
        (("quote", "output", "token"), STRANGER, "FOREIGN_ANSWER_UNFIT", "token_out"),
        (("quote", "input", "token"), STRANGER, "FOREIGN_ANSWER_UNFIT", "token_in"),
        (("quote", "input", "amount"), "500000001", "FOREIGN_ANSWER_UNFIT", "amount"),
        (("quote", "chainId"), 8453, "FOREIGN_ANSWER_UNFIT", "chain"),
        (("quote", "portionBips"), 15, "FOREIGN_ANSWER_UNFIT", "portion"),
        (("routing",), "SOMETHING_NEW", "FOREIGN_ANSWER_UNFIT", "routing"),
        (("quote", "output", "amount"), "-5", "SERVICE_ANSWER_REFUSED", None),
        (("quote", "output", "amount"), 1.5, "SERVICE_ANSWER_REFUSED", None),
        (("quote", "input", "token"), "USDC", "SERVICE_ANSWER_REFUSED", None),
        (("quote",), None, "SERVICE_ANSWER_REFUSED", None),
    ],
)
def test_a_quote_about_something_else_is_refused_by_what_differs(
    agent: Agent, api: TradingApi, path: tuple[str, ...], value: Any, code: str, field: str | None
) -> None:
    api.twists["/quote"] = change(path, value)
    problem = refused(agent, "uniswap_api_get_quote", token_in="USDC", token_out="WETH", amount="500000000")
    assert (problem["code"], problem.get("field")) == (code, field), problem


def test_an_approval_is_read_from_its_bytes_and_one_of_another_token_is_refused(agent: Agent, api: TradingApi) -> None:
    told = read(agent, "uniswap_api_check_approval", token="USDC", amount="5")
    (line,) = told["token_approvals"]
    assert told["all_approved"] is False and line["spender_name"] == "Permit2" and line["is_unlimited"] is True
    assert "data" not in str(line)
    for path, value, field in (
        (("approval", "to"), STRANGER, "token"),
        (("approval", "from"), STRANGER, "account"),
        (("approval", "chainId"), 1, "chain"),
        (("approval", "value"), "1", "coin"),
        (("approval", "data"), "0xdeadbeef", "function"),
    ):
        api.twists["/check_approval"] = change(path, value)
        assert refused(agent, "uniswap_api_check_approval", token="USDC", amount="5").get("field") == field
    api.twists["/check_approval"] = change(("approval",), None)
    assert read(agent, "uniswap_api_check_approval", token="USDC", amount="5")["all_approved"] is True


def test_orders_are_the_golems_own_and_swaps_are_those_asked_about(agent: Agent, api: TradingApi) -> None:
    told = read(agent, "uniswap_api_get_orders", order_status="open")
    assert told["orders"][0]["status"] == "open" and told["orders"][0]["input_amount"] == "5"
    assert api.got[-1][1]["swapper"] == agent.golem.address and api.got[-1][1]["orderStatus"] == "open"
    assert refused(agent, "uniswap_api_get_orders", order_id="0x" + "ee" * 32)["field"] == "order_id"
    api.twists["/orders"] = lambda made: {**made, "orders": [{**made["orders"][0], "swapper": STRANGER}]}
    assert refused(agent, "uniswap_api_get_orders")["field"] == "swapper"

    swaps = read(agent, "uniswap_api_check_swap_status", transaction_hashes=HASHES)["swaps"]
    assert [each["status"] for each in swaps] == ["SUCCESS", "NOT_FOUND"]
    api.twists["/swaps"] = lambda made: {"swaps": [{**made["swaps"][0], "txHash": "0x" + "33" * 32}]}
    assert refused(agent, "uniswap_api_check_swap_status", transaction_hashes=HASHES)["field"] == "tx_hash"
    api.twists["/swaps"] = lambda made: {"swaps": [{**made["swaps"][0], "status": "MAYBE"}]}
    assert refused(agent, "uniswap_api_check_swap_status", transaction_hashes=HASHES)["field"] == "status"


def test_a_limit_order_is_quoted_for_the_golem_or_refused(agent: Agent, api: TradingApi) -> None:
    asked = {"token_in": "USDC", "token_out": "WETH", "amount": "500000000", "limit_price": "0.0004"}
    told = read(agent, "uniswap_api_get_limit_order_quote", **asked)
    assert told["deadline"] == 1_900_000_000 and told["routing_type"] == "LIMIT_ORDER"
    info = ("quote", "orderInfo")
    for path, value, field in (
        ((*info, "swapper"), STRANGER, "swapper"),
        ((*info, "chainId"), 1, "chain"),
        ((*info, "input"), {"token": STRANGER}, "token_in"),
        ((*info, "outputs"), [{"recipient": STRANGER}], "recipient"),
        ((*info, "outputs"), [{"token": STRANGER}], "token_out"),
        ((*info, "outputs"), ["?"], "outputs"),
        (("routing",), "CLASSIC", "routing"),
    ):
        api.twists["/limit_order_quote"] = change(path, value)
        assert refused(agent, "uniswap_api_get_limit_order_quote", **asked)["field"] == field, path


def test_a_pool_and_a_delegation_are_those_that_were_asked_about(agent: Agent, api: TradingApi) -> None:
    pool_id = "0x" + "77" * 32
    told = read(agent, "uniswap_api_get_lp_pool_info", pool_id=pool_id)
    assert told["pool_id"]["value"] == pool_id and told["fee_tier"] == "500" and told["tvl"] is None
    assert "neither value" in told["untold_reason"]
    assert refused(agent, "uniswap_api_get_lp_pool_info")["code"] == "INVALID_PARAMS"
    for name, value, field in (("chainId", 1, "pool"), ("poolReferenceIdentifier", "0x1", "pool")):
        api.twists["/lp/pool_info"] = change(("pools", 0, name), value)
        assert refused(agent, "uniswap_api_get_lp_pool_info", pool_id=pool_id)["field"] == field
    api.twists["/lp/pool_info"] = lambda made: {**made, "pools": [{**made["pools"][0], "poolProtocol": "V2"}]}
    assert refused(agent, "uniswap_api_get_lp_pool_info", pool_id=pool_id)["field"] == "protocol"
    api.twists["/lp/pool_info"] = lambda made: {**made, "pools": []}
    assert refused(agent, "uniswap_api_get_lp_pool_info", pool_id=pool_id)["field"] == "pools"

    lines = read(agent, "uniswap_api_check_wallet_delegation", chain_ids=[1, 8453])["delegations"]
    assert [(each["chain_id"], each["delegated"]) for each in lines] == [(1, True), (8453, None)]
    of_another = read(agent, "uniswap_api_check_wallet_delegation", chain_ids=[1], wallet_address=STRANGER)
    assert of_another["delegations"][0]["delegated"] is True
    assert api.got[-1][1]["walletAddresses"] == [STRANGER]
    # The other of its two descriptions puts the chains one level deeper.
    api.twists["/wallet/check_delegation"] = lambda made: {
        "delegationDetails": {name: {"chains": chains} for name, chains in made["delegationDetails"].items()}
    }
    assert read(agent, "uniswap_api_check_wallet_delegation", chain_ids=[1])["delegations"][0]["delegated"] is True
    api.twists["/wallet/check_delegation"] = lambda made: {"delegationDetails": {STRANGER: {}}}
    assert refused(agent, "uniswap_api_check_wallet_delegation", chain_ids=[1])["field"] == "account"


def test_a_transfer_is_looked_at_byte_for_byte_and_its_bytes_are_not_handed_out(agent: Agent, api: TradingApi) -> None:
    asked = {"recipient": STRANGER, "amount": "5"}
    told = read(agent, "uniswap_api_create_token_transfer", token="USDC", **asked)
    assert told["is_plain"] is True and told["calldata"] is None and told["gas_estimate"] == "600000"
    assert read(agent, "uniswap_api_create_token_transfer", token="ETH", **asked)["value"] == "5"
    for path, value, field in (
        (("send", "to"), STRANGER, "contract"),
        (("send", "from"), STRANGER, "account"),
        (("send", "chainId"), 1, "chain"),
        (("send", "value"), "1", "coin"),
        (("send", "data"), "0x" + "00" * 68, "calldata"),
    ):
        api.twists["/send"] = change(path, value)
        assert refused(agent, "uniswap_api_create_token_transfer", token="USDC", **asked)["field"] == field


def test_places_a_token_can_be_bridged_to_are_a_strangers_list(agent: Agent, api: TradingApi) -> None:
    told = read(agent, "uniswap_api_get_bridgeable_tokens", token_in="USDC")
    (place,) = told["destinations"]
    assert (place["chain_id"], place["bridge_token_address"]) == (8453, STRANGE_TOKEN)
    assert place["bridge_token"] == {"value": "USDC", "untrusted": True} and place["bridge_protocol"] is None
    assert api.got[-1][1] == {"tokenIn": api.world.tokens["USDC"].address, "tokenInChainId": "31337"}


def test_what_has_no_endpoint_any_more_says_so_and_names_the_way_there_is(agent: Agent, api: TradingApi) -> None:
    for query, way in (
        ("uniswap_api_migrate_liquidity", "add_liquidity"),
        ("uniswap_api_claim_rewards", "collect_fees"),
    ):
        told = read(agent, query, position_id="5")
        assert told["is_available"] is False and "no endpoint" in told["reason"] and way in told["instead"]
    assert api.got == []


def test_a_position_is_opened_grown_harvested_and_left_with_calldata_of_the_service(
    agent: Agent, api: TradingApi
) -> None:
    position_id = open_position(agent)
    assert int(position_id) > 0 and api.got[0][0] == "/lp/create"
    assert api.got[0][1]["slippageTolerance"] == 0.45, "asked for less than may be, so that rounding loosens nothing"
    for body in (
        {"tool": "uniswap_api_increase_lp_position", "position_id": position_id, "amount0": str(10**16)},
        {"tool": "uniswap_api_decrease_lp_position", "position_id": position_id, "liquidity_pct": 40},
        {"tool": "uniswap_api_decrease_lp_position", "position_id": position_id},
    ):
        carry_out(agent, **body)
    assert [path for path, _, _ in api.got] == ["/lp/create", "/lp/increase", "/lp/decrease", "/lp/decrease"]
    problem = preview(agent, tool="uniswap_api_claim_lp_fees", position_id=position_id)
    assert problem["code"] == "POSITION_EMPTY"


def twist_call(name: str, signature: str, place: int, value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """One argument of the first call of `signature` in the answer's calldata."""

    def twist(made: dict[str, Any]) -> dict[str, Any]:
        data = bytes.fromhex(made[name]["data"][2:])
        (arguments,) = read_exactly(data, signature)
        changed = [*arguments]
        changed[place] = value(changed[place]) if callable(value) else value
        return {**made, name: {**made[name], "data": "0x" + encode_call(signature, tuple(changed)).hex()}}

    return twist


@pytest.mark.parametrize(
    ("twist", "field"),
    [
        (change(("create", "to"), STRANGER), "contract"),
        (change(("create", "from"), STRANGER), "account"),
        (change(("create", "chainId"), 1), "chain"),
        (change(("create", "value"), "0x1"), "coin"),
        (change(("create", "data"), "0xdeadbeef"), "function"),
        (twist_call("create", v3.MINT, 0, STRANGER), "token0"),
        (twist_call("create", v3.MINT, 2, 3_000), "fee"),
        (twist_call("create", v3.MINT, 3, lambda tick: tick - 10), "tick_lower"),
        (twist_call("create", v3.MINT, 4, lambda tick: tick + 10), "tick_upper"),
        (twist_call("create", v3.MINT, 5, lambda most: most + 1), "amount0"),
        (twist_call("create", v3.MINT, 6, lambda most: most + 1), "amount1"),
        (twist_call("create", v3.MINT, 7, 0), "least0"),
        (twist_call("create", v3.MINT, 8, 0), "least1"),
        (twist_call("create", v3.MINT, 9, STRANGER), "recipient"),
        (twist_call("create", v3.MINT, 10, lambda end: end + 1), "deadline"),
        (twist_call("create", v3.MINT, 10, 1), "deadline"),
    ],
)
def test_calldata_that_does_anything_else_is_refused_by_what_it_does(
    agent: Agent, api: TradingApi, twist: Any, field: str
) -> None:
    api.twists["/lp/create"] = twist
    problem = preview(agent, **OPEN)
    assert (problem.get("code"), problem.get("field")) == ("FOREIGN_CALL_REFUSED", field), problem


def test_bytes_behind_the_arguments_and_steps_besides_are_refused(agent: Agent, api: TradingApi) -> None:
    api.twists["/lp/create"] = lambda made: {
        **made,
        "create": {**made["create"], "data": made["create"]["data"] + "00" * 32},
    }
    assert preview(agent, **OPEN)["field"] == "arguments"
    position_id = open_position_plainly(agent, api)

    def add_step(made: dict[str, Any]) -> dict[str, Any]:
        (steps,) = read_exactly(bytes.fromhex(made["decrease"]["data"][2:]), v3.MULTICALL)
        more = encode_call(v3.COLLECT, (int(position_id), STRANGER, 2**128 - 1, 2**128 - 1))
        data = encode_call(v3.MULTICALL, [*steps, more])
        return {**made, "decrease": {**made["decrease"], "data": "0x" + data.hex()}}

    api.twists["/lp/decrease"] = add_step
    assert preview(agent, tool="uniswap_api_decrease_lp_position", position_id=position_id)["field"] == "steps"


def open_position_plainly(agent: Agent, api: TradingApi) -> str:
    api.twists.pop("/lp/create", None)
    return open_position(agent)


def test_a_deposit_that_the_service_makes_smaller_is_refused_by_what_the_plan_promised(
    agent: Agent, api: TradingApi
) -> None:
    api.twists["/lp/create"] = lambda made: twist_call("create", v3.MINT, 5, lambda most: most // 2)(
        twist_call("create", v3.MINT, 6, lambda most: most // 2)(made)
    )
    problem = preview(agent, **OPEN)
    assert problem.get("code") and problem.get("status") != "CREATED", problem


def test_without_the_owners_key_no_tool_of_the_service_is_there(agent: Agent, api: TradingApi) -> None:
    switch_off(person=agent.golem.owner, name="uniswap_api")
    assert preview(agent, **OPEN)["code"] == "SERVICE_NOT_SWITCHED_ON"
    assert (
        refused(agent, "uniswap_api_get_quote", token_in="USDC", token_out="WETH", amount="5")["requirement"]
        == "uniswap_api"
    )
    assert api.got == []

"""Who may take what from a wallet is found on the chain as it stands, and taken back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

import tools_app.subsystems.safety.approval_tools  # noqa: F401  declares the tools
from golem_project.embedded.npm_tree import install_tree
from golem_project.embedded.sdk_bundle import FOLDER
from golem_project.embedded.world.rpc import checksum, encode_arguments
from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tools_app.chain.abi import event_topic
from tools_app.portfolio import given_allowances
from tools_app.standards import erc20, erc721
from tools_app.standards.permit2 import PERMIT2
from tools_app.subsystems.safety.approval_tools import NoSuchApproval

ETH, USD = 10**18, 10**6
STRANGER = checksum("0x" + "77" * 20)
ALL = 2**256 - 1
MANY_TOKENS = "@openzeppelin/contracts/build/contracts/ERC1155PresetMinterPauser.json"
"""ERC-1155 as OpenZeppelin published it, within what the SDK brings along."""


@pytest.fixture
def owner(chain: World) -> LocalAccount:
    return chain.new_account(5 * ETH, {"WETH": 2 * ETH, "USDC": 5_000 * USD})


def approve(chain: World, owner: LocalAccount, symbol: str, spender: str, amount: int) -> None:
    chain.transact(owner, chain.tokens[symbol].address, "approve(address,uint256)", spender, amount)


def audit(chain: World, owner: LocalAccount, **params: Any) -> Any:
    return answer_of(make_context(chain, address=owner.address), "safety_audit_approvals", **params)


def test_every_approval_that_stands_is_told_the_riskiest_first(chain: World, owner: LocalAccount) -> None:
    router = chain.deployments["contracts"]["uniswap_v3_swap_router_02"]
    approve(chain, owner, "USDC", router, 100 * USD)
    approve(chain, owner, "WETH", router, ALL)
    approve(chain, owner, "USDC", STRANGER, 7 * USD)
    told = audit(chain, owner)
    rows = [(row["token_symbol"], row["spender"], row["risk_level"], row["is_unlimited"]) for row in told["approvals"]]
    assert rows == [
        ("USDC", STRANGER, "Risky", False),
        ("WETH", router, "Elevated", True),
        ("USDC", router, "Safe", False),
    ]
    assert told["total_approvals"] == 3 and told["risky_approvals"] == 1
    assert told["approvals"][0]["allowance"] == str(7 * USD)
    assert told["approvals"][0]["spender_label"] is None and "Uniswap" in told["approvals"][2]["spender_label"]


def test_what_was_spent_or_taken_back_stands_no_more(chain: World, owner: LocalAccount) -> None:
    taker = chain.new_account(ETH)
    approve(chain, owner, "USDC", taker.address, 5 * USD)
    approve(chain, owner, "WETH", STRANGER, ETH)
    approve(chain, owner, "WETH", STRANGER, 0)
    usdc = chain.tokens["USDC"].address
    chain.transact(taker, usdc, "transferFrom(address,address,uint256)", owner.address, taker.address, 5 * USD)
    assert audit(chain, owner)["approvals"] == []
    ended = audit(chain, owner, include_revoked=True)["revoked"]
    assert {(row["token"], row["spender"]) for row in ended} == {
        (usdc, taker.address),
        (chain.tokens["WETH"].address, STRANGER),
    }


def test_a_right_through_permit2_counts_while_the_token_lets_permit2_and_time_lasts(
    chain: World, owner: LocalAccount
) -> None:
    usdc, give = chain.tokens["USDC"].address, "approve(address,address,uint160,uint48)"
    now = int(chain.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    chain.transact(owner, PERMIT2, give, usdc, STRANGER, 9 * USD, now + 1_000)
    assert [row for row in audit(chain, owner)["approvals"] if row["through"]] == []
    approve(chain, owner, "USDC", PERMIT2, 4 * USD)
    [right] = [row for row in audit(chain, owner)["approvals"] if row["through"]]
    assert (right["spender"], right["allowance"], right["risk_level"]) == (STRANGER, str(4 * USD), "Risky")
    assert right["expires_at"] == now + 1_000 and right["revoke"] == {"token": usdc, "spender": PERMIT2}
    chain.transact(owner, PERMIT2, give, usdc, STRANGER, 9 * USD, now - 1)
    assert [row for row in audit(chain, owner)["approvals"] if row["through"]] == []


def test_what_is_listed_is_taken_back_and_nobody_can_take_any_more(chain: World, owner: LocalAccount) -> None:
    approve(chain, owner, "USDC", STRANGER, ALL)
    approve(chain, owner, "WETH", PERMIT2, ALL)
    found = audit(chain, owner)["approvals"]
    context = make_context(chain, address=owner.address)
    plan = call_tool(context, "safety_batch_revoke_approvals", approvals=[row["revoke"] for row in found])
    assert len(plan.calls) == 2 and not plan.spends
    report = report_of("safety_batch_revoke_approvals", run_plan(chain, owner, plan))
    assert report["revoked_count"] == 2 and report["failed"] == []
    assert audit(chain, owner)["approvals"] == []
    again = make_context(chain, address=owner.address)
    with pytest.raises(NoSuchApproval):
        call_tool(again, "safety_batch_revoke_approvals", approvals=[row["revoke"] for row in found])


def own_item(chain: World, owner: LocalAccount) -> tuple[str, int]:
    """A position in a pool of Uniswap V3, which is one item of a collection; the collection and its number."""
    manager = chain.contracts["uniswap_v3_position_manager"]
    pool = chain.pool("v3", "USDC", "WETH", 500)
    for symbol in ("USDC", "WETH"):
        approve(chain, owner, symbol, manager, ALL)
    order = (pool.token0, pool.token1, 500, -887_270, 887_270, 10**9, 10**9, 0, 0, owner.address, 2**32)
    mint = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
    logs = chain.transact(owner, manager, mint, order)["logs"]
    for symbol in ("USDC", "WETH"):
        approve(chain, owner, symbol, manager, 0)
    moved = event_topic(erc721.TRANSFER_EVENT)
    return manager, next(
        int(log["topics"][3], 16) for log in logs if log["topics"][0] == moved and len(log["topics"]) == 4
    )


def test_operators_of_a_collection_and_takers_of_one_item_are_told_and_the_operators_taken_back_with_tokens_at_once(
    chain: World, owner: LocalAccount
) -> None:
    manager, item = own_item(chain, owner)
    taker = chain.new_account(ETH).address
    approve(chain, owner, "USDC", STRANGER, 7 * USD)
    chain.transact(owner, manager, "setApprovalForAll(address,bool)", STRANGER, True)
    chain.transact(owner, manager, "approve(address,uint256)", taker, item)
    rows = {(row["token"], row["spender"]): row for row in audit(chain, owner)["approvals"]}
    usdc = chain.tokens["USDC"].address
    assert set(rows) == {(usdc, STRANGER), (manager, STRANGER), (manager, taker)}
    every, one = rows[manager, STRANGER], rows[manager, taker]
    assert (every["token_id"], every["is_unlimited"], every["revoke"]) == (
        None,
        True,
        {"token": manager, "spender": STRANGER},
    )
    assert (one["token_id"], one["is_unlimited"], one["revoke"]) == (str(item), False, None)
    asked = [row["revoke"] for row in rows.values() if row["revoke"]]
    plan = call_tool(make_context(chain, address=owner.address), "safety_batch_revoke_approvals", approvals=asked)
    assert (
        len(plan.calls) == 2
        and report_of("safety_batch_revoke_approvals", run_plan(chain, owner, plan))["revoked_count"] == 2
    )
    assert chain.rpc.read(manager, "isApprovedForAll(address,address)", owner.address, STRANGER, returns="(bool)") == (
        False,
    )
    assert [row["token_id"] for row in audit(chain, owner)["approvals"]] == [str(item)]
    # Who gets the item has it without the approval.
    chain.transact(
        owner, manager, "transferFrom(address,address,uint256)", owner.address, chain.actors.deployer.address, item
    )
    assert audit(chain, owner)["approvals"] == []
    with pytest.raises(NoSuchApproval):
        call_tool(make_context(chain, address=owner.address), "safety_batch_revoke_approvals", approvals=asked)


def test_an_operator_of_a_contract_of_many_tokens_is_told_and_taken_back(chain: World, owner: LocalAccount) -> None:
    artifact = json.loads((install_tree(FOLDER) / MANY_TOKENS).read_text())
    code = artifact["bytecode"] + encode_arguments("(string)", "ipfs://").hex()
    many = checksum(chain.send(chain.actors.deployer, None, code, gas=6_000_000)["contractAddress"])
    chain.transact(owner, many, "setApprovalForAll(address,bool)", STRANGER, True)
    [row] = audit(chain, owner)["approvals"]
    assert (row["token"], row["spender"], row["risk_level"], row["allowance"]) == (many, STRANGER, "Risky", None)
    context = make_context(chain, address=owner.address)
    plan = call_tool(context, "safety_batch_revoke_approvals", approvals=[row["revoke"]])
    assert report_of("safety_batch_revoke_approvals", run_plan(chain, owner, plan))["revoked_count"] == 1
    assert audit(chain, owner)["approvals"] == []


def test_a_stranger_s_logs_push_no_real_approval_out_of_sight(
    chain: World, owner: LocalAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given_allowances, "MOST_OF_STRANGERS", 3)
    approve(chain, owner, "USDC", STRANGER, USD)
    noisy = chain.send(chain.actors.deployer, None, deploy_noise(owner.address))
    for number in range(6):
        chain.send(chain.actors.deployer, checksum(noisy["contractAddress"]), "0x" + "00" * 4 + f"{number + 1:064x}")
    told = audit(chain, owner)
    assert STRANGER in {row["spender"] for row in told["approvals"] if row["token_symbol"] == "USDC"}
    assert len([row for row in told["approvals"] if row["token_symbol"] is None]) <= 3
    assert any(each.startswith("TOO_MANY") for each in told["not_searched"])


def deploy_noise(owner: str) -> str:
    """Code of a contract that logs an approval of `owner` for whoever is named, and answers every allowance with 1."""
    topic = event_topic(erc20.APPROVAL_EVENT)[2:]
    log = f"600160005260043573{owner[2:].lower()}7f{topic}60206000a300"
    runtime = f"6024361160{0x4B:02x}57{log}5b600160005260206000f3"
    size = len(runtime) // 2
    return f"0x60{size:02x}600c60003960{size:02x}6000f3{runtime}"

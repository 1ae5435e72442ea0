"""The Python binding is what the compiled contract says."""

from __future__ import annotations

import pytest
from eth_utils.crypto import keccak

from golem_project.cage_set_up.checklist import GAS_OF_A_SWAP
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world import bindings
from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage.abi import ERRORS, EVENTS, FUNCTIONS
from permits_app.policy_cage.contract import (
    AssetRule,
    Limit,
    Rule,
    RuleKind,
    address_key,
    encode_deployment,
    limit_rule,
)
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from tests.proof.caged.engines import InProcessEngine
from tests.proof.caged.safe import FEED_DECIMALS, MAX_AGE, USD, build_caged_safe
from tools_app.chain.signatures import parse_signature

MOST_BYTES_OF_CODE = 24_576
MOST_BYTES_OF_CREATION = 49_152
MOST_GAS_OF_A_SWAP = 312_000 * 11 // 10
RULES_AT_LEAST = 102


def test_the_bindings_are_those_of_the_compiled_contracts() -> None:
    bindings.check_bindings()


def test_a_binding_edited_by_hand_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "render_bindings", lambda _: "something else")
    with pytest.raises(EmbeddedError, match=r"abi\.py is not made from PolicyCage"):
        bindings.check_bindings()


def test_every_signature_parses_to_the_selector_of_the_compiled_entry() -> None:
    named = {**FUNCTIONS, **EVENTS, **ERRORS}
    for entry in load_contract("PolicyCage").abi:
        if entry["type"] == "constructor":
            continue
        types = ",".join(_canonical(param) for param in entry["inputs"])
        assert parse_signature(named[entry["name"]]).digest == keccak(text=f"{entry['name']}({types})")


@pytest.mark.parametrize("name", ["PolicyCage", *bindings.PARTS["PolicyCage"]])
def test_each_part_of_the_cage_leaves_a_tenth_of_the_size_a_chain_takes(name: str) -> None:
    code = bytes.fromhex(load_contract(name).deployed_bytecode[2:])
    assert len(code) * 10 <= MOST_BYTES_OF_CODE * 9


def test_a_batch_that_swaps_costs_no_more_gas_than_it_may() -> None:
    """A tenth above what it cost when there was one key and one role; also where each feed is bounded and has moved."""
    caged = build_caged_safe(InProcessEngine())
    bounded = [
        AssetRule(coin.feed, MAX_AGE, coin.decimals, FEED_DECIMALS, most_jump_percent=25, least=1, most=10**20)
        for coin in caged.coins.values()
    ]
    keys = [address_key(coin.address) for coin in caged.coins.values()]
    rules = [Rule(RuleKind.ASSET, key, asset.pack()) for key, asset in zip(keys, bounded, strict=True)]
    assert caged.propose(*rules).succeeded
    sent = caged.execute(caged.approve("USDC", 1))
    assert sent.succeeded
    for symbol, coin in caged.coins.items():
        caged.set_price(symbol, coin.price * 1_001 // 1_000)
    swapped = caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17))
    assert swapped.succeeded and swapped.gas_used <= MOST_GAS_OF_A_SWAP
    assert GAS_OF_A_SWAP == MOST_GAS_OF_A_SWAP, "owners are told this figure before they have a key"


def test_the_cage_with_all_its_parts_is_made_in_one_transaction() -> None:
    rules = [limit_rule(Limit.MAX_LOSS_BPS, 1)] * RULES_AT_LEAST
    code = bytes.fromhex(load_contract("PolicyCage").bytecode[2:])
    made = encode_deployment(code, account=ZERO_ADDRESS, base_asset=ZERO_ADDRESS, rules=rules)
    assert len(made) <= MOST_BYTES_OF_CREATION


def _canonical(param: dict[str, object]) -> str:
    kind = str(param["type"])
    if not kind.startswith("tuple"):
        return kind
    members = param["components"]
    assert isinstance(members, list)
    return f"({','.join(_canonical(member) for member in members)}){kind.removeprefix('tuple')}"

"""Whom a stolen key can name in the calls that a new cage is suggested: nobody but the account, of every protocol."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_project.embedded.world.accounts import CHAIN_ID
from permits_app.policy_cage.call_rules import check_calls, list_rights
from permits_app.policy_cage.contract import (
    APPROVE,
    PERMIT2,
    AssetRule,
    Rule,
    RuleKind,
    asset_rules,
    call_key,
    spender_rule,
)
from permits_app.policy_cage.preflight_types import Observed, Refused
from permits_app.policy_cage.roles import find_payout, list_payees
from permits_app.policy_cage.state import CageState
from permits_app.policy_cage.suggested_rules import call_rules
from tests.contracts.attackers import ran, refused
from tests.evm.world import World
from tests.permits_app.policy_cage.test_suggested_conditions import FREE, MARKET, list_addresses
from tests.proof.caged.engines import NodeEngine
from tests.proof.caged.safe import build_caged_safe, set_session
from tools_app.chain.abi import encode_call
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.signatures import AbiParam, parse_signature
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, SHELF, Contract

ACCOUNT, THIEF, USDC = "0x" + "aa" * 20, "0x" + "bb" * 20, "0x" + "01" * 20
ITEMS: Final = (
    "safeTransferFrom(address,address,uint256)",
    "safeTransferFrom(address,address,uint256,bytes)",
    "transferFrom(address,address,uint256)",
    "transfer(address,uint256)",
    "setAgentURI(uint256,string)",
    "setAgentWallet(uint256,address,uint256,bytes)",
    "unsetAgentWallet(uint256)",
    "setMetadata(uint256,string,bytes)",
    "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)",
    "revokeFeedback(uint256,uint64)",
    "appendResponse(uint256,address,uint64,string,bytes32)",
    "validationRequest(address,uint256,string,bytes32)",
    "validationResponse(bytes32,uint8,string,bytes32,string)",
    "give(uint256,address)",
    "giveToProxy(uint256,address)",
)
"""What gives away an item, or says who an agent is, or speaks in its name for good."""
RIGHTS: Final = ("approve(address,uint256)", "setApprovalForAll(address,bool)", "setAuthorization(address,bool)")


def text_of(signature: str) -> str:
    return "function " + signature.removeprefix("function ")


def build_state(rules: Sequence[Rule]) -> CageState:
    state = CageState(cage="0x" + "0c" * 20, account=ACCOUNT, base_asset=USDC)
    usdc = asset_rules(USDC, AssetRule("0x" + "0f" * 20, 3_600, 6, 8), per_batch=10**30, per_window=10**30)
    for rule in (*usdc, *rules):
        state.rules[int(rule.kind), "0x" + rule.key.hex()] = rule.value
    state.assets = [USDC]
    return state


def fill(param: AbiParam, here: tuple[int, ...], named: dict[tuple[int, ...], str]) -> Any:
    """A value of a parameter: the addresses that are named where they stand, and nothing of all else."""
    if param.members and not param.array_suffix:
        return tuple(fill(each, (*here, index), named) for index, each in enumerate(param.members))
    if sized := re.fullmatch(r"u?int\d*\[(\d+)\]", param.type):
        return [0] * int(sized[1])
    if param.array_suffix or param.type.endswith("[]"):
        return [named[here], named[here]] if param.type == "address[]" else []
    if param.type == "address":
        return named[here]
    if param.type == "bool":
        return False
    if param.type == "string":
        return ""
    if param.type.startswith("bytes"):
        size = param.type.removeprefix("bytes")
        if size:
            return bytes(int(size))
        # A path of one token; bytes that must be empty are.
        return bytes.fromhex(named[here][2:]) if here in named else b""
    return 0


def suggested_calls() -> Iterator[tuple[str, str, Contract, str]]:
    for address, contract in SHELF.contracts_on(CHAIN_ID):
        protocol = SHELF.of_contract(CHAIN_ID, address)
        assert protocol is not None
        if contract.valued_at == NOT_UNDER_A_CAGE:
            # Nothing of it is suggested.
            continue
        for text in contract.functions:
            yield protocol.name, address, contract, text


def judge(state: CageState, to: str, data: bytes) -> str | None:
    observed = Observed(now=1, prices={USDC: (1, 1)}, before=Refused("").refusal, after=None)
    try:
        check_calls(state, [Call(to=to, data=data, value=0, label="")], observed)
    except Refused as refused_:
        return refused_.refusal.name
    return None


def test_a_stolen_key_names_itself_in_no_suggested_call() -> None:
    everything = {address for address, _ in SHELF.contracts_on(CHAIN_ID)}
    state = build_state(call_rules(CHAIN_ID, everything, valued=None))
    asked, let_through = 0, []
    for name, address, contract, text in suggested_calls():
        entry = parse_signature(text_of(text))
        own, tokens = contract.own.get(text, ()), contract.tokens.get(text, ())
        named = {place: USDC if place in tokens else ACCOUNT for place in list_addresses(entry.inputs)}
        named |= dict.fromkeys(tokens, USDC)
        for place in (*named, None):
            values = {**named, **({place: THIEF} if place is not None else {})}
            data = encode_call(text_of(text), *(fill(each, (i,), values) for i, each in enumerate(entry.inputs)))
            answer = judge(state, address, data)
            if place is None:
                # Its own call meets its conditions, so that what is refused above is refused for the thief's name.
                assert answer in (None, "SelectorForbidden"), (name, text, answer)
                continue
            asked += 1
            is_free = (entry.name, place) in FREE or (name == "morpho" and place in MARKET)
            if answer is None and not is_free:
                let_through.append((name, entry.name, place))
            assert place not in own or answer == "ConditionNotMet"
    assert let_through == []
    assert asked > 60


def test_bytes_that_call_the_account_back_are_empty_in_every_suggested_call() -> None:
    everything = {address for address, _ in SHELF.contracts_on(CHAIN_ID)}
    state, asked = build_state(call_rules(CHAIN_ID, everything, valued=None)), 0
    for _, address, contract, text in suggested_calls():
        entry = parse_signature(text_of(text))
        tokens = contract.tokens.get(text, ())
        named = {place: USDC if place in tokens else ACCOUNT for place in list_addresses(entry.inputs)}
        for [place] in contract.empty.get(text, ()):
            values = [fill(each, (i,), named) for i, each in enumerate(entry.inputs)]
            assert judge(state, address, encode_call(text_of(text), *values)) is None
            values[place] = b"\x00"
            assert judge(state, address, encode_call(text_of(text), *values)) == "ConditionNotMet"
            asked += 1
    assert asked == 4


def test_no_suggested_call_gives_an_item_or_a_right_away_on_any_chain() -> None:
    wanted = [parse_signature(text_of(each)).selector for each in (*ITEMS, *RIGHTS)]
    for chain_id in KNOWN_NETWORKS:
        contracts = {address for address, _ in SHELF.contracts_on(chain_id)}
        state = build_state(call_rules(chain_id, contracts, valued=None))
        for address in contracts:
            for selector in wanted:
                if state.rule(RuleKind.CALL, call_key(address, selector)):
                    assert judge(state, address, selector + bytes(128)) == "SelectorForbidden", (chain_id, address)


@pytest.mark.protocols("erc8004")
def test_a_stolen_key_gives_no_identity_away_and_says_nothing_else_of_it(local_chain: World) -> None:
    registry = local_chain.protocols["erc8004"]["identity"]
    caged = build_caged_safe(NodeEngine(local_chain.rpc), salt=357)
    registries = {address for name, address in local_chain.protocols["erc8004"].items()}
    caged.change(*call_rules(CHAIN_ID, registries, valued=None), spender_rule(registry, most_micro_usd=10**9))
    set_session(caged)
    ran(caged, caged.execute(caged.call(registry, "function register(string agentURI)", "https://agents.example/1")))
    thief = caged.stranger.address
    # Others have registered before it.
    number = next(each for each in range(50) if _owner_of(local_chain, registry, each) == caged.safe.lower())
    attempts = [
        ("safeTransferFrom(address,address,uint256)", (caged.safe, thief, number)),
        ("safeTransferFrom(address,address,uint256,bytes)", (caged.safe, thief, number, b"")),
        ("transferFrom(address,address,uint256)", (caged.safe, thief, number)),
        ("approve(address,uint256)", (thief, number)),
        ("setApprovalForAll(address,bool)", (thief, True)),
        ("setAgentURI(uint256,string)", (number, "https://thief.example/1")),
        ("setAgentWallet(uint256,address,uint256,bytes)", (number, thief, 2**40, bytes(65))),
        ("unsetAgentWallet(uint256)", (number,)),
        ("setMetadata(uint256,string,bytes)", (number, "a2a", b"https://thief.example/1")),
    ]
    for signature, values in attempts:
        sent = caged.execute(caged.call(registry, text_of(signature), *values))
        assert refused(caged, sent) in ("CallNotAllowed", "SelectorForbidden"), signature
    for place, signature, values in (
        ("reputation", ITEMS[8], (0, 1, 0, "", "", "", "", bytes(32))),
        ("validation", ITEMS[11], (thief, number, "", bytes(32))),
    ):
        at = local_chain.protocols["erc8004"][place]
        sent = caged.execute(caged.call(at, text_of(signature), *values))
        assert refused(caged, sent) == "CallNotAllowed", signature
    assert _owner_of(local_chain, registry, number) == caged.safe.lower()
    # The owners give it to whom they like.
    give = encode_call(text_of(ITEMS[0]), caged.safe, thief, number)
    assert caged.owner_call(registry, give).succeeded
    assert _owner_of(local_chain, registry, number) == thief.lower()


def _owner_of(world: World, registry: str, number: int) -> str:
    try:
        return str(world.rpc.read(registry, "ownerOf(uint256)", number, returns="(address)")[0]).lower()
    except Exception as error:
        assert "revert" in str(error), error
        return ""


# ---- what no decoder may stumble over ------------------------------------------------------------------------------


def test_a_right_of_no_address_is_no_right_and_the_call_that_names_it_is_refused() -> None:
    state = build_state([spender_rule(THIEF, most_micro_usd=10**9)])
    dirty = (1 << 160 | int(THIEF, 16)).to_bytes(32, "big")
    amount = (5).to_bytes(32, "big")
    plain = Call(to=USDC, data=APPROVE + dirty + amount, value=0, label="")
    clean = bytes(12) + bytes.fromhex(USDC[2:])
    head = bytes.fromhex("87517c45")
    of_permit2 = [
        Call(to=PERMIT2, data=head + b"".join(words), value=0, label="")
        for words in ((clean, dirty, amount, amount), (b"\x01" + clean[1:], bytes(32), amount, amount))
    ]
    for call in (plain, *of_permit2):
        assert list_rights(state, [call]) == []
        assert judge(state, call.to, call.data) == "CallDataMalformed"


@st.composite
def odd_calls(draw: st.DrawFn) -> tuple[str, bytes]:
    """A suggested call, an approval or a bundle, with words of any bits, cut short or drawn out."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    _, address, _, text = chance.choice(list(suggested_calls()))
    heads = [parse_signature(text_of(text)).selector, APPROVE, bytes.fromhex("87517c45")]
    heads += [bytes.fromhex(each) for each in ("ac9650d8", "5ae401dc", "1f0464d1")]
    to = chance.choice([address, USDC, PERMIT2])
    small = st.integers(0, 300)
    words = draw(st.lists(st.one_of(st.integers(0, 2**256 - 1), small, st.just(int(ACCOUNT, 16))), max_size=14))
    data = chance.choice(heads) + b"".join(word.to_bytes(32, "big") for word in words)
    return to, data[: len(data) - draw(st.integers(0, 40))] + draw(st.binary(max_size=40))


@given(st.lists(odd_calls(), min_size=1, max_size=4))
def test_calls_of_any_bytes_are_judged_or_refused_and_raise_nothing_else(calls: list[tuple[str, bytes]]) -> None:
    everything = {address for address, _ in SHELF.contracts_on(CHAIN_ID)}
    state = build_state([*call_rules(CHAIN_ID, everything, valued=None), spender_rule(THIEF, most_micro_usd=10**9)])
    batch = [Call(to=to, data=data, value=0, label="") for to, data in calls]
    rights = list_rights(state, batch)
    assert all(len(bytes.fromhex(each.spender[2:])) == 20 for each in rights)
    find_payout(batch, list_payees(state))
    for to, data in calls:
        judge(state, to, data)

"""A halt takes back what protocols' contracts let somebody do with the golem's account, and tells what it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.execution.right_revocation import list_rights
from permits_app.models import ActionPermit, HaltRecord
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import Stage, open_stage
from tests.evm.world import CHAIN_ID
from tests.factories.permits import make_permit
from tests.live_golem import LiveGolem
from tests.made_up_bank.on_the_shelf import Bank
from tools_app.chain import blocks
from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import clock
from tools_app.portfolio import standing_rights
from tools_app.portfolio.rights_without_logs import takes_back_an_asked_right
from tools_app.portfolio.standing_rights import takes_back_a_right
from tools_app.protocols.aave_v3.addresses import deployments as aave
from tools_app.protocols.maker_sky.addresses import NAME as MAKER
from tools_app.protocols.maker_sky.addresses import deployments as maker
from tools_app.protocols.maker_sky.signatures import CDP_ALLOW, HOPE, NOPE
from tools_app.protocols.morpho_blue.addresses import deployments as morpho
from tools_app.protocols.uniswap.protocol import PROTOCOL as UNISWAP
from tools_app.toolkit.case import Case
from tools_app.toolkit.plan import Call, TxPlan

THIEF = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
OTHER = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
AUTHORIZE = "function setAuthorization(address,bool)"
DELEGATE = "function approveDelegation(address,uint256)"


def send(stage: Stage, to: str, data: bytes) -> None:
    stage.send(TxPlan(CHAIN_ID, (Call(to, data, 0, "by hand"),)))


def halt(golem: LiveGolem) -> dict[str, dict[str, Any]]:
    """The steps of the halt, by name."""
    halt_golem(golem=golem.golem, reason="a thief", actor="owner:1", now=clock.now())
    steps = carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())
    assert HaltRecord.objects.get().completed_at is not None, steps
    return {step["step"]: step for step in steps}


def authorized(stage: Stage, taker: str) -> bool:
    where = (morpho(CHAIN_ID) or {})["morpho"]
    return bool(stage.world.rpc.read(where, "isAuthorized(address,address)", stage.account, taker, returns="(bool)")[0])


def find_debt_token(stage: Stage) -> str:
    provider, asset = (aave(CHAIN_ID) or {})["data_provider"], stage.world.tokens["USDC"].address
    reads = "getReserveTokensAddresses(address)"
    return checksum(stage.world.rpc.read(provider, reads, asset, returns="(address,address,address)")[2])


@pytest.mark.protocols("morpho")
def test_an_authorization_over_all_positions_is_taken_back_and_one_that_ended_is_left(live_golem: LiveGolem) -> None:
    stage = open_stage(live_golem, load_cases())
    where = (morpho(CHAIN_ID) or {})["morpho"]
    for taker, allowed in ((THIEF, True), (OTHER, True), (OTHER, False)):
        send(stage, where, encode_call(AUTHORIZE, taker, allowed))
    assert authorized(stage, THIEF) and not authorized(stage, OTHER)
    step = halt(live_golem)["rights taken back"]
    assert [(each["taker"], each["outcome"]) for each in step["rights"]] == [(THIEF, "COMMITTED")]
    assert step["rights"][0]["right"] == "may act on every Morpho position of the account"
    assert not authorized(stage, THIEF)


@pytest.mark.protocols("aave_v3")
def test_credit_that_was_delegated_is_taken_back_at_the_debt_token(live_golem: LiveGolem) -> None:
    stage = open_stage(live_golem, load_cases())
    debt = find_debt_token(stage)
    send(stage, debt, encode_call(DELEGATE, THIEF, 10**12))
    told = halt(live_golem)["rights taken back"]["rights"]
    assert [(each["contract"], each["taker"], each["outcome"]) for each in told] == [(debt, THIEF, "COMMITTED")]
    left = stage.world.rpc.read(debt, "borrowAllowance(address,address)", stage.account, THIEF, returns="(uint256)")
    assert left[0] == 0


def test_a_right_of_a_protocol_that_was_dropped_in_is_taken_back(live_golem: LiveGolem, bank: Bank) -> None:
    stage = open_stage(live_golem, load_cases())
    where = (bank.protocol.deployments(CHAIN_ID) or {})["bank"]
    send(stage, where, encode_call("function setTeller(address,bool)", THIEF, True))
    assert bank.read("isTeller(address,address)", stage.account, THIEF)
    found = list_rights(golem=live_golem.golem, chain_id=CHAIN_ID, now=clock.now())
    assert [(right.protocol, right.label) for right in found.rights] == [(bank.protocol.name, "may act at the bank")]
    halt(live_golem)
    assert not bank.read("isTeller(address,address)", stage.account, THIEF)
    assert ActionPermit.objects.get(action_type="revoke_right").status == "COMMITTED"


@pytest.mark.protocols("morpho")
def test_a_right_that_cannot_be_taken_back_is_told_and_keeps_no_other_one(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = open_stage(live_golem, load_cases())
    where = (morpho(CHAIN_ID) or {})["morpho"]
    for taker in (OTHER, THIEF):
        send(stage, where, encode_call(AUTHORIZE, taker, True))
    read = standing_rights._read

    def misread(log: Any, protocol: Any, event: Any, account: str) -> Any:
        right, is_given = read(log, protocol, event, account)
        if right is not None and right.taker == THIEF:
            # As of a right that somebody else has to end: this call reverts.
            right = replace(right, data=encode_call(AUTHORIZE, THIEF, True))
        return right, is_given

    monkeypatch.setattr(standing_rights, "_read", misread)
    told = halt(live_golem)["rights taken back"]["rights"]
    assert {each["taker"]: each["outcome"] for each in told} == {OTHER: "COMMITTED", THIEF: "CANNOT_BE_TAKEN_BACK"}
    assert not authorized(stage, OTHER) and authorized(stage, THIEF)


def may_move(stage: Stage, taker: str) -> bool:
    vat = (maker(CHAIN_ID) or {})["vat"]
    return bool(stage.world.rpc.read(vat, "can(address,address)", stage.account, taker, returns="(uint256)")[0])


@pytest.mark.protocols("maker")
def test_what_a_permit_gave_at_maker_and_no_log_tells_is_taken_back(live_golem: LiveGolem) -> None:
    cases, place = load_cases(), maker(CHAIN_ID) or {}
    stage = open_stage(live_golem, cases)
    # A plan that sends its calls one by one, and ended between giving a right and taking it back.
    stage.prepare(
        Case("maker_open_vault", {}, cases["maker_open_vault"].case.is_a, after=("maker_deposit_collateral",))
    )
    vault = max(int(each.ref.id) for each in stage.positions() if each.ref.protocol == MAKER)
    given = (
        Call(place["vat"], encode_call(HOPE, THIEF), 0, "a right over the account"),
        Call(place["cdp_manager"], encode_call(CDP_ALLOW, vault, THIEF, 1), 0, "a right over a vault"),
    )
    stage.send(TxPlan(CHAIN_ID, given))
    sent = [{"to": each.to, "data": "0x" + each.data.hex(), "value": "0"} for each in given]
    make_permit(golem=live_golem.golem, status="REVERTED", calls=sent)
    # Maker's own adapter needs no permit to be looked for.
    send(stage, place["vat"], encode_call(HOPE, place["join_dai"]))
    assert may_move(stage, THIEF) and may_move(stage, place["join_dai"])
    told = halt(live_golem)["rights taken back"]["rights"]
    assert {(each["taker"], each["outcome"]) for each in told} == {
        (THIEF, "COMMITTED"),
        (place["join_dai"], "COMMITTED"),
    }
    assert len(told) == 3
    assert not may_move(stage, THIEF) and not may_move(stage, place["join_dai"])
    reads = "cdpCan(address,uint256,address)"
    left = stage.world.rpc.read(place["cdp_manager"], reads, stage.account, vault, THIEF, returns="(uint256)")
    assert left[0] == 0


def test_an_operator_of_all_liquidity_positions_is_taken_back(live_golem: LiveGolem) -> None:
    stage = open_stage(live_golem, load_cases())
    manager = (UNISWAP.deployments(CHAIN_ID) or {})["v3_position_manager"]
    send(stage, manager, encode_call("function setApprovalForAll(address,bool)", THIEF, True))
    (told,) = halt(live_golem)["rights taken back"]["rights"]
    assert (told["right"], told["outcome"]) == ("may move every Uniswap V3 position", "COMMITTED")
    reads = "isApprovedForAll(address,address)"
    assert not stage.world.rpc.read(manager, reads, stage.account, THIEF, returns="(bool)")[0]


@pytest.mark.protocols("morpho")
def test_rights_that_strangers_give_the_golem_hide_none_that_it_gave(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, stranger = open_stage(live_golem, load_cases()), derive_account("a stranger with much to give")
    manager = (UNISWAP.deployments(CHAIN_ID) or {})["v3_position_manager"]
    where = (morpho(CHAIN_ID) or {})["morpho"]
    send(stage, manager, encode_call("function setApprovalForAll(address,bool)", THIEF, True))
    send(stage, where, encode_call(AUTHORIZE, THIEF, True))
    stage.world.rpc.call("anvil_setBalance", stranger.address, hex(10**20))
    for number in range(8):
        given = number % 2 == 0
        stage.world.transact(stranger, manager, "setApprovalForAll(address,bool)", stage.account, given)
        stage.world.transact(stranger, where, "setAuthorization(address,bool)", stage.account, given)
    # As where there are fifty thousand of them, for which a stranger pays a few dollars on a cheap chain.
    monkeypatch.setattr(blocks, "_MOST_LOGS", 4)
    told = halt(live_golem)["rights taken back"]["rights"]
    assert [(each["taker"], each["outcome"]) for each in told] == [(THIEF, "COMMITTED")] * 2
    assert not authorized(stage, THIEF)


def test_only_the_end_of_a_right_that_no_log_tells_is_one() -> None:
    place = maker(CHAIN_ID) or {}

    def ends(key: str, data: bytes) -> bool:
        return takes_back_an_asked_right(chain_id=CHAIN_ID, contract=place[key], data=data)

    assert ends("vat", encode_call(NOPE, THIEF)) and ends("cdp_manager", encode_call(CDP_ALLOW, 7, THIEF, 0))
    assert not ends("vat", encode_call(HOPE, THIEF)) and not ends("vat", encode_call(NOPE, THIEF) + b"\0")
    assert not ends("cdp_manager", encode_call(CDP_ALLOW, 7, THIEF, 1))
    assert not ends("cdp_manager", encode_call(NOPE, THIEF))


def test_only_the_end_of_a_right_is_one() -> None:
    where = (morpho(CHAIN_ID) or {})["morpho"]
    ends = encode_call(AUTHORIZE, THIEF, False)
    assert takes_back_a_right(chain_id=CHAIN_ID, contract=where, data=ends)
    assert not takes_back_a_right(chain_id=CHAIN_ID, contract=where, data=encode_call(AUTHORIZE, THIEF, True))
    assert not takes_back_a_right(chain_id=CHAIN_ID, contract=where, data=ends + b"\0")
    assert not takes_back_a_right(chain_id=CHAIN_ID, contract=OTHER, data=ends)
    # A debt token is known only by asking the chain; credit of nothing is nothing anywhere.
    assert takes_back_a_right(chain_id=CHAIN_ID, contract=OTHER, data=encode_call(DELEGATE, THIEF, 0))
    assert not takes_back_a_right(chain_id=CHAIN_ID, contract=OTHER, data=encode_call(DELEGATE, THIEF, 1))


@pytest.mark.protocols("morpho")
def test_the_owner_is_told_which_blocks_nobody_searched(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = open_stage(live_golem, load_cases())
    send(stage, (morpho(CHAIN_ID) or {})["morpho"], encode_call(AUTHORIZE, THIEF, True))
    head = int(stage.world.rpc.call("eth_blockNumber"), 16)
    monkeypatch.setattr(standing_rights, "MOST_RANGES", 1)
    monkeypatch.setitem(KNOWN_NETWORKS, CHAIN_ID, replace(KNOWN_NETWORKS[CHAIN_ID], max_log_range=1))
    right, gap = halt(live_golem)["rights taken back"]["rights"]
    assert (right["taker"], gap["outcome"]) == (THIEF, "NOT_SEARCHED")
    assert f"before block {head} " in gap["detail"]

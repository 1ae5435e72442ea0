"""The tools of EigenLayer through a life with a slash: what is told, what is refused, and what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context, report_of
from tests.tools_app.protocols.eigenlayer.test_restaked import AT, DELAY, slash
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.core.errors import GolemError
from tools_app.protocols.eigenlayer.protocol import PROTOCOL

pytestmark = pytest.mark.protocols("eigenlayer")
WAD = 10**18
DAI = 1_000 * WAD
OPERATOR = derive_account("eigenlayer operator").address
SERVICE = derive_account("eigenlayer service").address
DEPLOYER = "eigenlayer deployer"


@pytest.fixture
def golem(chain: World) -> Golem:
    """A thousand dollars deposited and delegated to the open operator, by the tools."""
    load_registry()
    golem = Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 2 * DAI}))
    deposit = golem.act("eigenlayer_deposit_lst", token="DAI", amount=str(DAI))
    told = report_of("eigenlayer_deposit_lst", deposit)
    assert (told["delegated_to"], told["slashing_risk"]) == (None, "none")
    delegated = report_of("eigenlayer_delegate", golem.act("eigenlayer_delegate", operator=OPERATOR))
    assert (delegated["operator"], delegated["slashing_history"]) == (OPERATOR, [])
    return golem


def read(golem: Golem, tool: str, **params: Any) -> Any:
    return answer_of(make_context(golem.chain, address=golem.address), tool, **params)


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def test_a_slash_is_told_of_the_deposit_that_it_took_from(golem: Golem) -> None:
    before = read(golem, "eigenlayer_get_position")["strategies"][0]
    slash(golem.chain, WAD // 4)
    after = read(golem, "eigenlayer_get_position")["strategies"][0]
    assert after["shares"] == before["shares"]
    assert int(after["withdrawable_shares"]) in range(DAI * 3 // 4 - 2, DAI * 3 // 4 + 1)
    assert after["token"] == "DAI" and after["eth_value"] is not None


def test_a_slash_is_told_of_the_operator_and_of_whoever_joins_it(golem: Golem) -> None:
    slash(golem.chain, WAD // 4)
    (row,) = (each for each in read(golem, "eigenlayer_get_operators")["operators"] if each["address"] == OPERATOR)
    (told,) = row["slashing_history"]
    assert (told["service"], told["slashed_wad"], told["reason"]) == (SERVICE, [str(WAD // 4)], "a test")
    more = report_of("eigenlayer_deposit_lst", golem.act("eigenlayer_deposit_lst", token="DAI", amount=str(WAD)))
    assert (more["delegated_to"], more["slashing_risk"], row["slashing_risk"]) == (OPERATOR, "medium", "medium")


def test_an_operator_that_was_slashed_still_counts_for_its_service(golem: Golem) -> None:
    slash(golem.chain, WAD // 4)
    services = read(golem, "eigenlayer_get_avs_list")["avs_services"]
    assert [each["operator_count"] for each in services if each["address"] == SERVICE] == [1]


def test_who_changes_its_operator_waits_for_everything_and_gets_what_the_slash_left(golem: Golem) -> None:
    chain = golem.chain
    other = chain.new_account(WAD)
    register = "registerAsOperator(address,uint32,string)"
    chain.transact(other, AT["delegation"], register, "0x" + "00" * 20, 0, "https://operator.invalid/other.json")
    slash(chain, WAD // 2)
    left = report_of("eigenlayer_undelegate", golem.act("eigenlayer_undelegate", new_operator=other.address))
    assert left["operator"] == other.address and len(left["withdrawals"]) == 1
    held = read(golem, "eigenlayer_get_position")
    assert held["delegated_to"] == other.address and held["strategies"] == []
    (waiting,) = held["pending_withdrawals"]
    assert waiting["withdrawal_root"] == left["withdrawal_root"] and not waiting["is_free"]
    early = refused(golem, "eigenlayer_complete_withdrawal", withdrawal_root=left["withdrawal_root"])
    assert (early.code, early.data["free_block"]) == ("RESTAKING_WITHDRAWAL_WAITS", waiting["free_block"])
    chain.rpc.call("anvil_mine", hex(DELAY + 1))
    done = golem.act("eigenlayer_complete_withdrawal", withdrawal_root=left["withdrawal_root"])
    (received,) = report_of("eigenlayer_complete_withdrawal", done)["tokens_received"]
    assert int(received["raw"]) in range(DAI // 2 - 4, DAI // 2 + 1)
    again = refused(golem, "eigenlayer_complete_withdrawal", withdrawal_root=left["withdrawal_root"])
    assert again.code == "RESTAKING_WITHDRAWAL_UNKNOWN"


def test_two_strategies_are_queued_each_with_its_own_shares(golem: Golem) -> None:
    chain = golem.chain
    chain.fund(golem.address, 0, {"WETH": WAD})
    golem.act("eigenlayer_deposit_lst", token="WETH", amount=str(WAD))
    places = [AT["strategy_weth"], AT["strategy_dai"]]
    golem.act("eigenlayer_queue_withdrawal", strategies=places, shares=[str(WAD // 4), str(DAI // 2)])
    (waiting,) = read(golem, "eigenlayer_get_position")["pending_withdrawals"]
    given = {each["units"].split()[-1]: int(each["raw"]) for each in waiting["gives"]}
    assert given["WETH"] in range(WAD // 4 - 2, WAD // 4 + 1) and given["DAI"] in range(DAI // 2 - 2, DAI // 2 + 1)


def test_what_is_stopped_slashed_to_nothing_or_delegated_already_is_refused_with_its_reason(golem: Golem) -> None:
    chain = golem.chain
    assert refused(golem, "eigenlayer_delegate", operator=OPERATOR).code == "RESTAKING_ALREADY_DELEGATED"
    admin = derive_account(DEPLOYER)
    chain.transact(admin, AT["delegation"], "setPaused(uint256)", 2)
    stopped = refused(golem, "eigenlayer_undelegate")
    assert (stopped.code, stopped.data["stopped"]) == ("RESTAKING_PAUSED", "queue")
    chain.transact(admin, AT["delegation"], "setPaused(uint256)", 0)
    slash(chain, WAD)
    nothing = refused(golem, "eigenlayer_deposit_lst", token="DAI", amount="5")
    assert (nothing.code, nothing.data["why"]) == ("RESTAKING_OPERATOR_REFUSED", "slashed")

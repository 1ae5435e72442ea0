"""What a protocol's own people do on the local chain: a place in the queue becomes final, and can be claimed."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.people import find_people, work_on, work_once
from golem_project.embedded.world.people import lido as queue_people
from tests.evm.world import World
from tests.tools_app.protocols.lido.staking import ETH, act, at


def ask_for(chain: World, ether: int) -> tuple[object, str]:
    account = chain.new_account((ether + 1) * ETH)
    act(chain, account, "lido_stake", amount=str(ether * ETH), output_token="stETH")
    outcome = act(chain, account, "lido_unstake", amounts=[str(ether * ETH - 10)], token="stETH")
    assert outcome is not None
    (last,) = chain.rpc.read(at("queue"), "getLastRequestId()", returns="(uint256)")
    return account, str(last)


def last_final(chain: World) -> int:
    return int(chain.rpc.read(at("queue"), "getLastFinalizedRequestId()", returns="(uint256)")[0])


@pytest.mark.protocols("lido")
def test_a_request_is_final_after_a_minute_and_not_before_and_is_claimed(chain: World) -> None:
    told: list[str] = []
    account, request = ask_for(chain, 2)
    before = last_final(chain)
    work_once(chain.rpc, find_people(), say=told.append)
    assert last_final(chain) == before and told == []
    chain.rpc.call("evm_increaseTime", queue_people.WAIT_SECONDS + 1)
    chain.rpc.call("evm_mine")
    work_once(chain.rpc, find_people(), say=told.append)
    assert last_final(chain) == int(request)
    assert told and "simulated" in told[0]
    work_once(chain.rpc, find_people(), say=told.append)
    assert len(told) == 1, "nothing is due twice"
    address = str(getattr(account, "address", ""))
    held = int(chain.rpc.call("eth_getBalance", address, "latest"), 16)
    act(chain, account, "lido_claim_withdrawal", request_ids=[request])
    assert int(chain.rpc.call("eth_getBalance", address, "latest"), 16) > held + ETH


def test_people_of_a_protocol_that_is_not_there_do_nothing(chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golem_project.embedded.world.people.read_note", lambda rpc, key: None)
    work_once(chain.rpc, find_people(), say=pytest.fail)


def test_a_chain_that_does_not_answer_is_said_once_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    looks = iter(range(4))

    def sleep(_: float) -> None:
        if next(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        work_on("http://127.0.0.1:1", say=told.append)
    assert len(told) == 1 and "does not answer" in told[0]


@pytest.mark.protocols("lido")
def test_the_command_stays_until_it_is_ended(world: World) -> None:
    argv = [sys.executable, "-m", "golem_project.embedded.world", "protocols", "--key", "lido", "--stay"]
    process = subprocess.Popen([*argv, "--rpc", world.rpc_url], cwd=CHECKOUT, stderr=subprocess.PIPE)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=4)
    finally:
        process.terminate()
        assert process.wait(timeout=60) != 0

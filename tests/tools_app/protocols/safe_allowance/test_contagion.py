"""An allowance of a Safe whose token or module fails: told within a tick, no further one is asked for, and its owners
end it whatever happened.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from golem_project.heartbeat.duties.position_monitor import LOCKED_SOURCE, PEG_SOURCE, STILL_SOURCE
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.errors import SafeNotAsAgreed
from permits_app.policy_cage.safe_tx import DISABLE_MODULE
from permits_app.policy_cage.safe_watch import SENTINEL
from tests.catalogue.frozen_tokens import Issuer
from tests.golem_project.heartbeat.pulses import turn_on
from tests.permits_app.test_what_acts_for_a_safe import told as told_of_safe
from tests.permits_app.tools.allowing import A_DAY, USD, Allowing, StolenKey
from tests.permits_app.tools.allowing import allowing as allowing
from tests.permits_app.tools.test_wallet import read
from tests.tools_app.protocols.looks import fall, grow_stale, look, told
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.errors import Recovery
from tools_app.standards.paused_tokens import TokenStandsStill
from tools_app.standards.safe_allowance import ADDRESS, end_call

pytestmark = pytest.mark.protocols("safe_allowance")


@pytest.fixture
def given(allowing: Allowing) -> Iterator[Allowing]:
    """A key may take 25 USDC a day, the heartbeat is on, and everything is well."""
    allowing.give()
    allowing.safe.nonce = 1
    golem = allowing.live.golem
    turn_on(golem, is_live=False, rule={})
    look(golem)
    assert [told(golem, each) for each in (STILL_SOURCE, PEG_SOURCE, LOCKED_SOURCE)] == [[], [], []]
    yield allowing


def reason_of(given: Allowing) -> str:
    """Why the key takes nothing now."""
    [line] = read(given.live, "session_get_keys")["keys"]
    assert line["is_active"] == (line["reason"] == "it may act")
    return str(line["reason"])


def end(given: Allowing) -> None:
    """The owners end it in their wallet; nobody takes anything from then on."""
    given.safe.owner_call(ADDRESS, end_call(given.key.address).data)
    given.look()
    assert read(given.live, "session_get_keys")["keys"] == []


@pytest.mark.parametrize("how", ["paused", "frozen at the Safe"])
def test_an_allowance_whose_token_stands_still_is_told_within_a_tick_and_ended_by_its_owners(
    given: Allowing, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem, issuer = given.live.golem, Issuer(given.world, "USDC", monkeypatch)
    look(golem)
    assert told(golem, STILL_SOURCE) == [] and reason_of(given) == "it may act"
    if how == "paused":
        issuer.pause()
    else:
        issuer.freeze(given.safe.address)
    look(golem)
    assert told(golem, STILL_SOURCE) == ["stands still: USDC"]
    assert "paused or frozen" in reason_of(given)
    stolen, had = StolenKey(given), given.balance()
    assert not stolen.take(1) and given.balance() == had
    with pytest.raises(TokenStandsStill) as refused:
        given.ask("provision_session_key", key=given.key.address, token="USDC", amount=str(A_DAY))
    assert refused.value.recovery == Recovery.WAIT
    end(given)
    issuer.pause(is_on=False)
    issuer.freeze("0x0")
    look(golem)
    assert told(golem, STILL_SOURCE)[-1] == "well again" and not stolen.take(1)


def test_a_dollar_that_falls_or_has_no_price_is_told_within_a_tick_and_the_allowance_of_it_is_ended(
    given: Allowing,
) -> None:
    golem = given.live.golem
    fall(given.world, "USDC")
    look(golem)
    assert told(golem, PEG_SOURCE) == ["off its peg: USDC"]
    grow_stale(given.world, "USDC")
    look(golem)
    assert told(golem, LOCKED_SOURCE) == ["oracle failed: price of USDC"]
    # It takes no more of what fell than of what did not: the module counts tokens and not dollars.
    stolen = StolenKey(given)
    assert stolen.take(A_DAY) and not stolen.take(1)
    end(given)


def test_a_module_that_was_taken_off_the_safe_is_told_and_its_keys_take_nothing(given: Allowing) -> None:
    given.safe.owner_call(given.safe.address, encode_call(DISABLE_MODULE, SENTINEL, ADDRESS))
    given.look()
    assert f"module: {ADDRESS} became none" in told_of_safe(given.live)
    assert reason_of(given) == "its module is none of the Safe's"
    assert not StolenKey(given).take(1)
    given.give(amount=USD)
    assert reason_of(given) == "it may act", "who asks again asks for the module too"
    # Nothing became weaker: the golem goes on.
    assert given.live.preview()["status"] == "AWAITING_APPROVAL"


def test_other_code_behind_the_module_is_told_stops_entries_and_lets_everything_be_left(given: Allowing) -> None:
    rpc = given.world.rpc
    rpc.call("anvil_setCode", ADDRESS, "0x60006000fd")
    rpc.call("evm_mine")
    given.look()
    assert any(f"code of {ADDRESS}" in line for line in told_of_safe(given.live)), told_of_safe(given.live)
    with pytest.raises(SafeNotAsAgreed):
        given.live.preview(amount="400000000")
    out = given.live.preview(token_in="WETH", token_out="USDC", amount=str(10**17))
    assert out["status"] == "AWAITING_APPROVAL", "what becomes the base asset is leaving"
    told_keys = read(given.live, "session_get_keys")
    assert told_keys["keys"] == [] and "cannot be asked now" in told_keys["note"], told_keys


def test_a_halt_names_the_allowance_for_its_owners_also_while_its_token_stands_still(
    given: Allowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    Issuer(given.world, "USDC", monkeypatch).pause()
    golem = given.live.golem
    halted = halt_golem(golem=golem, reason="it stands still", actor="user:owner", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=halted["epoch"], now=clock.now())
    [step] = [each for each in steps if each["step"] == "rights taken back"]
    assert given.key.address in str(step) and ADDRESS in str(step), step

"""Keys of a cage whose Safe, token or price fails: told within a round and a tick, nothing more goes in, and a halt
ends them whatever happened.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from golem_project.heartbeat.duties.position_monitor import LOCKED_SOURCE, PEG_SOURCE, STILL_SOURCE
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.policy_cage.safe_tx import DISABLE_MODULE
from permits_app.policy_cage.safe_watch import SENTINEL
from tests.catalogue.frozen_tokens import Issuer
from tests.golem_project.heartbeat.pulses import turn_on
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.test_what_acts_for_a_safe import told as told_of_safe
from tests.permits_app.tools.test_wallet import read
from tests.tools_app.protocols.looks import fall, grow_stale, look, told
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.errors import GolemError


@pytest.fixture
def caged(live_golem: LiveGolem) -> Iterator[CagedGolem]:
    """A golem with a session, its heartbeat on, and everything well."""
    caged, golem = CagedGolem(live_golem), live_golem.golem
    caged.sync()
    golem.refresh_from_db()
    turn_on(golem, is_live=False, rule={})
    look(golem)
    assert [told(golem, each) for each in (STILL_SOURCE, PEG_SOURCE, LOCKED_SOURCE)] == [[], [], []]
    yield caged


def reason_of(caged: CagedGolem) -> str:
    """Why the key of the session acts or does not."""
    [line] = read(caged.live, "session_get_keys")["keys"]
    assert line["is_active"] == (line["reason"] == "it may act")
    return str(line["reason"])


def test_a_cage_that_was_taken_off_its_safe_is_told_and_its_keys_do_nothing(caged: CagedGolem) -> None:
    assert reason_of(caged) == "it may act" and told_of_safe(caged.live) == []
    contract = caged.mirror.contract
    permit = caged.live.preview()
    caged.safe.owner_call(caged.safe.address, encode_call(DISABLE_MODULE, SENTINEL, contract))
    caged.sync()
    assert f"module: {contract} became none" in told_of_safe(caged.live)
    assert reason_of(caged) == "the cage is no module of the Safe"
    with pytest.raises(GolemError) as refused:
        caged.live.preview(amount="400000000")
    assert refused.value.code and refused.value.recovery, refused.value
    caged.live.start(permit["permit_id"])
    caged.live.work(permit["permit_id"])
    ended = caged.live.permit(permit["permit_id"])
    assert ended.status == "BLOCKED" and not ended.transactions.exists(), ended.status


def test_a_token_of_the_safe_that_stands_still_falls_or_has_no_price_is_told_within_a_tick_and_a_halt_ends_the_key(
    caged: CagedGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, golem = caged.live, caged.live.golem
    fall(live.world, "USDC")
    look(golem)
    assert told(golem, PEG_SOURCE) == ["off its peg: USDC"]
    grow_stale(live.world, "USDC")
    look(golem)
    assert told(golem, LOCKED_SOURCE) == ["oracle failed: price of USDC"]
    with pytest.raises(GolemError) as refused:
        live.preview()
    assert refused.value.code in ("PRICE_STALE", "VALUE_UNKNOWN"), refused.value
    Issuer(live.world, "USDC", monkeypatch).freeze(caged.safe.address)
    look(golem)
    assert told(golem, STILL_SOURCE) == ["stands still: USDC"]
    with pytest.raises(GolemError) as refused:
        live.preview()
    assert refused.value.code and refused.value.recovery, refused.value
    halted = halt_golem(golem=golem, reason="it stands still", actor="user:owner", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=halted.get("epoch", golem.halt_epoch), now=clock.now())
    golem.refresh_from_db()
    assert golem.is_halted

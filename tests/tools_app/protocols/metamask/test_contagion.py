"""A right over an owner's money whose token or contracts fail: told within a tick, nothing more is drawn or handed on,
and what was handed on is taken back first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import Golem
from golem_project.heartbeat.duties.position_monitor import LOCKED_SOURCE, PEG_SOURCE, STILL_SOURCE
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.errors import TokenOffPeg
from permits_app.models import ReceivedRight, SignedPromise
from permits_app.models.permit import PermitStatus
from tests.catalogue.frozen_tokens import Issuer
from tests.evm.world import World
from tests.golem_project.heartbeat.pulses import turn_on
from tests.live_golem import make_live_golem
from tests.permits_app.test_runway import Kept, ask_health
from tests.permits_app.tools.test_wallet import read
from tests.tools_app.protocols.looks import fall, grow_stale, look, told
from tests.tools_app.protocols.metamask.owner_wallet import USD, OwnerWallet, at, raw
from tests.tools_app.protocols.metamask.test_redelegations import Helped
from tests.tools_app.protocols.metamask.test_redelegations import helped as helped
from tools_app.core import clock
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.models import OutboxEvent
from tools_app.protocols.metamask.tools import NoRunway
from tools_app.standards.paused_tokens import TokenStandsStill

pytestmark = pytest.mark.protocols("metamask")
A_DAY = 25 * USD
ENFORCERS = ("erc20_period", "timestamp", "nonce", "redeemer", "value_lte")


@pytest.fixture
def kept(db: None, local_chain: World) -> Iterator[Kept]:
    kept = Kept(make_live_golem(local_chain), OwnerWallet.open(local_chain))
    turn_on(kept.golem, is_live=False, rule={})
    yield kept


def gives_nothing(kept: Kept) -> str:
    return f"gives nothing now: USDC of {kept.wallet.address}"


def refusal(kept: Kept, **asked: Any) -> GolemError:
    """Why something is neither drawn nor handed on."""
    body = {"venue": "metamask", "token_in": None, "token_out": None, "amount": str(USD), **asked}
    with pytest.raises(GolemError) as refused:
        kept.live.preview(**body)
    return refused.value


def refuse_both(kept: Kept, error: type[GolemError]) -> None:
    friend = kept.live.world.new_account().address
    for asked in ({"action_type": "redeem_runway"}, {"action_type": "redelegate", "recipient": friend}):
        refused = refusal(kept, **asked)
        assert isinstance(refused, error) and refused.recovery == Recovery.WAIT, (asked, refused)


def halt(golem: Golem) -> list[dict[str, Any]]:
    halted = halt_golem(golem=golem, reason="it failed", actor="user:owner", now=clock.now())
    steps: list[dict[str, Any]] = carry_out_halt(golem_id=golem.pk, epoch=halted["epoch"], now=clock.now())
    return steps


@pytest.mark.parametrize("how", ["paused", "frozen at its giver", "frozen here"])
def test_a_right_whose_token_stands_still_is_told_within_a_tick_gives_nothing_and_gives_again(
    kept: Kept, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = Issuer(kept.live.world, "USDC", monkeypatch)
    kept.keep(a_day=A_DAY)
    permit, had = kept.draw(10 * USD), kept.wallet.balance()
    look(kept.golem)
    assert told(kept.golem, STILL_SOURCE) == []
    if how == "paused":
        issuer.pause()
    else:
        issuer.freeze(kept.account if how == "frozen here" else kept.wallet.address)
    look(kept.golem)
    own = [] if how == "frozen at its giver" else ["stands still: USDC"]
    assert told(kept.golem, STILL_SOURCE) == [*own, gives_nothing(kept)]
    refuse_both(kept, TokenStandsStill)
    health = ask_health(kept)
    assert health["health"] == "low" and "paused or frozen" in health["reason"], health
    [line] = read(kept.live, "session_get_keys")["keys"]
    assert not line["is_active"] and "paused or frozen" in line["reason"]
    # What was allowed before is not signed now.
    kept.live.start(permit["permit_id"])
    kept.live.work(permit["permit_id"])
    ended = kept.live.permit(permit["permit_id"])
    assert ended.status not in (PermitStatus.COMMITTED, PermitStatus.UNKNOWN) and ended.problem, ended.status
    issuer.pause(is_on=False)
    issuer.freeze("0x0")
    look(kept.golem)
    assert told(kept.golem, STILL_SOURCE)[-1] == "well again"
    kept.live.commit(kept.draw(10 * USD)["permit_id"])
    assert had - kept.wallet.balance() == 10 * USD


def test_a_right_whose_manager_or_enforcer_has_no_code_is_told_within_a_tick_and_nothing_is_drawn(kept: Kept) -> None:
    rpc, caveats = kept.live.world.rpc, kept.wallet.runway(a_day=A_DAY)
    caveats += [(at("redeemer"), raw(kept.account), b""), (at("value_lte"), bytes(32), b"")]
    kept.receive(kept.wallet.context(kept.account, caveats))
    look(kept.golem)
    heard = told(kept.golem, STILL_SOURCE)
    assert heard == []
    for key in ("manager", *ENFORCERS):
        code = rpc.call("eth_getCode", at(key), "latest")
        rpc.call("anvil_setCode", at(key), "0x")
        rpc.call("evm_mine")
        look(kept.golem)
        heard.append(gives_nothing(kept))
        assert told(kept.golem, STILL_SOURCE) == heard, key
        refused = refusal(kept, action_type="redeem_runway")
        assert refused.code and refused.recovery, (key, refused)
        assert ReceivedRight.objects.get().state == "STANDING", f"silence takes nothing back: {key}"
        rpc.call("anvil_setCode", at(key), code)
        rpc.call("evm_mine")
        look(kept.golem)
        heard.append("well again")
        assert told(kept.golem, STILL_SOURCE) == heard, key
    assert kept.draw(10 * USD)["status"] == PermitStatus.CREATED


def test_a_node_that_is_away_for_a_look_is_no_news_of_the_right(kept: Kept) -> None:
    kept.keep(a_day=A_DAY)
    look(kept.golem)
    ReceivedRight.objects.update(last_error="RPC_TIMEOUT: the node did not answer in time", next_look_at=None)
    look(kept.golem)
    assert told(kept.golem, STILL_SOURCE) == []


@pytest.mark.parametrize("how", ["disabled", "no code at its giver's"])
def test_a_right_that_was_taken_back_is_told_before_the_tick_and_drawn_no_more(kept: Kept, how: str) -> None:
    caveats = kept.wallet.runway(a_day=A_DAY)
    kept.receive(kept.wallet.context(kept.account, caveats))
    look(kept.golem)
    if how == "disabled":
        kept.wallet.disable(kept.account, caveats)
    else:
        kept.wallet.run_code("0x" + "0" * 40)
    look(kept.golem)
    assert OutboxEvent.objects.filter(golem_id=kept.golem.pk, type="right:withdrawn").count() == 1
    assert told(kept.golem, STILL_SOURCE) == [], "it is no right any more"
    assert isinstance(refusal(kept, action_type="redeem_runway"), NoRunway)


def give_away(kept: Kept) -> None:
    """The golem has no USDC of its own."""
    world, usdc = kept.live.world, kept.live.world.tokens["USDC"].address
    rpc = world.rpc
    rpc.call("anvil_impersonateAccount", kept.account)
    held = rpc.balance_of(usdc, kept.account)
    data = "0xa9059cbb" + ("44" * 20).rjust(64, "0") + f"{held:064x}"
    sent = rpc.call("eth_sendTransaction", {"from": kept.account, "to": usdc, "data": data})
    assert world.wait(sent)["status"] == "0x1"


def test_a_right_over_a_dollar_that_falls_is_told_though_none_is_held_and_nothing_of_it_is_handed_on(
    helped: Helped,
) -> None:
    helped.keep(a_day=A_DAY)
    handed = helped.hand_on()
    give_away(helped)
    turn_on(helped.golem, is_live=False, rule={})
    look(helped.golem)
    assert told(helped.golem, PEG_SOURCE) == []
    fall(helped.live.world, "USDC")
    look(helped.golem)
    assert told(helped.golem, PEG_SOURCE) == ["off its peg: USDC"]
    with pytest.raises(TokenOffPeg) as refused:
        helped.ask(USD)
    assert refused.value.as_problem()["recovery"] == "WAIT"
    # It is its owner's money, and drawing it takes nothing of the golem's.
    assert helped.draw(USD)["status"] == PermitStatus.CREATED
    asked = {"venue": "metamask", "token_in": None, "token_out": None, "amount": None}
    permit = helped.live.preview(action_type="disable_redelegation", delegation=handed["delegation"], **asked)
    assert helped.live.commit(permit["permit_id"])["status"] == PermitStatus.COMMITTED


def test_where_the_price_of_a_right_s_token_is_stale_nothing_is_handed_on_and_all_is_taken_back(helped: Helped) -> None:
    helped.keep(a_day=A_DAY)
    handed = helped.hand_on()
    turn_on(helped.golem, is_live=False, rule={})
    grow_stale(helped.live.world, "USDC")
    look(helped.golem)
    assert told(helped.golem, LOCKED_SOURCE) == ["oracle failed: price of USDC"]
    with pytest.raises(GolemError) as refused:
        helped.ask(USD)
    assert refused.value.code in ("PRICE_STALE", "VALUE_UNKNOWN") and refused.value.recovery, refused.value
    asked = {"venue": "metamask", "token_in": None, "token_out": None, "amount": None}
    permit = helped.live.preview(action_type="disable_redelegation", delegation=handed["delegation"], **asked)
    assert helped.live.commit(permit["permit_id"])["status"] == PermitStatus.COMMITTED


def test_a_halt_takes_what_was_handed_on_back_before_it_gives_the_right_up_also_of_a_token_that_stands_still(
    helped: Helped, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = Issuer(helped.live.world, "USDC", monkeypatch)
    helped.keep(a_day=A_DAY)
    stolen, had = helped.steal(helped.hand_on()), helped.wallet.balance()
    issuer.pause()
    steps = halt(helped.golem)
    names = [each["step"] for each in steps]
    assert names.index("signed promises cancelled") < names.index("rights received given up"), names
    [promise] = steps[names.index("signed promises cancelled")]["promises"]
    [right] = steps[names.index("rights received given up")]["received"]
    assert (promise["outcome"], right["outcome"], right["who"]) == (
        "CANCELLED",
        "ITS_GIVER_MUST",
        helped.wallet.address,
    )
    issuer.pause(is_on=False)
    assert not stolen.take(1) and helped.wallet.balance() == had
    assert SignedPromise.objects.get().state in ("OPEN", "CANCELLED")

"""An owner's runway on the real bytecode of the delegation framework: granted, drawn within its caveats, taken back."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction

from archetypes_app.models import Golem
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.actions.query import query_state
from permits_app.actions.receive_grant import LONGEST_TEXT, receive_grant
from permits_app.errors import RightEnded, RightLimitExceeded, RightWithdrawn
from permits_app.limits.received_rights import StoredRights
from permits_app.models import ChangeRequest, OutcomeRecord, ReceivedRight
from permits_app.models.permit import PermitStatus
from permits_app.permits.selectors import load_permit
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.approvals.people import approve, carry_out, give_device
from tests.tools_app.protocols.metamask.owner_wallet import DAY, ROOT, USD, OwnerWallet, at, raw
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.protocols.metamask.tools import NoRunway, RunwayClosed
from tools_app.toolkit.others_money import GrantUnsafe
from tools_app.toolkit.registry import REGISTRY

OTHER = "00000000-0000-0000-0000-0000000000aa"
pytestmark = pytest.mark.protocols("metamask")


class Kept:
    """A golem and the owner who keeps it alive."""

    def __init__(self, live: LiveGolem, wallet: OwnerWallet) -> None:
        self.live, self.wallet = live, wallet

    @property
    def golem(self) -> Golem:
        return self.live.golem

    @property
    def account(self) -> str:
        return str(self.live.golem.address)

    def receive(self, given: str) -> ReceivedRight:
        """Bring a grant in."""
        return receive_grant(
            golem=self.golem, protocol="metamask", chain_id=CHAIN_ID, given=given, actor="user:owner", now=clock.now()
        )

    def keep(self, *, a_day: int = 25 * USD, **more: Any) -> ReceivedRight:
        """A runway as a careful owner gives one."""
        return self.receive(self.wallet.context(self.account, self.wallet.runway(a_day=a_day, **more)))

    def draw(self, amount: int | None = None, **params: Any) -> dict[str, Any]:
        """The permit of a draw."""
        asked = {"amount": str(amount) if amount is not None else None, **params}
        return self.live.preview(action_type="redeem_runway", venue="metamask", token_in=None, token_out=None, **asked)


@pytest.fixture
def kept(db: None, local_chain: World) -> Iterator[Kept]:
    yield Kept(make_live_golem(local_chain), OwnerWallet.open(local_chain))


def test_a_runway_is_drawn_day_by_day_and_no_more_than_was_granted(kept: Kept) -> None:
    right, had, held = kept.keep(), kept.wallet.balance(), kept.live.balance("USDC")
    assert (int(right.most), right.period_seconds, right.principal) == (25 * USD, DAY, kept.wallet.address)
    done = kept.live.commit(kept.draw(10 * USD)["permit_id"])
    assert done["status"] == PermitStatus.COMMITTED
    assert OutcomeRecord.objects.get(permit_id=done["permit_id"]).is_verified
    assert had - kept.wallet.balance() == 10 * USD == kept.live.balance("USDC") - held
    with pytest.raises((InvalidParams, RightLimitExceeded)):
        kept.draw(16 * USD)
    kept.wallet.world.rpc.call("evm_increaseTime", DAY)
    kept.wallet.world.rpc.call("evm_mine")
    assert kept.live.commit(kept.draw()["permit_id"])["status"] == PermitStatus.COMMITTED
    assert had - kept.wallet.balance() == 35 * USD


def test_each_phase_draws_its_share_of_what_is_left(kept: Kept) -> None:
    kept.keep()
    for phase, percent in (("CAUTIOUS", 100), ("DEFENSIVE", 50), ("SURVIVAL", 10)):
        Golem.objects.filter(pk=kept.golem.pk).update(phase=phase)
        permit = kept.draw()
        assert permit["expected_outcome"]["least_received"][0]["raw"] == str(25 * USD * percent // 100), phase
        cancel_permit(
            golem=kept.golem,
            permit_id=UUID(str(permit["permit_id"])),
            reason="the next phase",
            actor="system:test",
            now=clock.now(),
        )


def test_a_golem_at_its_end_draws_nothing(kept: Kept) -> None:
    kept.keep()
    Golem.objects.filter(pk=kept.golem.pk).update(phase="TERMINAL")
    with pytest.raises(GolemError) as refused:
        kept.draw()
    assert refused.value.code in {"RUNWAY_CLOSED", "PHASE_FORBIDS"} or isinstance(refused.value, RunwayClosed)


@pytest.mark.parametrize("how", ["disables it", "raises the nonce", "is no smart account any more"])
def test_a_runway_that_its_owner_takes_back_between_preview_and_commit_gives_nothing(kept: Kept, how: str) -> None:
    caveats = kept.wallet.runway(a_day=25 * USD)
    kept.receive(kept.wallet.context(kept.account, caveats))
    permit, had, nonce = kept.draw(10 * USD), kept.wallet.balance(), kept.live.mined_nonce()
    if how == "disables it":
        kept.wallet.disable(kept.account, caveats)
    elif how == "raises the nonce":
        kept.wallet.raise_nonce()
    else:
        kept.wallet.run_code("0x" + "0" * 40)
    kept.live.start(permit["permit_id"])
    try:
        kept.live.work(permit["permit_id"])
    except RightWithdrawn:
        pass
    ended = load_permit(golem=kept.golem, permit_id=kept.live.permit(permit["permit_id"]).pk)
    assert ended.status not in (PermitStatus.COMMITTED, PermitStatus.UNKNOWN)
    assert (kept.wallet.balance(), kept.live.mined_nonce()) == (had, nonce)
    with pytest.raises(NoRunway):
        kept.draw(10 * USD)


def test_what_was_granted_is_read_from_the_grant_and_not_from_what_was_asked_for(kept: Kept) -> None:
    right = kept.keep(a_day=3 * USD, days=5)
    assert int(right.most) == 3 * USD
    assert (right.ends_at - right.starts_at).days == 5


def refuse(kept: Kept, given: str, words: str) -> None:
    """It is not taken, and the book stays empty."""
    with pytest.raises(GrantUnsafe, match=words):
        kept.receive(given)
    assert not ReceivedRight.objects.exists()


def test_a_grant_without_an_amount_an_end_or_a_nonce_is_refused(kept: Kept) -> None:
    for place, words in enumerate(("amount by period", "time at which it ends", "nonce")):
        caveats = kept.wallet.runway(a_day=25 * USD)
        del caveats[place]
        refuse(kept, kept.wallet.context(kept.account, caveats), words)


def test_a_grant_that_is_unsafe_in_another_way_is_refused_with_its_reason(kept: Kept) -> None:
    wallet, safe = kept.wallet, kept.wallet.runway(a_day=25 * USD)
    refuse(kept, wallet.context("0x0000000000000000000000000000000000000a11", safe), "anybody")
    refuse(kept, wallet.context("0x" + "12" * 20, safe), "was given to")
    refuse(kept, wallet.context(kept.account, safe, authority=b"\x01" * 32), "handed on")
    refuse(kept, wallet.context(kept.account, [*safe, (at("manager"), b"", b"")]), "enforcer")
    refuse(kept, wallet.context(kept.account, [*safe, safe[0]]), "twice")
    refuse(kept, wallet.context(kept.account, [*safe[:2], (*safe[2][:2], b"\x01")]), "nobody signed")
    refuse(kept, wallet.context(kept.account, [*safe, (at("redeemer"), raw("0x" + "13" * 20), b"")]), "redeemers")
    refuse(kept, wallet.context(kept.account, safe) + "00", "cannot be read")
    refuse(kept, "0xnothing", "cannot be read")
    assert wallet.context(kept.account, safe, authority=ROOT)


def test_a_grant_with_a_signature_of_somebody_else_does_not_stand(kept: Kept) -> None:
    stranger = OwnerWallet(kept.wallet.world)
    forged = stranger.grant(kept.account, kept.wallet.runway(a_day=25 * USD))
    given = OwnerWallet(kept.wallet.world, kept.wallet.account)
    given.grant = lambda *_, **__: (forged[0], kept.wallet.address, *forged[2:])  # type: ignore[method-assign]
    with pytest.raises(RightWithdrawn, match="honour"):
        kept.receive(given.context(kept.account))


def test_a_grant_that_is_over_or_longer_than_any_is_refused(kept: Kept) -> None:
    caveats = kept.wallet.runway(a_day=USD, days=1, starts=kept.wallet.now() - 2 * DAY)
    with pytest.raises(RightEnded):
        kept.receive(kept.wallet.context(kept.account, caveats))
    with pytest.raises(InvalidParams):
        kept.receive("0x" + "0" * (LONGEST_TEXT - 1))
    with pytest.raises(GrantUnsafe):
        kept.receive("0x" + "0" * (LONGEST_TEXT - 2))


def test_health_is_told_from_the_contracts_and_a_golem_looks_for_itself_alone(kept: Kept) -> None:
    assert ask_health(kept)["health"] == "revoked"
    kept.keep(days=30)
    told = ask_health(kept)
    assert (told["health"], told["days_remaining"], told["remaining_today"]) == ("healthy", 30, str(25 * USD))
    assert told["total_remaining"] == str(30 * 25 * USD) and told["last_redemption_at"] is None
    kept.live.commit(kept.draw(20 * USD)["permit_id"])
    told = ask_health(kept)
    assert (told["health"], told["remaining_today"]) == ("low", str(5 * USD)) and told["last_redemption_at"]
    kept.wallet.world.rpc.call("evm_increaseTime", 27 * DAY)
    kept.wallet.world.rpc.call("evm_mine")
    assert ask_health(kept)["health"] == "critical"
    kept.wallet.raise_nonce()
    assert ask_health(kept)["health"] == "revoked"
    with pytest.raises(InvalidParams):
        kept.draw(USD, golem_id=OTHER)


def ask_health(kept: Kept) -> dict[str, Any]:
    """What `metamask_check_permission_health` tells an agent."""
    assert REGISTRY.get("metamask_check_permission_health") is not None
    golem = Golem.objects.get(pk=kept.golem.pk)
    answer = query_state(golem=golem, query="permission_health", venue="metamask", params={}, now=clock.now())
    told: dict[str, Any] = answer["data"]
    return told


def test_an_owner_brings_a_grant_in_by_a_command_that_says_what_it_is(kept: Kept) -> None:
    out = StringIO()
    given = kept.wallet.context(kept.account)
    call_command("receive_right", kept.golem.name, "metamask", given, stdout=out, stderr=StringIO())
    assert "25 USDC in each 1 d" in out.getvalue() and kept.wallet.address in out.getvalue()
    with pytest.raises(CommandError, match="GRANT_UNSAFE"):
        call_command("receive_right", kept.golem.name, "metamask", "0x00", stdout=out, stderr=StringIO())
    assert ReceivedRight.objects.count() == 1


def test_a_golem_asks_for_a_runway_in_words_that_a_wallet_knows_and_nothing_is_granted_by_it(kept: Kept) -> None:
    asked = {"action_type": "request_runway", "venue": "metamask", "token_in": None, "token_out": None, "amount": None}
    permit = kept.live.preview(**asked, daily_cap_usdc=str(20 * USD), duration_days=30)
    assert kept.live.permit(permit["permit_id"]).tool_name == "metamask_request_runway"
    assert "at most 600 USDC of it is lost" in permit["expected_outcome"]["summary"]
    told = kept.live.commit(permit["permit_id"])["result"]["data"]
    item = told["wallet_request"]
    assert item["permission"]["type"] == "erc20-token-periodic" and item["to"] == kept.account
    assert int(item["permission"]["data"]["periodAmount"], 16) == 20 * USD and told["permission_id"] is None
    assert not ReceivedRight.objects.exists()
    for more in ({"daily_cap_usdc": str(100 * USD + 1)}, {"duration_days": 91}, {"golem_id": OTHER}):
        with pytest.raises(InvalidParams):
            kept.live.preview(**asked, **{"daily_cap_usdc": str(100 * USD), "duration_days": 90, **more})
    assert kept.live.preview(**asked, daily_cap_usdc=str(100 * USD), duration_days=90)["permit_id"]


def test_a_runway_that_is_given_up_is_used_no_more_and_what_is_open_on_the_chain_is_named(kept: Kept) -> None:
    right = kept.keep()
    book = StoredRights()
    with transaction.atomic():
        dropped = book.drop(
            golem_id=kept.golem.pk, chain_id=CHAIN_ID, protocol="metamask", reason="terminal", now=clock.now()
        )
    assert [each.reference for each in dropped] == [right.reference]
    with pytest.raises(NoRunway):
        kept.draw(USD)
    asked = {"action_type": "revoke_permissions", "venue": "metamask", "token_in": None, "token_out": None}
    permit = kept.live.preview(**asked, amount=None, reason="terminal")
    assert permit["status"] == PermitStatus.AWAITING_APPROVAL, "owners are asked"
    assert kept.live.permit(permit["permit_id"]).tool_name == "metamask_revoke_permissions"


def test_the_owners_word_drops_every_runway_and_their_money_is_moved_no_more(kept: Kept) -> None:
    right = kept.keep()
    give_device(kept.live.owner)
    asked = {"action_type": "revoke_permissions", "venue": "metamask", "token_in": None, "token_out": None}
    permit = kept.live.preview(**asked, amount=None, reason="terminal")
    request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
    carry_out(approve(request, kept.live.owner), chain=kept.live.world)
    kept.live.work(permit["permit_id"])
    done = kept.live.permit(permit["permit_id"])
    assert done.status == PermitStatus.COMMITTED, done.status_reason
    right.refresh_from_db()
    assert (right.state, done.result["data"]["still_open"]) == ("DROPPED", [right.reference])
    with pytest.raises(NoRunway):
        kept.draw(USD)


def ask_delegation(kept: Kept, **params: Any) -> dict[str, Any]:
    """What `wallet_get_delegation` tells an agent."""
    assert REGISTRY.get("wallet_get_delegation") is not None
    golem = Golem.objects.get(pk=kept.golem.pk)
    answer = query_state(golem=golem, query="delegation", venue=None, params=params, now=clock.now())
    told: dict[str, Any] = answer["data"]
    return told


def test_an_agent_is_told_whose_money_it_may_move_and_whether_its_giver_still_stands_to_it(kept: Kept) -> None:
    told = ask_delegation(kept)
    assert (told["delegated"], told["permissions"], told["expires_at"]) == (False, [], None)
    right = kept.keep()
    [held] = ask_delegation(kept)["permissions"]
    assert (held["principal"], held["stands"], held["available"]) == (kept.wallet.address, True, str(25 * USD))
    assert "context" not in str(held) and ask_delegation(kept)["expires_at"] == right.ends_at.isoformat()
    assert len(ask_delegation(kept, contract=kept.wallet.address)["permissions"]) == 1
    assert ask_delegation(kept, contract=at("manager"))["permissions"] == []
    kept.wallet.raise_nonce()
    told = ask_delegation(kept)
    [held] = told["permissions"]
    assert not held["stands"] and "nonce" in held["reason"] and told["expires_at"] is None


def test_an_agent_is_told_of_twenty_rights_and_no_more(kept: Kept) -> None:
    for salt in range(21):
        kept.receive(kept.wallet.context(kept.account, kept.wallet.runway(a_day=USD), salt=salt))
    assert len(ask_delegation(kept)["permissions"]) == 20


def test_a_halt_names_who_must_take_a_runway_back_and_where(kept: Kept) -> None:
    right = kept.keep()
    golem = Golem.objects.get(pk=kept.golem.pk)
    told = halt_golem(golem=golem, reason="x", actor="user:owner", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [each for each in steps if each["step"] == "rights received given up"]
    [line] = step["received"]
    assert (line["outcome"], line["who"], line["right"]) == ("ITS_GIVER_MUST", kept.wallet.address, right.reference)
    assert "wallet_revokeExecutionPermission" in line["how"]

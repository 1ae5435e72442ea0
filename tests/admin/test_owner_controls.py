"""What an owner does in the admin and what it leaves behind: keys shown once, audited edits, guarded backups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from archetypes_app.actions.create_api_key import hash_token
from archetypes_app.models import ApiKey, Golem
from golem_project import wiring
from permits_app.actions.stage_key import stage_key
from permits_app.custody.create_wallet import create_wallet
from permits_app.models import AllowlistEntry, ChangeRequest, SpendingLimits
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.admin.rows import opened_as, page
from tests.factories.golems import PASSWORD
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.core.required_value import require

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Any:
    return factories.make_owner()


@pytest.fixture
def golem(owner: Any) -> Golem:
    return factories.make_golem(owner=owner)


@pytest.fixture
def browser_of_owner(owner: Any) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def _audited(golem: Golem, event: str) -> list[dict[str, Any]]:
    return [entry.data for entry in AuditEntry.objects.filter(golem_id=golem.pk, event=event).order_by("seq")]


def test_a_new_key_is_shown_once_and_only_its_hash_is_kept(browser_of_owner: Client, golem: Golem) -> None:
    body = {"golem": str(golem.pk), "label": "agent", "scopes": ["read", "preview"], "lifetime_days": "30"}
    answer = browser_of_owner.post(page("archetypes_app.apikey", "add"), body, follow=True)
    token = answer.context["token"]
    again = browser_of_owner.get(answer.redirect_chain[0][0]).content.decode()
    assert token not in again and "was shown once" in again
    key = ApiKey.objects.get(golem=golem)
    later = browser_of_owner.get(page("archetypes_app.apikey", "change", key.pk)).content.decode()
    assert token in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert (key.digest, key.scopes) == (hash_token(token), ["preview", "read"])
    assert token not in later
    assert key.digest not in later
    assert _audited(golem, "ApiKeyCreated")[0]["prefix"] == key.prefix


def test_rotation_replaces_the_key_and_revocation_ends_it(browser_of_owner: Client, golem: Golem) -> None:
    old = factories.make_api_key(golem=golem).key
    answer = browser_of_owner.post(page("archetypes_app.apikey", "rotate", old.pk), follow=True)
    old.refresh_from_db()
    fresh = require(old.replaced_by)
    browser_of_owner.post(page("archetypes_app.apikey", "revoke", fresh.pk))
    fresh.refresh_from_db()
    assert old.revoked_at is not None
    assert answer.context["key"] == fresh
    assert fresh.revoked_at is not None


def test_a_get_neither_rotates_nor_revokes(browser_of_owner: Client, golem: Golem) -> None:
    key = factories.make_api_key(golem=golem).key
    for action in ("rotate", "revoke"):
        assert browser_of_owner.get(page("archetypes_app.apikey", action, key.pk)).status_code == 200
    key.refresh_from_db()
    assert key.revoked_at is None


def test_limits_typed_in_dollars_are_stored_audited_and_announced(browser_of_owner: Client, golem: Golem) -> None:
    row = factories.make_limits(golem=golem)
    url = page("permits_app.spendinglimits", "change", row.pk)
    shown = browser_of_owner.get(url).content.decode()
    body = {
        "per_transaction_micro_usd": "1,250.50",
        "per_day_micro_usd": "5,000",
        "per_tick_micro_usd": "2,000",
        "per_session_micro_usd": "3000",
        "hot_lane_micro_usd": "500",
        "trading_costs_per_day_micro_usd": "500",
        "trading_costs_per_pair_micro_usd": "500",
        "trading_costs_per_venue_micro_usd": "500",
        "writes_per_hour": "10",
        "most_alike_calls": "12",
        "max_slippage_bps": "0.5",
        "max_price_impact_bps": "2",
        "allowlist_mode": "STRICT",
    }
    answer = browser_of_owner.post(url, body | opened_as(browser_of_owner, url))
    row.refresh_from_db()
    edit = _audited(golem, "AdminEdit")[0]
    assert 'value="10,000.00"' in shown
    assert answer.status_code == 302
    assert (row.per_transaction_micro_usd, row.max_slippage_bps) == (1_250_500_000, 50)
    assert edit["fields"]["per_transaction_micro_usd"] == {"from": "10000000000", "to": "1250500000"}
    assert OutboxEvent.objects.filter(golem_id=golem.pk, type="policy:cage_updated").count() == 1


def test_a_refused_form_changes_and_audits_nothing(browser_of_owner: Client, golem: Golem) -> None:
    row = factories.make_limits(golem=golem)
    answer = browser_of_owner.post(page("permits_app.spendinglimits", "change", row.pk), {"per_day_micro_usd": "-5"})
    assert answer.status_code == 200
    assert SpendingLimits.objects.get(pk=row.pk).per_day_micro_usd == row.per_day_micro_usd
    assert _audited(golem, "AdminEdit") == []


def test_an_allowlist_entry_that_is_removed_leaves_an_audit_line(browser_of_owner: Client, golem: Golem) -> None:
    entry = factories.make_allowlist_entry(golem=golem)
    answer = browser_of_owner.post(page("permits_app.allowlistentry", "delete", entry.pk), {"post": "yes"})
    assert answer.status_code == 302
    assert not AllowlistEntry.objects.filter(pk=entry.pk).exists()
    assert _audited(golem, "AdminEdit")[0]["did"] == "deleted"


def test_the_cage_says_who_enforces_it(browser_of_owner: Client, golem: Golem) -> None:
    cage = factories.make_cage(golem=golem)
    assert (
        "this server only" in browser_of_owner.get(page("permits_app.policycage", "change", cage.pk)).content.decode()
    )


@pytest.mark.parametrize(("action", "status"), [("cancel", "CANCELLED"), ("block", "BLOCKED")])
def test_ending_a_permit_needs_a_reason_and_keeps_it(
    browser_of_owner: Client, golem: Golem, action: str, status: str
) -> None:
    permit = factories.make_permit(golem=golem)
    factories.make_spend_entry(permit=permit)
    url = page("permits_app.actionpermit", action, permit.pk)
    browser_of_owner.post(url, {"reason": ""})
    permit.refresh_from_db()
    before = permit.status
    browser_of_owner.post(url, {"reason": "too much"})
    permit.refresh_from_db()
    permit.spend_entry.refresh_from_db()
    assert before == PermitStatus.CREATED
    assert (permit.status, permit.status_reason, permit.spend_entry.state) == (status, "too much", "RELEASED")


def test_a_permits_life_is_shortened_and_never_lengthened(browser_of_owner: Client, golem: Golem) -> None:
    permit = factories.make_permit(golem=golem, lives_seconds=60)
    url = page("permits_app.actionpermit", "shorten", permit.pk)
    browser_of_owner.post(url, {"seconds_left": "600"})
    permit.refresh_from_db()
    kept = permit.expires_at
    browser_of_owner.post(url, {"seconds_left": "0"})
    permit.refresh_from_db()
    assert (kept - permit.created_at).total_seconds() == 60
    assert permit.status == PermitStatus.EXPIRED


def test_a_committed_permit_can_be_annotated_but_not_ended(browser_of_owner: Client, golem: Golem) -> None:
    permit = factories.make_committed_permit(golem=golem)
    noting = page("permits_app.actionpermit", "note", permit.pk)
    browser_of_owner.post(noting, {"note": "the first one"} | opened_as(browser_of_owner, noting))
    answer = browser_of_owner.post(page("permits_app.actionpermit", "cancel", permit.pk), {"reason": "no"}, follow=True)
    permit.refresh_from_db()
    assert (permit.owner_note, permit.status) == ("the first one", "COMMITTED")
    assert "can no longer be cancelled" in answer.content.decode()


def test_the_story_of_a_committed_permit_has_every_part(browser_of_owner: Client, golem: Golem) -> None:
    factories.make_wallet(golem=golem)
    permit = factories.make_committed_permit(golem=golem)
    answer = browser_of_owner.get(page("permits_app.actionpermit", "change", permit.pk))
    story = answer.context["story"]
    assert [step.tone for step in story.steps] == ["good"] * 10
    assert len(story.hooks) == 7
    assert [row.is_exact for row in story.outcome.rows] == [True, True, False, False]
    assert [line.call.function for line in story.calls] == ["approve", "multicall"]
    assert story.calls[1].call.inner[0].function == "exactInputSingle"
    assert story.episode is not None


@pytest.mark.parametrize("status", list(PermitStatus.values))
def test_the_permit_page_opens_in_every_state(browser_of_owner: Client, golem: Golem, status: str) -> None:
    permit = factories.make_permit(golem=golem, status=status)
    assert browser_of_owner.get(page("permits_app.actionpermit", "change", permit.pk)).status_code == 200


def test_a_local_write_and_an_almost_empty_permit_have_a_page(browser_of_owner: Client, golem: Golem) -> None:
    permit = factories.make_permit(
        golem=golem,
        is_local=True,
        calls=[],
        bounds={},
        simulation={},
        prices=[],
        hook_decisions=[],
        signer="",
        expected_outcome={"summary": "Writes one line", "details": {}},
    )
    answer = browser_of_owner.get(page("permits_app.actionpermit", "change", permit.pk))
    assert "Writes one line" in answer.content.decode()


def test_text_an_agent_wrote_is_escaped_on_the_permit_page(browser_of_owner: Client, golem: Golem) -> None:
    attack = "<script>alert(1)</script>"
    permit = factories.make_permit(
        golem=golem, params={"note": attack}, status_reason=attack, review={"reasons": [attack]}
    )
    assert attack not in browser_of_owner.get(page("permits_app.actionpermit", "change", permit.pk)).content.decode()


def test_signed_bytes_are_on_no_page(browser_of_owner: Client, golem: Golem) -> None:
    permit = factories.make_committed_permit(golem=golem)
    row = permit.transactions.get(call_index=0)
    pages = [
        page("permits_app.outboundtransaction", "change", row.pk),
        page("permits_app.outboundtransaction", "changelist"),
        page("permits_app.actionpermit", "change", permit.pk),
    ]
    assert all(row.raw not in browser_of_owner.get(url).content.decode() for url in pages)


def test_a_wallet_is_backed_up_only_with_the_password(browser_of_owner: Client, golem: Golem) -> None:
    wallet = create_wallet(golem=golem, actor="system:test", now=clock.now())
    url = page("permits_app.wallet", "back_up", wallet.pk)
    asked = browser_of_owner.get(url)
    refused = browser_of_owner.post(url, {"password": "not it"})
    given = browser_of_owner.post(url, {"password": PASSWORD})
    document = json.loads(given.content)
    assert asked["Content-Type"].startswith("text/html")
    assert refused["Content-Type"].startswith("text/html")
    assert "attachment" in given["Content-Disposition"]
    assert document["version"] == 3
    assert "no-store" in given["Cache-Control"]
    assert len(_audited(golem, "WalletBackupRefused")) == 1
    assert len(_audited(golem, "WalletBackedUp")) == 1


def test_halting_and_resuming_need_a_reason(browser_of_owner: Client, golem: Golem) -> None:
    browser_of_owner.post(page("archetypes_app.golem", "halt", golem.pk), {"reason": ""})
    assert not Golem.objects.get(pk=golem.pk).is_halted
    browser_of_owner.post(page("archetypes_app.golem", "halt", golem.pk), {"reason": "drill"})
    assert Golem.objects.get(pk=golem.pk).halt_reason == "drill"
    answer = browser_of_owner.post(page("archetypes_app.golem", "resume", golem.pk), {"reason": "over"})
    request = ChangeRequest.objects.get(golem=golem)
    assert answer["Location"] == page("permits_app.changerequest", "change", request.pk)
    assert (request.kind, request.reason, request.risk_tier) == ("resume", "over", "CRITICAL")
    assert Golem.objects.get(pk=golem.pk).is_halted


@pytest.fixture
def node_that_is_not_there() -> Iterator[None]:
    """Whatever chain an earlier test of this process led the product to."""
    wiring.configure_networks({31337: ("http://127.0.0.1:9",)})
    yield
    wiring.configure_networks({})


def test_a_node_that_is_not_there_is_said_so_on_the_golem_page(
    browser_of_owner: Client, golem: Golem, node_that_is_not_there: None
) -> None:
    factories.make_wallet(golem=golem)
    answer = browser_of_owner.get(page("archetypes_app.golem", "money", golem.pk))
    assert answer.status_code == 200
    assert "Node unreachable" in answer.content.decode()


def test_an_intact_chain_is_verified_and_a_broken_one_is_named(browser_of_owner: Client, golem: Golem) -> None:
    for number in range(3):
        factories.make_audit_entry(golem=golem, data={"number": str(number)})
    url = page("tools_app.auditentry", "verify_chains")
    intact = browser_of_owner.get(url, follow=True).content.decode()
    AuditEntry.objects.create(
        golem_id=golem.pk, seq=4, prev_hash="0x00", timestamp_ms=1, event="Forged", actor="nobody", entry_hash="0x01"
    )
    broken = browser_of_owner.get(url, follow=True).content.decode()
    assert "Every link holds" in intact
    assert "entry 4" in broken


def test_the_import_of_a_wallet_refuses_what_is_no_keystore(browser_of_owner: Client, golem: Golem) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    url = page("archetypes_app.golem", "set_up_wallet", golem.pk)
    upload = SimpleUploadedFile("key.json", b'{"version": 1}')
    answer = browser_of_owner.post(url, {"source": "import", "keystore": upload, "passphrase": "x"})
    assert "not a keystore file of version 3" in answer.content.decode()
    assert Golem.objects.get(pk=golem.pk).address == ""


def test_a_keystore_file_is_imported_under_its_own_passphrase(browser_of_owner: Client, golem: Golem) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile
    from eth_account import Account

    account = Account.create()
    document = Account.encrypt(account.key, "its own", kdf="pbkdf2", iterations=10)
    url = page("archetypes_app.golem", "set_up_wallet", golem.pk)
    wrong = SimpleUploadedFile("key.json", json.dumps(document).encode())
    refused = browser_of_owner.post(url, {"source": "import", "keystore": wrong, "passphrase": "another"})
    right = SimpleUploadedFile("key.json", json.dumps(document).encode())
    answer = browser_of_owner.post(url, {"source": "import", "keystore": right, "passphrase": "its own"})
    assert "passphrase is wrong" in refused.content.decode()
    assert answer.status_code == 302
    assert Golem.objects.get(pk=golem.pk).address == account.address


def test_only_the_owner_sees_the_dashboard_of_their_golems(browser_of_owner: Client, golem: Golem) -> None:
    stranger = factories.make_owner(name="ben")
    factories.make_permit(golem=factories.make_golem(owner=stranger, name="Golem of Ben"))
    mine = factories.make_permit(golem=golem, status=PermitStatus.UNKNOWN)
    board = browser_of_owner.get("/admin/").context["board"]
    assert [line.permit.pk for line in board.permits] == [mine.pk]
    assert [line.url for line in board.needs] == [page("permits_app.actionpermit", "change", mine.pk)]
    assert [line.golem.pk for line in board.golems] == [golem.pk]


def test_an_owner_asks_for_another_signer_and_nothing_changes_before_it_is_decided(
    browser_of_owner: Client, golem: Golem
) -> None:
    wallet = create_wallet(golem=golem, actor="system:test", now=clock.now())
    staged = stage_key(golem=golem, reason="test", actor="system:test", now=clock.now())
    url = page("permits_app.wallet", "choose_signer", wallet.pk)
    assert browser_of_owner.get(url).status_code == 200
    answer = browser_of_owner.post(url, {"kind": "LOCAL_KEYSTORE", "address": staged.address, "reason": "rotate"})
    request = ChangeRequest.objects.get(golem=golem)
    assert answer["Location"] == page("permits_app.changerequest", "change", request.pk)
    assert (request.kind, request.risk_tier) == ("signer", "CRITICAL")
    assert request.change["after"]["address"] == staged.address
    wallet.refresh_from_db()
    assert wallet.address != staged.address


def test_a_signer_that_is_not_there_is_refused_in_words(browser_of_owner: Client, golem: Golem) -> None:
    wallet = create_wallet(golem=golem, actor="system:test", now=clock.now())
    url = page("permits_app.wallet", "choose_signer", wallet.pk)
    for kind, words in (("PRIVY", "Privy is not configured"), ("POLICY_CAGE", "no mirrored cage")):
        answer = browser_of_owner.post(url, {"kind": kind, "wallet_id": "abc", "reason": "x"}, follow=True)
        assert words in answer.content.decode()
    assert not ChangeRequest.objects.filter(golem=golem).exists()


def test_the_addresses_of_a_golem_can_be_taken_away(browser_of_owner: Client, golem: Golem) -> None:
    wallet = create_wallet(golem=golem, actor="system:test", now=clock.now())
    staged = stage_key(golem=golem, reason="test", actor="system:test", now=clock.now())
    answer = browser_of_owner.get(page("permits_app.wallet", "take_addresses", wallet.pk))
    text = answer.content.decode()
    assert "attachment" in answer["Content-Disposition"]
    assert wallet.address in text and f"{staged.address},LOCAL_KEYSTORE,STAGED" in text

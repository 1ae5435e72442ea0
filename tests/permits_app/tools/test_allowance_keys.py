"""Session keys by Safe's allowance module: asked for, signed by owners, told, ended, and stolen, with plain web3."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from eth_account import Account

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import CageHasNoSafe, ChangeUnchanged
from permits_app.errors import SafeNotAsAgreed
from permits_app.models import ChangeRequest, SigningKey
from permits_app.policy_cage.safe_batches import build_safe_call, consent_of
from permits_app.policy_cage.safe_tx import ENABLE_MODULE
from permits_app.policy_cage.safe_watch import SafeState, list_bypasses
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import make_owner_with_device
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.permits_app.tools.allowing import A_DAY, DAY, NOBODY, USD, Allowing, StolenKey
from tests.permits_app.tools.allowing import allowing as allowing
from tests.permits_app.tools.test_wallet import read
from tests.proof.caged.engines import make_account
from tools_app import runner
from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.networks import ChainNotSupported
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.portfolio.rights_without_logs import find_asked_rights, takes_back_an_asked_right
from tools_app.standards import safe_allowance
from tools_app.standards.safe_allowance import ADDRESS, end_call, give_calls
from tools_app.toolkit.plan import Call

pytestmark = pytest.mark.protocols("safe_allowance")


def test_an_allowance_is_asked_for_signed_told_counted_and_ended(allowing: Allowing) -> None:
    request = allowing.ask("provision_session_key", key=allowing.key.address, token="USDC", amount=str(A_DAY))
    words = str(request.shown)
    assert request.risk_tier == "CRITICAL" and "25 USDC in each" in request.title
    assert "anybody: the module knows no list of payees" in words and "simulated contract" in words
    assert f"{ADDRESS} too, with the code that runs there now" in words, "what the signature agrees to besides"
    assert read(allowing.live, "session_get_keys")["keys"] == [], "nothing may be taken before the owners signed"
    done = allowing.sign(request)
    assert done.permit is not None and done.permit.result["data"]["key_id"] == allowing.key.address
    [line] = read(allowing.live, "session_get_keys")["keys"]
    assert (line["key_id"], line["enforced_by"], line["acts_for"]) == (
        allowing.key.address,
        "allowance",
        allowing.safe.address,
    )
    assert (line["left"], line["usage_count"], line["expires_at"]) == (str(A_DAY), 0, None) and line["is_active"]
    assert "at most 25 USDC in each" in line["permissions"][0]
    stolen = StolenKey(allowing)
    assert stolen.take(10 * USD)
    [line] = read(allowing.live, "session_get_keys")["keys"]
    assert (line["left"], line["usage_count"]) == (str(15 * USD), 1)
    assert stolen.take(15 * USD)
    [line] = read(allowing.live, "session_get_keys")["keys"]
    assert (line["left"], line["is_active"]) == ("0", False) and "used up until the next period" in line["reason"]
    ended = allowing.sign(allowing.ask("revoke_session_key", key_id=allowing.key.address, reason="lost"))
    assert ended.permit is not None and ended.permit.result["data"]["revoked_keys"] == [allowing.key.address]
    allowing.pass_time(DAY)
    assert not stolen.take(1)
    assert read(allowing.live, "session_get_keys")["keys"] == []


def test_a_stolen_key_takes_what_its_allowance_allows_and_no_more(allowing: Allowing) -> None:
    allowing.give()
    stolen, had = StolenKey(allowing), allowing.balance()
    stranger = allowing.world.new_account(10**20)
    assert not stolen.take(A_DAY + 1), "more than a day's amount"
    assert not stolen.take(0), "nothing, which only uses up nonces"
    assert not stolen.take(1, token=allowing.dai), "another token"
    assert not stolen.take(1, token=NOBODY), "coins"
    assert not stolen.take(1, payment=1, paid_in=allowing.dai), "a payment of another token"
    assert not stolen.take(A_DAY, payment=1, paid_in=allowing.usdc), "a payment beyond the amount"
    assert not stolen.take(1, by=stranger), "another key"
    assert not stolen.take(1, by=stranger, delegate=stranger.address), "another key for itself"
    assert not stolen.take(1, safe=stranger.address), "somebody else's account"
    assert stolen.say("addDelegate", stolen.thief.address), "a friend: of the key's own account, not of the Safe"
    assert not stolen.take(1, by=stolen.thief, delegate=stolen.thief.address)
    assert not stolen.say("setAllowance", stolen.key.address, allowing.usdc, 2 * A_DAY, 1_440, 0), "a larger one"
    stolen.say("resetAllowance", stolen.key.address, allowing.usdc)
    transfer = encode_call("function transfer(address to, uint256 amount)", stolen.thief.address, 1)
    as_module = encode_call(
        "function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation)",
        allowing.usdc,
        0,
        transfer,
        0,
    )
    assert not stolen.call_safe(as_module), "the Safe itself, past the module"
    assert allowing.balance() == had
    assert stolen.take(A_DAY) and not stolen.take(1), "a day's amount, once a day"
    stolen.say("resetAllowance", stolen.key.address, allowing.usdc)
    assert not stolen.take(1), "the key's own word resets nothing of the Safe's"
    allowing.pass_time(DAY + 60)
    signed = stolen.sign_transfer(USD, 2)
    assert stolen.take(USD, by=stranger, signature=signed), "the key's signature, carried by somebody"
    assert not stolen.take(USD, by=stranger, signature=signed), "twice"
    assert stolen.take(A_DAY - USD) and not stolen.take(1), "what was not taken is not saved up"
    allowing.pass_time(3 * DAY)
    assert stolen.take(A_DAY) and not stolen.take(1)
    assert had - allowing.balance() == 3 * A_DAY


def test_a_golem_goes_on_behind_a_module_that_its_owners_signed_for_and_stops_behind_another_way_in(
    allowing: Allowing,
) -> None:
    allowing.safe.owner_call(allowing.safe.address, encode_call(ENABLE_MODULE, ADDRESS))
    with pytest.raises(SafeNotAsAgreed):
        allowing.live.preview()
    allowing.safe.nonce = 1
    allowing.give()
    assert allowing.live.preview()["status"] == "AWAITING_APPROVAL"
    wallet = allowing.look()
    told = list_bypasses(SafeState.from_dict(wallet.safe), "")
    assert any(f"module {ADDRESS} pays the keys that its owners allowed something" in line for line in told), told


def test_owners_change_an_allowance_and_another_wallet_s_is_told_too(allowing: Allowing) -> None:
    allowing.give()
    stolen = StolenKey(allowing)
    assert stolen.take(20 * USD)
    allowing.give(amount=30 * USD)
    [line] = read(allowing.live, "session_get_keys")["keys"]
    assert "at most 30 USDC" in line["permissions"][0]
    friend = make_account("whom an owner allowed elsewhere").address
    allowing.safe.nonce = 2
    for call in give_calls(friend, allowing.usdc, USD, is_known=False, minutes=60):
        allowing.safe.owner_call(ADDRESS, call.data)
    keys = {line["key_id"]: line for line in read(allowing.live, "session_get_keys")["keys"]}
    assert set(keys) == {allowing.key.address, friend} and "at most 1 USDC in each" in keys[friend]["permissions"][0]
    with pytest.raises(InvalidParams) as refused:
        allowing.ask("revoke_session_key")
    assert friend in str(refused.value.data)
    allowing.safe.owner_call(ADDRESS, end_call(friend).data)
    assert [line["key_id"] for line in read(allowing.live, "session_get_keys")["keys"]] == [allowing.key.address]


def test_an_allowance_is_refused_for_who_has_more_rights_or_is_held_to_permits(allowing: Allowing) -> None:
    same_index = Account.from_key(b"\x01" * 32).address
    twin = checksum("0x" + "ab" * 14 + same_index[-12:])
    for wish in (
        {"key": allowing.safe.owners[0].address},
        {"key": allowing.safe.address},
        {"key": SigningKey.objects.get(golem=allowing.live.golem).address},
        {"key": NOBODY},
        {"key": None},
        {"token": None},
        {"amount": None},
        {"amount": str(2**96)},
        {"token": "ETH"},
    ):
        with pytest.raises(InvalidParams):
            allowing.ask(
                "provision_session_key", **{"key": allowing.key.address, "token": "USDC", "amount": "1", **wish}
            )
    for call in give_calls(same_index, allowing.usdc, USD, is_known=False):
        allowing.safe.owner_call(ADDRESS, call.data)
    with pytest.raises(InvalidParams) as refused:
        allowing.ask("provision_session_key", key=twin, token="USDC", amount="1")
    assert same_index in refused.value.detail and "48 bits" in refused.value.detail
    assert not ChangeRequest.objects.exists()
    ended = {"act": "end", "delegate": allowing.key.address}
    with pytest.raises(ChangeUnchanged):
        request_operation(
            golem=allowing.live.golem,
            name="allowance",
            arguments=ended,
            owner=allowing.live.owner,
            reason="test",
            now=clock.now(),
        )


def test_an_owner_gives_watches_and_ends_an_allowance_on_a_page(allowing: Allowing) -> None:
    golem, browser, stranger = allowing.live.golem, Client(), Client()
    for person, door in ((allowing.live.owner, browser), (make_owner_with_device(name="stranger"), stranger)):
        person.groups.add(ensure_owner_group())
        door.force_login(person)
    page = reverse("admin:archetypes_app_golem_allowances", args=[golem.pk])
    assert "Nobody may take anything" in browser.get(page).content.decode() and stranger.get(page).status_code == 404
    asked = {"do": "give", "delegate": allowing.key.address, "token": allowing.usdc, "reason": "for a market maker"}
    for wrong in ("", "0", "-1", "much", "0.0000001", "99999999999999999999999999"):
        assert browser.post(page, {**asked, "amount": wrong}).status_code == 200, wrong
    assert not ChangeRequest.objects.exists()
    assert stranger.post(page, {**asked, "amount": "25"}).status_code == 404
    assert browser.post(page, {**asked, "amount": "25"}).status_code == 302
    allowing.sign(ChangeRequest.objects.get(kind="allowance"))
    assert StolenKey(allowing).take(5 * USD)
    words = browser.get(page).content.decode()
    assert allowing.key.address in words and "at most 25 USDC in each" in words and "20 USDC" in words
    assert "1 time<" in words and "all of it again" in words and "simulated contract" in words
    assert browser.post(page, {"do": "end", "delegate": "0x12"}).status_code == 302
    assert browser.post(page, {"do": "end", "delegate": allowing.key.address}).status_code == 302
    allowing.sign(ChangeRequest.objects.get(kind="allowance", state="OPEN"))
    assert "Nobody may take anything" in browser.get(page).content.decode()


def test_an_audit_of_who_may_take_lists_an_allowance_and_what_takes_it_back(allowing: Allowing) -> None:
    allowing.give()
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=clock.Deadline.after_ms(8_000))
    [found] = [
        each
        for each in find_asked_rights(chain=chain, account=allowing.safe.address, calls=[])
        if each.protocol == "safe_allowance"
    ]
    assert (found.contract, found.taker) == (ADDRESS, allowing.key.address)
    assert takes_back_an_asked_right(chain_id=CHAIN_ID, contract=ADDRESS, data=found.data)
    allowing.safe.nonce = 1
    allowing.safe.owner_call(ADDRESS, found.data)
    assert not StolenKey(allowing).take(1)
    assert read(allowing.live, "session_get_keys")["keys"] == []


def test_a_halt_takes_an_allowance_back_where_the_golem_s_key_may_speak_for_its_safe(live_golem: LiveGolem) -> None:
    owned, world = SafeGolem(live_golem), live_golem.world
    safe, taker = owned.safe.address, world.new_account(10**20)
    usdc = str(world.tokens["USDC"].address)
    enable = Call(safe, encode_call(ENABLE_MODULE, ADDRESS), 0, "")
    for call in (enable, *give_calls(taker.address, usdc, A_DAY, is_known=False)):
        act(owned, call)
    [line] = read(live_golem, "session_get_keys")["keys"]
    assert (line["key_id"], line["left"]) == (taker.address, str(A_DAY))
    told = halt_golem(golem=live_golem.golem, reason="test", actor="system:test", now=clock.now())
    steps = carry_out_halt(golem_id=live_golem.golem.pk, epoch=told["epoch"], now=clock.now())
    assert read(live_golem, "session_get_keys")["keys"] == [], steps


def act(owned: SafeGolem, call: Call) -> None:
    """The Safe does it; its only owner, the golem's key, sends it past the server."""
    key, engine = owned.open_key(), owned.safe.engine
    sent = build_safe_call([call], safe=owned.safe.address, signatures=consent_of(key.address), multi_send="")
    engine.give_coins(key.address, 10**21)
    owned.safe.keep_up()
    assert engine.send(key, sent.to, sent.data).succeeded


def test_where_the_module_is_not_an_allowance_is_refused_with_the_chains_that_have_it(
    allowing: Allowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_allowance, "CHAINS", frozenset({8453}))
    with pytest.raises(ChainNotSupported) as refused:
        allowing.ask("provision_session_key", key=allowing.key.address, token="USDC", amount="1")
    assert refused.value.data["chains"] == [8453] and "31337" in refused.value.detail
    assert read(allowing.live, "session_get_keys")["keys"] == []


def test_a_golem_with_a_plain_account_has_no_allowances(live_golem: LiveGolem) -> None:
    key = make_account("somebody's").address
    with pytest.raises(CageHasNoSafe):
        live_golem.preview(action_type="provision_session_key", key=key, token="USDC", amount="1", **_NO_SWAP_REST)
    assert read(live_golem, "session_get_keys")["keys"] == []


_NO_SWAP_REST = {"venue": "wallet", "token_in": None, "token_out": None}

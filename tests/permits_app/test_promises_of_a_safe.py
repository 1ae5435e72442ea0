"""What a golem promises in the name of its Safe, on Safe's own bytecode, from the preview to its end, over REST."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from archetypes_app.models import Golem
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.signers import choose_signer
from permits_app.models import ActionPermit, OutboundTransaction, SignedPromise
from permits_app.models.wallet import WalletKind
from permits_app.policy_cage.safe_batches import build_safe_call, consent_of
from permits_app.policy_cage.safe_message import wrap_digest
from tests.evm.world import CHAIN_ID
from tests.made_up_bank.on_the_shelf import NAME
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.execution.signers.privy_stand_in import WALLET_ID, serve_privy
from tests.permits_app.execution.test_safe_wallet import ADD_OWNER, SafeGolem
from tests.permits_app.noted_safe import take_note
from tests.permits_app.test_signed_promises import DAI, Maker, entry_of
from tests.permits_app.test_signed_promises import maker as maker
from tests.proof.caged.engines import make_account
from tools_app.chain.abi import encode_call
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import clock
from tools_app.toolkit.plan import Call
from tools_app.toolkit.typed_data import TypedData

SET_HANDLER = "function setFallbackHandler(address handler)"
SWAP_OWNER = "function swapOwner(address previous, address old, address fresh)"
# Answers the magic value to whatever it is asked.
OBLIGING = "0x" + "631626ba7e60e01b5f5260205ff3"


def put_in(maker: Maker) -> None:
    """1,000 DAI of the golem's account into the bank."""
    status, permit = maker.ask("preview_action", action_type="bank_deposit", venue=NAME, amount=str(1_000 * DAI))
    assert status == 200, permit
    assert maker.ask("commit_action", permit_id=permit["permit_id"])[1]["status"] == "COMMITTED"


@pytest.fixture
def owned(maker: Maker) -> SafeGolem:
    """The maker acts through a Safe that its key owns alone, with a deposit at the bank."""
    safe = SafeGolem(maker.live)
    maker.bank.world.fund(safe.safe.address, 20 * 10**18, {"DAI": 5_000 * DAI})
    put_in(maker)
    return safe


def act_as_owner(owned: SafeGolem, data: bytes) -> None:
    """What the golem's key does with the Safe itself, past the server."""
    call = build_safe_call(
        [Call(owned.safe.address, data, 0, "")],
        safe=owned.safe.address,
        signatures=consent_of(owned.key.address),
        multi_send="",
    )
    key = owned.open_key()
    owned.safe.engine.give_coins(key.address, 10**21)
    owned.safe.keep_up()
    assert owned.safe.engine.send(key, call.to, call.data).succeeded


def test_an_offer_of_a_safe_is_signed_by_its_owner_and_taken_by_a_stranger(maker: Maker, owned: SafeGolem) -> None:
    sent = OutboundTransaction.objects.count()
    status, permit = maker.preview()
    assert status == 200, permit
    assert owned.safe.address in permit["expected_outcome"]["signed_by"]
    assert "ERC-1271" in permit["expected_outcome"]["signed_by"]
    assert not SignedPromise.objects.exists()
    status, done = maker.ask("commit_action", permit_id=permit["permit_id"])
    assert (status, done["status"]) == (200, "COMMITTED"), done
    row = SignedPromise.objects.get(permit_id=permit["permit_id"])
    assert (row.account, done["result"]["data"]["signature"]) == (owned.safe.address, row.signature)
    assert OutboundTransaction.objects.count() == sent
    assert entry_of(row).state == "RESERVED"
    before = owned.balance("WETH")
    stranger = maker.fill(row)
    assert owned.balance("WETH") - before == int(maker.worth())
    assert maker.bank.read("deposited(address)", stranger) == 100 * DAI
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")
    assert entry_of(row).settled_micro_usd == entry_of(row).reserved_micro_usd


def test_what_the_key_signed_is_a_message_of_the_safe_and_no_word_of_its_own(maker: Maker, owned: SafeGolem) -> None:
    from eth_account import Account

    row, _ = maker.offer()
    digest = hash_typed_data(TypedData.of_json(row.typed_data))
    signature = bytes.fromhex(row.signature[2:])
    wrapped = hash_typed_data(wrap_digest(digest, safe=owned.safe.address, chain_id=CHAIN_ID))
    told = owned.live.world.rpc.read(owned.safe.address, "getMessageHash(bytes)", digest, returns="(bytes32)")
    assert bytes(told[0] if isinstance(told, list | tuple) else told) == wrapped
    assert Account._recover_hash(wrapped, signature=signature) == owned.key.address
    assert Account._recover_hash(digest, signature=signature) != owned.key.address


def test_an_offer_of_a_safe_that_its_agent_takes_back_goes_through_the_safe(maker: Maker, owned: SafeGolem) -> None:
    row, _ = maker.offer()
    nonce = str(TypedData.of_json(row.typed_data).message["nonce"])
    _, permit = maker.ask("preview_action", action_type="bank_cancel_offer", venue=NAME, nonce=nonce)
    maker.ask("commit_action", permit_id=permit["permit_id"])
    [sent] = OutboundTransaction.objects.filter(permit_id=permit["permit_id"])
    assert (sent.sender, sent.to) == (owned.key.address, owned.safe.address)
    row = maker.follow(row)
    assert (row.state, entry_of(row).state) == ("CANCELLED", "RELEASED")


def test_an_offer_of_a_safe_that_nobody_takes_is_held_until_its_time_is_over(maker: Maker, owned: SafeGolem) -> None:
    row, _ = maker.offer()
    assert maker.follow(row).state == "OPEN"
    maker.bank.world.rpc.call("evm_increaseTime", 400)
    maker.bank.world.rpc.call("evm_mine")
    now = clock.now() + timedelta(minutes=10)
    assert check_signed_promises(now=now)["ended"] == 0
    assert check_signed_promises(now=now + timedelta(minutes=1))["ended"] == 1
    row.refresh_from_db()
    assert (row.state, entry_of(row).state) == ("EXPIRED", "RELEASED")


def test_a_halt_cancels_the_offers_of_a_safe_through_the_safe(maker: Maker, owned: SafeGolem) -> None:
    rows = [maker.offer()[0], maker.offer(give=str(50 * DAI), want=maker.worth(50 * DAI))[0]]
    golem = Golem.objects.get(pk=maker.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "signed promises cancelled"]
    assert [each["outcome"] for each in step["promises"]] == ["CANCELLED", "CANCELLED"], step
    for row in rows:
        nonce = TypedData.of_json(row.typed_data).message["nonce"]
        assert maker.bank.read("offerState(address,uint256)", owned.safe.address, nonce) == 2
        assert maker.follow(row).state == "CANCELLED"


@pytest.fixture
def privy(maker: Maker) -> Iterator[str]:
    """The Safe's only owner is a key at Privy."""
    owned = SafeGolem(maker.live)
    with serve_privy() as stand_in:
        was = choose_signer._privy
        choose_signer._privy = stand_in.client()
        try:
            address = stand_in.account.address
            data = encode_call(SWAP_OWNER, "0x" + "00" * 19 + "01", owned.key.address, address)
            act_as_owner(owned, data)
            maker.bank.world.fund(address, 10**19, {})
            maker.bank.world.fund(owned.safe.address, 20 * 10**18, {"DAI": 5_000 * DAI})
            choice = WalletChoice(
                kind=WalletKind.GNOSIS_SAFE, address=owned.safe.address, key=address, external_id=WALLET_ID
            )
            choose_wallet(golem=maker.live.golem, choice=choice, actor="system:test", reason="test", now=clock.now())
            maker.live.golem.refresh_from_db()
            put_in(maker)
            yield owned.safe.address
        finally:
            choose_signer._privy = was


def test_an_offer_of_a_safe_whose_owner_is_at_privy_is_taken_by_a_stranger(maker: Maker, privy: str) -> None:
    row, _ = maker.offer()
    assert row.account == privy
    maker.fill(row)
    assert maker.follow(row).state == "FILLED"


@pytest.mark.parametrize(("handler", "said"), [("none", "would not say"), ("obliging", "what nobody signed")])
def test_a_safe_that_does_not_tell_its_signatures_from_others_signs_nothing(
    maker: Maker, owned: SafeGolem, handler: str, said: str
) -> None:
    address = "0x" + ("00" * 20 if handler == "none" else "00" * 18 + "1271")
    owned.live.world.rpc.call("anvil_setCode", "0x" + "00" * 18 + "1271", OBLIGING)
    act_as_owner(owned, encode_call(SET_HANDLER, address))
    if handler == "obliging":
        take_note(owned)
    status, problem = maker.preview()
    assert (status, problem["rule"], problem["recovery"]) == (422, "simulator.promise_validity", "ASK_OWNER"), problem
    assert said in problem["detail"] and "CompatibilityFallbackHandler" in problem["would_pass"]
    assert not ActionPermit.objects.filter(action_type="bank_offer").exists()


@pytest.mark.parametrize("threshold", [1, 2])
def test_a_safe_of_several_owners_promises_nothing_and_its_agent_is_told_who_could(
    maker: Maker, owned: SafeGolem, threshold: int
) -> None:
    second = make_account("second owner").address
    act_as_owner(owned, encode_call(ADD_OWNER, second, threshold))
    status, problem = maker.preview()
    assert (status, problem["code"], problem["rule"]) == (409, "SAFE_NEEDS_OWNERS", "simulator.promise_signer"), problem
    assert (problem["threshold"], problem["held"]) == (str(threshold), [owned.key.address])
    assert set(problem["owners"]) == {owned.key.address, second}
    assert problem["recovery"] == "ASK_OWNER" and "owners sign it themselves" in problem["would_pass"]


@pytest.mark.parametrize("threshold", [1, 2])
def test_a_safe_that_takes_a_second_owner_in_after_the_preview_signs_nothing(
    maker: Maker, owned: SafeGolem, threshold: int
) -> None:
    _, permit = maker.preview()
    act_as_owner(owned, encode_call(ADD_OWNER, make_account("second owner").address, threshold))
    maker.ask("commit_action", permit_id=permit["permit_id"])
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    assert (row.status, row.problem["code"]) in {("BLOCKED", "SAFE_NEEDS_OWNERS"), ("BLOCKED", "POLICY_CHANGED")}
    assert not SignedPromise.objects.exists()


def test_a_safe_that_takes_its_handler_away_after_the_preview_signs_nothing(maker: Maker, owned: SafeGolem) -> None:
    _, permit = maker.preview()
    act_as_owner(owned, encode_call(SET_HANDLER, "0x" + "00" * 20))
    maker.ask("commit_action", permit_id=permit["permit_id"])
    row = ActionPermit.objects.get(pk=permit["permit_id"])
    assert (row.status, row.problem["rule"]) == ("BLOCKED", "simulator.promise_validity"), row.problem
    assert not SignedPromise.objects.exists()


def test_a_session_key_of_a_cage_promises_nothing_for_the_safe(maker: Maker) -> None:
    caged = CagedGolem(maker.live)
    maker.bank.world.fund(caged.safe.address, 0, {"DAI": 5_000 * DAI})
    status, problem = maker.preview()
    assert status >= 400 and not SignedPromise.objects.exists()
    assert (problem["rule"], problem["recovery"]) == ("policy_cage.promise", "ASK_OWNER"), problem
    assert (
        "only the Safe's owners sign for it" in problem["detail"] and "only owner of its Safe" in problem["would_pass"]
    )

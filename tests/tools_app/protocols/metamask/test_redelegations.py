"""A part of a runway that a golem hands on to a key: less, for a shorter time, held by the real enforcers and told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.actions.query import query_state
from permits_app.errors import AddressNotAllowed
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import ActionPermit, ChangeRequest, RightUse, SignedPromise, SpendEntry
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.permit import PermitStatus
from permits_app.pages.promise_lines import list_promise_lines
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import make_live_golem
from tests.permits_app.approvals.people import approve, carry_out, give_device
from tests.permits_app.test_runway import Kept
from tests.permits_app.tools.test_delegated_keys import THIEF, StolenKey
from tests.permits_app.tools.test_wallet import read
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.metamask.owner_wallet import USD, OwnerWallet, at, raw
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.protocols.metamask.delegations import ROOT, Delegation, read_message
from tools_app.protocols.metamask.handed_on import Redelegations
from tools_app.protocols.metamask.redelegating import RedelegationOver, RedelegationUnknown
from tools_app.protocols.metamask.tools import NoRunway
from tools_app.standards.signed_rights import name_signed_right
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.typed_data import TypedData

pytestmark = pytest.mark.protocols("metamask")
A_DAY = 25 * USD
PART = 4 * USD
_NO_SWAP = {"venue": "metamask", "token_in": None, "token_out": None, "amount": None}


class Helped(Kept):
    """A golem with a runway, and somebody's key that it hands a part on to."""

    def __init__(self, world: World) -> None:
        super().__init__(make_live_golem(world), OwnerWallet.open(world))
        give_device(self.live.owner)
        self.key: LocalAccount = world.new_account(10**18)
        self.list_key(self.key.address)

    def list_key(self, address: str) -> None:
        """An owner provisions the key: it stands on the golem's list, as whoever is paid does."""
        choice = AllowlistChoice(CHAIN_ID, AllowlistKind.RECIPIENT, address, "a helper's key")
        allow_addresses(golem=self.golem, choices=[choice], actor="system:test", now=clock.now())

    def ask(self, amount: int = PART, **more: Any) -> dict[str, Any]:
        asked = {**_NO_SWAP, "amount": str(amount), "recipient": self.key.address, **more}
        return self.live.preview(action_type="redelegate", **asked)

    def hand_on(self, amount: int = PART, **more: Any) -> dict[str, Any]:
        """Previewed, approved by an owner, and signed; what the commit answered."""
        permit = self.ask(amount, **more)
        assert permit["status"] == PermitStatus.AWAITING_APPROVAL, "owners are asked whatever the amount"
        request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
        carry_out(approve(request, self.live.owner), chain=self.live.world)
        self.live.work(permit["permit_id"])
        done: ActionPermit = self.live.permit(permit["permit_id"])
        assert done.status == PermitStatus.COMMITTED, (done.status, done.problem)
        return dict(done.result["data"])

    def tell(self, handed: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        asked = {"delegation": handed["delegation"], **more}
        answer = query_state(golem=self.golem, query="redelegation", venue=None, params=asked, now=clock.now())
        told: dict[str, Any] = answer["data"]
        return told

    def steal(self, handed: Mapping[str, Any]) -> StolenKey:
        return StolenKey(self, self.tell(handed, signature=handed["signature"])["context"], self.key)

    def follow(self) -> SignedPromise:
        row, now = SignedPromise.objects.get(), clock.now()
        for minutes in (1, 2):
            SignedPromise.objects.update(next_check_at=now)
            check_signed_promises(now=now + timedelta(minutes=minutes))
        row.refresh_from_db()
        return row


@pytest.fixture
def helped(db: None, local_chain: World) -> Iterator[Helped]:
    yield Helped(local_chain)


def test_a_part_of_a_runway_is_handed_on_taken_by_its_key_once_and_told(helped: Helped) -> None:
    right, had = helped.keep(a_day=A_DAY), helped.wallet.balance()
    handed = helped.hand_on()
    assert (handed["recipient"], handed["principal"]) == (helped.key.address, helped.wallet.address)
    row = SignedPromise.objects.get()
    assert SpendEntry.objects.get(permit_id=row.permit_id).state == "RESERVED", "it counts while it may be taken"
    assert int(RightUse.objects.get(right=right).raw) == PART, "of the owner's right too"
    told = helped.tell(handed)
    assert (told["status"], told["left"], told["context"]) == ("open", str(PART), None)
    [line] = list_promise_lines(helped.golem, now=clock.now())
    assert "4 USDC of" in line.gives and helped.wallet.address in line.gives
    stolen = helped.steal(handed)
    assert stolen.take(PART - USD) and helped.tell(handed)["status"] == "partly_used"
    assert not stolen.take(USD + 1) and stolen.take(USD) and not stolen.take(1)
    assert had - helped.wallet.balance() == PART
    assert helped.tell(handed)["status"] == "used_up"
    assert helped.follow().state == "FILLED"
    assert SpendEntry.objects.get(permit_id=row.permit_id).state == "SETTLED"


def test_the_key_takes_what_was_handed_on_and_no_more(helped: Helped) -> None:
    helped.keep(a_day=A_DAY, days=30)
    stolen, had = helped.steal(helped.hand_on(expires_in=2 * 86_400)), helped.wallet.balance()
    usdc, dai = stolen.usdc, stolen.dai
    one = usdc.encode_abi("transfer", [THIEF, 1])
    assert not stolen.take(PART + 1), "more than was handed on, and less than the runway"
    assert not stolen.redeem(usdc.address, usdc.encode_abi("approve", [THIEF, 1])), "an allowance for later"
    assert not stolen.redeem(dai.address, dai.encode_abi("transfer", [THIEF, 1])), "another token"
    assert not stolen.redeem(THIEF, "0x", wei=1), "coins"
    assert not stolen.redeem(usdc.address, one, mode=b"\x01" + bytes(31)), "several calls at once"
    assert not stolen.redeem(usdc.address, one, by=stolen.world.new_account(10**18)), "another key"
    assert helped.wallet.balance() == had
    assert stolen.take(PART)
    stolen.pass_days(1)
    assert not stolen.take(1), "the runway has another day, what was handed on has none"
    stolen.pass_days(1)
    assert not stolen.take(1) and had - helped.wallet.balance() == PART, "after its end"


def test_golem_and_key_together_take_no_more_of_a_day_than_its_owner_gave(helped: Helped) -> None:
    helped.keep(a_day=A_DAY)
    stolen, had = helped.steal(helped.hand_on()), helped.wallet.balance()
    with pytest.raises(GolemError) as refused:
        helped.draw(A_DAY)
    assert refused.value.code in {"RIGHT_LIMIT_EXCEEDED", "INVALID_PARAMS"}, "what is handed on is not the golem's"
    helped.live.commit(helped.draw(A_DAY - PART)["permit_id"])
    assert stolen.take(PART) and not stolen.take(1)
    assert had - helped.wallet.balance() == A_DAY


@pytest.mark.parametrize("how", ["the golem disables it", "the owner ends the runway", "a halt takes it back"])
def test_what_was_handed_on_is_taken_back(helped: Helped, how: str) -> None:
    helped.keep(a_day=A_DAY)
    handed, had = helped.hand_on(), helped.wallet.balance()
    stolen = helped.steal(handed)
    if how == "the golem disables it":
        asked = {**_NO_SWAP, "delegation": handed["delegation"]}
        permit = helped.live.preview(action_type="disable_redelegation", **asked)
        assert helped.live.commit(permit["permit_id"])["status"] == PermitStatus.COMMITTED
        assert helped.tell(handed)["status"] == "taken_back" and helped.follow().state == "CANCELLED"
        assert SpendEntry.objects.get(permit_id=SignedPromise.objects.get().permit_id).state == "RELEASED"
        with pytest.raises(RedelegationOver):
            helped.live.preview(action_type="disable_redelegation", **asked)
    elif how == "the owner ends the runway":
        helped.wallet.raise_nonce()
    else:
        told = halt_golem(golem=helped.golem, reason="test", actor="system:test", now=clock.now())
        steps = carry_out_halt(golem_id=helped.golem.pk, epoch=told["epoch"], now=clock.now())
        [step] = [each for each in steps if each["step"] == "signed promises cancelled"]
        assert [each["outcome"] for each in step["promises"]] == ["CANCELLED"], step
        assert helped.follow().state == "CANCELLED"
    assert not stolen.take(1) and helped.wallet.balance() == had


def test_wider_longer_and_for_the_wrong_hands_is_refused_with_what_passes(helped: Helped) -> None:
    with pytest.raises(NoRunway):
        helped.ask()
    helped.keep(a_day=A_DAY, days=1)
    for changes, words in (
        ({"amount": A_DAY + 1}, str(A_DAY)),
        ({"expires_in": 3 * 86_400}, "86400"),
        ({"expires_in": 8 * 86_400}, "601200"),
        ({"recipient": helped.account}, "another key"),
        ({"recipient": helped.wallet.address}, "another key"),
    ):
        with pytest.raises(InvalidParams) as refused:
            helped.ask(**changes)
        told = str((refused.value.detail, refused.value.data))
        assert words in told or words[:5] in told, told
    with pytest.raises(AddressNotAllowed):
        helped.ask(recipient=THIEF)
    with pytest.raises(NoRunway, match="session_get_keys"):
        helped.ask(delegation="0x" + "12" * 32)
    for name in ("redelegation", "disable"):
        with pytest.raises(RedelegationUnknown):
            if name == "disable":
                helped.live.preview(action_type="disable_redelegation", **_NO_SWAP, delegation="0x" + "12" * 32)
            else:
                helped.tell({"delegation": "0x" + "12" * 32})
    assert not SignedPromise.objects.exists()


def test_a_runway_whose_giver_named_who_redeems_is_handed_on_to_nobody_else(helped: Helped) -> None:
    caveats = helped.wallet.runway(a_day=A_DAY)
    alone = [*caveats, (at("redeemer"), raw(helped.account), b"")]
    first = helped.receive(helped.wallet.context(helped.account, alone))
    with pytest.raises(InvalidParams, match="as `helper`"):
        helped.ask(delegation=first.reference)
    asked = {"daily_cap_usdc": str(A_DAY), "duration_days": 9, "helper": helped.key.address}
    permit = helped.live.preview(action_type="request_runway", **{**_NO_SWAP, **asked})
    done = helped.live.commit(permit["permit_id"])
    assert done["result"]["data"]["wallet_request"]["rules"][1]["data"]["addresses"] == [
        helped.account,
        helped.key.address,
    ]
    both = [*caveats, (at("redeemer"), raw(helped.account) + raw(helped.key.address), b"")]
    second = helped.receive(helped.wallet.context(helped.account, both, salt=8))
    stolen = helped.steal(helped.hand_on(delegation=second.reference))
    assert not stolen.take(PART + 1) and stolen.take(PART)


def test_keys_that_something_was_handed_on_to_are_told_among_the_session_keys(helped: Helped) -> None:
    helped.keep(a_day=A_DAY)
    handed = helped.hand_on()
    [line] = [each for each in read(helped.live, "session_get_keys")["keys"] if each["key_id"] == handed["delegation"]]
    assert (line["enforced_by"], line["acts_for"]) == ("delegation", helped.wallet.address)
    assert not line["is_held_here"] and line["is_active"] and line["expires_at"] == handed["ends_at"]
    assert helped.key.address in line["permissions"][0] and "4 USDC" in line["permissions"][0]
    asked = {**_NO_SWAP, "venue": "wallet", "key_id": handed["delegation"]}
    with pytest.raises(InvalidParams) as refused:
        helped.live.preview(action_type="revoke_session_key", **asked)
    assert "disable_redelegation" in str(refused.value.detail)


def list_changed(typed: TypedData, stranger: str) -> Iterator[tuple[str, TypedData]]:
    """Each word of it once another."""
    message = typed.message
    for name, value in (
        ("delegate", "0x" + "00" * 20),
        ("delegate", "0x0000000000000000000000000000000000000a11"),
        ("delegator", stranger),
        ("authority", ROOT),
        ("salt", message["salt"] ^ 1 << 100),
    ):
        yield f"{name} {value}", replace(typed, message={**message, name: value})
    for place, caveat in enumerate(message["caveats"]):
        terms = bytes.fromhex(caveat["terms"][2:])
        for byte in range(0, len(terms), 4):
            other = terms[:byte] + bytes([terms[byte] ^ 0x80]) + terms[byte + 1 :]
            caveats = [*message["caveats"]]
            caveats[place] = {**caveat, "terms": "0x" + other.hex()}
            yield f"byte {byte} of caveat {place}", replace(typed, message={**message, "caveats": caveats})
        without = [each for each in message["caveats"] if each is not caveat]
        yield f"without caveat {place}", replace(typed, message={**message, "caveats": without})
    for name, value in (("name", "Other"), ("version", "2"), ("chainId", 1), ("verifyingContract", stranger)):
        yield f"domain {name}", replace(typed, domain={**typed.domain, name: value})


def test_every_word_of_what_is_handed_on_is_read_and_none_may_be_another(helped: Helped) -> None:
    helped.keep(a_day=A_DAY)
    helped.hand_on()
    typed = TypedData.of_json(SignedPromise.objects.get().typed_data)
    chain = make_context(helped.live.world, address=helped.account).chain()

    def effects_of(each: TypedData) -> tuple[object, ...] | None:
        into = Effects()
        try:
            Redelegations().read(each, account=helped.account, chain=chain, into=into)
        except (UnknownCall, KeyError, TypeError, ValueError):
            return None
        return (*into.principals, *into.recipients, *into.deadlines)

    as_signed = effects_of(typed)
    assert as_signed is not None
    same = [name for name, each in list_changed(typed, THIEF) if effects_of(each) == as_signed]
    # When its one period began is its own: of a life of a hundred years no later one begins.
    assert [name for name in same if not name.startswith("byte 8")] == [], same
    assert CHAIN_ID == typed.chain_id


def test_a_delegation_of_what_the_account_itself_has_is_refused_by_its_name(helped: Helped) -> None:
    helped.keep(a_day=A_DAY)
    permit = helped.ask()
    plan = helped.live.permit(permit["permit_id"])
    typed = TypedData.of_json(plan.bounds["promise"])
    assert name_signed_right(typed) is None
    own = replace(typed, message={**typed.message, "authority": ROOT})
    right = name_signed_right(own)
    assert right is not None and right.name == "Delegation"
    votes = {"Delegation": (("delegatee", "address"), ("nonce", "uint256"), ("expiry", "uint256"))}
    assert name_signed_right(TypedData(typed.domain, "Delegation", votes, {})) is not None
    given: Delegation = read_message(typed.message)
    assert given.hash == plan.bounds["details"]["delegation"]

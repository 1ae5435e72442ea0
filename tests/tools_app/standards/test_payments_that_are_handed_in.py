"""A payment that a payer hands in: which words of it are read, which way it follows, and whether the chain saw it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pytest

from tests.told_reader import ToldReader, refusal_of
from tools_app.chain.abi import checksum, event_topic
from tools_app.standards import permit2_nonces
from tools_app.standards.erc20 import TRANSFER_EVENT
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.x402 import payments
from tools_app.standards.x402.payments import Payment, PaymentUnfit
from tools_app.standards.x402.price_offers import STATE, Method, PriceOffer
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.views import LogEntry

TOKEN, PAYER, PAYEE, OTHER = (checksum("0x" + each * 40) for each in "1def")
NONCE: Final = 0x0102
WORD: Final = f"0x{NONCE:064x}"
SIGNATURE: Final = "0x" + "ab" * 65
_FROM_A_NUMBER: Final[Mapping[str, Any]] = {"from": 5}


def accepted(**words: Any) -> dict[str, Any]:
    return {"scheme": "exact", "network": "eip155:1", "asset": TOKEN, "payTo": PAYEE, "amount": "500", **words}


def own(*, told: Mapping[str, Any] | None = None, **words: Any) -> dict[str, Any]:
    """By the token's own authorization."""
    authorization = {
        "from": PAYER,
        "to": PAYEE,
        "value": "500",
        "validAfter": "0",
        "validBefore": "1700000300",
        "nonce": WORD,
        **words,
    }
    payload = {"signature": SIGNATURE, "authorization": authorization}
    return {"x402Version": 2, "payload": payload, "accepted": accepted(), **(told or {})}


def permitted(*, witness: Mapping[str, Any] | None = None, token: str = TOKEN, **words: Any) -> dict[str, Any]:
    """Through Permit2."""
    authorization = {
        "permitted": {"token": token, "amount": "500"},
        "from": PAYER,
        "spender": OTHER,
        "nonce": str(NONCE),
        "deadline": "1700000300",
        "witness": {"to": PAYEE, "validAfter": "0", **(witness or {})},
        **words,
    }
    return {
        "x402Version": 2,
        "payload": {"signature": SIGNATURE, "permit2Authorization": authorization},
        "accepted": accepted(),
    }


def unfit(told: Any) -> str:
    return str(refusal_of(lambda: payments.read_payment(told), PaymentUnfit))


# ---- what it says ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "method"),
    [
        (own(), Method.EIP3009),
        (permitted(), Method.PERMIT2),
        (permitted(witness={"facilitator": OTHER}), Method.UPTO),
    ],
    ids=["eip3009", "permit2", "upto"],
)
def test_a_payment_is_read_as_it_was_signed(told: dict[str, Any], method: Method) -> None:
    read = payments.read_payment({**told, "extensions": {"more": 1}})
    assert read == Payment(method, "eip155:1", TOKEN, PAYER, PAYEE, 500, NONCE, 1_700_000_300, told)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (None, "version 2"),
        ([], "version 2"),
        (own(told={"x402Version": 1}), "version 2"),
        (own(told={"payload": []}), "no payload"),
        (own(told={"accepted": None}), "no payload"),
        (own(told={"payload": {"signature": None}}), "not signed"),
        (own(told={"payload": {"signature": "0x" + "ab" * 63}}), "not signed"),
        (own(told={"payload": {"signature": SIGNATURE}}), "no authorization with a nonce"),
        (own(nonce=None), "no authorization with a nonce"),
        (own(nonce=WORD + "00"), "no authorization with a nonce"),
        (own(validAfter=0), "no whole number"),
        (own(value="05"), "no whole number"),
        (own(value=str(2**256)), "no whole number"),
        (own(validBefore="-1"), "no whole number"),
        (own(to=PAYEE[:-1]), "an address in it is none"),
        (own(**_FROM_A_NUMBER), "an address in it is none"),
        (own(told={"accepted": {}}), "an address in it is none"),
        (permitted(permitted=None), "what is permitted, and a witness"),
        (permitted(token="0x"), "an address in it is none"),
        (permitted(spender=None), "an address in it is none"),
        (permitted(witness={"validAfter": None}), "no whole number"),
        (permitted(witness={"to": None}), "an address in it is none"),
        (permitted(nonce=NONCE), "no whole number"),
        (permitted(deadline=""), "no whole number"),
        ({**permitted(), "payload": {"signature": SIGNATURE, "permit2Authorization": 1}}, "and a witness"),
        (
            {**permitted(), "payload": {"signature": SIGNATURE, "permit2Authorization": {"permitted": {}}}},
            "and a witness",
        ),
    ],
)
def test_what_is_no_payment_is_told_what_is_wrong_with_it(told: Any, words: str) -> None:
    assert words in unfit(told)


@pytest.mark.parametrize(("letters", "is_read"), [(128, True), (127, False), (8_192, True), (8_194, False)])
def test_a_signature_has_from_sixty_four_to_four_thousand_bytes(letters: int, is_read: bool) -> None:
    told = own()
    told["payload"]["signature"] = "0x" + "a" * letters
    if is_read:
        payments.read_payment(told)
    else:
        assert "not signed" in unfit(told)


def test_the_largest_number_of_a_chain_is_read() -> None:
    assert payments.read_payment(own(value=str(2**256 - 1))).amount == 2**256 - 1


def test_a_header_is_base64_of_json_of_sixteen_thousand_bytes_at_most() -> None:
    assert payments.open_header(base64.b64encode(json.dumps(own()).encode()).decode()) == own()
    full = b'"' + b"x" * 15_998 + b'"'
    assert payments.open_header(base64.b64encode(full).decode()) == "x" * 15_998
    for header in (
        "no base64!",
        base64.b64encode(b"{").decode(),
        base64.b64encode(full[:-1] + b'x"').decode(),
    ):
        refused = refusal_of(partial(payments.open_header, header), PaymentUnfit)
        assert "base64 of JSON" in str(refused)


def test_a_payers_own_word_is_read_where_it_says_one_and_refused_in_another_form() -> None:
    def say(word: Any) -> dict[str, Any]:
        return {"extensions": {"payment-identifier": {"info": {"id": word}}}}

    word = "a-Word_of-16-let"
    assert payments.read_identifier(say(word)) == word
    nothing: Any
    for nothing in (None, "text", {}, {"extensions": None}, {"extensions": {"payment-identifier": []}}, say(None)):
        assert payments.read_identifier(nothing) == ""
    for wrong in (5, word[1:], word + "!", "x" * 129):
        refusal_of(partial(payments.read_identifier, say(wrong)), PaymentUnfit)


# ---- which way it follows --------------------------------------------------------------------------------------------


def offer(method: Method = Method.EIP3009, **fields: Any) -> PriceOffer:
    return PriceOffer(
        **{"method": method, "chain_id": 1, "token": TOKEN, "amount": 500, "payee": PAYEE, "extra": {}, **fields}
    )


def test_a_payment_follows_the_way_of_its_own_method() -> None:
    ways = [offer(Method.PERMIT2), offer()]
    assert payments.find_way(payments.read_payment(own()), ways) is ways[1]
    refused = refusal_of(lambda: payments.find_way(payments.read_payment(own()), ways[:1]), PaymentUnfit)
    assert "by eip3009 is not asked for" in str(refused)


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        (own(value="499"), "amount"),
        (own(value="501"), "amount"),
        (own(told={"accepted": accepted(amount="501")}), "amount"),
        (own(told={"accepted": accepted(scheme="upto")}), "scheme"),
        (own(told={"accepted": accepted(network="eip155:10")}), "network"),
        (own(told={"accepted": accepted(asset=OTHER)}), "asset"),
        (own(to=OTHER), "payTo"),
        (own(told={"accepted": accepted(payTo=OTHER)}), "payTo"),
        (own(to=OTHER, told={"accepted": accepted(payTo=OTHER, amount="1")}), "payTo, amount"),
    ],
)
def test_what_was_signed_for_something_else_is_told_by_the_words_that_differ(told: Any, wrong: str) -> None:
    refused = refusal_of(lambda: payments.find_way(payments.read_payment(told), [offer()]), PaymentUnfit)
    assert str(refused) == f"what was signed is not what is asked for: {wrong}"


@pytest.mark.parametrize(("asked", "is_enough"), [(499, True), (500, True), (501, False)])
def test_who_signs_up_to_an_amount_may_sign_more_and_not_less(asked: int, is_enough: bool) -> None:
    told = {**permitted(witness={"facilitator": OTHER}), "accepted": accepted(scheme="upto")}
    way = offer(Method.UPTO, amount=asked)
    if is_enough:
        assert payments.find_way(payments.read_payment(told), [way]) is way
    else:
        refusal_of(lambda: payments.find_way(payments.read_payment(told), [way]), PaymentUnfit)
    # Exactly is exactly, through Permit2 too.
    exact = offer(Method.PERMIT2, amount=asked)
    if asked == 500:
        assert payments.find_way(payments.read_payment(permitted()), [exact]) is exact
    else:
        refusal_of(lambda: payments.find_way(payments.read_payment(permitted()), [exact]), PaymentUnfit)


# ---- whether the chain saw it ----------------------------------------------------------------------------------------

USED: Final = event_topic("event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)")
MOVED: Final = event_topic(TRANSFER_EVENT)


def topic(address: str) -> str:
    return "0x" + "0" * 24 + address[2:].lower()


def move(tx: str, index: int, *, amount: int = 500, payee: str = PAYEE, block: int = 900) -> LogEntry:
    return LogEntry(TOKEN, (MOVED, topic(PAYER), topic(payee)), f"0x{amount:064x}", block, tx, index)


def use(tx: str, index: int, *, nonce: int = NONCE) -> LogEntry:
    return LogEntry(TOKEN, (USED, topic(PAYER), f"0x{nonce:064x}"), "0x", 900, tx, index)


def find(entries: list[LogEntry], method: Method = Method.EIP3009, *, bitmap: Any = 0, since: int = 800) -> Any:
    reader: Any = ToldReader({(PERMIT2, permit2_nonces._BITMAP, PAYER, NONCE >> 8): bitmap}, entries=entries)
    return payments.find_paid(reader, way=offer(method), payer=PAYER, nonce=NONCE, since_block=since)


def test_a_token_tells_a_nonce_right_before_the_move_that_it_paid() -> None:
    assert find([use("0xa", 4), move("0xa", 5)]) == ("0xa",)
    # Not another transaction's, not before, not one in between, not another nonce, amount, payee, nor before it began.
    for logs in (
        [use("0xa", 4), move("0xb", 5)],
        [use("0xa", 5), move("0xa", 4)],
        [use("0xa", 4), move("0xa", 6)],
        [use("0xa", 4, nonce=NONCE + 1), move("0xa", 5)],
        [use("0xa", 4), move("0xa", 5, amount=499)],
        [use("0xa", 4), move("0xa", 5, payee=OTHER)],
        [use("0xa", 4), move("0xa", 5, block=799)],
        [move("0xa", 5)],
    ):
        assert find(logs) == ()


def test_permit2_tells_that_a_nonce_is_used_and_any_whole_move_may_be_it_unless_its_owner_used_it_up() -> None:
    bit = 1 << (NONCE & 255)
    logs = [move("0xa", 1), move("0xa", 2), move("0xb", 3), move("0xc", 1, amount=5)]
    assert find(logs, Method.PERMIT2, bitmap=(bit,)) == ("0xa", "0xb")
    assert find(logs, Method.UPTO, bitmap=(bit,)) == ("0xa", "0xb")
    assert find(logs, Method.PERMIT2, bitmap=(~bit & 2**256 - 1,)) == ()
    gone = event_topic(permit2_nonces.INVALIDATED)

    def use_up(word: int, mask: int) -> LogEntry:
        return LogEntry(PERMIT2, (gone, topic(PAYER)), f"0x{word:064x}{mask:064x}", 900, "0xd", 1)

    assert find([*logs, use_up(NONCE >> 8, bit)], Method.PERMIT2, bitmap=(bit,)) == ()
    for elsewhere in (use_up((NONCE >> 8) + 1, bit), use_up(NONCE >> 8, bit << 1)):
        assert find([*logs, elsewhere], Method.PERMIT2, bitmap=(bit,)) == ("0xa", "0xb")
    refused = refusal_of(lambda: find(logs, Method.PERMIT2, bitmap="no"), PositionsUnreadable)
    assert "does not tell its nonces" in refused.detail


@pytest.mark.parametrize("is_used", [True, False])
def test_a_nonce_is_used_up_where_the_token_or_permit2_says_so(is_used: bool) -> None:
    bit = 1 << (NONCE & 255)
    reader: Any = ToldReader(
        {
            (TOKEN, STATE, PAYER, NONCE.to_bytes(32, "big")): (is_used,),
            (PERMIT2, permit2_nonces._BITMAP, PAYER, 1): (bit if is_used else bit << 1,),
        }
    )
    for method in Method:
        assert payments.is_used_up(reader, way=offer(method), payer=PAYER, nonce=NONCE) is is_used

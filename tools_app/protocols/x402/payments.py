"""A payment as typed data for Permit2, and as the header in which its payee is told of it; pure.

Types as in the PyPI package `x402` (`PERMIT2_WITNESS_TYPES` and its sibling for upto). One nonce belongs to what is
paid for once: whoever asks again, under other terms too, is paid once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import checksum
from tools_app.chain.abi_records import Fields, TypedStruct
from tools_app.protocols.x402.addresses import EXACT, UPTO
from tools_app.standards.permit2 import domain_of
from tools_app.standards.signed_order_tracking import WITNESSED, list_witnessed, read_permit, read_witness
from tools_app.toolkit.typed_data import TypedData

_TO: Final = ("to", "address")
_FACILITATOR: Final = ("facilitator", "address")
_VALID_AFTER: Final = ("validAfter", "uint256")
_WITNESSES: Final[Mapping[str, Fields]] = {
    EXACT: (_TO, _VALID_AFTER),
    UPTO: (_TO, _FACILITATOR, _VALID_AFTER),
}
VERSION: Final = 2
_NUMBER_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Terms:
    """What is paid: `amount` base units of `token` to `payee` by `payer`, until `ends_at` in Unix seconds.

    With the scheme upto it is the most, and `facilitator` says how much; it is empty with exact.
    """

    scheme: str
    payer: str
    payee: str
    token: str
    amount: int
    nonce: int
    ends_at: int
    proxy: str
    facilitator: str = ""


@dataclass(frozen=True, slots=True)
class SignedTerms:
    """What was signed: at most `amount` base units of `token` to `payee`, through `spender`, once. With the scheme upto
    `facilitator` says how much; with exact there is none.
    """

    token: str
    amount: int
    spender: str
    nonce: int
    deadline: int
    payee: str
    valid_after: int
    facilitator: str | None

    @property
    def payer(self) -> str:
        """With whom its nonce begins."""
        return payer_of(self.nonce)


@dataclass(frozen=True, slots=True)
class _Witness:
    to: str
    valid_after: int


@dataclass(frozen=True, slots=True)
class _Facilitated:
    facilitator: str


_WITNESS: Final = TypedStruct({"Witness": _WITNESSES[EXACT]}, "Witness", _Witness)
_UPTO_WITNESS: Final = TypedStruct({"Witness": _WITNESSES[UPTO]}, "Witness", _Facilitated)


def types_of(scheme: str) -> dict[str, Fields]:
    """Every struct of what is signed."""
    return list_witnessed("Witness", {"Witness": _WITNESSES[scheme]})


def scheme_of(typed: TypedData) -> str | None:
    """exact or upto, None where the types are those of neither."""
    return next((scheme for scheme in (EXACT, UPTO) if dict(typed.types) == types_of(scheme)), None)


def read_terms(typed: TypedData) -> SignedTerms:
    """What a signed payment says. Raises KeyError for what is none."""
    permit, witness = read_permit(typed), read_witness(typed)
    upto = _UPTO_WITNESS.read(witness) if scheme_of(typed) == UPTO else None
    exact = _WITNESS.read(witness)
    return SignedTerms(
        token=permit.permitted.token,
        amount=permit.permitted.amount,
        spender=permit.spender,
        nonce=permit.nonce,
        deadline=permit.deadline,
        payee=exact.to,
        valid_after=exact.valid_after,
        facilitator=None if upto is None else upto.facilitator,
    )


def number_payment(*, chain_id: int, payer: str, resource: str, reference: str) -> int:
    """The nonce of what is paid for once: a resource, and a word of the payer's to tell two payments for it apart.

    It begins with the payer, whom Permit2's message does not name.
    """
    named = keccak(text=f"x402 {chain_id}\n{resource}\n{reference}")[:_NUMBER_BYTES]
    return int(payer, 16) << 8 * _NUMBER_BYTES | int.from_bytes(named, "big")


def payer_of(nonce: int) -> str:
    """Whose nonce it is."""
    return checksum(f"0x{nonce >> 8 * _NUMBER_BYTES:040x}")


def name_payment(nonce: int) -> str:
    """By what agents and rows know a payment."""
    return "0x" + nonce.to_bytes(32, "big").hex()


def type_payment(terms: Terms, *, chain_id: int) -> TypedData:
    """What is signed."""
    named = {"facilitator": terms.facilitator} if terms.scheme == UPTO else {}
    return TypedData(
        domain=domain_of(chain_id),
        primary_type=WITNESSED,
        types=types_of(terms.scheme),
        message={
            "permitted": {"token": terms.token, "amount": terms.amount},
            "spender": terms.proxy,
            "nonce": terms.nonce,
            "deadline": terms.ends_at,
            "witness": {"to": terms.payee, "validAfter": 0, **named},
        },
    )


def write_payload(terms: Terms) -> dict[str, object]:
    """`payload` of the header PAYMENT-SIGNATURE, without the signature; integers as text, as its makers write them."""
    named = {"facilitator": terms.facilitator} if terms.scheme == UPTO else {}
    return {
        "permit2Authorization": {
            "from": terms.payer,
            "permitted": {"token": terms.token, "amount": str(terms.amount)},
            "spender": terms.proxy,
            "nonce": str(terms.nonce),
            "deadline": str(terms.ends_at),
            "witness": {"to": terms.payee, "validAfter": "0", **named},
        }
    }

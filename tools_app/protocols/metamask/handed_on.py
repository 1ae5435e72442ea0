"""What a golem hands on of a delegation that it received: less, for a shorter time, to one key, and reading it back.

The key redeems a chain of two. The manager runs the caveats of both, so that what it takes counts against the owner's
delegation too, and ends with that one. The salt begins with whose money it is, which nothing else that is signed tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.metamask.addresses import MANAGER, NONCE, PERIOD, REDEEMER, TIMESTAMP, deployments, place_on
from tools_app.protocols.metamask.delegations import (
    ANYBODY,
    DELEGATION,
    ROOT,
    TYPES,
    Caveat,
    Delegation,
    domain_of,
    read_message,
)
from tools_app.protocols.metamask.received import AVAILABLE, DISABLED, NONCE_OF
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import Effects, PrincipalRead, UnknownCall
from tools_app.toolkit.order_desks import HandIn
from tools_app.toolkit.positions import Act, PositionsUnreadable, Trail
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import LogEntry

LIFE_SECONDS: Final = 100 * 365 * 86_400
"""The period of what is handed on: longer than its life, so that its amount is once and never again."""
_WORD: Final = 32
_SALT_BITS: Final = 96
_NOBODY: Final = "0x" + "0" * 40


@dataclass(frozen=True, slots=True)
class HandedOn:
    """At most `most` base units of `token` in all, which `key` alone takes until `ends_at`, Unix seconds."""

    key: str
    principal: str
    token: str
    most: int
    starts_at: int
    ends_at: int
    nonce: int


def write_caveats(terms: HandedOn, at: Mapping[str, str]) -> tuple[Caveat, ...]:
    """The four that hold the key, in their order."""
    period = _raw(terms.token) + b"".join(_word(each) for each in (terms.most, LIFE_SECONDS, terms.starts_at))
    return (
        Caveat(at[PERIOD], period),
        Caveat(at[TIMESTAMP], _word(terms.ends_at)),
        Caveat(at[NONCE], _word(terms.nonce)),
        Caveat(at[REDEEMER], _raw(terms.key)),
    )


def hand_on(terms: HandedOn, *, giver: str, of: str, mark: int, at: Mapping[str, str]) -> Delegation:
    """The narrower delegation, unsigned. `of` is the hash of what was received, `mark` tells two apart."""
    salt = int(terms.principal, 16) << _SALT_BITS | mark % 2**_SALT_BITS
    return Delegation(terms.key, giver, of, write_caveats(terms, at), salt)


def read_handed_on(given: Delegation, at: Mapping[str, str]) -> HandedOn:
    """Its terms. Raises UnknownCall for anything that `hand_on` does not write."""
    if [each.enforcer for each in given.caveats] != [at[key] for key in (PERIOD, TIMESTAMP, NONCE, REDEEMER)]:
        raise UnknownCall("what is handed on has other caveats than amount, end, nonce and redeemer")
    period, time, nonce, _ = (each.terms for each in given.caveats)
    terms = HandedOn(
        key=given.delegate,
        principal=checksum("0x" + (given.salt >> _SALT_BITS).to_bytes(20, "big").hex()),
        token=checksum("0x" + period[:20].hex().ljust(40, "0")),
        most=int.from_bytes(period[20 : 20 + _WORD], "big"),
        starts_at=int.from_bytes(period[20 + 2 * _WORD :], "big"),
        ends_at=int.from_bytes(time, "big"),
        nonce=int.from_bytes(nonce, "big"),
    )
    if tuple(given.caveats) != write_caveats(terms, at):
        raise UnknownCall("a caveat of what is handed on says something else than is written here")
    if not terms.most or not terms.starts_at < terms.ends_at < 2**128:
        raise UnknownCall("what is handed on gives nothing, or ends before it begins")
    return terms


class Redelegations:
    """Delegations that the account signs over what others gave it, from the manager's interface."""

    def read(self, typed: TypedData, *, account: str, chain: ChainReader, into: Effects) -> None:
        """Add whose money goes at most, and to which key."""
        at = deployments(typed.chain_id) or {}
        if typed.primary_type != DELEGATION or dict(typed.types) != TYPES:
            raise UnknownCall("the manager of delegations takes nothing but delegations")
        if dict(typed.domain) != domain_of(typed.chain_id, at):
            raise UnknownCall("it is signed for another manager")
        given = read_message(typed.message)
        if given.delegator != account:
            raise UnknownCall(f"{given.delegator} hands it on, which is not the golem")
        if given.authority.lower() == ROOT:
            raise UnknownCall("it would give what the account itself has, and not what it received")
        terms = read_handed_on(given, at)
        if given.delegate.lower() in (ANYBODY, _NOBODY, account.lower(), terms.principal.lower()):
            raise UnknownCall("it is given to anybody, to nobody, or to who has it already")
        if terms.starts_at > chain.block.timestamp:
            raise UnknownCall("it holds only from a later moment on")
        [nonce] = chain.call_many([ReadCall(at[NONCE], NONCE_OF, (at[MANAGER], account))])
        if not nonce.ok or nonce.values[0] != terms.nonce:
            raise UnknownCall("its nonce is not the account's present one, so that it might begin to hold later")
        into.principals.append(PrincipalRead(given.authority, terms.principal, terms.token, terms.most))
        into.recipients.append(terms.key)
        into.paid_plainly.append(terms.key)
        into.deadlines.append(terms.ends_at)

    def ask(self, typed: TypedData) -> list[ReadCall]:
        """Whether it is disabled, the account's nonce, and how much is left of it."""
        at, given = place_on(typed.chain_id), read_message(typed.message)
        named = bytes.fromhex(given.hash[2:])
        return [
            ReadCall(at[MANAGER], DISABLED, (named,)),
            ReadCall(at[NONCE], NONCE_OF, (at[MANAGER], given.delegator)),
            ReadCall(at[PERIOD], AVAILABLE, (named, at[MANAGER], given.caveats[0].terms)),
        ]

    def trails(self, typed: TypedData) -> Sequence[Trail]:
        """State tells everything."""
        return ()

    def judge(self, typed: TypedData, outcomes: Sequence[ReadOutcome], logs: Sequence[LogEntry] | None) -> Fate | None:
        """Taken whole, or in part and taken back: FILLED. A nonce that went on or a word to the manager ends it."""
        disabled, nonce, available = outcomes
        if not (disabled.ok and nonce.ok and available.ok):
            raise PositionsUnreadable("the delegation manager or an enforcer does not answer")
        terms = read_handed_on(read_message(typed.message), place_on(typed.chain_id))
        is_gone = bool(disabled.values[0]) or nonce.values[0] > terms.nonce
        taken = terms.most - available.values[0]
        if taken >= terms.most or (taken and is_gone):
            return Fate.FILLED
        if is_gone:
            return Fate.CANCELLED
        return Fate.PARTLY if taken else Fate.OPEN

    def hand_in(self, typed: TypedData, signature: bytes) -> HandIn | None:
        """Its agent hands it to whoever has the key."""
        return None

    def cancel(self, typed: TypedData) -> Act:
        """At the manager, which then lets nobody redeem it."""
        asked = {"delegation": read_message(typed.message).hash, "chain_id": typed.chain_id}
        return Act("metamask_disable_redelegation", asked, "what was handed on is taken back")


def _raw(address: str) -> bytes:
    return bytes.fromhex(address.removeprefix("0x"))


def _word(number: int) -> bytes:
    return number.to_bytes(_WORD, "big")

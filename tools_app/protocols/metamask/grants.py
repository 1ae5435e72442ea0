"""Tells what was granted, read from the delegation's own caveats and never from what was asked for.

Only what is bounded in every way is taken: one ERC-20 by period, a time at which it ends, a nonce by which its giver
takes all back at once. What an unknown enforcer asks for nobody here could tell, so it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.metamask.addresses import (
    NONCE,
    PERIOD,
    REDEEMER,
    TIMESTAMP,
    VALUE,
    place_on,
)
from tools_app.protocols.metamask.delegations import (
    ANYBODY,
    ROOT,
    Delegation,
    NoDelegation,
    decode_context,
    encode_context,
)
from tools_app.toolkit.others_money import GrantRead, GrantUnsafe, RightKind, RightLimit

_PERIOD_BYTES: Final = 20 + 3 * 32
_HALF: Final = 16
_WORD: Final = 32
_ADDRESS: Final = 20
_NEEDED: Final = {
    PERIOD: "an amount by period (ERC20PeriodTransferEnforcer)",
    TIMESTAMP: "a time at which it ends (TimestampEnforcer)",
    NONCE: "a nonce by which its giver takes it back (NonceEnforcer)",
}


def read_grant(*, chain_id: int, given: str, holder: str) -> GrantRead:
    """A permission context as its giver's wallet answers it. Raises GrantUnsafe, ChainNotSupported."""
    at = place_on(chain_id)
    try:
        delegation = decode_context(bytes.fromhex(given.strip().removeprefix("0x")))
    except (NoDelegation, ValueError) as error:
        raise GrantUnsafe(f"what was granted cannot be read: {error}") from error
    _check_parties(delegation, holder)
    terms = _read_caveats(delegation, at, holder)
    token, limit = _read_limit(terms)
    if limit.ends_at <= limit.starts_at:
        raise GrantUnsafe("it ends before its first period begins")
    return GrantRead(
        reference=delegation.hash,
        kind=RightKind.DELEGATION,
        principal=delegation.delegator,
        token=token,
        limit=limit,
        terms={"context": "0x" + encode_context(delegation).hex()},
    )


def read_terms(delegation: Delegation, at: Mapping[str, str]) -> dict[str, bytes]:
    """Terms by the enforcer's key. Raises GrantUnsafe."""
    keys = {at[key]: key for key in (PERIOD, TIMESTAMP, NONCE, VALUE, REDEEMER)}
    terms: dict[str, bytes] = {}
    for each in delegation.caveats:
        key = keys.get(each.enforcer)
        if key is None:
            raise GrantUnsafe(f"nobody here knows what the enforcer {each.enforcer} asks for", enforcer=each.enforcer)
        if key in terms or each.args:
            raise GrantUnsafe("a caveat stands there twice, or with words that nobody signed", enforcer=each.enforcer)
        terms[key] = each.terms
    return terms


def _check_parties(delegation: Delegation, holder: str) -> None:
    if delegation.delegate.lower() == ANYBODY:
        raise GrantUnsafe("anybody may redeem it, so it is nobody's right in particular")
    if delegation.delegate != holder:
        raise GrantUnsafe(f"it was given to {delegation.delegate}, and this golem's account is {holder}")
    if delegation.authority != ROOT:
        raise GrantUnsafe("it was handed on from another delegation; only what a giver signed itself is taken")
    if delegation.delegator == holder:
        raise GrantUnsafe("the golem's own account gave it to itself")


def _read_caveats(delegation: Delegation, at: Mapping[str, str], holder: str) -> dict[str, bytes]:
    terms = read_terms(delegation, at)
    missing = [words for key, words in _NEEDED.items() if key not in terms]
    if missing:
        raise GrantUnsafe(f"it lacks {'; '.join(missing)}", missing=missing)
    sizes = {PERIOD: _PERIOD_BYTES, TIMESTAMP: 2 * _HALF, NONCE: _WORD, VALUE: _WORD}
    if any(len(terms[key]) != size for key, size in sizes.items() if key in terms):
        raise GrantUnsafe("the terms of a caveat are not of their length")
    redeemers = terms.get(REDEEMER, b"")
    named = {checksum("0x" + redeemers[n : n + _ADDRESS].hex()) for n in range(0, len(redeemers), _ADDRESS)}
    if REDEEMER in terms and (len(redeemers) % _ADDRESS or holder not in named):
        raise GrantUnsafe("its redeemers do not name this golem's account")
    return terms


def _read_limit(terms: Mapping[str, bytes]) -> tuple[str, RightLimit]:
    packed = terms[PERIOD]
    most, seconds, starts = (int.from_bytes(packed[n : n + _WORD], "big") for n in range(_ADDRESS, len(packed), _WORD))
    after, before = (int.from_bytes(terms[TIMESTAMP][n : n + _HALF], "big") for n in (0, _HALF))
    if not (most and seconds and starts and before):
        raise GrantUnsafe("an amount, a period, a beginning or an end of it is nothing")
    if after >= starts:
        raise GrantUnsafe("it holds only from a time within its first period on")
    return checksum("0x" + packed[:_ADDRESS].hex()), RightLimit(most, seconds, starts, before)


def open_terms(terms: Mapping[str, object]) -> Delegation:
    """The delegation of a right in the book."""
    return decode_context(bytes.fromhex(str(terms["context"]).removeprefix("0x")))

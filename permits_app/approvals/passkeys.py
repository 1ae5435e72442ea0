"""Passkeys of a person: adding, using, renaming and removing one. The cryptography is py_webauthn's, which
is loaded when the first is asked for: few processes ever need it.

Using one is one short transaction: it locks the person's passkeys, takes the challenge away, verifies, and stores the
counter. It lasts also when the answer is refused, so that what was tried once is not tried twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac
from django_otp.plugins.otp_totp.models import TOTPDevice

from permits_app.approval_errors import PasskeyCopied, PasskeyRefused, SecondFactorMissing
from permits_app.approvals.passkey_challenges import LIVES_SECONDS, PasskeyAnswer, use_up_challenge
from permits_app.approvals.passkey_site import PasskeySite
from permits_app.approvals.second_factor_notices import FactorChange, tell_change
from permits_app.models import Passkey
from permits_app.models.passkey import LONGEST_NAME
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted

T = TypeVar("T")

MOST: Final = 10
"""Passkeys of one person."""
LONGEST_ANSWER: Final = 16_384
"""Characters of what a browser hands in; without an attestation it is about one thousand."""
_SITE_NAME: Final = "Golem"
_MOST_COUNTED: Final = 2
"""Wrong answers in a row that make the pause longer: two seconds at most."""


def list_passkeys(user: object) -> list[Passkey]:
    """Every passkey of `user`, oldest first, those that count no more among them."""
    return list(Passkey.objects.filter(user=user))


def ask_for_new(
    *,
    user: Any,  # Any: an account, whose model is a setting of Django's
    site: PasskeySite,
    challenge: bytes,
) -> str:
    """What `navigator.credentials.create` is given, as JSON. Raises PasskeyRefused when there are enough."""
    held = list_passkeys(user)
    if len(held) >= MOST:
        raise PasskeyRefused(f"you have {MOST} passkeys; remove one first")
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    return options_to_json(
        generate_registration_options(
            rp_id=site.rp_id,
            rp_name=_SITE_NAME,
            user_id=_make_handle(user),
            user_name=user.get_username(),
            challenge=challenge,
            timeout=LIVES_SECONDS * 1_000,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.PREFERRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=bytes(each.credential_id)) for each in held],
        )
    )


def ask_for_answer(*, user: object, site: PasskeySite, challenge: bytes) -> str:
    """What `navigator.credentials.get` is given, as JSON. Raises SecondFactorMissing without a passkey that counts."""
    usable = [each for each in list_passkeys(user) if each.suspected_at is None]
    if not usable:
        raise SecondFactorMissing("you have no passkey that counts")
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor, UserVerificationRequirement

    return options_to_json(
        generate_authentication_options(
            rp_id=site.rp_id,
            challenge=challenge,
            timeout=LIVES_SECONDS * 1_000,
            allow_credentials=[PublicKeyCredentialDescriptor(id=bytes(each.credential_id)) for each in usable],
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


@retry_aborted
def add_passkey(
    *,
    user: Any,  # Any: an account, whose model is a setting of Django's
    name: str,
    answer: PasskeyAnswer,
    action: str,
    now: datetime,
) -> Passkey:
    """Keep the public key of a new passkey. Raises PasskeyRefused; the audit log of each golem tells of it."""
    with transaction.atomic():
        # Two that are added at once are counted one after the other.
        get_user_model()._default_manager.select_for_update(no_key=True).get(pk=user.pk)
        refusal, found = _register(user, answer, action, now)
        added = _store(user, name, found, now) if found is not None else None
    if added is None:
        raise refusal or PasskeyRefused("this passkey is known here already")
    return added


def _register(
    user: object, answer: PasskeyAnswer, action: str, now: datetime
) -> tuple[GolemError | None, tuple[bytes, bytes, int] | None]:
    """Why it is refused, or its credential id, public key and counter; the challenge is used up either way."""
    from webauthn import verify_registration_response

    try:
        given, challenge = _read(answer)
        use_up_challenge(user=user, challenge=challenge, session_key=answer.session_key, action=action, now=now)
        made = _verify(
            lambda: verify_registration_response(
                credential=given,
                expected_challenge=challenge,
                expected_rp_id=answer.site.rp_id,
                expected_origin=list(answer.site.origins),
                require_user_verification=True,
            )
        )
        if Passkey.objects.filter(user=user).count() >= MOST:
            raise PasskeyRefused(f"you have {MOST} passkeys; remove one first")
    except GolemError as refusal:
        return refusal, None
    return None, (made.credential_id, made.credential_public_key, made.sign_count)


def _store(user: object, name: str, found: tuple[bytes, bytes, int], now: datetime) -> Passkey | None:
    """The row; None when somebody's passkey has that id already."""
    credential_id, public_key, sign_count = found
    try:
        with transaction.atomic():
            row: Passkey = Passkey.objects.create(
                user=user,
                name=name[:LONGEST_NAME],
                credential_id=credential_id,
                public_key=public_key,
                sign_count=sign_count,
                added_at=now,
            )
    except IntegrityError:
        return None
    tell_change(user, FactorChange.PASSKEY_ADDED, now=now, data={"passkey": row.name})
    return row


@retry_aborted
def use_passkey(*, user: object, answer: PasskeyAnswer, action: str, now: datetime) -> Passkey:
    """The passkey of `user` that answered the challenge made for `action`.

    Raises SecondFactorMissing, PasskeyRefused, PasskeyCopied. Each refusal makes the next try wait longer.
    """
    refusal: GolemError | None = None
    with transaction.atomic():
        held = list(Passkey.objects.select_for_update(no_key=True).filter(user=user).order_by("pk"))
        if not held:
            raise SecondFactorMissing("you have no passkey; add one, or give the code of your authenticator")
        pauses = [
            facts["locked_until"] for allowed, facts in (each.verify_is_allowed() for each in held) if not allowed
        ]
        if pauses:
            seconds = max(1, math.ceil((max(pauses) - now).total_seconds()))
            raise PasskeyRefused(
                f"it was refused a moment ago; wait a little, and try again in {seconds} s", retry_after_seconds=seconds
            )
        try:
            used = _judge(user, held, answer, action, now)
        except GolemError as error:
            refusal = error
            for each in held:
                # No key is guessed: a pause of seconds is enough, and nobody keeps its owner out with wrong answers.
                each.throttling_failure_count = min(each.throttling_failure_count, _MOST_COUNTED - 1)
                each.throttle_increment()
        else:
            for each in held:
                each.throttle_reset()
    if refusal is not None:
        raise refusal
    return used


def _judge(user: object, held: list[Passkey], answer: PasskeyAnswer, action: str, now: datetime) -> Passkey:
    from webauthn import base64url_to_bytes, verify_authentication_response

    given, challenge = _read(answer)
    use_up_challenge(user=user, challenge=challenge, session_key=answer.session_key, action=action, now=now)
    named = _verify(lambda: base64url_to_bytes(given["rawId"]))
    passkey = next((each for each in held if bytes(each.credential_id) == named), None)
    if passkey is None:
        raise PasskeyRefused("it is none of yours")
    if passkey.suspected_at is not None:
        raise PasskeyCopied(_why_copied(passkey))
    verified = _verify(
        lambda: verify_authentication_response(
            credential=given,
            expected_challenge=challenge,
            expected_rp_id=answer.site.rp_id,
            expected_origin=list(answer.site.origins),
            credential_public_key=bytes(passkey.public_key),
            # Compared below: only of an answer that the key really signed does a counter tell anything.
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    )
    handle = given["response"].get("userHandle")
    if handle and _verify(lambda: base64url_to_bytes(handle)) != _make_handle(user):
        raise PasskeyRefused("it belongs to another account")
    counts = verified.new_sign_count or passkey.sign_count
    if counts and verified.new_sign_count <= passkey.sign_count:
        passkey.suspected_at = now
        passkey.save(update_fields=["suspected_at"])
        tell_change(user, FactorChange.PASSKEY_COPIED, now=now, data={"passkey": passkey.name})
        raise PasskeyCopied(_why_copied(passkey))
    passkey.sign_count = verified.new_sign_count
    passkey.last_used_at = now
    passkey.save(update_fields=["sign_count", "last_used_at"])
    return passkey


def _read(answer: PasskeyAnswer) -> tuple[dict[str, Any], bytes]:  # Any: what a browser hands in
    """The credential, and the challenge that its client data says it answers. Raises PasskeyRefused."""
    from webauthn import base64url_to_bytes

    try:
        given = read_json(answer.text, most_bytes=LONGEST_ANSWER)
        said = read_json(base64url_to_bytes(given["response"]["clientDataJSON"]), most_bytes=LONGEST_ANSWER)
        challenge = base64url_to_bytes(said["challenge"])
        is_framed = bool(said.get("crossOrigin"))
    except (OutsideTextRefused, ValueError, TypeError, KeyError, AttributeError):
        raise PasskeyRefused("what your browser handed in is no answer of a passkey") from None
    if is_framed:
        raise PasskeyRefused("it was given to another site's page around this one")
    return given, challenge


def _verify(judge: Callable[[], T]) -> T:
    try:
        return judge()
    except Exception:  # noqa: BLE001  (whatever a parser of bytes from outside makes of them, it is refused)
        # Its own words are not told on: they repeat what was handed in.
        raise PasskeyRefused(
            "its answer does not fit: another site's, another key's, or without your fingerprint, face or PIN"
        ) from None


@retry_aborted
def rename_passkey(*, user: object, passkey_id: int, name: str) -> bool:
    """Call it otherwise; False when `user` has none of that id."""
    return bool(Passkey.objects.filter(user=user, pk=passkey_id).update(name=name[:LONGEST_NAME]))


@retry_aborted
def remove_passkey(*, user: object, passkey_id: int, now: datetime) -> bool:
    """Forget it; the audit log of each golem tells of it. False when `user` has none of that id."""
    with transaction.atomic():
        row = Passkey.objects.select_for_update().filter(user=user, pk=passkey_id).first()
        if row is None:
            return False
        row.delete()
        tell_change(
            user,
            FactorChange.PASSKEY_REMOVED,
            now=now,
            data={"passkey": row.name},
            is_none_left=not _has_one(user),
        )
    return True


def _has_one(user: object) -> bool:
    """Whether a second factor of `user` is left that counts."""
    is_left = Passkey.objects.filter(user=user, suspected_at=None).exists()
    return is_left or bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())


def _make_handle(user: Any) -> bytes:  # Any: an account, whose model is a setting of Django's
    """What authenticators keep of the account: the same always, and nothing that says who it is."""
    return salted_hmac("golem.passkey", str(user.pk), algorithm="sha256").digest()


def _why_copied(passkey: Passkey) -> str:
    return (
        f"the counter of {passkey.name} went back, as it does when two devices hold it. It counts for nothing any more;"
        " remove it with another second factor. Without one, ask whoever runs the server for reset_second_factor"
    )

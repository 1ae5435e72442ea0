"""The second factor of an owner, asked for at each decision that needs it: a code of a TOTP device, or a passkey.

`check_second_factor` is the one place that says whether it was given. A code is accepted once: the device remembers the
time step of the last one, under a row lock. Wrong codes make it wait, four minutes at most. Setting up the first
second factor needs the password; any further one, and taking one away, needs a second factor that is there already.
"""

from __future__ import annotations

import math
from base64 import b32encode
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import segno
from django.db import transaction
from django_otp.plugins.otp_totp.models import TOTPDevice

from permits_app.approval_errors import SecondFactorLocked, SecondFactorMissing, SecondFactorWrong
from permits_app.approvals.passkey_challenges import PasskeyAnswer
from permits_app.approvals.passkeys import use_passkey
from permits_app.approvals.second_factor_notices import FactorChange, tell_change, tell_guesses
from permits_app.models import Passkey, PasskeyChallenge
from tools_app.core.transaction_retry import retry_aborted

_NAME = "approvals"
_MOST_COUNTED: Final = 9
"""Wrong codes in a row that make the pause longer: 1 s after the first, 2, 4, … and 256 s from the ninth on."""
_TOLD_AFTER: Final = frozenset({5, _MOST_COUNTED})


@dataclass(frozen=True, slots=True)
class HeldFactors:
    """What somebody can prove themselves with now, and whether a passkey of theirs counts no more."""

    has_code: bool
    has_passkey: bool
    has_suspected: bool = False

    @property
    def is_usable(self) -> bool:
        return self.has_code or self.has_passkey


def find_held(user: object) -> HeldFactors:
    """The second factors of `user`."""
    keys = list(Passkey.objects.filter(user=user).values_list("suspected_at", flat=True))
    return HeldFactors(
        has_code=bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists()),
        has_passkey=None in keys,
        has_suspected=any(at is not None for at in keys),
    )


def has_second_factor(user: Any) -> bool:  # Any: an account, whose model is a setting of Django's
    """Whether `user` has set one up; one that counts no more is not as if there had been none."""
    held = find_held(user)
    return held.is_usable or held.has_suspected


def check_second_factor(*, user: object, code: str, passkey: PasskeyAnswer | None, action: str, now: datetime) -> str:
    """Use up what was given, a code or a passkey's answer to the challenge for `action`; which one it was, in words.

    Raises SecondFactorMissing, SecondFactorWrong, SecondFactorLocked, PasskeyRefused, PasskeyCopied. Runs in a
    transaction of its own: a failure is counted even when the caller's work is rolled back.
    """
    if passkey is not None:
        return f"passkey {use_passkey(user=user, answer=passkey, action=action, now=now).name}"
    check_code(user=user, code=code, now=now)
    return "code"


@retry_aborted
def check_code(*, user: object, code: str, now: datetime) -> None:
    """Use one code of the user's device up. Raises SecondFactorMissing, SecondFactorWrong, SecondFactorLocked."""
    if not code.strip():
        raise SecondFactorMissing("type the six digits your authenticator shows now, or use a passkey")
    with transaction.atomic():
        device = (
            TOTPDevice.objects.select_for_update(no_key=True).filter(user=user, confirmed=True).order_by("-pk").first()
        )
        if device is None:
            raise SecondFactorMissing("set up a second factor first; it is asked for with every such decision")
        is_right = _try_code(device, code, now=now)
        if not is_right and device.throttling_failure_count in _TOLD_AFTER:
            tell_guesses(user, count=device.throttling_failure_count, now=now)
        _end_growth(device)
    if not is_right:
        raise SecondFactorWrong(
            "the code is wrong or was used before; wait for the next one",
            retry_after_seconds=_pause_after(device.throttling_failure_count),
        )


def _try_code(device: TOTPDevice, code: str, *, now: datetime) -> bool:
    """Whether `code` is right; the pause after a wrong one doubles up to four minutes, and no further.

    Without an end to it whoever knows the password could keep the owner's own codes out for a day at a time. Raises
    SecondFactorLocked while it lasts.
    """
    is_allowed, facts = device.verify_is_allowed()
    if not is_allowed:
        until = facts["locked_until"]
        seconds = max(1, math.ceil((until - now).total_seconds()))
        raise SecondFactorLocked(
            f"wrong codes were typed; codes are looked at again from {until:%H:%M:%S} UTC, in {seconds} s, and until"
            " then a right one is neither used up nor called wrong. A passkey works now. If it was not you, change your"
            " password",
            locked_until=until.isoformat(),
            retry_after_seconds=seconds,
        )
    return bool(device.verify_token(code.replace(" ", "")))


def _end_growth(device: TOTPDevice) -> None:
    """The pause after this wrong code is the longest there is, and no longer one."""
    if device.throttling_failure_count > _MOST_COUNTED:
        device.throttling_failure_count = _MOST_COUNTED
        device.save(update_fields=["throttling_failure_count"])


def _pause_after(count: int) -> int:
    return 2 ** (min(count, _MOST_COUNTED) - 1) if count else 0


@retry_aborted
def start_enrolment(*, user: object) -> TOTPDevice:
    """A new device that counts for nothing until a code of it was typed; an unfinished one before it is dropped."""
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user, confirmed=False).delete()
        return TOTPDevice.objects.create(user=user, name=_NAME, confirmed=False)


def find_enrolment(*, user: object) -> TOTPDevice | None:
    """The device that waits for its first code."""
    return TOTPDevice.objects.filter(user=user, confirmed=False).first()


@retry_aborted
def finish_enrolment(*, user: object, code: str, now: datetime) -> None:
    """Confirm the waiting device with a code of it; it takes the place of any before. Raises SecondFactorWrong,
    SecondFactorLocked.

    The audit log of each golem tells of it.
    """
    with transaction.atomic():
        device = TOTPDevice.objects.select_for_update(no_key=True).filter(user=user, confirmed=False).first()
        if device is None:
            raise SecondFactorMissing("start anew; no device waits for its first code")
        is_right = _try_code(device, code, now=now)
        _end_growth(device)
        if is_right:
            replaced, _ = TOTPDevice.objects.filter(user=user, confirmed=True).delete()
            device.confirmed = True
            device.save(update_fields=["confirmed"])
            change = FactorChange.CODE_REPLACED if replaced else FactorChange.CODE_SET_UP
            tell_change(user, change, now=now, data={})
    if not is_right:
        raise SecondFactorWrong("this is not a code of the new device; check the clock of your telephone")


@retry_aborted
def remove_authenticator(*, user: object, now: datetime) -> bool:
    """Forget it; the audit log of each golem tells of it. False when `user` has none."""
    with transaction.atomic():
        removed, _ = TOTPDevice.objects.filter(user=user, confirmed=True).delete()
        if removed:
            tell_change(user, FactorChange.CODE_REMOVED, now=now, data={}, is_none_left=not find_held(user).has_passkey)
    return bool(removed)


def forget_devices(*, user: Any) -> int:  # Any: an account, whose model is a setting of Django's
    """Remove every device and passkey of `user`, for one who lost theirs; how many there were."""
    devices, _ = TOTPDevice.objects.filter(user=user).delete()
    passkeys, _ = Passkey.objects.filter(user=user).delete()
    PasskeyChallenge.objects.filter(person=user).delete()
    return int(devices + passkeys)


def draw_code(device: TOTPDevice) -> str:
    """The device's address as an inline SVG QR code."""
    svg: str = segno.make(device.config_url, error="m").svg_inline(scale=4, border=2, light="#fff", dark="#000")
    return svg


def spell_secret(device: TOTPDevice) -> str:
    """The secret for typing, in groups of four base-32 letters."""
    text = b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))

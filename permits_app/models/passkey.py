"""Passkeys (WebAuthn) of people, and the challenges that wait for an answer of one."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django_otp.models import Device, ThrottlingMixin

LONGEST_ACTION = 160
LONGEST_NAME = 60


class Passkey(ThrottlingMixin, Device):
    """One credential of a person: its public key alone, the private one never leaves their authenticator.

    Wrong answers make it wait longer and longer, as they do a TOTP device. One whose counter went back counts for
    nothing from then on and can only be removed.
    """

    credential_id = models.BinaryField(max_length=1023)
    public_key = models.BinaryField(help_text="COSE")
    sign_count = models.PositiveBigIntegerField(help_text="Of the last answer; 0 where it does not count")
    added_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    suspected_at = models.DateTimeField(null=True, blank=True, help_text="Its counter went back: it may be a copy")

    class Meta:
        ordering = ["added_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["credential_id"], name="passkey_credential_once")]

    def __str__(self) -> str:
        return str(self.name)

    def get_throttle_factor(self) -> int:
        """Seconds to wait after the first wrong answer, as a TOTP device does; they double with each further one."""
        return 1


class PasskeyChallenge(models.Model):
    """What a passkey has to sign, once: by this person, in this session, for this one action."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    challenge = models.BinaryField(max_length=64)
    session_hash = models.CharField(max_length=64, help_text="SHA-256 of the session's key, hex")
    action = models.CharField(max_length=LONGEST_ACTION)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="passkey_challenge_ends")]
        constraints = [models.UniqueConstraint(fields=["challenge"], name="passkey_challenge_once")]

    def __str__(self) -> str:
        return self.action

"""AgentSignIn: an agent asked to act for a golem by a code that its owner types, and what it renews itself with since.

The flow is that of RFC 8628. The text of no code and no token is stored, but for the short code that a person types,
which says nothing to anybody but the agent that asked.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from archetypes_app.models.api_key import Scope
from tools_app.core.visible_text_columns import PlainCharField


class SignInState(models.TextChoices):
    WAITING = "WAITING", "waits for an owner"
    APPROVED = "APPROVED", "approved"
    DENIED = "DENIED", "denied"
    COLLECTED = "COLLECTED", "signed in"


class AgentSignIn(models.Model):
    """One request of an agent. Approved and collected, it is the life of one API key whose tokens live for minutes."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    device_digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of what the agent asks again with")
    user_code = models.CharField(max_length=9, help_text="What its owner types")
    agent = PlainCharField(max_length=64, help_text="How the agent calls itself; nobody has checked it")
    asked_scopes = ArrayField(models.CharField(max_length=16, choices=Scope.choices), default=list)
    asked_from = models.CharField(max_length=64, help_text="The network it asked from")
    asked_at = models.DateTimeField()
    ends_at = models.DateTimeField(help_text="Until when it can be approved and collected")
    polled_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=16, choices=SignInState.choices, default=SignInState.WAITING)
    golem = models.ForeignKey("archetypes_app.Golem", null=True, on_delete=models.CASCADE, related_name="sign_ins")
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope.choices), default=list)
    lifetime_days = models.PositiveSmallIntegerField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    decided_at = models.DateTimeField(null=True)
    key = models.OneToOneField("archetypes_app.ApiKey", null=True, on_delete=models.CASCADE, related_name="sign_in")
    renewal_digest = models.CharField(max_length=64, null=True, unique=True, help_text="SHA-256 of its refresh token")
    used_digest = models.CharField(max_length=64, null=True, unique=True, help_text="SHA-256 of the one used last")
    renewed_at = models.DateTimeField(null=True)
    renewals = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = "sign-in of an agent"
        verbose_name_plural = "sign-ins of agents"
        constraints = [
            models.UniqueConstraint(
                fields=["user_code"], condition=Q(state=SignInState.WAITING), name="agent_sign_in_code_once"
            ),
            models.CheckConstraint(condition=Q(ends_at__gt=models.F("asked_at")), name="agent_sign_in_ends_later"),
            models.CheckConstraint(
                condition=Q(state__in=[SignInState.WAITING, SignInState.DENIED])
                | Q(golem__isnull=False, lifetime_days__isnull=False, decided_at__isnull=False),
                name="agent_sign_in_approved_for_a_golem",
            ),
            models.CheckConstraint(
                condition=Q(state=SignInState.COLLECTED, key__isnull=False, renewal_digest__isnull=False)
                | (~Q(state=SignInState.COLLECTED) & Q(key__isnull=True, renewal_digest__isnull=True)),
                name="agent_sign_in_collected_once",
            ),
        ]
        indexes = [models.Index(fields=["asked_from"], condition=Q(state=SignInState.WAITING), name="agent_sign_in_of")]

    def __str__(self) -> str:
        return f"{self.agent} {self.user_code}"


class AccessToken(models.Model):
    """A token that is good for minutes, of a key that renews itself."""

    digest = models.CharField(max_length=64, primary_key=True, help_text="SHA-256 of the token")
    key = models.ForeignKey("archetypes_app.ApiKey", on_delete=models.CASCADE, related_name="access_tokens")
    ends_at = models.DateTimeField()

    class Meta:
        verbose_name = "access token"

    def __str__(self) -> str:
        return f"access token until {self.ends_at:%Y-%m-%d %H:%M:%S}"

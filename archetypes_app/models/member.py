"""People beside a golem's owners: their roles, the invitations they came by, and where each is signed in."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from archetypes_app.models.golem import Golem
from archetypes_app.roles import Role
from tools_app.core.visible_text_columns import PlainCharField

MEMBER_ROLES = [(role.value, role.value.capitalize()) for role in (Role.VIEWER, Role.OPERATOR, Role.APPROVER)]


class GolemMember(models.Model):
    """One person's role in one golem. Administrators are no rows here: they are its owner and co-owners."""

    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="members")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="golem_memberships")
    role = models.CharField(max_length=16, choices=MEMBER_ROLES, default=Role.VIEWER.value)
    since = models.DateTimeField()

    class Meta:
        verbose_name = "member"
        constraints = [
            models.UniqueConstraint(fields=["golem", "person"], name="golem_member_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=[value for value, _ in MEMBER_ROLES]), name="golem_member_has_a_role"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person}, {self.get_role_display().lower()} of {self.golem}"


class Invitation(models.Model):
    """A link that makes whoever opens it first a viewer of one golem. Only its hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="invitations")
    label = PlainCharField(max_length=60, help_text="Whom it is for, in your words")
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(accepted_at__isnull=True) | models.Q(revoked_at__isnull=True),
                name="invitation_ends_once",
            )
        ]

    def __str__(self) -> str:
        return self.label


class SignIn(models.Model):
    """One sign-in of a person in a browser; over when its session is."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_ins")
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=200, blank=True, help_text="As the browser calls itself")
    address = models.CharField(max_length=45, blank=True)
    signed_in_at = models.DateTimeField()

    class Meta:
        ordering = ["-signed_in_at"]

    def __str__(self) -> str:
        return f"{self.person} since {self.signed_in_at:%Y-%m-%d %H:%M}"

"""ChangeRequest, the owners' decisions on it, comments, and the one execution it may have.

What an owner is shown is stored and hashed when it is asked for (`shown`, `digest`); what is executed is read from the
same row. A decision is a row that the database never changes, and it refuses one by who asked.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from tools_app.core.models import TimeStamped
from tools_app.toolkit.enums import RiskTier

RISK_RANK = {tier.value: rank for rank, tier in enumerate(RiskTier)}
"""ROUTINE 0 to CRITICAL 4: the order of the inbox."""


class ChangeState(models.TextChoices):
    OPEN = "OPEN", "Waits for owners"
    APPROVED = "APPROVED", "Approved"
    EXECUTED = "EXECUTED", "Executed"
    REJECTED = "REJECTED", "Rejected"
    STALE = "STALE", "Stale"
    EXPIRED = "EXPIRED", "Timed out"
    CANCELLED = "CANCELLED", "Cancelled"
    FAILED = "FAILED", "Failed"


LIVE_STATES = (ChangeState.OPEN, ChangeState.APPROVED)


class Verdict(models.TextChoices):
    APPROVE = "APPROVE", "Approve"
    REJECT = "REJECT", "Reject"


class ChangeRequest(TimeStamped):
    """One privileged change that waits for owners. Its state changes only through `permits_app.actions.*_change`.

    `change` is what will be done: for a permit its id, for an owner's operation its arguments. `shown` is everything
    the page tells of it. Both are bound by `digest` together with `plan_hash` and `policy_hash`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="change_requests")
    kind = models.CharField(max_length=32, help_text="permit, or the name of an owner's operation")
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=12, choices=ChangeState.choices, default=ChangeState.OPEN)
    state_reason = models.TextField(blank=True)
    risk_tier = models.CharField(max_length=16, choices=[(tier.value, tier.value) for tier in RiskTier])
    risk_rank = models.PositiveSmallIntegerField(help_text="0 routine to 4 critical; the inbox is in this order")
    value_micro_usd = models.BigIntegerField(default=0, help_text="Value at stake")

    permit = models.OneToOneField(
        "permits_app.ActionPermit", null=True, blank=True, on_delete=models.PROTECT, related_name="change_request"
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The owner who asked",
    )
    api_key = models.ForeignKey(
        "archetypes_app.ApiKey", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    asker = models.CharField(max_length=128, help_text="Who asked, as the audit log names them")
    reason = models.TextField(blank=True)
    barred_owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The owner who asked, or whose agent did: may reject, never approve",
    )
    is_single_owner = models.BooleanField(
        default=False, help_text="The golem has one owner, who decides with a second factor"
    )

    change = models.JSONField(default=dict)
    shown = models.JSONField(default=dict)
    plan_hash = models.CharField(max_length=66)
    policy_hash = models.CharField(max_length=66)
    fold_hash = models.CharField(max_length=66, help_text="Equal wishes of one golem share it and are folded")
    digest = models.CharField(max_length=66)
    repeats = models.PositiveIntegerField(default=1, help_text="How often it was asked for")

    required_approvals = models.PositiveSmallIntegerField(default=1)
    needs_second_factor = models.BooleanField(default=True)
    cooling_seconds = models.PositiveIntegerField(default=0, help_text="Wait between approval and execution")
    deadline_at = models.DateTimeField(help_text="Not decided by then is rejected")
    decided_at = models.DateTimeField(null=True, blank=True)
    executes_at = models.DateTimeField(null=True, blank=True, help_text="Not before")
    claimed_at = models.DateTimeField(null=True, blank=True, help_text="A worker is executing it")
    closed_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(default=dict)
    problem = models.JSONField(default=dict)

    class Meta:
        verbose_name = "change request"
        indexes = [
            models.Index(fields=["golem", "-risk_rank", "created_at"], name="change_inbox"),
            models.Index(
                fields=["closed_at"],
                condition=models.Q(state__in=["EXECUTED", "FAILED"], permit__isnull=False),
                name="change_of_permit_closed",
            ),
            models.Index(
                fields=["state", "executes_at"], condition=models.Q(state__in=["OPEN", "APPROVED"]), name="change_live"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["golem", "fold_hash"],
                condition=models.Q(state__in=["OPEN", "APPROVED"]),
                name="change_equal_wish_once",
            ),
            models.CheckConstraint(condition=models.Q(required_approvals__gte=1), name="change_needs_somebody"),
            models.CheckConstraint(
                condition=~models.Q(state="APPROVED") | models.Q(executes_at__isnull=False), name="change_approved_due"
            ),
            models.CheckConstraint(condition=models.Q(value_micro_usd__gte=0), name="change_value_not_negative"),
            models.CheckConstraint(
                condition=models.Q(kind="permit", permit__isnull=False)
                | (~models.Q(kind="permit") & models.Q(permit__isnull=True)),
                name="change_permit_has_one",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class OwnerApproval(models.Model):
    """One owner's decision on one request, with the digest they saw.

    The database refuses any change but one: that it ended with its owner's role or account. Then they decide anew.
    """

    request = models.ForeignKey(ChangeRequest, on_delete=models.PROTECT, related_name="decisions")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    reason = models.TextField(blank=True)
    digest = models.CharField(max_length=66, help_text="Of what this owner saw")
    has_second_factor = models.BooleanField(default=False)
    decided_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When its owner's role or account ended")

    class Meta:
        verbose_name = "owner's decision"
        constraints = [
            models.UniqueConstraint(
                fields=["request", "owner"], condition=models.Q(ended_at__isnull=True), name="owner_decides_once"
            ),
            models.CheckConstraint(
                condition=~models.Q(verdict="REJECT") | ~models.Q(reason=""), name="rejection_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict.lower()} by {self.owner}"


class ChangeComment(models.Model):
    """What an owner wrote about a request; decides nothing."""

    request = models.ForeignKey(ChangeRequest, on_delete=models.PROTECT, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(max_length=2_000)
    written_at = models.DateTimeField()

    class Meta:
        verbose_name = "comment on a change"
        ordering = ["written_at"]

    def __str__(self) -> str:
        return self.text[:60]


class ChangeExecution(models.Model):
    """That a request was executed: one row at most, so no request is executed twice."""

    request = models.OneToOneField(ChangeRequest, on_delete=models.PROTECT, related_name="execution")
    executed_at = models.DateTimeField()
    actor = models.CharField(max_length=128)

    class Meta:
        verbose_name = "execution of a change"

    def __str__(self) -> str:
        return f"executed {self.executed_at:%Y-%m-%d %H:%M:%S}"

"""PendingRequest: what a golem asked of a protocol that finishes later, followed until it is had or given up.

A request finishes by itself and is claimed; a standing order somebody else carries out, or nobody ever does.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from tools_app.core.models import TimeStamped


class RequestState(models.TextChoices):
    REQUESTED = "REQUESTED", "Requested"
    READY = "READY", "Ready to be claimed"
    CLAIMING = "CLAIMING", "Being claimed"
    DONE = "DONE", "Done"
    STUCK = "STUCK", "Stuck: over its time"
    LOST = "LOST", "Lost: gone without a claim of ours"
    EXECUTED = "EXECUTED", "Carried out"
    CANCELLED = "CANCELLED", "Cancelled"
    EXPIRED = "EXPIRED", "Expired"


FOLLOWED = (RequestState.REQUESTED, RequestState.READY, RequestState.CLAIMING, RequestState.STUCK)
"""States in which it is still looked at."""

ENDS_OF_ORDERS = (RequestState.EXECUTED, RequestState.CANCELLED, RequestState.EXPIRED)
"""What becomes of a standing order, as its protocol says it and two looks saw it."""


class PendingRequest(TimeStamped):
    """One request of one golem, named by its position. Only `permits_app.limits.pending_requests` moves it.

    `ref` is the position's name (`queue/request/1/77`). `next_check_at` is also the follower's lease: who looks moves
    it ahead first. `told_state` is the state that the heartbeat and the owner were told last.
    An order keeps what its permit reserved until it ends: `holds_micro_usd` is its part of that, `spent_micro_usd` what
    of it turned out to be spent. `seen_block` of a request is the last block in which it waited: nothing of it could be
    claimed yet. `others_took` is what others were seen to take of it while it goes on, a sum a token, looked for up to
    `others_block`; `others_told` is what of that its owners were told.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="pending_requests")
    permit = models.ForeignKey(
        "permits_app.ActionPermit", on_delete=models.PROTECT, related_name="requests_made", help_text="Which asked"
    )
    claim = models.ForeignKey(
        "permits_app.ActionPermit",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="requests_claimed",
        help_text="Which claims it, or did",
    )
    chain_id = models.PositiveBigIntegerField(help_text="Where it was sent")
    expects_chain_id = models.PositiveBigIntegerField(help_text="Where it ends, and is looked at")
    arrived_block = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="On the chain where it ends: the block in which it was first seen there"
    )
    account = models.CharField(max_length=42)
    protocol = models.CharField(max_length=64)
    ref = models.CharField(max_length=255)
    state = models.CharField(max_length=9, choices=RequestState.choices, default=RequestState.REQUESTED)
    amounts = models.JSONField(default=list, help_text="Token addresses and base units, as its legs were last seen")
    block_number = models.PositiveBigIntegerField(help_text="The block it was asked in; older reads tell nothing of it")
    expected_at = models.DateTimeField(null=True, blank=True, help_text="When it is expected to be ready; about")
    checked_at = models.DateTimeField(null=True, blank=True)
    next_check_at = models.DateTimeField()
    missed_at = models.DateTimeField(null=True, blank=True, help_text="When a look first did not find it")
    last_error = models.CharField(max_length=255, blank=True)
    told_state = models.CharField(max_length=9, blank=True)
    is_order = models.BooleanField(default=False, help_text="Somebody else carries it out, or nobody does")
    awaits = models.CharField(max_length=255, blank=True, help_text="What has to happen for it to be carried out")
    ends_at = models.DateTimeField(null=True, blank=True, help_text="Nobody can carry it out after this")
    brings = models.JSONField(default=list, help_text="The least that all of what is left brings")
    gave = models.JSONField(default=list, help_text="What it held when it was first seen")
    came = models.JSONField(default=list, help_text="What came back when it ended, as transfers showed it")
    successor = models.CharField(max_length=255, blank=True, help_text="The position that it became")
    seen_state = models.CharField(max_length=9, blank=True, help_text="An end that one look saw")
    ended_at = models.DateTimeField(null=True, blank=True)
    seen_block = models.PositiveBigIntegerField(null=True, blank=True, help_text="The last block in which it was there")
    others_took = models.JSONField(default=list, help_text="What others claimed of it for themselves")
    others_block = models.PositiveBigIntegerField(null=True, blank=True)
    others_told = models.JSONField(default=list)
    holds_micro_usd = models.BigIntegerField(default=0)
    spent_micro_usd = models.BigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name = "pending request"
        constraints = [
            models.UniqueConstraint(fields=["golem", "account", "ref"], name="pending_request_once"),
            models.CheckConstraint(condition=Q(state__in=RequestState.values), name="pending_request_known_state"),
            models.CheckConstraint(
                condition=~Q(state__in=["EXECUTED", "CANCELLED", "EXPIRED"]) | Q(is_order=True, ended_at__isnull=False),
                name="pending_request_orders_end",
            ),
            models.CheckConstraint(
                condition=~Q(state="DONE") | Q(is_order=False), name="pending_request_orders_are_not_claimed"
            ),
            models.CheckConstraint(
                condition=Q(is_order=True) | Q(successor="", seen_state="", holds_micro_usd=0, ends_at__isnull=True),
                name="pending_request_orders_alone",
            ),
            models.CheckConstraint(
                condition=Q(holds_micro_usd__gte=0)
                & (Q(spent_micro_usd__isnull=True) | Q(spent_micro_usd__gte=0, ended_at__isnull=False)),
                name="pending_request_spent_when_ended",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_check_at"],
                condition=Q(state__in=["REQUESTED", "READY", "CLAIMING", "STUCK"]),
                name="pending_request_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.ref} {self.get_state_display().lower()}"

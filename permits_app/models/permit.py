"""ActionPermit: the simulated plan, its three hashes, and where it is in its life."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db import models

from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.json_types import JsonObject
from tools_app.core.models import TimeStamped
from tools_app.toolkit.enums import ActionClass, RiskTier


class PermitStatus(models.TextChoices):
    CREATED = "CREATED", "Created"
    COMMITTING = "COMMITTING", "Committing"
    COMMITTED = "COMMITTED", "Committed"
    REVERTED = "REVERTED", "Reverted"
    UNKNOWN = "UNKNOWN", "Unknown"
    EXPIRED = "EXPIRED", "Expired"
    CANCELLED = "CANCELLED", "Cancelled"
    BLOCKED = "BLOCKED", "Blocked"
    AWAITING_APPROVAL = "AWAITING_APPROVAL", "Awaiting approval"
    ANNOUNCED = "ANNOUNCED", "Announced"


UNFINISHED = (PermitStatus.COMMITTING, PermitStatus.UNKNOWN)
WAITING = (PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED)
OPEN = (PermitStatus.CREATED, *WAITING, *UNFINISHED)
"""Which has not ended: what the index `permit_beside` holds."""


def list_states(states: Iterable[PermitStatus]) -> str:
    """The states as constants of a statement, for `IN (...)`: by a parameter no index of some states only is found."""
    return ", ".join(f"'{state}'" for state in states)


class ActionPermit(TimeStamped):
    """A short-lived permission to send exactly these calls. Only `permits_app.permits.lifecycle` moves it.

    Amounts inside the JSON columns are decimal strings in base units; `value_micro_usd` is the value limit.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="permits")
    api_key = models.ForeignKey(
        "archetypes_app.ApiKey", null=True, blank=True, on_delete=models.SET_NULL, related_name="permits"
    )
    status = models.CharField(max_length=20, choices=PermitStatus.choices, default=PermitStatus.CREATED)
    status_reason = models.TextField(blank=True)

    tool_name = models.CharField(max_length=96)
    schema_version = models.PositiveIntegerField(default=1)
    action_type = models.CharField(max_length=64)
    venue = models.CharField(max_length=64)
    chain_id = models.PositiveBigIntegerField()
    params = models.JSONField(default=dict, help_text="Validated parameters of the tool")
    action_hash = models.CharField(max_length=66, help_text="Golem, tool and parameters: finds an equal action")
    action_class = models.CharField(max_length=24, choices=[(c.value, c.value) for c in ActionClass])
    risk_tier = models.CharField(max_length=16, choices=[(t.value, t.value) for t in RiskTier])
    is_local = models.BooleanField(default=False, help_text="A write without a transaction")

    signer = models.CharField(max_length=42, blank=True)
    acts_for = models.CharField(
        max_length=42, blank=True, help_text="The account whose funds move, when it is not the signer's own"
    )
    calls = models.JSONField(
        default=list, help_text="to, data, value, gas_limit, label of each call, as they will be signed"
    )
    batch = models.JSONField(
        default=list, help_text="The plan's calls from the account, when `calls` is the one that carries them"
    )
    owner_signatures = models.TextField(
        blank=True, help_text="What the Safe's owners signed, 0x-hex; it goes into the call that is sent"
    )
    max_fee_per_gas = models.CharField(max_length=78, default="0", help_text="Wei per gas")
    max_priority_fee_per_gas = models.CharField(max_length=78, default="0", help_text="Wei per gas")
    bounds = models.JSONField(default=dict, help_text="Most spent, least received, allowances left, contracts touched")
    spends_in_short = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of `bounds`, by a trigger: tokens and amounts spent, or that positions change; empty in old rows",
    )
    expected_outcome = models.JSONField(default=dict)
    value_micro_usd = models.BigIntegerField(default=0)
    prices = models.JSONField(default=list, help_text="Feed, round, answer and age of every price used")
    code = models.JSONField(
        default=dict, help_text="Hashes of the code behind every contract it touches; a commit refuses other code"
    )
    simulation = models.JSONField(default=dict)
    block_number = models.PositiveBigIntegerField(default=0)
    block_hash = models.CharField(max_length=66, blank=True)

    plan_hash = models.CharField(max_length=66)
    simulation_hash = models.CharField(max_length=66, blank=True)
    policy_hash = models.CharField(max_length=66)
    hook_decisions = models.JSONField(default=list)
    facts = models.JSONField(default=dict, help_text="What hooks 1 to 4 looked at; empty in rows before that was kept")
    review = models.JSONField(default=dict)
    wished_by = models.JSONField(
        default=dict,
        blank=True,
        help_text="The wish of an owner's module that this carries out; empty for an agent's own",
    )
    soft_params = models.JSONField(default=dict, help_text="What memory changed, and the episodes behind it")

    expires_at = models.DateTimeField()
    expires_at_tick = models.PositiveBigIntegerField(default=0)
    committing_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    doubted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Since when its receipts and the balances of their blocks contradict each other",
    )
    halt_epoch = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Set on the runtime's own revocation under the halt of this epoch"
    )
    cancel_asked_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was given up although it was signed: no node had taken it by then"
    )
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(default=dict)
    problem = models.JSONField(default=dict)
    owner_note = models.TextField(blank=True)

    class Meta:
        verbose_name = "action permit"
        indexes = [
            models.Index(fields=["golem", "-created_at"], name="permit_by_golem"),
            models.Index(
                fields=["status", "lease_expires_at"],
                condition=models.Q(status__in=["COMMITTING", "UNKNOWN"]),
                name="permit_unfinished",
            ),
            models.Index(fields=["expires_at"], condition=models.Q(status="CREATED"), name="permit_lapsing"),
            # What every preview asks; most permits end cancelled or expired, and these do not grow with them.
            models.Index(
                fields=["golem", "action_hash"],
                condition=models.Q(status__in=["COMMITTING", "UNKNOWN", "AWAITING_APPROVAL"]),
                name="permit_equal_open",
            ),
            models.Index(
                fields=["golem", "created_at"],
                condition=models.Q(status__in=["CREATED", "COMMITTING", "COMMITTED", "REVERTED", "UNKNOWN"]),
                name="permit_writes",
            ),
            # What may still be carried out, and what was a moment ago: every plan is judged beside it.
            models.Index(
                fields=["golem"],
                condition=models.Q(status__in=["CREATED", "AWAITING_APPROVAL", "ANNOUNCED", "COMMITTING", "UNKNOWN"]),
                name="permit_beside",
            ),
            models.Index(
                fields=["golem", "finished_at"],
                condition=models.Q(status__in=["COMMITTED", "REVERTED"]),
                name="permit_ended",
            ),
            models.Index(
                fields=["golem", "expires_at_tick"],
                condition=models.Q(status__in=["COMMITTED", "REVERTED"]),
                name="permit_ended_by_tick",
            ),
            models.Index(fields=["-created_at", "-id"], name="permit_newest"),
            models.Index(
                fields=["golem", "venue", "chain_id", "finished_at"],
                condition=models.Q(status__in=["COMMITTED", "REVERTED"], is_local=False),
                name="permit_outcomes_of_venue",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(value_micro_usd__gte=0), name="permit_value_not_negative"),
            models.UniqueConstraint(
                fields=["golem", "action_hash"],
                condition=models.Q(status__in=["COMMITTING", "UNKNOWN"]),
                name="permit_equal_action_once",
            ),
        ]

    @property
    def account(self) -> str:
        """Whose funds move: a Safe, or the signer itself."""
        return self.acts_for or self.signer

    @property
    def sends_operation(self) -> bool:
        """Whether what is signed is a user operation of a smart account, and no transaction."""
        return any("user_operation" in call for call in self.calls)

    @property
    def plan_calls(self) -> list[JsonObject]:
        """What the account does, however that is carried."""
        calls: list[dict[str, object]] = self.batch or self.calls
        return calls

    @property
    def spend_entry(self) -> Any:  # Any: the model of it imports this one
        """Its SpendEntry of its newest life, looked up once for this instance; None where it has none.

        Pages of many permits bring the rows with `Prefetch("spend_entries", to_attr="known_spend_entries")`.
        """
        claims = [each for each in self._list_once("spend_entries") if each.reverses_id is None]
        return max(claims, key=lambda each: int(each.life), default=None)

    @property
    def outcome(self) -> Any:  # Any: the model of it imports this one
        """The OutcomeRecord that holds, looked up once for this instance; None before that, and after a rollback.

        Many permits bring the rows with `Prefetch("outcomes", to_attr="known_outcomes")`.
        """
        return next((each for each in self._list_once("outcomes") if each.taken_back_at is None), None)

    def _list_once(self, relation: str) -> list[Any]:  # Any: rows of several models
        known: list[object] | None = vars(self).get(f"known_{relation}")
        if known is None:
            known = _compile_relation(relation).fetch(self.pk)
            if known:
                # What is not there yet is asked for again; what was read with the permit is as it was read.
                vars(self)[f"known_{relation}"] = known
        return known

    def refresh_from_db(self, *args: Any, **options: Any) -> None:  # Any: Django's own
        """As any row; what was looked up for the row that was is looked up anew."""
        for relation in ("spend_entries", "outcomes"):
            vars(self).pop(f"known_{relation}", None)
        super().refresh_from_db(*args, **options)

    def __str__(self) -> str:
        return f"{self.action_type} at {self.venue} ({self.status.lower()})"


@cache
def _compile_relation(relation: str) -> CompiledQuery[Any]:  # Any: rows of several models
    model: Any = ActionPermit._meta.get_field(relation).related_model  # Any: rows of several models
    return CompiledQuery(lambda permit_id: model._default_manager.filter(permit_id=permit_id), uuid.UUID(int=0))

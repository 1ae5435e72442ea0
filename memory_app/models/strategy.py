"""Strategy: one version of a named configuration; Execution: one run of it, predicted before and settled after."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory_app.models.provenance import Provenanced
from tools_app.core.models import TimeStamped


class ExecutionKind(models.TextChoices):
    """What an execution does."""

    SWAP = "SWAP", "Swap"
    ADD_LIQUIDITY = "ADD_LIQUIDITY", "Add liquidity"
    REMOVE_LIQUIDITY = "REMOVE_LIQUIDITY", "Remove liquidity"
    REBALANCE = "REBALANCE", "Rebalance"
    DEPOSIT = "DEPOSIT", "Deposit"
    WITHDRAW = "WITHDRAW", "Withdraw"


class Strategy(Provenanced):
    """One version of a strategy. It is advice to the golem that wrote it: no code takes a limit or a call from it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="strategies")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    parameters = models.JSONField(default=dict, help_text="Strings, whole numbers, booleans, lists and objects")
    description = models.TextField()
    chains = ArrayField(models.PositiveBigIntegerField(), default=list, blank=True)
    token_pairs = ArrayField(models.CharField(max_length=129), default=list, blank=True)
    diff = models.TextField(blank=True, help_text="Unified diff of its TOML to the version before")
    is_quarantined = models.BooleanField(default=False, help_text="Kept out of every answer to the agent")
    quarantine_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "strategy version"
        verbose_name_plural = "strategies"
        constraints = [
            models.UniqueConstraint(fields=["golem", "name", "version"], name="strategy_one_per_version"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="strategy_version_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class Execution(TimeStamped, Provenanced):
    """One run of a strategy. Money is integer micro-USD; the outcome is empty until it is recorded, once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="executions")
    execution_id = models.CharField(max_length=96)
    strategy_name = models.CharField(max_length=80)
    kind = models.CharField(max_length=20, choices=ExecutionKind.choices)
    portfolio_snapshot = models.JSONField(default=dict)
    market_conditions = models.JSONField(default=dict)
    decision_params = models.JSONField(default=dict)
    predicted_outcome = models.JSONField(default=dict)
    reasoning_chain = models.TextField(blank=True)
    tx_hash = models.CharField(max_length=66, blank=True)
    reflection = models.TextField(blank=True)
    recorded_at = models.DateTimeField()

    predicted_pnl_micro_usd = models.BigIntegerField(null=True, blank=True)
    predicted_confidence_bps = models.PositiveIntegerField(null=True, blank=True)
    realized_pnl_micro_usd = models.BigIntegerField(null=True, blank=True)
    unrealized_pnl_micro_usd = models.BigIntegerField(null=True, blank=True)
    gas_used_micro_usd = models.BigIntegerField(null=True, blank=True)
    fees_earned_micro_usd = models.BigIntegerField(null=True, blank=True)
    impermanent_loss_micro_usd = models.BigIntegerField(null=True, blank=True)
    slippage_actual_bps = models.PositiveIntegerField(null=True, blank=True)
    prediction_error_bps = models.PositiveIntegerField(null=True, blank=True)
    is_quarantined = models.BooleanField(default=False, help_text="Kept out of every answer to the agent")
    quarantine_reason = models.CharField(max_length=200, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["golem", "execution_id"], name="execution_once"),
            models.CheckConstraint(
                condition=models.Q(settled_at__isnull=True) | models.Q(realized_pnl_micro_usd__isnull=False),
                name="execution_settled_with_result",
            ),
        ]
        indexes = [models.Index(fields=["golem", "strategy_name", "-recorded_at"], name="execution_by_strategy")]

    def __str__(self) -> str:
        return f"{self.execution_id} ({self.strategy_name})"

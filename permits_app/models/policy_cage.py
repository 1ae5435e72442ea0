"""PolicyCage: what a golem's owner never lets it exceed. Local rows are enforced by this server only."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from tools_app.core.models import TimeStamped


class PolicyCage(TimeStamped):
    """The cage of one golem. Without a contract it is edited here and says so; defaults of decisions, "PolicyCage"."""

    golem: Any = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="policy_cage")
    max_assets = models.PositiveIntegerField(default=10, help_text="Approved assets at most")
    max_position_bps = models.PositiveIntegerField(
        default=2500,
        validators=[MaxValueValidator(10_000)],
        help_text="One venue position, basis points of the portfolio",
    )
    max_concentration_bps = models.PositiveIntegerField(
        default=3000, validators=[MinValueValidator(500), MaxValueValidator(10_000)],
        help_text="One asset other than the base asset, basis points of the portfolio",
    )  # fmt: skip
    max_drawdown_bps = models.PositiveIntegerField(
        default=1300, validators=[MinValueValidator(100), MaxValueValidator(5_000)],
        help_text="From the high-water mark within 24 h, basis points",
    )  # fmt: skip
    min_rebalance_interval_seconds = models.PositiveIntegerField(default=3600)
    max_rebalances_per_day = models.PositiveIntegerField(default=24)
    min_collateral_ratio_bps = models.PositiveIntegerField(default=12_500, validators=[MinValueValidator(10_500)])
    is_action_gate_on = models.BooleanField(
        "action gate", default=False,
        help_text="Few or wrong predictions keep new positions few and small",
    )  # fmt: skip
    allows_arbitrary_calldata = models.BooleanField(default=False)

    class Meta:
        verbose_name = "policy cage"

    def __str__(self) -> str:
        return f"Cage of {self.golem}"

"""PolicyCage: what a golem's owner never lets it exceed. Local rows are enforced by this server only.

A row with a mirror follows a contract: its figures come from the chain, and the mirror says as of which block.
"""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped


class PolicyCage(TimeStamped):
    """The cage of one golem. Without a contract it is edited here and says so."""

    golem = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="policy_cage")
    max_assets = models.PositiveIntegerField(default=10, help_text="Approved assets at most")
    max_position_bps = models.PositiveIntegerField(
        default=2500,
        validators=[MaxValueValidator(10_000)],
        help_text="One venue position, basis points of the portfolio",
    )
    max_concentration_bps = models.PositiveIntegerField(
        default=3000,
        validators=[MinValueValidator(500), MaxValueValidator(10_000)],
        help_text="One asset other than the base asset, basis points of the portfolio",
    )
    max_issuer_bps = models.PositiveIntegerField(
        "one issuer",
        default=10_000,
        validators=[MaxValueValidator(10_000)],
        help_text="All that one issuer stands behind, the base asset by itself left out, basis points of the portfolio",
    )
    max_bridge_bps = models.PositiveIntegerField(
        "one bridge",
        default=10_000,
        validators=[MaxValueValidator(10_000)],
        help_text="All that came or comes over one bridge, basis points of the portfolio",
    )
    max_oracle_bps = models.PositiveIntegerField(
        "one oracle",
        default=10_000,
        validators=[MaxValueValidator(10_000)],
        help_text="All positions whose protocols believe one oracle, basis points of the portfolio",
    )
    max_drawdown_bps = models.PositiveIntegerField(
        default=1300,
        validators=[MinValueValidator(100), MaxValueValidator(5_000)],
        help_text="From the high-water mark within 24 h, basis points",
    )
    min_rebalance_interval_seconds = models.PositiveIntegerField(default=3600)
    max_rebalances_per_day = models.PositiveIntegerField(default=24)
    min_collateral_ratio_bps = models.PositiveIntegerField(default=12_500, validators=[MinValueValidator(10_500)])
    min_health_bps = models.PositiveIntegerField(
        "health floor",
        default=15_000,
        validators=[MinValueValidator(11_500)],
        help_text="Cover over debt at liquidation value that a plan may not go under, basis points",
    )
    min_range_ticks = models.PositiveIntegerField(
        "least range",
        default=500,
        validators=[MinValueValidator(1), MaxValueValidator(1_774_544)],
        help_text="Ticks from one end of a pool's range to the other, 500 are 5.1%. What lies in a narrower one is"
        " lost to whoever trades when the price leaves it",
    )
    is_action_gate_on = models.BooleanField(
        "action gate",
        default=False,
        help_text="Few or wrong predictions keep new positions few and small",
    )
    allows_arbitrary_calldata = models.BooleanField(default=False)

    class Meta:
        verbose_name = "policy cage"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(max_issuer_bps__lte=10_000)
                & models.Q(max_bridge_bps__lte=10_000)
                & models.Q(max_oracle_bps__lte=10_000),
                name="cage_shares_of_what_can_fail",
            )
        ]

    def __str__(self) -> str:
        return f"Cage of {self.golem}"


class CageMirror(TimeStamped):
    """What the chain says of the contract behind a cage, as of one block. Only the sync writes it."""

    cage = models.OneToOneField(PolicyCage, on_delete=models.CASCADE, related_name="mirror")
    chain_id = models.PositiveBigIntegerField()
    contract = models.CharField(max_length=42, validators=[ADDRESS])
    account = models.CharField(max_length=42, validators=[ADDRESS], help_text="The Safe, or a plain account")
    base_asset = models.CharField(max_length=42, validators=[ADDRESS])
    deployed_block = models.PositiveBigIntegerField()
    is_enforced = models.BooleanField(default=False, help_text="Off: not enforced on chain; the account is a plain one")
    state = models.JSONField(default=dict, help_text="Rules, pending changes, session and windows")
    rules_hash = models.CharField(max_length=80, blank=True)
    block_number = models.PositiveBigIntegerField()
    block_hash = models.CharField(max_length=66)
    block_at = models.DateTimeField()
    synced_at = models.DateTimeField(null=True, blank=True, help_text="When it was last known to be the newest block")
    problem = models.CharField(max_length=200, blank=True, help_text="Why the last sync did not succeed")
    replaced = models.CharField(
        max_length=42,
        blank=True,
        default="",
        help_text="The contract that was followed before, as long as the account still acts through it too",
    )
    safe = models.JSONField(default=dict, blank=True, help_text="The Safe as last seen: owners, modules, guards")
    safe_noted = models.JSONField(default=dict, blank=True, help_text="The Safe as its owners took note of it")

    class Meta:
        verbose_name = "cage mirror"
        constraints = [models.UniqueConstraint(fields=["chain_id", "contract"], name="cage_mirror_once_per_contract")]

    def __str__(self) -> str:
        return f"{self.contract} at block {self.block_number}"


class CageCheckpoint(models.Model):
    """A mirror after one block that changed it: where a reorganised chain is followed from again."""

    mirror = models.ForeignKey(CageMirror, on_delete=models.CASCADE, related_name="checkpoints")
    block_number = models.PositiveBigIntegerField()
    block_hash = models.CharField(max_length=66)
    block_at = models.DateTimeField()
    state = models.JSONField()

    class Meta:
        verbose_name = "cage checkpoint"
        constraints = [
            models.UniqueConstraint(fields=["mirror", "block_number"], name="cage_checkpoint_once_per_block")
        ]

    def __str__(self) -> str:
        return f"{self.mirror_id} at block {self.block_number}"

"""Golem: one autonomous agent, its owner, wallet address and phase."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models

from tools_app.core.models import TimeStamped
from tools_app.core.visible_text_columns import PlainCharField
from tools_app.toolkit.enums import EngineSetting, Phase

PHASE_CHOICES = [(phase.value, phase.value.capitalize()) for phase in Phase]
ENGINE_CHOICES = [
    (EngineSetting.AUTO.value, "By risk: the node's, and from ELEVATED on both must agree"),
    (EngineSetting.RPC.value, "The node's first, and never another in its place"),
    (EngineSetting.PYEVM.value, "The one in this process first; both where it may lack the chain's newest rules"),
    (EngineSetting.BOTH.value, "Always both; they must agree"),
]
ADDRESS = RegexValidator(r"^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits")


class Maker(models.TextChoices):
    """Who made a golem: a person, the demo or a measurement. Lists set the last two apart."""

    OWNER = "OWNER", "Its owner"
    DEMO = "DEMO", "The demo"
    MEASUREMENT = "MEASUREMENT", "A measurement"


class Golem(TimeStamped):
    """An agent with a wallet. Its toolset follows from archetype, profiles, overrides, protocols and what is set up."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = PlainCharField(max_length=64)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="golems")
    co_owners = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="co_owned_golems",
        help_text="They see and decide what the owner does; a change of them is itself decided by an owner",
    )
    archetype = models.ForeignKey("archetypes_app.Archetype", on_delete=models.PROTECT, related_name="golems")
    profiles = models.ManyToManyField(
        "archetypes_app.ToolProfile",
        blank=True,
        related_name="golems",
        help_text="Replace the archetype's own categories and profiles; their union counts",
    )
    made_by = models.CharField(max_length=12, choices=Maker, default=Maker.OWNER, editable=False)
    allowed_protocols = ArrayField(
        models.SlugField(), default=list, blank=True, help_text="Empty: every protocol; else only these"
    )
    address = models.CharField(max_length=42, blank=True, validators=[ADDRESS], help_text="Its wallet, EIP-55")
    home_chain_id = models.PositiveBigIntegerField(default=31337)
    other_chain_ids = ArrayField(
        models.PositiveBigIntegerField(),
        default=list,
        blank=True,
        help_text="Chains it may act on besides its home chain; what it holds there counts in its value and its limits",
    )
    base_asset = models.CharField(max_length=42, default="USDC", help_text="Symbol or address it measures itself in")
    phase = models.CharField(max_length=16, choices=PHASE_CHOICES, default=Phase.THRIVING.value)
    is_memory_enabled = models.BooleanField(default=True)
    is_live = models.BooleanField(
        default=False,
        help_text="When off, the heartbeat only rehearses. API keys have a switch of their own",
    )
    may_keys_spend = models.BooleanField(
        default=True,
        db_default=True,
        help_text="When off, what agents ask for with API keys is previewed and nothing of it is signed",
    )
    simulation_engine = models.CharField(
        max_length=8,
        choices=ENGINE_CHOICES,
        default=EngineSetting.AUTO.value,
        help_text="What runs its plans before a permit. From ELEVATED on two engines must agree, whatever is chosen",
    )
    permit_ttl_seconds = models.PositiveIntegerField(default=60, help_text="Seconds a permit stays valid")
    seen_definitions = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="Fingerprint of each built-in tool as its owner saw it; a tool that reads otherwise is left out",
    )
    heartbeat_tick = models.PositiveBigIntegerField(default=0, editable=False)
    halt_epoch = models.PositiveBigIntegerField(default=0, editable=False)
    halted_at = models.DateTimeField(null=True, blank=True, editable=False)
    halt_reason = models.TextField(blank=True, editable=False)
    retired_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="Halted for good, kept for its history"
    )
    version = models.PositiveIntegerField(default=1, editable=False, help_text="Rises with every edit")

    # The rows its toolset is made of, where they were read with it: a `ToolsetRows`, and no column.
    toolset_rows: Any = None  # Any: rows of any model

    class Meta:
        ordering = ["name"]
        indexes = [
            models.Index(fields=["id"], condition=models.Q(phase="TERMINAL", retired_at=None), name="golem_to_end")
        ]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="golem_name_once_per_owner"),
            models.CheckConstraint(condition=models.Q(permit_ttl_seconds__range=(5, 3600)), name="golem_ttl_5_to_3600"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_halted(self) -> bool:
        return self.halted_at is not None

    def refresh_from_db(self, *args: Any, **options: Any) -> None:  # Any: Django hands on any value
        """As any row; what was read with the row that was is read anew."""
        self.toolset_rows = None
        super().refresh_from_db(*args, **options)


class PhaseTransition(models.Model):
    """One change of phase. Only an owner's reset, with a reason, improves one."""

    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="phase_transitions")
    from_phase = models.CharField(max_length=16, choices=PHASE_CHOICES)
    to_phase = models.CharField(max_length=16, choices=PHASE_CHOICES)
    reason = models.TextField()
    actor = models.CharField(max_length=128)
    occurred_at = models.DateTimeField()

    class Meta:
        verbose_name = "phase transition"
        ordering = ["-occurred_at"]

    def __str__(self) -> str:
        return f"{self.from_phase} to {self.to_phase}"

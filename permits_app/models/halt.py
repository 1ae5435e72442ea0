"""HaltRecord: one halt of a golem, step by step, and what its owner chose for one."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped

MOST_LOSS_BPS = 5_000
"""No owner may let a sale lose more than half."""


class HaltRecord(models.Model):
    """One per halt epoch. `steps` holds what was done, in order, with milliseconds from the start."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="halts")
    epoch = models.PositiveBigIntegerField()
    reason = models.TextField()
    actor = models.CharField(max_length=128)
    started_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True, help_text="When the steps on the chain were done")
    steps = models.JSONField(default=list)
    dropped_scopes = models.JSONField(default=dict, help_text="API key id to the scopes it lost")

    class Meta:
        verbose_name = "halt"
        constraints = [models.UniqueConstraint(fields=["golem", "epoch"], name="halt_once_per_epoch")]

    def __str__(self) -> str:
        return f"halt {self.epoch} of {self.golem}"


class HaltSetting(TimeStamped):
    """What an owner chose for a halt of their golem. Without a row: nothing is unwound."""

    golem = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="halt_setting")
    unwind_on_halt = models.BooleanField(
        "unwind positions",
        default=False,
        help_text="A halt takes what the golem has at protocols back into its wallet",
    )
    sell_on_halt = models.BooleanField(
        "sell to pay debts",
        default=False,
        help_text="Where a debt's token is missing, a halt that unwinds sells what is held, or the loan's collateral",
    )
    exchange_on_halt = models.BooleanField(
        "leave everything for the base asset",
        default=False,
        db_default=False,
        help_text="What is in the wallet then is exchanged for the base asset; the chain's coin stays for gas",
    )
    most_loss_bps = models.PositiveIntegerField(
        "lost at most in a sale",
        default=300,
        db_default=300,
        help_text="Against the price feeds, fees and slippage included; what would lose more stays and is tried again",
    )

    class Meta:
        verbose_name = "halt setting"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(exchange_on_halt=False) | models.Q(unwind_on_halt=True, sell_on_halt=True),
                name="halt_exchanges_what_it_left",
            ),
            models.CheckConstraint(
                condition=models.Q(most_loss_bps__gte=1, most_loss_bps__lte=MOST_LOSS_BPS),
                name="halt_loses_a_part",
            ),
        ]

    def __str__(self) -> str:
        if not self.unwind_on_halt:
            return "leaves positions as they are"
        if self.exchange_on_halt:
            return "leaves everything for the base asset"
        return "unwinds and sells to pay debts" if self.sell_on_halt else "unwinds"

    @property
    def choice(self) -> str:
        """In one word of `halts.choices.HaltChoice`."""
        if not self.unwind_on_halt:
            return "STOP"
        return "LEAVE_FOR_BASE" if self.exchange_on_halt else "LEAVE_POSITIONS"

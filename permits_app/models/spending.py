"""Spending limits of a golem, and the ledger of what it reserved and spent. USD in integer micro-USD."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from tools_app.core.models import TimeStamped

ALIKE_WINDOW: Final = 20
"""Of how many actions of an hour the alike ones are counted; so many are no limit."""


class AllowlistMode(models.TextChoices):
    STRICT = "STRICT", "Strict: refuse what is not listed"
    WARN = "WARN", "Warn: note it in the permit"
    OFF = "OFF", "Off"


def default_per_transaction() -> int:
    return int(settings.GOLEM_LIMIT_PER_TRANSACTION_MICRO_USD)


def default_per_tick() -> int:
    return int(settings.GOLEM_LIMIT_PER_TICK_MICRO_USD)


def default_per_session() -> int:
    return int(settings.GOLEM_LIMIT_PER_SESSION_MICRO_USD)


def default_per_day() -> int:
    return int(settings.GOLEM_LIMIT_PER_DAY_MICRO_USD)


def default_hot_lane() -> int:
    return int(settings.GOLEM_LIMIT_HOT_LANE_MICRO_USD)


TRADING_COSTS_OF_AN_OLDER_VERSION: Final = 500_000_000
"""What the database writes for a version that does not know this limit yet, while another follows it."""


def default_trading_costs() -> int:
    return int(settings.GOLEM_LIMIT_TRADING_COSTS_MICRO_USD)


def default_writes_per_hour() -> int:
    return int(settings.GOLEM_LIMIT_WRITES_PER_HOUR)


def default_alike_calls() -> int:
    return int(settings.GOLEM_LIMIT_ALIKE_CALLS)


def default_slippage_bps() -> int:
    return int(settings.GOLEM_LIMIT_SLIPPAGE_BPS)


def default_price_impact_bps() -> int:
    return int(settings.GOLEM_LIMIT_PRICE_IMPACT_BPS)


class SpendingLimits(TimeStamped):
    """What one golem may spend and how often. The row's lock is also what serialises its reservations."""

    golem = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="spending_limits")
    per_transaction_micro_usd = models.BigIntegerField(default=default_per_transaction)
    per_tick_micro_usd = models.BigIntegerField(default=default_per_tick)
    per_session_micro_usd = models.BigIntegerField(default=default_per_session)
    per_day_micro_usd = models.BigIntegerField(default=default_per_day, help_text="Rolling 24 h")
    hot_lane_micro_usd = models.BigIntegerField(
        default=default_hot_lane, help_text="Above this the safety-guardian must approve"
    )
    trading_costs_per_day_micro_usd = models.BigIntegerField(
        default=default_trading_costs,
        db_default=TRADING_COSTS_OF_AN_OLDER_VERSION,
        help_text="Fees, slippage and price impact of all trades, rolling 24 h",
    )
    trading_costs_per_pair_micro_usd = models.BigIntegerField(
        default=default_trading_costs,
        db_default=TRADING_COSTS_OF_AN_OLDER_VERSION,
        help_text="The same, of the trades between two tokens",
    )
    trading_costs_per_venue_micro_usd = models.BigIntegerField(
        default=default_trading_costs,
        db_default=TRADING_COSTS_OF_AN_OLDER_VERSION,
        help_text="The same, of the trades at one venue",
    )
    writes_per_hour = models.PositiveIntegerField(default=default_writes_per_hour)
    most_alike_calls = models.PositiveSmallIntegerField(
        default=default_alike_calls,
        db_default=ALIKE_WINDOW,
        validators=[MinValueValidator(1), MaxValueValidator(ALIKE_WINDOW)],
        help_text="Of the last 20 actions within an hour, so many may differ from each other in numbers only;"
        " 20 is no limit, 12 stops who goes round in circles by amounts changed a little",
    )
    max_slippage_bps = models.PositiveIntegerField(default=default_slippage_bps)
    max_price_impact_bps = models.PositiveIntegerField(default=default_price_impact_bps)
    allowlist_mode = models.CharField(max_length=8, choices=AllowlistMode.choices, default=AllowlistMode.STRICT)

    class Meta:
        verbose_name = "spending limits"
        verbose_name_plural = "spending limits"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(per_transaction_micro_usd__gte=0)
                & models.Q(per_tick_micro_usd__gte=0)
                & models.Q(per_session_micro_usd__gte=0)
                & models.Q(per_day_micro_usd__gte=0)
                & models.Q(hot_lane_micro_usd__gte=0),
                name="spending_limits_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(trading_costs_per_day_micro_usd__gte=0)
                & models.Q(trading_costs_per_pair_micro_usd__gte=0)
                & models.Q(trading_costs_per_venue_micro_usd__gte=0),
                name="trading_costs_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(most_alike_calls__gte=1, most_alike_calls__lte=ALIKE_WINDOW),
                name="alike_calls_in_window",
            ),
        ]

    def __str__(self) -> str:
        return f"Limits of {self.golem}"


class SpendState(models.TextChoices):
    RESERVED = "RESERVED", "Reserved"
    SETTLED = "SETTLED", "Settled"
    RELEASED = "RELEASED", "Released"
    REVERSED = "REVERSED", "Reversal"


class SpendEntry(TimeStamped):
    """One permit's claim on the limits: reserved at preview at the worst case, settled or released once.

    What was settled stays as it is, a trigger holds that. Where a rollback of the chain took the outcome back, an entry
    of its own takes the same amount off the same windows (`reverses`), and another one claims it for the next life.
    """

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="spend_entries")
    permit = models.ForeignKey("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="spend_entries")
    life = models.PositiveSmallIntegerField(default=1, help_text="How often the permit's bytes were to be mined")
    reverses = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="reversal",
        help_text="The settled entry that this one takes off the limits",
    )
    api_key = models.ForeignKey("archetypes_app.ApiKey", null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=8, choices=SpendState.choices, default=SpendState.RESERVED)
    reserved_micro_usd = models.BigIntegerField()
    settled_micro_usd = models.BigIntegerField(null=True, blank=True, help_text="Below zero where it reverses another")
    counts_per_day = models.BooleanField(
        default=True, help_text="Off for a decrease or close that returns to the golem"
    )
    cost_micro_usd = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="What trading may cost, then what it cost: fees, slippage, price impact. Below zero in a reversal",
    )
    pair = models.CharField(
        max_length=128,
        blank=True,
        default="",
        db_default="",
        help_text="Chain and tokens of a trade",
    )
    venue = models.CharField(max_length=64, blank=True, default="", db_default="")
    heartbeat_tick = models.PositiveBigIntegerField(default=0)
    is_in_key_sum = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="Counted by the sum of its API key's spends"
    )
    counted_at = models.DateTimeField(help_text="When it counts: reserved at, then its block's time")
    breakdown = models.JSONField(default=list, help_text="Token, amount, price and value of each part, gas included")

    class Meta:
        verbose_name = "spend entry"
        verbose_name_plural = "spend entries"
        indexes = [
            models.Index(
                fields=["golem", "counted_at"], condition=~models.Q(state="RELEASED"), name="spend_entry_counted"
            ),
            models.Index(
                fields=["golem", "heartbeat_tick"], condition=models.Q(heartbeat_tick__gt=0), name="spend_entry_tick"
            ),
            models.Index(fields=["golem"], condition=models.Q(state="RESERVED"), name="spend_entry_held"),
            models.Index(fields=["golem"], condition=models.Q(state="REVERSED"), name="spend_entry_reversing"),
            models.Index(fields=["-counted_at", "-id"], name="spend_entry_newest"),
            models.Index(
                fields=["api_key"],
                condition=models.Q(is_in_key_sum=False) & ~models.Q(state="RELEASED"),
                name="spend_entry_of_key",
            ),
            models.Index(
                fields=["counted_at", "id"],
                condition=models.Q(is_in_key_sum=False, api_key__isnull=False, state__in=("SETTLED", "REVERSED")),
                name="spend_entry_to_sum",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(reserved_micro_usd__gte=0), name="spend_reserved_not_negative"),
            models.CheckConstraint(
                condition=models.Q(state="REVERSED", cost_micro_usd__lte=0)
                | (~models.Q(state="REVERSED") & models.Q(cost_micro_usd__gte=0)),
                name="spend_cost_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(settled_micro_usd__isnull=True)
                | models.Q(settled_micro_usd__gte=0)
                | models.Q(state="REVERSED"),
                name="spend_settled_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(state="REVERSED", reverses__isnull=False, settled_micro_usd__lte=0)
                | (~models.Q(state="REVERSED") & models.Q(reverses__isnull=True)),
                name="spend_reversal_names_what_it_reverses",
            ),
            models.UniqueConstraint(
                fields=["permit", "life"], condition=models.Q(reverses__isnull=True), name="spend_one_claim_per_life"
            ),
            models.UniqueConstraint(
                fields=["permit"], condition=models.Q(state="RESERVED"), name="spend_one_reservation_per_permit"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="SETTLED") | models.Q(settled_micro_usd__isnull=False),
                name="spend_settled_has_amount",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state.lower()} {self.reserved_micro_usd} micro-USD"


class KeySpend(TimeStamped):
    """What the entries of one API key came to that are marked `is_in_key_sum`; the key's other entries are added to it.

    A session of a key has no end of its own: without this sum every preview would add up all that the key ever spent.
    """

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="+")
    api_key = models.ForeignKey("archetypes_app.ApiKey", on_delete=models.CASCADE, related_name="spend_sums")
    micro_usd = models.BigIntegerField(help_text="Below zero where more was taken back than is summed")

    class Meta:
        verbose_name = "sum of an API key's spends"
        verbose_name_plural = "sums of API keys' spends"
        constraints = [models.UniqueConstraint(fields=["api_key", "golem"], name="key_spend_one_sum")]

    def __str__(self) -> str:
        return f"{self.micro_usd} micro-USD"

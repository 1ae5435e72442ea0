"""The index of logs: which contracts are followed on which chain, what they logged, and bars of prices made of it."""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from tools_app.core.models import TimeStamped
from tools_app.toolkit.pool_ids import PoolId

_AMOUNT_DIGITS = 100


class FollowedChain(models.Model):
    """One per chain with something to follow: the place of its follower, and what it met last.

    Whoever writes anything of a chain's history locks this row first.
    `spent` counts questions to its nodes in the minute that began at `spent_since`.
    """

    chain_id = models.PositiveBigIntegerField(primary_key=True)
    next_block = models.PositiveBigIntegerField(help_text="The first block that is not read yet")
    head_hash = models.CharField(max_length=66, help_text="Hash of the block before it")
    head_time = models.DateTimeField(help_text="Time of the block before it")
    followed_at = models.DateTimeField(help_text="When the chain was last followed without a fault")
    failures = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=200, blank=True)
    lies = models.PositiveIntegerField(default=0, help_text="Answers of nodes that contradicted themselves or others")
    last_lie = models.CharField(max_length=200, blank=True)
    last_lie_at = models.DateTimeField(null=True, blank=True)
    rollbacks = models.PositiveIntegerField(default=0)
    spent = models.PositiveIntegerField(default=0)
    spent_since = models.DateTimeField()

    class Meta:
        verbose_name = "followed chain"

    def __str__(self) -> str:
        return f"chain {self.chain_id}"


class SeenBlock(models.Model):
    """One of the latest blocks of a followed chain, by which a rollback is found and where it began."""

    chain_id = models.PositiveBigIntegerField()
    number = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=66)
    time = models.DateTimeField()

    class Meta:
        verbose_name = "seen block"
        constraints = [models.UniqueConstraint(fields=["chain_id", "number"], name="seen_block_once")]

    def __str__(self) -> str:
        return f"block {self.number} of chain {self.chain_id}"


class SourceKind(models.TextChoices):
    """What a followed contract is; it decides which of its logs are read and what a price is."""

    POOL = "POOL", "pool"
    VAULT = "VAULT", "vault"
    FEED = "FEED", "price feed"
    GOVERNOR = "GOVERNOR", "governor"
    RATE = "RATE", "rate"
    DEBT_RATE = "DEBT_RATE", "borrowing rate"
    ASKED_RATE = "ASKED_RATE", "rate, asked each hour"
    ASKED_DEBT_RATE = "ASKED_DEBT_RATE", "borrowing rate, asked each hour"


class SourceKey(NamedTuple):
    """Whose logs tell of it, and which figure is read of them."""

    about: PoolId
    kind: SourceKind


ASKED_KINDS = frozenset({SourceKind.ASKED_RATE, SourceKind.ASKED_DEBT_RATE})
"""What no log tells: the lender itself is asked once an hour, from when it is followed on."""


class LogSource(models.Model):
    """One contract that is followed, for whoever wants it. `topics` are the first topics that are read of it.

    A pool without a contract of its own is named by its 32 bytes, and `manager` is the contract that tells of it.
    One contract may be followed for several figures, each a row. Of a rate that is asked for, `protocol` and `token`
    say of whom, and `asked_at` is the time of the block at which it was asked last.
    """

    chain_id = models.PositiveBigIntegerField()
    address = models.CharField(max_length=66)
    manager = models.CharField(max_length=42, blank=True)
    kind = models.CharField(max_length=20, choices=SourceKind.choices)
    topics = models.JSONField()
    added_at = models.DateTimeField()
    kept_from = models.DateTimeField(help_text="Nothing older is looked for")
    logs = models.PositiveBigIntegerField(default=0, help_text="How many logs of it are kept")
    protocol = models.CharField(max_length=40, blank=True)
    token = models.CharField(max_length=42, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "followed contract"
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "address", "manager", "kind"], name="log_source_once")
        ]

    @property
    def told_by(self) -> PoolId:
        """Whose logs tell of it, and how they name it."""
        return PoolId(self.address, self.manager)

    @property
    def key(self) -> SourceKey:
        """What it is among all that is followed on its chain."""
        return SourceKey(self.told_by, SourceKind(self.kind))

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.address} on {self.chain_id}"


class LogWish(models.Model):
    """Who wants a contract followed: a golem that watches it, or an account that holds something of it.

    `wanted_by` is the golem's id or the account's address. A wish that is not renewed ends.
    """

    source = models.ForeignKey(LogSource, on_delete=models.CASCADE, related_name="wishes")
    wanted_by = models.CharField(max_length=42)
    because = models.CharField(max_length=100)
    renewed_at = models.DateTimeField()

    class Meta:
        verbose_name = "wish to follow a contract"
        constraints = [models.UniqueConstraint(fields=["source", "wanted_by"], name="log_wish_once")]
        indexes = [models.Index(fields=["wanted_by"], name="log_wish_by_whom")]

    def __str__(self) -> str:
        return self.because


class OwnerHistory(TimeStamped):
    """How many days the logs are kept that golems of one person have followed; without a row as long as anybody's."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="kept_history"
    )
    log_days = models.PositiveSmallIntegerField(help_text="Logs go after so many days; bars of hours and days stay")

    class Meta:
        verbose_name = "history of an owner"

    def __str__(self) -> str:
        return f"{self.log_days} days"


class LogGap(models.Model):
    """Blocks of a contract that were not read, inclusive. Open ones are filled from their newest block on.

    `since_time` and `until_time` are the times of the first and the last of them; no `since_time` is from the chain's
    beginning. `until_hash` is the hash that the last one must have. `closed_because` says why nobody fills it any more.
    """

    source = models.ForeignKey(LogSource, on_delete=models.CASCADE, related_name="gaps")
    from_block = models.PositiveBigIntegerField()
    to_block = models.PositiveBigIntegerField()
    since_time = models.DateTimeField(null=True, blank=True)
    until_time = models.DateTimeField()
    until_hash = models.CharField(max_length=66)
    because = models.CharField(max_length=100)
    closed_because = models.CharField(max_length=100, blank=True)

    class Meta:
        verbose_name = "gap in a history"
        constraints = [
            models.CheckConstraint(condition=Q(to_block__gte=F("from_block")), name="log_gap_in_order"),
            models.UniqueConstraint(fields=["source", "to_block"], name="log_gap_once"),
        ]

    def __str__(self) -> str:
        return f"blocks {self.from_block} to {self.to_block}"


class ChainLog(models.Model):
    """One log as the chain has it, and what it says of prices and amounts. The table has one part for each month.

    `price_x192` is the price times 2**192, rounded down; `in0` and `in1` are base units of what somebody paid in.
    """

    pk = models.CompositePrimaryKey("source_id", "block_time", "block_number", "log_index")
    source_id = models.BigIntegerField()
    block_time = models.DateTimeField()
    block_number = models.BigIntegerField()
    log_index = models.IntegerField()
    block_hash = models.BinaryField()
    tx_hash = models.BinaryField()
    topics = models.BinaryField()
    data = models.BinaryField()
    price_x192 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0, null=True)
    in0 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0, null=True)
    in1 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0, null=True)

    class Meta:
        verbose_name = "log of a chain"

    def __str__(self) -> str:
        return f"log {self.log_index} of block {self.block_number}"


class BarSpan(models.TextChoices):
    """How long a bar is; both begin in UTC."""

    HOUR = "HOUR", "hour"
    DAY = "DAY", "day"


class PriceBar(models.Model):
    """One hour or day of a contract: first, highest, lowest and last price times 2**192, what was paid in, how often.

    A bar without a price is of trades alone. Nothing here says that it is whole: gaps do.
    """

    source = models.ForeignKey(LogSource, on_delete=models.CASCADE, related_name="bars", db_index=False)
    span = models.CharField(max_length=4, choices=BarSpan.choices)
    starts_at = models.DateTimeField()
    open_x192 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0, null=True)
    high_x192 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0, null=True)
    low_x192 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0, null=True)
    close_x192 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0, null=True)
    in0 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0)
    in1 = models.DecimalField(max_digits=_AMOUNT_DIGITS, decimal_places=0)
    trades = models.PositiveIntegerField()

    class Meta:
        verbose_name = "bar of prices"
        constraints = [models.UniqueConstraint(fields=["source", "span", "starts_at"], name="price_bar_once")]

    def __str__(self) -> str:
        return f"{self.span} {self.starts_at:%Y-%m-%d %H:%M}"

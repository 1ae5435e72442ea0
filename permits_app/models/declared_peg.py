"""DeclaredPeg: a token that by its owner's word stands for a dollar or for an ether, watched for one golem."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped
from tools_app.core.visible_text_columns import PlainCharField

LEAST_APART_BPS = 10
MOST_APART_BPS = 5_000


class PegKind(models.TextChoices):
    """What it stands for; the values are those of `PegUnit`."""

    DOLLAR = "USD", "A US dollar"
    ETHER = "ETH", "An ether"


class DeclaredPeg(TimeStamped):
    """It only ever makes the golem more careful: where everybody knows of a peg, the narrower of both words holds."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="declared_pegs")
    chain_id = models.PositiveBigIntegerField("chain")
    token = models.CharField(max_length=42, validators=[ADDRESS], help_text="The token's address")
    name = PlainCharField(max_length=32, help_text="How alerts call it")
    stands_for = models.CharField(max_length=3, choices=PegKind.choices)
    most_apart_bps = models.PositiveIntegerField(
        "furthest away",
        default=200,
        validators=[MinValueValidator(LEAST_APART_BPS), MaxValueValidator(MOST_APART_BPS)],
        help_text="Basis points from what it stands for; further away it has left its peg",
    )
    source = PlainCharField(max_length=200, help_text="Who says that it stands for that, and where")

    class Meta:
        verbose_name = "declared peg"
        constraints = [
            models.UniqueConstraint(fields=["golem", "chain_id", "token"], name="declared_peg_once"),
            models.CheckConstraint(
                condition=models.Q(most_apart_bps__gte=LEAST_APART_BPS, most_apart_bps__lte=MOST_APART_BPS),
                name="declared_peg_within_half",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} stands for {self.get_stands_for_display().lower()}"

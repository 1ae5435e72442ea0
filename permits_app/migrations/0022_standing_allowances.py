"""What spenders may still take after a golem's plans ended."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0010_engine_words"),
        ("permits_app", "0021_an_operation_stays_one"),
    ]

    operations = [
        migrations.CreateModel(
            name="StandingAllowance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("chain_id", models.PositiveBigIntegerField()),
                ("account", models.CharField(max_length=42)),
                ("token", models.CharField(max_length=42)),
                ("symbol", models.CharField(blank=True, max_length=64)),
                ("decimals", models.PositiveIntegerField()),
                ("spender", models.CharField(max_length=42)),
                ("left", models.CharField(help_text="Base units", max_length=78)),
                ("worth_micro_usd", models.BigIntegerField(help_text="At the prices of its permit, rounded up")),
                ("counted_at", models.DateTimeField(help_text="The time of the block its permit ended in")),
                ("block_number", models.PositiveBigIntegerField(help_text="The chain said so after this block")),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="standing_allowances",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "permit",
                    models.ForeignKey(
                        help_text="Whose plan approved it last",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="permits_app.actionpermit",
                    ),
                ),
            ],
            options={
                "verbose_name": "standing allowance",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem", "chain_id", "account", "token", "spender"), name="standing_allowance_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("worth_micro_usd__gte", 0)), name="standing_worth_not_negative"
                    ),
                ],
            },
        ),
    ]

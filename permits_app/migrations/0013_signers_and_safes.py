"""Signing keys as rows of their own, and permits whose signer acts for another account."""

from __future__ import annotations

from typing import Any

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


def note_keys(apps: Any, schema_editor: Any) -> None:
    """A wallet of before is the account of one key, which signs for it since it was made."""
    keys = apps.get_model("permits_app", "SigningKey")
    for wallet in apps.get_model("permits_app", "Wallet").objects.filter(kind="LOCAL_KEYSTORE"):
        keys.objects.create(
            golem_id=wallet.golem_id, address=wallet.address, state="ACTIVE", activated_at=wallet.created_at
        )


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0007_golem_simulation_engine"),
        ("permits_app", "0012_owner_transactions"),
    ]

    operations = [
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "address",
                    models.CharField(
                        max_length=42,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                (
                    "holder",
                    models.CharField(
                        choices=[("LOCAL_KEYSTORE", "Keystore file of this server"), ("PRIVY", "Privy server wallet")],
                        default="LOCAL_KEYSTORE",
                        max_length=24,
                    ),
                ),
                (
                    "external_id",
                    models.CharField(
                        blank=True, help_text="What the holder calls it, such as a wallet id", max_length=64
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("STAGED", "Staged: made, and not appointed yet"),
                            ("ACTIVE", "Active: the golem acts with it"),
                            ("DROPPED", "Dropped: another one replaced it, or its owner took its rights away"),
                        ],
                        default="STAGED",
                        max_length=8,
                    ),
                ),
                ("activated_at", models.DateTimeField(blank=True, null=True)),
                ("dropped_at", models.DateTimeField(blank=True, null=True)),
                (
                    "granted",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="What its owner gave it: expires_at, operations, budget_micro_usd",
                    ),
                ),
                ("reason", models.CharField(blank=True, help_text="Why it was made", max_length=200)),
            ],
            options={
                "verbose_name": "signing key",
            },
        ),
        migrations.AddField(
            model_name="actionpermit",
            name="acts_for",
            field=models.CharField(
                blank=True, help_text="The account whose funds move, when it is not the signer's own", max_length=42
            ),
        ),
        migrations.AddField(
            model_name="actionpermit",
            name="batch",
            field=models.JSONField(
                default=list, help_text="The plan's calls from the account, when `calls` is the one that carries them"
            ),
        ),
        migrations.AlterField(
            model_name="wallet",
            name="kind",
            field=models.CharField(
                choices=[
                    ("LOCAL_KEYSTORE", "Local keystore file (development; not enforced on chain)"),
                    ("PRIVY", "Privy server wallet (limits enforced by this server only)"),
                    ("GNOSIS_SAFE", "Safe whose owner is the golem's key (limits enforced by this server only)"),
                    ("POLICY_CAGE", "Safe behind a PolicyCage (enforced on chain)"),
                ],
                default="LOCAL_KEYSTORE",
                max_length=24,
            ),
        ),
        migrations.AddField(
            model_name="signingkey",
            name="golem",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="signing_keys", to="archetypes_app.golem"
            ),
        ),
        migrations.AddConstraint(
            model_name="signingkey",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "ACTIVE")), fields=("golem",), name="signing_key_one_active_per_golem"
            ),
        ),
        migrations.AddConstraint(
            model_name="signingkey",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "STAGED")), fields=("golem",), name="signing_key_one_staged_per_golem"
            ),
        ),
        migrations.RunPython(note_keys, migrations.RunPython.noop, elidable=False),
    ]

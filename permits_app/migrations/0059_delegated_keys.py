"""A key tells whose code its own account runs."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("permits_app", "0058_owner_budget")]

    operations = [
        migrations.AddField(
            model_name="signingkey",
            name="delegated",
            field=models.JSONField(
                blank=True, default=dict, help_text="The contract whose code its own account runs (EIP-7702), by chain"
            ),
        ),
    ]

"""Decisions keep the facts they were judged on, so that another policy can be tried on them."""

from __future__ import annotations

from django.db import migrations, models

_HELP = "What hooks 1 to 4 looked at; empty in rows before that was kept"


class Migration(migrations.Migration):
    dependencies = [("permits_app", "0017_owners_sign_plans")]

    operations = [
        migrations.AddField("actionpermit", "facts", models.JSONField(default=dict, help_text=_HELP)),
        migrations.AddField("deniedcall", "facts", models.JSONField(default=dict, help_text=_HELP)),
    ]

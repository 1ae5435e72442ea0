"""Replaced secrets as rows of their own, so that several may sign along."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def keep_replaced_secrets(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """What signs along stays; a secret is bound to its endpoint, which stays the same."""
    old = apps.get_model("stream", "OldSecret")
    rows = apps.get_model("stream", "WebhookEndpoint").objects.filter(
        old_sealed_secret__isnull=False, old_secret_until__isnull=False
    )
    for row in rows.iterator():
        old.objects.create(endpoint=row, sealed_secret=row.old_sealed_secret, until=row.old_secret_until)


class Migration(migrations.Migration):
    dependencies = [("stream", "0001_webhooks")]

    operations = [
        migrations.CreateModel(
            name="OldSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sealed_secret", models.BinaryField()),
                ("until", models.DateTimeField()),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="old_secrets",
                        to="stream.webhookendpoint",
                    ),
                ),
            ],
            options={
                "verbose_name": "replaced secret of a webhook",
                "verbose_name_plural": "replaced secrets of webhooks",
            },
        ),
        migrations.RunPython(keep_replaced_secrets, migrations.RunPython.noop),
    ]

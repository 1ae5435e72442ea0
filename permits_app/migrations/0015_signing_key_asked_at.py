"""When owners were last asked to appoint a staged key, so that of two workers one asks."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("permits_app", "0014_waiting_actions"),
    ]

    operations = [
        migrations.AddField(
            model_name="signingkey",
            name="asked_at",
            field=models.DateTimeField(
                blank=True, help_text="When its owners were last asked to appoint it", null=True
            ),
        ),
    ]

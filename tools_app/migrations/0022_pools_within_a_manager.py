"""A followed pool may be 32 bytes within a manager whose logs tell of it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tools_app", "0021_index_of_logs"),
    ]

    operations = [
        migrations.AddField(
            model_name="logsource",
            name="manager",
            field=models.CharField(blank=True, default="", max_length=42),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="logsource",
            name="address",
            field=models.CharField(max_length=66),
        ),
        migrations.RemoveConstraint(
            model_name="logsource",
            name="log_source_once",
        ),
        migrations.AddConstraint(
            model_name="logsource",
            constraint=models.UniqueConstraint(fields=("chain_id", "address", "manager"), name="log_source_once"),
        ),
    ]

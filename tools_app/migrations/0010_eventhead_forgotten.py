"""Up to where the log was forgotten."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools_app", "0009_place_events_of_all")]

    operations = [
        migrations.AddField(
            model_name="eventhead",
            name="forgotten",
            # The function that places events inserts the row without naming this column.
            field=models.PositiveBigIntegerField(
                db_default=0, default=0, help_text="Events up to here are no longer kept"
            ),
        ),
    ]

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # An index that is made beside writers needs transactions of its own.
    atomic = False
    dependencies = [
        ("archetypes_app", "0031_newest_alert_of_a_source"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="golem",
            index=models.Index(
                fields=["id"], condition=models.Q(phase="TERMINAL", retired_at=None), name="golem_to_end"
            ),
        ),
    ]

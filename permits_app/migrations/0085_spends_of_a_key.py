"""The spends of a key that no sum counts yet are found by an index, and so are those to be added to one."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # An index that is made beside writers needs transactions of its own.
    atomic = False
    dependencies = [
        ("archetypes_app", "0031_newest_alert_of_a_source"),
        ("permits_app", "0084_sums_of_key_spends"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="spendentry",
            index=models.Index(
                condition=models.Q(("is_in_key_sum", False), models.Q(("state", "RELEASED"), _negated=True)),
                fields=["api_key"],
                name="spend_entry_of_key",
            ),
        ),
        AddIndexConcurrently(
            model_name="spendentry",
            index=models.Index(
                condition=models.Q(
                    ("api_key__isnull", False), ("is_in_key_sum", False), ("state__in", ("SETTLED", "REVERSED"))
                ),
                fields=["counted_at", "id"],
                name="spend_entry_to_sum",
            ),
        ),
    ]

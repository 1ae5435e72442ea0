"""Indexes of a key's spends that no sum counts, of those to be added to one, and of what is mined in the newest blocks."""

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
        AddIndexConcurrently(
            model_name="outboundtransaction",
            index=models.Index(
                condition=models.Q(("block_number__isnull", False)),
                fields=["chain_id", "block_number"],
                name="outbound_in_block",
            ),
        ),
    ]

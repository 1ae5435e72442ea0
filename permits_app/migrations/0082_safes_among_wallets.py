from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # An index that is made beside writers needs transactions of its own.
    atomic = False
    dependencies = [
        ("permits_app", "0081_archives_name_their_audit_entry"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="wallet",
            index=models.Index(
                fields=["kind", "id"], condition=models.Q(kind__in=["GNOSIS_SAFE", "POLICY_CAGE"]), name="wallet_safes"
            ),
        ),
        AddIndexConcurrently(
            model_name="signingkey",
            index=models.Index(fields=["account"], name="signing_key_account"),
        ),
        AddIndexConcurrently(
            model_name="signingkey",
            index=models.Index(fields=["id"], condition=models.Q(had_code=True), name="signing_key_with_code"),
        ),
    ]

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.fields.json import KeyTransform


class Migration(migrations.Migration):
    # An index that is made beside writers needs transactions of its own.
    atomic = False
    dependencies = [("tools_app", "0030_archives_of_the_audit_log")]

    operations = [
        AddIndexConcurrently(
            model_name="auditentry",
            index=models.Index(
                models.F("golem_id"),
                KeyTransform("permit_id", "data"),
                condition=models.Q(("data__has_key", "permit_id")),
                name="audit_entry_of_permit",
            ),
        ),
        AddIndexConcurrently(
            model_name="auditentry",
            index=models.Index(
                models.F("golem_id"),
                KeyTransform("request_id", "data"),
                condition=models.Q(("data__has_key", "request_id")),
                name="audit_entry_of_request",
            ),
        ),
    ]

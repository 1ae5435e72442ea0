import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("archetypes_app", "0010_engine_words")]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="session_id",
            field=models.UUIDField(null=True, editable=False),
        ),
        # Every key keeps the session it had, which was its own.
        migrations.RunSQL("UPDATE archetypes_app_apikey SET session_id = id", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="apikey",
            name="session_id",
            field=models.UUIDField(
                db_index=True,
                default=uuid.uuid4,
                editable=False,
                help_text="Keys with the same one share a session limit",
            ),
        ),
    ]

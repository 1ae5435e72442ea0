import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("archetypes_app", "0013_approved_definitions")]

    operations = [
        # A key that is in use keeps what it was shown: every tool its golem has.
        migrations.AddField(
            model_name="apikey",
            name="most_tools",
            field=models.PositiveSmallIntegerField(
                blank=True,
                null=True,
                help_text="Tools its model is shown at once; empty: every tool the golem has",
            ),
        ),
        migrations.AlterField(
            model_name="apikey",
            name="most_tools",
            field=models.PositiveSmallIntegerField(
                blank=True,
                null=True,
                default=12,
                help_text="Tools its model is shown at once; empty: every tool the golem has",
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="loaded_tools",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=128),
                blank=True,
                default=list,
                editable=False,
                help_text="What its agent loaded beside the core, least recently used first",
                size=None,
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(most_tools__isnull=True) | models.Q(loaded_tools__len__lte=models.F("most_tools")),
                name="api_key_loads_at_most_its_tools",
            ),
        ),
    ]

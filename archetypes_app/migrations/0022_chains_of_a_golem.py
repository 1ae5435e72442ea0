import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0021_services_outside"),
    ]

    operations = [
        migrations.AddField(
            model_name="golem",
            name="other_chain_ids",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.PositiveBigIntegerField(),
                blank=True,
                default=list,
                help_text="Chains it may act on besides its home chain; what it holds there counts in its value"
                " and its limits",
                size=None,
            ),
        ),
    ]

"""An owner may list hooks: strangers' code that runs with the use of a pool."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("permits_app", "0054_promises_handed_in"),
    ]

    operations = [
        migrations.AlterField(
            model_name="allowlistentry",
            name="kind",
            field=models.CharField(
                choices=[
                    ("TOKEN", "Token"),
                    ("CONTRACT", "Contract it may call"),
                    ("SPENDER", "Spender it may approve"),
                    ("RECIPIENT", "Address it may pay"),
                    ("HOOK", "Hook of pools it may use"),
                ],
                max_length=16,
            ),
        ),
    ]

"""Trades of pools that a manager keeps are counted from now on: what was followed of them without is followed anew.

Nothing is lost: their sources asked for no log that those pools tell.
"""

from django.db import migrations


def forget(apps, schema_editor):
    apps.get_model("tools_app", "LogSource").objects.exclude(manager="").delete()


class Migration(migrations.Migration):
    dependencies = [
        ("tools_app", "0025_rates_and_owners_of_a_history"),
    ]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]

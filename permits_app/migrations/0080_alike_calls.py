"""How many of the last twenty actions of an hour may differ in numbers only; no limit until an owner sets one."""

import django.core.validators
import permits_app.models.spending
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("permits_app", "0079_archives_of_records")]

    operations = [
        migrations.AddField(
            model_name="spendinglimits",
            name="most_alike_calls",
            field=models.PositiveSmallIntegerField(
                db_default=20,
                default=permits_app.models.spending.default_alike_calls,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(20),
                ],
                help_text="Of the last 20 actions within an hour, so many may differ from each other in numbers only;"
                " 20 is no limit, 12 stops who goes round in circles by amounts changed a little",
            ),
        ),
        migrations.AddConstraint(
            model_name="spendinglimits",
            constraint=models.CheckConstraint(
                condition=models.Q(("most_alike_calls__gte", 1), ("most_alike_calls__lte", 20)),
                name="alike_calls_in_window",
            ),
        ),
    ]

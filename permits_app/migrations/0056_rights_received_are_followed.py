"""Rights received are looked at again and again, and end with their time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0022_chains_of_a_golem"),
        ("permits_app", "0055_allowed_hooks"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="receivedright",
            name="received_right_known_state",
        ),
        migrations.AddField(
            model_name="receivedright",
            name="available",
            field=models.DecimalField(
                blank=True,
                decimal_places=0,
                help_text="Base units that its contract had left for it",
                max_digits=78,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="receivedright",
            name="last_error",
            field=models.CharField(blank=True, max_length=255),
        ),
        migrations.AddField(
            model_name="receivedright",
            name="looked_at",
            field=models.DateTimeField(blank=True, help_text="When its contract was asked last", null=True),
        ),
        migrations.AddField(
            model_name="receivedright",
            name="next_look_at",
            field=models.DateTimeField(blank=True, help_text="Nothing: it is looked at no more", null=True),
        ),
        migrations.AlterField(
            model_name="receivedright",
            name="state",
            field=models.CharField(
                choices=[
                    ("STANDING", "Stands"),
                    ("WITHDRAWN", "Withdrawn by its principal"),
                    ("DROPPED", "Dropped here: not used any more"),
                    ("ENDED", "Its time is over"),
                ],
                default="STANDING",
                max_length=9,
            ),
        ),
        migrations.AddIndex(
            model_name="receivedright",
            index=models.Index(
                condition=models.Q(("next_look_at__isnull", False)), fields=["next_look_at"], name="received_right_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="receivedright",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["STANDING", "WITHDRAWN", "DROPPED", "ENDED"])),
                name="received_right_known_state",
            ),
        ),
        # What stands is looked at from now on.
        migrations.RunSQL(
            "UPDATE permits_app_receivedright SET next_look_at = now() WHERE state = 'STANDING'", migrations.RunSQL.noop
        ),
    ]

from django.db import migrations, models

ORIGIN = "The memory it was first stored as, in whichever golem; empty: this one"


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0010_situation_vectors")]

    operations = [
        migrations.AddField(
            model_name=name,
            name="origin_id",
            field=models.UUIDField(blank=True, editable=False, help_text=ORIGIN, null=True),
        )
        for name in ("episode", "insight")
    ] + [
        migrations.AddConstraint(
            model_name=name,
            constraint=models.UniqueConstraint(fields=["golem", "origin_id"], name=f"{name}_once_per_origin"),
        )
        for name in ("episode", "insight")
    ]

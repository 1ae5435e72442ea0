from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0008_half_precision_index")]

    operations = [
        migrations.AddField(
            model_name="insight",
            name="route_most_amount",
            field=models.DecimalField(
                blank=True,
                decimal_places=0,
                max_digits=78,
                null=True,
                help_text="Largest swap the route is preferred for, in base units of the token it starts from; empty: any",
            ),
        ),
    ]

from typing import Any

from django.db import migrations, models
from django.db.models import F


def allow_used_chains(apps: Any, schema_editor: Any) -> None:
    """A golem keeps the chains it acts on: those its owner allowed addresses on, and those it has permits on."""
    golem_model = apps.get_model("archetypes_app", "Golem")
    used: dict[Any, set[int]] = {}
    for name in ("AllowlistEntry", "ActionPermit"):
        rows = apps.get_model("permits_app", name).objects.order_by()
        for golem_id, chain_id in rows.values_list("golem_id", "chain_id").distinct():
            used.setdefault(golem_id, set()).add(chain_id)
    for golem in golem_model.objects.filter(pk__in=list(used)):
        others = sorted(used[golem.pk] - {golem.home_chain_id})
        if others:
            golem_model.objects.filter(pk=golem.pk).update(other_chain_ids=others)


def end_where_they_began(apps: Any, schema_editor: Any) -> None:
    """Every request so far ends on the chain it was sent on."""
    apps.get_model("permits_app", "PendingRequest").objects.update(expects_chain_id=F("chain_id"))


class Migration(migrations.Migration):
    dependencies = [
        ("archetypes_app", "0022_chains_of_a_golem"),
        ("permits_app", "0052_standing_orders"),
    ]

    operations = [
        migrations.AlterField(
            model_name="pendingrequest",
            name="chain_id",
            field=models.PositiveBigIntegerField(help_text="Where it was sent"),
        ),
        migrations.AddField(
            model_name="pendingrequest",
            name="expects_chain_id",
            field=models.PositiveBigIntegerField(default=0, help_text="Where it ends, and is looked at"),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="pendingrequest",
            name="arrived_block",
            field=models.PositiveBigIntegerField(
                blank=True,
                null=True,
                help_text="On the chain where it ends: the block in which it was first seen there",
            ),
        ),
        migrations.RunPython(end_where_they_began, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(allow_used_chains, migrations.RunPython.noop, elidable=True),
    ]

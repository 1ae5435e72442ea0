from collections.abc import Callable

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from memory_app.bend_embeddings import bend, straighten

_BATCH = 1_000


def bend_vectors(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Bend the vector of every episode that was stored as the model wrote it."""
    _change(apps, bend)


def straighten_vectors(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take it back."""
    _change(apps, lambda vectors: [straighten(each) for each in vectors])


def _change(apps: Apps, turn: Callable[[list[list[float]]], list[list[float]]]) -> None:
    rows = apps.get_model("memory_app", "EpisodeVector").objects.order_by("pk")
    last = None
    while found := list((rows if last is None else rows.filter(pk__gt=last))[:_BATCH]):
        for row, vector in zip(found, turn([[float(part) for part in row.embedding] for row in found]), strict=True):
            row.embedding = vector
        rows.model.objects.bulk_update(found, ["embedding"])
        last = found[-1].pk


class Migration(migrations.Migration):
    dependencies = [
        ("memory_app", "0018_what_older_versions_insert"),
    ]

    operations = [
        migrations.RunPython(bend_vectors, straighten_vectors, elidable=True),
    ]

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from memory_app.glossary import MARK, mark_concepts

_BATCH = 500


def name_concepts_of_episodes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write the concepts of every episode that was stored before there were any into what is searched beside it."""
    episodes = apps.get_model("memory_app", "Episode").objects.exclude(search_text__contains=f" {MARK}")
    changed = []
    for row in episodes.only("pk", "summary", "search_text").iterator(chunk_size=_BATCH):
        row.search_text = f"{row.search_text} {mark_concepts(f'{row.summary} {row.search_text}')}".rstrip()
        changed.append(row)
        if len(changed) == _BATCH:
            episodes.model.objects.bulk_update(changed, ["search_text"])
            changed.clear()
    episodes.model.objects.bulk_update(changed, ["search_text"])


class Migration(migrations.Migration):
    dependencies = [
        ("memory_app", "0016_evidence_of_heuristics"),
    ]

    operations = [
        migrations.RunPython(name_concepts_of_episodes, migrations.RunPython.noop, elidable=True),
    ]

"""Load tools of a golem's toolset for one API key, and note which of them it used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import connection, transaction

from archetypes_app.models import ApiKey
from archetypes_app.tool_loadout import Fits, Loading, Loadout
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def load_tools(
    *, key_id: UUID, names: Sequence[str], read: Callable[[ApiKey], Loadout], fits: Fits | None = None
) -> Loading:
    """Load `names` as far as `fits` agrees, least recently used ones giving way, under the key's row lock.

    `read` makes the key's loadout.
    """
    with transaction.atomic():
        key = ApiKey.objects.select_for_update(no_key=True).get(pk=key_id)
        loading = read(key).load(names, fits=fits)
        if loading.loadout.most is not None and list(loading.loadout.loaded) != key.loaded_tools:
            key.loaded_tools = list(loading.loadout.loaded)
            key.save(update_fields=["loaded_tools"])
    return loading


def note_tool_use(*, key: ApiKey, name: str) -> None:
    """Move `name` to the end of what `key` loaded, where it stands; one statement, and none when it is there."""
    if name not in key.loaded_tools or key.loaded_tools[-1] == name:
        return
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_SQL, {"name": name, "key": key.pk})


_TABLE = ApiKey._meta.db_table
_MOVE_SQL = f"""
UPDATE {_TABLE} SET loaded_tools = array_append(array_remove(loaded_tools, %(name)s), %(name)s)
WHERE id = %(key)s AND loaded_tools @> ARRAY[%(name)s]::varchar[]
"""  # noqa: S608  (the table's own name)

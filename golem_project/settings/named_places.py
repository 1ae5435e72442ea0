"""Places that the operator named for a protocol, as `manage.py name_place` writes them: by protocol and chain."""

from __future__ import annotations

import re
from typing import Final

from django.core.exceptions import ImproperlyConfigured

from golem_project.settings.environment import read_text

_PLACE: Final = re.compile(r"^([a-z0-9_]+):(\d{1,10})=([0-9A-Za-z/.+()_-]{1,600})$")


def _read_places(text: str) -> dict[tuple[str, int], tuple[str, ...]]:
    places: dict[tuple[str, int], tuple[str, ...]] = {}
    for each in (part.strip() for part in text.split(",") if part.strip()):
        found = _PLACE.match(each)
        if found is None:
            raise ImproperlyConfigured("GOLEM_NAMED_PLACES is what manage.py name_place writes, by commas")
        key = (found[1], int(found[2]))
        places[key] = (*places.get(key, ()), found[3])
    return places


GOLEM_NAMED_PLACES = _read_places(read_text("GOLEM_NAMED_PLACES"))

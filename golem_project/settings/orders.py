"""Sets where signed orders are handed in, by protocol and chain."""

from __future__ import annotations

import re
from typing import Final

from django.core.exceptions import ImproperlyConfigured

from golem_project.settings.environment import read_flag, read_text

_DESK: Final = re.compile(r"^([a-z0-9_]+):(\d+)=(https?://[^|\s]+)(?:\|(0x[0-9a-fA-F]{40}))?$")


def _read_desks(text: str) -> dict[tuple[str, int], tuple[str, str]]:
    desks = {}
    for each in (part.strip() for part in text.split(",") if part.strip()):
        found = _DESK.match(each)
        if found is None:
            raise ImproperlyConfigured("GOLEM_ORDER_DESKS is protocol:chain=https://address|0xcosigner, by commas")
        desks[found[1], int(found[2])] = (found[3], found[4] or "")
    return desks


GOLEM_ORDER_DESKS = _read_desks(read_text("GOLEM_ORDER_DESKS"))
# Loopback and private addresses, also with plain http: for those who fill orders of the local chain only.
GOLEM_ORDER_DESKS_ALLOW_PRIVATE_ADDRESSES = read_flag("GOLEM_ORDER_DESKS_ALLOW_PRIVATE_ADDRESSES", False)

# Hosts that owners let golems pay are asked themselves whom they are paid at. Private addresses: for a stand-in only.
GOLEM_PAYMENT_HOSTS_ALLOW_PRIVATE_ADDRESSES = read_flag("GOLEM_PAYMENT_HOSTS_ALLOW_PRIVATE_ADDRESSES", False)
GOLEM_PAYMENT_HOST_SECONDS = 10.0  # for one request as a whole

"""One package per protocol; its name is the prefix of its tools. Protocols do not know each other."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil

from tools_app.toolkit.protocol import SHELF, ProtocolDef


def load_protocols() -> None:
    """Put every protocol on SHELF; one that stands there already is left. Raises ImportError, ValueError."""
    for folder in pkgutil.iter_modules(__path__):
        if not folder.ispkg or importlib.util.find_spec(f"{__name__}.{folder.name}.protocol") is None:
            continue
        protocol = importlib.import_module(f"{__name__}.{folder.name}.protocol").PROTOCOL
        if isinstance(protocol, ProtocolDef) and SHELF.get(protocol.name) is not protocol:
            SHELF.add(protocol)

"""An exported change request as its commands print it; the hashes are checked over the file itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class ShownDifference:
    """One line of what changes. Values may be of any kind of JSON."""

    words: object
    before: object
    after: object
    note: object = ""


@dataclass(frozen=True, slots=True)
class ShownArgument:
    """An argument of a call, in words and as it is."""

    name: str
    text: object
    raw: object


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call in words; `inner` are those of a batch."""

    to: str
    to_name: str
    function: str
    arguments: tuple[ShownArgument, ...]
    inner: tuple[dict[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class ShownPosition:
    """What becomes of a position."""

    label: str
    changes: object
    owed_after: object
    health: object
    liquidated: object = None


@dataclass(frozen=True, slots=True)
class ShownFlow:
    """An amount with its unit."""

    units: str


@dataclass(frozen=True, slots=True)
class ShownBounds:
    """The most that leaves, the least that arrives, and the other promises in words."""

    leaves_at_most: tuple[ShownFlow, ...] = ()
    returns_at_least: tuple[ShownFlow, ...] = ()
    promises: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """What a page shows of a request."""

    differences: tuple[ShownDifference, ...] = ()
    calls: tuple[ShownCall, ...] = ()
    positions: tuple[ShownPosition, ...] = ()
    measured_loss: object = None
    bounds: ShownBounds = field(default_factory=ShownBounds)


@dataclass(frozen=True, slots=True)
class ExportedChange:
    """What is asked for, as far as a Safe's owners sign it; `safe_tx` is None for what is decided on a page."""

    safe_tx: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ExportedBinding:
    """What the digest of a request covers, as far as it is printed."""

    title: str
    risk_tier: str
    asker: str
    reason: str
    change: ExportedChange
    shown: ShownRequest


@dataclass(frozen=True, slots=True)
class ExportedRequest:
    """The file. Raises ValueError, where it is read, for what is no exported request."""

    binding: ExportedBinding


def read_exported_request(document: object) -> ExportedBinding:
    """What a file says. Raises ValueError."""
    return read_stored(ExportedRequest, document).binding

"""Labels on sensitive values and the sinks each may reach.

`Secret` wraps what must never be printed: its repr, str and pickled form carry no content. The matrix
is decided once, here. Seed: 002, "TaintedString"; decisions, "Safety hooks" (Taint).
"""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn


class TaintLabel(StrEnum):
    WALLET_SECRET = "WALLET_SECRET"  # noqa: S105  (a label)
    OWNER_SECRET = "OWNER_SECRET"  # noqa: S105  (a label)
    STRATEGY_CONFIDENTIAL = "STRATEGY_CONFIDENTIAL"
    USER_PII = "USER_PII"
    UNTRUSTED_EXTERNAL = "UNTRUSTED_EXTERNAL"


class DataSink(StrEnum):
    MODEL = "MODEL"
    EVENTS = "EVENTS"
    AUDIT = "AUDIT"
    LOGS = "LOGS"
    EXPORT = "EXPORT"


_ALLOWED: dict[TaintLabel, frozenset[DataSink]] = {
    TaintLabel.WALLET_SECRET: frozenset(),
    TaintLabel.OWNER_SECRET: frozenset(),
    TaintLabel.STRATEGY_CONFIDENTIAL: frozenset({DataSink.MODEL, DataSink.EVENTS, DataSink.AUDIT}),
    TaintLabel.USER_PII: frozenset({DataSink.MODEL, DataSink.AUDIT}),
    TaintLabel.UNTRUSTED_EXTERNAL: frozenset(DataSink),
}


def can_flow_to(label: TaintLabel, sink: DataSink) -> bool:
    """Whether a value with `label` may reach `sink` (USER_PII reaches the audit log only hashed)."""
    return sink in _ALLOWED[label]


class Secret:
    """A value no sink may see. `reveal()` is grep-able and called in the signer alone."""

    __slots__ = ("_label", "_value")

    def __init__(self, value: str, label: TaintLabel = TaintLabel.WALLET_SECRET) -> None:
        self._value = value
        self._label = label

    def reveal(self) -> str:
        return self._value

    @property
    def label(self) -> TaintLabel:
        return self._label

    def __repr__(self) -> str:
        return f"<Secret {self._label}>"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

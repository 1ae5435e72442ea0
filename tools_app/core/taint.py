"""Labels sensitive values and decides which sinks each may reach.

`Secret` wraps what must never be printed: its repr, str and pickled form carry no content, and its value is known to
`redact_text`, which takes it out of every text on its way to a sink. The matrix is decided once, here.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NoReturn
from uuid import UUID

from tools_app.core import secret_patterns


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
    MEMORY = "MEMORY"


_ALLOWED: dict[TaintLabel, frozenset[DataSink]] = {
    TaintLabel.WALLET_SECRET: frozenset(),
    TaintLabel.OWNER_SECRET: frozenset(),
    TaintLabel.STRATEGY_CONFIDENTIAL: frozenset(
        # A golem's memory is read by its own model alone; what leaves it is an export.
        {DataSink.MODEL, DataSink.EVENTS, DataSink.AUDIT, DataSink.MEMORY}
    ),
    TaintLabel.USER_PII: frozenset({DataSink.MODEL, DataSink.AUDIT}),
    TaintLabel.UNTRUSTED_EXTERNAL: frozenset(DataSink),
}


REMOVED: Final = "[removed]"


Blocked = Counter[tuple[TaintLabel, DataSink]]
"""How often a value of a label was kept from a sink."""


@dataclass(slots=True)
class Watch:
    """What was kept from sinks since it opened, and of which golem. `golem_id`: whose call it is, where that is
    known; `seen`: the golems that anything was written of meanwhile.
    """

    golem_id: UUID | None = None
    found: Counter[tuple[UUID | None, TaintLabel, DataSink]] = field(default_factory=Counter)
    seen: set[UUID] = field(default_factory=set)

    def by_golem(self) -> dict[UUID | None, Blocked]:
        """What was found, by golem. What no sink said a golem of is of the golem whose call it is, or of the only one
        that was seen; else of nobody.
        """
        only = next(iter(self.seen)) if len(self.seen) == 1 else None
        found: dict[UUID | None, Blocked] = {}
        for (golem_id, label, sink), count in sorted(self.found.items(), key=lambda each: each[0][1:]):
            found.setdefault(golem_id or self.golem_id or only, Counter())[label, sink] += count
        return found


_watch: ContextVar[Watch | None] = ContextVar("blocked_flows", default=None)
_about: ContextVar[UUID | None] = ContextVar("blocked_flows_about", default=None)
# Threads of one call count into one watch.
_counting = threading.Lock()

_SHORTEST_KNOWN: Final = 8
_MOST_KNOWN: Final = 4_096

_SECRET_TEXT: Final = (
    # An agent's bearer token: the prefix and 43 characters of randomness.
    (re.compile(r"golem_[A-Za-z0-9_-]{40,}"), REMOVED),
    (re.compile(r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{16,}"), f"Bearer {REMOVED}"),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,31}://)[^\s/@:]*:[^\s/@]+@"), rf"\1{REMOVED}@"),
    # Node providers put the key in the path: https://host/v2/<key>.
    (re.compile(r"(?i)\b((?:https?|wss?)://[^\s/]+/v[0-9]/)[A-Za-z0-9_-]{20,}"), rf"\1{REMOVED}"),
    (re.compile(r"(?i)([?&](?:api[-_]?key|key|token|secret|access_token)=)[^&\s]+"), rf"\1{REMOVED}"),
    (
        re.compile(
            r"(?i)\b(private[-_ ]?key|mnemonic|seed[-_ ]?phrase|pass[-_ ]?phrase|password)"
            r"(['\"]?\s*[:=]\s*['\"]?)[^\s'\",;}]{6,}"
        ),
        rf"\1\2{REMOVED}",
    ),
)
# Every repetition is bounded before its anchor: text from outside must not be able to make this quadratic.
_EMAIL: Final = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")

# Found in every text that one of these patterns finds anything in; most texts are told harmless by this one look.
_SUSPICIOUS: Final = re.compile(r"(?i)golem_|bearer|://|=|private|mnemonic|seed|pass")
_KEY_LENGTH: Final = 64

_SECRET_KEYS: Final = frozenset(
    {
        "private_key",
        "privatekey",
        "secret",
        "secret_key",
        "client_secret",
        "mnemonic",
        "seed",
        "seed_phrase",
        "passphrase",
        "password",
        "keystore",
        "keystore_json",
        "api_key",
        "apikey",
        "authorization",
        "access_token",
        "refresh_token",
        "bearer",
        "cookie",
        "session_key",
        "rpc_url",
        "rpc_urls",
        "raw_transaction",
        "raw_tx",
    }
)
_SECRET_ENDINGS: Final = ("_private_key", "_secret", "_password", "_passphrase", "_mnemonic", "_rpc_url", "_secret_key")

# A key is recognised by its fingerprint alone, so that no copy of it outlives the Secret that held it.
_KEY: Final = re.compile(r"(?<![0-9a-zA-Z])(?:0x)?([0-9a-fA-F]{64})(?![0-9a-zA-Z])")
_known: OrderedDict[str, bool] = OrderedDict()
"""Fingerprints of keys (True) and other values as they are, the longest known first."""
_known_lock = threading.Lock()
# The same for whoever looks through a text: the fingerprints of keys, and what is looked for as it is.
_known_keys: frozenset[str] = frozenset()
_known_texts: tuple[str, ...] = ()


def can_flow_to(label: TaintLabel, sink: DataSink) -> bool:
    """Whether a value with `label` may reach `sink` (USER_PII reaches the audit log only hashed)."""
    return sink in _ALLOWED[label]


@contextmanager
def watching(golem_id: UUID | None = None) -> Iterator[Watch]:
    """Counts, inside, what is kept from sinks that may not see it; what a watch within this one counts is its own."""
    watch = Watch(golem_id)
    token, about_token = _watch.set(watch), _about.set(None)
    try:
        yield watch
    finally:
        _about.reset(about_token)
        _watch.reset(token)


def name_golem(golem_id: UUID) -> None:
    """Say whose call is being served, once that is known."""
    watch = _watch.get()
    if watch is not None:
        watch.golem_id = golem_id


@contextmanager
def about(golem_id: UUID) -> Iterator[None]:
    """What is kept back inside is of this golem: for sinks that write of one."""
    watch = _watch.get()
    if watch is not None:
        watch.seen.add(golem_id)
    token = _about.set(golem_id)
    try:
        yield
    finally:
        _about.reset(token)


def _block(label: TaintLabel, sink: DataSink) -> str:
    watch = _watch.get()
    if watch is not None:
        with _counting:
            watch.found[_about.get(), label, sink] += 1
    return REMOVED


class Secret:
    """A value no sink may see. `reveal()` is grep-able and called where it is used alone."""

    __slots__ = ("_label", "_value")

    def __init__(self, value: str, label: TaintLabel = TaintLabel.WALLET_SECRET) -> None:
        self._value = value
        self._label = label
        _learn(value)

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


@dataclass(frozen=True, slots=True)
class Tainted:
    """A value with its label, for what may reach some sinks and not others; `Secret` is for what may reach none."""

    value: Any  # Any: a value of any type is walked
    label: TaintLabel

    def __repr__(self) -> str:
        return f"<Tainted {self.label}>"


def redact_text(text: str, *, sink: DataSink = DataSink.MODEL) -> str:
    """`text` without the value of any Secret of this process and without what looks like one.

    E-mail addresses go too where personal data may not: hashed in the audit log, left alone for a model.
    """
    if len(text) >= _KEY_LENGTH and _known_keys:
        text = _KEY.sub(
            lambda found: _block(TaintLabel.WALLET_SECRET, sink) if _fingerprint(found[1]) in _known_keys else found[0],
            text,
        )
    for value in _known_texts:
        if value in text:
            text = text.replace(value, _block(TaintLabel.OWNER_SECRET, sink))
    if _is_suspicious(text):
        for pattern, replacement in _SECRET_TEXT:
            text, count = pattern.subn(replacement, text)
            if count:
                _block(TaintLabel.OWNER_SECRET, sink)
    text, count = secret_patterns.remove(text, REMOVED)
    for _ in range(count):
        _block(TaintLabel.OWNER_SECRET, sink)
    if "@" not in text:
        return text
    if not can_flow_to(TaintLabel.USER_PII, sink):
        text = _EMAIL.sub(lambda found: _block(TaintLabel.USER_PII, sink), text)
    elif sink is DataSink.AUDIT:
        text = _EMAIL.sub(lambda found: _fingerprint(found[0]), text)
    return text


def holds_no_secret(text: str) -> bool:
    """Whether `redact_text` would find nothing in `text`, nor in any piece of it that stands between two quotes.

    One look at a whole answer, for the model; the pieces of one that it finds something in are looked at one by one.
    """
    return not (
        _is_suspicious(text)
        or any(value in text for value in _known_texts)
        or secret_patterns.remove(text, REMOVED)[1]
        or (_known_keys and any(_fingerprint(found[1]) in _known_keys for found in _KEY.finditer(text)))
    )


def _is_suspicious(text: str) -> bool:
    if not text.isascii():
        return _SUSPICIOUS.search(text) is not None
    # The same look; without letters that are equal to others it needs no pattern, which takes ten times as long.
    low = text.lower()
    return (
        "=" in low
        or "pass" in low
        or "://" in low
        or "golem_" in low
        or "bearer" in low
        or "private" in low
        or "seed" in low
        or "mnemonic" in low
    )


def clean_for(sink: DataSink, value: object) -> Any:  # Any: a value of any type is walked
    """`value` (JSON-ready but for Secret and Tainted) as it may reach `sink`.

    What may not is replaced by `[removed]`; personal data reaches the audit log hashed; foreign text stays data, inside
    an object that says so.
    """
    if isinstance(value, str):
        return redact_text(value, sink=sink)
    if isinstance(value, Secret):
        return _block(value.label, sink)
    if isinstance(value, Tainted):
        return _clean_tainted(sink, value)
    if isinstance(value, Mapping):
        return {
            str(name): (
                _block(TaintLabel.OWNER_SECRET, sink)
                if is_secret_key(str(name)) and member is not None
                else clean_for(sink, member)
            )
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [clean_for(sink, member) for member in value]
    return value


@lru_cache(maxsize=4_096)
def is_secret_key(key: str) -> bool:
    """Whether a value under this name is never shown."""
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower().replace("-", "_").replace(" ", "_")
    return word in _SECRET_KEYS or word.endswith(_SECRET_ENDINGS)


def _clean_tainted(sink: DataSink, tainted: Tainted) -> object:
    if not can_flow_to(tainted.label, sink):
        return _block(tainted.label, sink)
    if tainted.label is TaintLabel.USER_PII and sink is DataSink.AUDIT:
        return _fingerprint(str(tainted.value))
    if tainted.label is TaintLabel.UNTRUSTED_EXTERNAL:
        return {"untrusted": True, "value": clean_for(sink, tainted.value)}
    return clean_for(sink, tainted.value)


def _fingerprint(digits: str) -> str:
    return "sha256:" + hashlib.sha256(digits.lower().encode()).hexdigest()


def _learn(value: str) -> None:
    # A short value would be found inside harmless words; none of ours is that short.
    if len(value) < _SHORTEST_KNOWN:
        return
    key = _KEY.fullmatch(value)
    form = _fingerprint(key[1]) if key else value
    global _known_keys, _known_texts
    with _known_lock:
        is_new = form not in _known
        _known[form] = key is not None
        _known.move_to_end(form)
        while len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
        if is_new:
            _known_keys = frozenset(each for each, is_key in _known.items() if is_key)
            _known_texts = tuple(each for each, is_key in _known.items() if not is_key)

"""The registration file of an agent: what we write on the chain, and what strangers wrote, read within bounds.

A file is written as a base64 `data:` URI, so that it lies on the chain itself and nobody has to be asked for it. A file
at an https address is fetched only when one agent is looked at, from public addresses alone; ipfs is not asked.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from tools_app.core import guarded_http
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.clock import Deadline
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.protocols.erc8004.errors import RegistrationTooLong
from tools_app.standards.erc8004 import REGISTRATION_TYPE

MOST_BYTES: Final = 16_384
"""Of a file of others."""
MOST_WRITTEN_BYTES: Final = 4_096
"""Of a file of ours: every 32 bytes cost about 22,100 gas."""
MOST_SERVICES: Final = 16
_PREFIX: Final = "data:application/json;base64,"
_FETCH_SECONDS: Final = 3.0


class FileSource(StrEnum):
    """Where a registration file was read, or why it was not."""

    ON_CHAIN = "on_chain"
    FETCHED = "fetched"
    NOT_ASKED = "not_asked"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    MALFORMED = "malformed"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Service:
    """A door of the agent; all of it is the agent's own claim."""

    name: str
    endpoint: str
    version: str


@dataclass(frozen=True, slots=True)
class AgentFile:
    """What a file says. `document` is the whole of it, for changing one of ours."""

    source: FileSource
    name: str = ""
    description: str = ""
    image: str = ""
    services: tuple[Service, ...] = ()
    is_active: bool = False
    supports_x402: bool = False
    trusts: tuple[str, ...] = ()
    role: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)  # Any: a stranger's JSON

    @property
    def is_read(self) -> bool:
        """Whether anything was read."""
        return self.source in (FileSource.ON_CHAIN, FileSource.FETCHED)

    @property
    def protocols(self) -> tuple[str, ...]:
        """The words of the protocols it says it speaks, in small letters, once."""
        return tuple(dict.fromkeys(each.name.lower() for each in self.services))


def write_file(document: Mapping[str, object]) -> str:
    """The `data:` URI of a document. Raises RegistrationTooLong."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    if len(text) > MOST_WRITTEN_BYTES:
        raise RegistrationTooLong(
            f"the file has {len(text)} bytes, and at most {MOST_WRITTEN_BYTES} are written on a chain",
            bytes=len(text),
            most_bytes=MOST_WRITTEN_BYTES,
        )
    return _PREFIX + base64.b64encode(text).decode()


def make_document(
    *,
    name: str,
    description: str,
    image: str,
    services: Sequence[Mapping[str, object]],
    x402: bool,
    trusts: Sequence[str],
    role: str | None = None,
) -> dict[str, object]:
    """A document as the standard wants it; `role` says what the agent is to others, where it is more than itself."""
    return {
        "type": REGISTRATION_TYPE,
        "name": name,
        "description": description,
        "image": image,
        "services": [dict(each) for each in services],
        "x402Support": x402,
        "active": True,
        "supportedTrust": list(trusts),
        **({"role": role} if role else {}),
    }


def read_file(uri: str) -> AgentFile:
    """What lies on the chain itself; nobody is asked. Never raises."""
    if not uri:
        return AgentFile(FileSource.NONE)
    if not uri.startswith(_PREFIX):
        return AgentFile(FileSource.MALFORMED if uri.startswith("data:") else FileSource.NOT_ASKED)
    # Four letters are three bytes: what is too long is not decoded to be told so.
    if len(uri) > len(_PREFIX) + MOST_BYTES * 4 // 3 + 4:
        return AgentFile(FileSource.MALFORMED)
    try:
        raw = base64.b64decode(uri.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return AgentFile(FileSource.MALFORMED)
    return _parse(raw, FileSource.ON_CHAIN)


def fetch_file(uri: str, *, seconds: float = _FETCH_SECONDS, allows_private: bool = False) -> AgentFile:
    """The same, and an https address is asked, within `seconds`; a private one never is. Never raises."""
    if not uri.startswith(("https://", "http://")):
        return read_file(uri)
    deadline = Deadline.after_ms(1_000 * min(seconds, _FETCH_SECONDS))
    try:
        target = guarded_http.resolve(uri, allows_private=allows_private, seconds=deadline.remaining_ms() / 1000)
        answer = guarded_http.exchange(
            "GET",
            target,
            headers={"Accept": "application/json"},
            body=None,
            seconds=deadline.remaining_ms() / 1000,
            most_bytes=MOST_BYTES + 1,
        )
    except AddressRefused:
        return AgentFile(FileSource.REFUSED)
    except ExchangeFailed:
        return AgentFile(FileSource.UNREACHABLE)
    return _parse(answer.body, FileSource.FETCHED) if answer.status == 200 else AgentFile(FileSource.UNREACHABLE)


def _parse(raw: bytes, source: FileSource) -> AgentFile:
    try:
        document = read_json(raw, most_bytes=MOST_BYTES)
    except OutsideTextRefused:
        return AgentFile(FileSource.MALFORMED)
    if not isinstance(document, dict):
        return AgentFile(FileSource.MALFORMED)
    # Older files call the same list `endpoints`.
    listed = document.get("services", document.get("endpoints"))
    services = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    trusts = document.get("supportedTrust")
    return AgentFile(
        source=source,
        name=_text(document, "name"),
        description=_text(document, "description"),
        image=_text(document, "image"),
        services=tuple(
            Service(_text(each, "name"), _text(each, "endpoint"), _text(each, "version"))
            for each in services[:MOST_SERVICES]
        ),
        is_active=document.get("active", True) is True,
        supports_x402=document.get("x402Support") is True,
        trusts=tuple(str(each) for each in trusts[:MOST_SERVICES]) if isinstance(trusts, list) else (),
        role=_text(document, "role"),
        document=document,
    )


def _text(document: Mapping[str, Any], key: str) -> str:  # Any: a stranger's JSON
    found = document.get(key)
    return found if isinstance(found, str) else ""

"""Checks whether the domain of an agent's door says that the agent is its own: `/.well-known/agent-registration.json`
of it.

The standard's optional proof. It shows who runs the domain, and nothing about what the agent does there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from tools_app.protocols.erc8004.agent_ids import AgentId
from tools_app.protocols.erc8004.registration_file import AgentFile, FileSource, fetch_file

PATH: Final = "/.well-known/agent-registration.json"
MOST_ASKED: Final = 2
"""Domains of one agent."""
_UNREAD: Final = (FileSource.REFUSED, FileSource.UNREACHABLE, FileSource.MALFORMED)


class DomainProof(StrEnum):
    """What the domain of a door says of the agent."""

    VERIFIED = "verified"
    NOT_NAMED = "not_named"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    MALFORMED = "malformed"
    NOT_ASKED = "not_asked"


def check_domains(
    endpoints: Sequence[str],
    *,
    named: AgentId,
    uri: str,
    file: AgentFile,
    seconds: float,
    allows_private: bool = False,
) -> Mapping[str, DomainProof]:
    """By endpoint: the first MOST_ASKED domains are asked within `seconds` in all, from public addresses alone.

    The domain that served the agent's own file, at `uri`, has said so already. Never raises.
    """
    origins = {endpoint: origin for endpoint in endpoints if (origin := _origin(endpoint))}
    proofs: dict[str, DomainProof] = {}
    served_by = _origin(uri)
    if file.source is FileSource.FETCHED and served_by:
        proofs[served_by] = DomainProof.VERIFIED
    asked = [each for each in dict.fromkeys(origins.values()) if each not in proofs][:MOST_ASKED]
    for origin in asked:
        found = fetch_file(origin + PATH, seconds=seconds / len(asked), allows_private=allows_private)
        if found.source in _UNREAD:
            proofs[origin] = DomainProof(found.source.value)
        else:
            proofs[origin] = DomainProof.VERIFIED if _names(found.document, named) else DomainProof.NOT_NAMED
    return {each: proofs.get(origins.get(each, ""), DomainProof.NOT_ASKED) for each in endpoints}


def _names(document: Mapping[str, Any], named: AgentId) -> bool:  # Any: a stranger's JSON
    listed = document.get("registrations")
    registry = named.in_full.rpartition(":")[0].lower()
    return isinstance(listed, list) and any(
        str(each.get("agentRegistry")).lower() == registry and str(each.get("agentId")) == str(named.number)
        for each in listed
        if isinstance(each, dict)
    )


def _origin(url: str) -> str:
    """Scheme and domain of a web address; empty for anything else."""
    parts = _split(url)
    return f"{parts.scheme}://{parts.netloc.lower()}" if parts and parts.scheme in ("https", "http") else ""


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None

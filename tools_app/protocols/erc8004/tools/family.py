"""The family of the `identity_*` tools, and the words that several of them take."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.core.errors import InvalidParams
from tools_app.core.outgoing import AddressRefused, check_url
from tools_app.core.taint import redact_text
from tools_app.protocols.erc8004.addresses import CHAINS, LOCAL_CHAIN_ID, NAME
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.params import PLAIN

identity = ToolFamily(prefix="identity", category=Category.IDENTITY, chains=CHAINS, venue=NAME)

LONGEST_LINE: Final = 120
LONGEST_TEXT: Final = 600

AgentName = Annotated[str, Field(min_length=1, max_length=80, description="Name of the agent."), PLAIN]
AgentText = Annotated[str, Field(min_length=1, max_length=600, description="What it does, in plain text."), PLAIN]
Endpoint = Annotated[str, Field(min_length=8, max_length=200, description="https address.")]
Version = Annotated[str, Field(pattern=r"^[0-9A-Za-z._\-]{1,24}$", description="Version of a protocol.")]
Skill = Annotated[str, Field(pattern=r"^[0-9A-Za-z._:/\-]{1,64}$", description="Id of a skill.")]
Skills = Annotated[list[Skill], Field(max_length=10, description="Ids of skills, at most 10.")]
Handle = Annotated[str, Field(pattern=r"^[0-9A-Za-z._:%#\-]{3,120}$", description="Name or id elsewhere.")]
Tag = Annotated[str, Field(pattern=r"^[0-9A-Za-z._:/\-]{1,32}$", description="One word to find it by.")]
Score = Annotated[int, Field(ge=0, le=500, description="Hundredths of a star, 0 to 500.", strict=True)]
Trust = Annotated[
    Literal["reputation", "crypto-economic", "tee-attestation"], Field(description="How it can be trusted.")
]
Trusts = Annotated[list[Trust], Field(max_length=3, description="Ways in which it can be trusted.")]
Method = Annotated[Literal["zkml", "tee-attestation", "stake-secured"], Field(description="How it is validated.")]


def check_published(**texts: str | None) -> None:
    """What is published stays for everybody to read. Raises InvalidParams for what looks like a secret."""
    for name, text in texts.items():
        if text is not None and redact_text(text) != text:
            raise InvalidParams(
                f"{name}: it holds what looks like a secret, and would be public for ever",
                fields={name: "nothing that looks like a key, a token or a password"},
            )


def check_endpoints(**addresses: str | None) -> None:
    """Raises InvalidParams for what nobody could ask over https."""
    for name, address in addresses.items():
        if address is None:
            continue
        try:
            check_url(address, allows_private=False)
        except AddressRefused as refused:
            raise InvalidParams(f"{name}: {refused}", fields={name: str(refused)}) from None


def line(text: object) -> ForeignText:
    """A short text of a stranger."""
    return mark_foreign(text, most=LONGEST_LINE)


def passage(text: object) -> ForeignText:
    """A longer text of a stranger."""
    return mark_foreign(text, most=LONGEST_TEXT)


def is_simulated(reader: ChainReader) -> bool:
    """Whether our own contracts stand in for the registries there."""
    return reader.chain_id == LOCAL_CHAIN_ID


def percent(millionths: int) -> str:
    """`750000` -> `0.750000`: a share as decimal text."""
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"

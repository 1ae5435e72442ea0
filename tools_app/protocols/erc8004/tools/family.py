"""The family of the `identity_*` tools, and the words that several of them take."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from tools_app.protocols.erc8004.addresses import CHAINS, NAME
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.params import check_whole

identity = ToolFamily(prefix="identity", category=Category.IDENTITY, chains=CHAINS, venue=NAME)
identity_on = ToolFamily(prefix="identity", category=Category.IDENTITY, chains=CHAINS, venue=NAME, picks_chain=True)
"""For what no agent's own number says on which chain it is."""

LONGEST_LINE: Final = 120
LONGEST_TEXT: Final = 600

Tag = Annotated[str, Field(pattern=r"^[0-9A-Za-z._:/\-]{1,32}$", description="One word to find it by.")]
Score = Annotated[int, Field(ge=0, le=500, description="Hundredths of a star, 0 to 500."), BeforeValidator(check_whole)]
Method = Annotated[Literal["zkml", "tee-attestation", "stake-secured"], Field(description="How it is validated.")]


def line(text: object) -> ForeignText:
    """A short text of a stranger."""
    return mark_foreign(text, most=LONGEST_LINE)


def passage(text: object) -> ForeignText:
    """A longer text of a stranger."""
    return mark_foreign(text, most=LONGEST_TEXT)


def percent(millionths: int) -> str:
    """`750000` -> `0.750000`: a share as decimal text."""
    return f"{millionths // 10**6}.{millionths % 10**6:06d}"

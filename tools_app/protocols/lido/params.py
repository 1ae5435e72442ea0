"""Parameters that only Lido's tools take."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

StakedToken = Annotated[
    Literal["stETH", "wstETH"], Field(description="stETH, whose balance grows, or wstETH, whose balance stands still.")
]

"""Aave V3 declared as a protocol: its contracts, tools, readers of positions and effects, in one value."""

from __future__ import annotations

from tools_app.protocols.aave_v3.addresses import deployments
from tools_app.standards.aave_like.protocol import describe_lender

PROTOCOL = describe_lender(
    name="aave_v3", label="Aave V3", prefix="aave", listed_as=("aave-v3",), deployments=deployments
)

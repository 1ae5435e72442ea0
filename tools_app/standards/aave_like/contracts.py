"""Names the contracts of a lender of Aave's code that are asked and called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tools_app.core.stored_json import read_stored

Deployments: TypeAlias = Callable[[int], Mapping[str, str] | None]
"""Every contract of a lender on a chain by key; None where it is not."""


@dataclass(frozen=True, slots=True)
class PoolContracts:
    """Those of one chain."""

    pool: str
    oracle: str
    data_provider: str


def contracts_on(deployments: Deployments, chain_id: int) -> PoolContracts | None:
    """The contracts of a chain; None where the lender is not."""
    found = deployments(chain_id)
    return None if found is None else read_stored(PoolContracts, found)

"""Reads that all have to answer."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.toolkit.context import AbiValues, ChainReader, ReadCall


def read_all(reader: ChainReader, calls: Sequence[ReadCall]) -> list[AbiValues]:
    """The values of every read of one batch. Raises ContractOutputUnexpected for one that has no answer."""
    outcomes = reader.call_many(calls)
    for call, outcome in zip(calls, outcomes, strict=True):
        if not outcome.ok:
            raise ContractOutputUnexpected(f"{call.to} does not answer: {outcome.revert_reason}", address=call.to)
    return [outcome.values for outcome in outcomes]

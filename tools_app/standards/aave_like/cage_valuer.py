"""Describes the cage's valuer of an account at a lender of Aave's code."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.contracts import contracts_on
from tools_app.standards.aave_like.reads import answer_of
from tools_app.toolkit.context import AbiValues, ReadCall
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Valuer


def list_reserve_tokens(pool: str) -> Reads[list[tuple[str, str, str]]]:
    """Asset, receipt and debt token of every reserve, in the pool's order. Raises PositionsUnreadable."""
    (listed,) = yield [ReadCall(pool, signatures.RESERVES_LIST)]
    (reserves,) = answer_of(listed, "the pool")
    outcomes = yield [ReadCall(pool, signatures.RESERVE, (asset,)) for asset in reserves]
    told = [answer_of(outcome, "the pool")[0] for outcome in outcomes]
    return [(asset, data[8], data[10]) for asset, data in zip(reserves, told, strict=True)]


def describe_valuer(deployments: Callable[[int], Mapping[str, str] | None]) -> Valuer:
    """Over every reserve that the pool has when it is made; a debt in a later one is refused by it."""

    def ask(chain_id: int) -> Reads[AbiValues]:
        where = contracts_on(deployments, chain_id)
        if where is None:
            raise ValueError(f"the lender is not on chain {chain_id}")
        pool = where.pool
        return pool, (yield from list_reserve_tokens(pool))

    return Valuer(
        subject="pool",
        code="LendingValuer",
        constructor=("constructor(address pool_, (address underlying, address aToken, address debtToken)[] reserves_)"),
        arguments=ask,
        views=(
            "function pool() view returns (address)",
            "function listReserves() view returns ((address underlying, address aToken, address debtToken)[])",
        ),
    )

"""Reads how the three issuers stand and what an account has at them, read in the same batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tools_app.chain.networks import MULTICALL3
from tools_app.protocols.liquid_restaking import etherfi, kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import ETHERFI, ISSUERS, KELP, RENZO, RestakingContracts
from tools_app.protocols.liquid_restaking.issuers import Holding, Request, Standing
from tools_app.toolkit.context import AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather

MODULES: Final = {ETHERFI: etherfi, KELP: kelp, RENZO: renzo}
MOST_REQUESTS: Final = 50
"""So many requests of an account are read at an issuer that lists them; only the account itself opens any there."""
BLOCK: Final = "function getBlockNumber() view returns (uint256)"
TIME: Final = "function getCurrentBlockTimestamp() view returns (uint256)"


def ask_standings(at: RestakingContracts, issuers: Sequence[str]) -> Reads[dict[str, Standing]]:
    """How issuers stand, in one batch. Raises PositionsUnreadable."""
    told = yield from gather(*(MODULES[each].standing_calls(at) for each in issuers))
    return {each: MODULES[each].parse_standing(_values(part), at) for each, part in zip(issuers, told, strict=True)}


def ask_holdings(at: RestakingContracts, account: str, numbers: Sequence[int]) -> Reads[list[Holding]]:
    """What an account has, by issuer; `numbers` are those of ether.fi's requests to look for, which nothing lists.

    Where the account has more of them, the newest of all are looked at: a plan that opens one is measured so. One batch
    for who has nothing, two for who has, one more each for requests at Renzo and such new ones. Raises
    PositionsUnreadable.
    """
    issuers = ISSUERS
    *told, of_numbers = yield from gather(
        *(MODULES[each].account_calls(at, account) for each in issuers), etherfi.request_calls(at, numbers)
    )
    balances = {each: _values(part) for each, part in zip(issuers, told, strict=True)}
    counts = {each: _count(each, balances[each]) for each in issuers}
    held = [
        each
        for each in issuers
        if counts[each] or balances[each][0][0] or (each == ETHERFI and (balances[each][1][0] or balances[each][2][0]))
    ]
    if not held:
        return []
    (of_account,), (next_number,) = balances[ETHERFI][2:]
    own = sum(1 for outcome in of_numbers[1::3] if outcome.ok and str(outcome.values[0]) == account)
    if of_account > own:
        more = [each for each in etherfi.list_newest(int(next_number)) if each not in numbers]
        of_numbers = [*of_numbers, *(yield etherfi.request_calls(at, more))]
        numbers = [*numbers, *more]
    reads = [_listed(each, at, account, min(counts[each], MOST_REQUESTS)) for each in held]
    clock = [ReadCall(MULTICALL3, BLOCK), ReadCall(MULTICALL3, TIME)]
    of_clock, *rest = yield from gather(clock, *(MODULES[each].standing_calls(at) for each in held), *reads)
    (block,), (now,) = _values(of_clock)
    found = []
    for index, each in enumerate(held):
        standing = MODULES[each].parse_standing(_values(rest[index]), at)
        listed = _values(rest[len(held) + index])
        has_more = counts[each] > MOST_REQUESTS
        if each == ETHERFI:
            mine = etherfi.parse_requests(numbers, of_numbers, account, standing)
            found.append(etherfi.parse_holding(balances[each], standing, mine))
        elif each == KELP:
            mine = kelp.parse_requests(listed, standing, block=int(block), now=int(now))
            found.append(kelp.parse_holding(balances[each], standing, mine, has_more=has_more))
        else:
            queued = (yield renzo.queued_calls(at, account, listed)) if listed else []
            mine = renzo.parse_requests(listed, _values(queued), standing, now=int(now))
            found.append(renzo.parse_holding(balances[each], standing, mine, has_more=has_more))
    return found


def find_request(holdings: Sequence[Holding], request_id: str) -> Request | None:
    """The request of an id among what an account has."""
    return next((one for each in holdings for one in each.requests if one.id == request_id), None)


def holding_of(holdings: Sequence[Holding], issuer: str, standing: Standing) -> Holding:
    """What an account has at one issuer, which may be nothing, with the issuer as it stands."""
    found = next((each for each in holdings if each.issuer == issuer), None)
    return Holding(issuer, standing, 0, 0, ()) if found is None else replace(found, standing=standing)


def _listed(issuer: str, at: RestakingContracts, account: str, count: int) -> list[ReadCall]:
    if issuer == KELP:
        return kelp.request_calls(at, account, count)
    return renzo.request_calls(at, account, count) if issuer == RENZO else []


def _count(issuer: str, balances: Sequence[AbiValues]) -> int:
    if issuer == KELP:
        begin, end = balances[1]
        return int(end) - int(begin)
    return int(balances[1][0]) if issuer == RENZO else 0


def _values(outcomes: Sequence[ReadOutcome]) -> list[AbiValues]:
    for outcome in outcomes:
        if not outcome.ok:
            raise PositionsUnreadable(f"an issuer of restaked ether does not answer: {outcome.revert_reason}")
    return [outcome.values for outcome in outcomes]

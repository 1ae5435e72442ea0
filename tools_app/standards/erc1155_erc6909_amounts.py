"""So many of one number: what leaves or comes of a token that keeps many kinds under one contract.

ERC-1155 and ERC-6909 tell by the same call how many of a number an account has. A plan that names an amount promises
what both sides have afterwards, and is held to it in the simulation.
See docs/decisions/0546-tokens-of-many-kinds-a-plan-names-how-many.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from tools_app.core.errors import GolemError, InsufficientBalance, Recovery
from tools_app.standards.one_of_a_kind_tokens import OF_MANY, ONE, SUPPORTS
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import AmountGiven, TxPlan
from tools_app.toolkit.positions import Gauge, GaugeBound

HAS: Final = "function balanceOf(address account, uint256 id) view returns (uint256)"
NOBODY: Final = "0x" + "0" * 40


class AmountUncounted(
    GolemError, status=422, recovery=Recovery.GIVE_UP, title="How many of one number would leave cannot be held to"
):
    """Nobody can count how many of a number would leave, or they would leave for somebody whom the plan does not pay.
    `data`: contract, token_id.
    """


def hold_amounts(plan: TxPlan, chain: ChainReader, account: str) -> TxPlan:
    """The plan with what it promises of each number: that the account keeps, and whoever is given has, so many.

    Raises AmountUncounted, InsufficientBalance, and what the chain raises.
    """
    _check_kinds(plan, chain)
    for each in plan.amounts:
        if each.raw <= 0:
            raise _refuse(each, "no amount is said")
        if each.recipient not in (account, NOBODY, *plan.recipients):
            raise _refuse(each, f"{each.recipient} is not among those whom the plan pays")
    changes = _list_changes(plan.amounts, account)
    told = chain.call_many([ReadCall(contract, HAS, (who, number)) for who, contract, number in changes])
    bounds = []
    for (place, change), answer in zip(changes.items(), told, strict=True):
        who, contract, number = place
        one = next(each for each in plan.amounts if (each.contract, each.token_id) == (contract, number))
        if not answer.ok:
            raise _refuse(one, "its contract does not tell how many there are")
        least = int(answer.values[0]) + change
        if least < 0:
            raise InsufficientBalance(
                f"the golem has {answer.values[0]} of number {number} of {contract}; {-change} would leave",
                token=contract,
                token_id=str(number),
                have=str(answer.values[0]),
                need=str(-change),
            )
        holder = "the golem" if who == account else who
        bounds.append(GaugeBound(Gauge(f"what {holder} has of number {number}", contract, HAS, (who, number)), least))
    return replace(plan, gauges=(*plan.gauges, *bounds))


def _check_kinds(plan: TxPlan, chain: ChainReader) -> None:
    """That each contract says it keeps many of one number, and not that it is of a kind."""
    by_contract = {each.contract: each for each in plan.amounts}
    asked = [(contract, kind) for contract in by_contract for kind in (ONE, *OF_MANY.values())]
    told = chain.call_many([ReadCall(contract, SUPPORTS, (kind,)) for contract, kind in asked])
    said = {place: bool(each.ok and each.values[0]) for place, each in zip(asked, told, strict=True)}
    for contract, amount in by_contract.items():
        if said[contract, ONE] or not any(said[contract, kind] for kind in OF_MANY.values()):
            raise _refuse(amount, f"does not say that it is {' or '.join(OF_MANY)} and no other")


def _list_changes(amounts: Iterable[AmountGiven], account: str) -> Mapping[tuple[str, str, int], int]:
    """How many more or fewer each side has of a number, by (who, contract, number); what is burnt has nobody."""
    changes: dict[tuple[str, str, int], int] = defaultdict(int)
    for each in amounts:
        if each.recipient != account:
            changes[account, each.contract, each.token_id] -= each.raw
        if each.recipient != NOBODY:
            changes[each.recipient, each.contract, each.token_id] += each.raw
    return changes


def _refuse(amount: AmountGiven, why: str) -> AmountUncounted:
    return AmountUncounted(
        f"{amount.raw} of number {amount.token_id} of {amount.contract} cannot be held to: {why}",
        contract=amount.contract,
        token_id=str(amount.token_id),
    )

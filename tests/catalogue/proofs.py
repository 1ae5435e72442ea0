"""What is true of every case: each proof answers what is wrong, in words; nothing is agreement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from permits_app.hook_rejection import Reject
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.contract import call_key
from permits_app.policy_cage.suggested_rules import call_rules
from permits_app.reviewers.safety_guardian import review
from permits_app.safety.assets import find_wrapped_native
from permits_app.safety.hook import Allow, HookCall
from permits_app.safety.hooks.allowlist_guard import find_unlisted
from permits_app.safety.hooks.simulator import Simulator, find_undeclared, measure_action
from permits_app.safety.position_rules import find_broken, pair_up
from tests.catalogue.dialects import list_misfits
from tests.catalogue.mutations import find_listed, find_passed
from tests.catalogue.shelf import CHAIN_ID, find_write, symbols
from tests.catalogue.specified import list_missing
from tests.catalogue.stage import Stage, address_of, call_refused, is_near
from tests.catalogue.ways_out import leave_everything
from tests.permits_app.safety.calls import read_standing
from tools_app.core.errors import GolemError
from tools_app.core.units import value_in_micro_usd
from tools_app.simulation.engine import SimulationResult
from tools_app.standards import erc20
from tools_app.standards.calldata import calls as is_call
from tools_app.toolkit.case import About, Amount, Case
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Position
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE

CENT: Final = 10_000
OLD_DAYS: Final = 300
MOST_RUN: Final = 12
_APPROVE: Final = "function approve(address,uint256)"
_OWNERS_SEND: Final = frozenset(
    {
        *("identity_update_metadata", "identity_transfer_ownership", "identity_submit_feedback"),
        *("identity_verify_agent", "identity_claim_milestone"),
        "metamask_redeem_runway",
    }
)
"""No cage is suggested these: a stolen key would give the golem's identity away, or speak in its name (decisions 0357
and 0409), or draw on somebody's money, of which no cage knows whose it is (decision 0451)."""


@dataclass
class Trial:
    """One case about to be carried out: the call as hooks see it, and what its simulation measured."""

    stage: Stage
    case: Case
    call: HookCall
    simulation: SimulationResult

    @property
    def plan(self) -> TxPlan:
        assert self.call.plan is not None
        return self.call.plan


Proof = Callable[[Trial], list[str]]


def begin(stage: Stage, case: Case) -> Trial:
    """Plan the case and simulate it as hook 5 does; a refusal is a failure."""
    call = stage.call(case)
    verdict = Simulator().check(call)
    assert isinstance(verdict, Allow) and verdict.simulation is not None, f"hook 5 refuses {case.id}: {verdict}"
    return Trial(stage, case, call, verdict.simulation)


def fits_every_dialect(trial: Trial) -> list[str]:
    """Agents of every provider can say it."""
    return list_misfits(find_write(trial.case), trial.stage.params(trial.case))


def moves_exactly_what_it_says(trial: Trial) -> list[str]:
    """Wallet, what lies in positions, and debts, as simulated; every token that is not named stays."""
    case, simulation = trial.case, trial.simulation
    before, after = simulation.positions_before or (), simulation.positions_after or ()
    account = trial.stage.account
    wallet = {token: simulation.delta_of(account, token) for token in _watched(simulation, account)}
    held = _minus(_legs(after, 1), _legs(before, 1))
    owed = _minus(_legs(after, -1), _legs(before, -1))
    return [
        *_compare("the wallet", wallet, case.moves, case.rounding),
        *_compare("what is held in positions", held, case.holds, case.rounding),
        *_compare("what is owed", owed, case.owes, case.rounding),
        *(
            f"the plan grants and says nothing of it: {each}"
            for each in find_undeclared(plan=trial.plan, simulation=simulation)
        ),
        *(
            f"{each.token.symbol} stays allowed to {each.spender}"
            for each in trial.plan.allowances
            if not each.token.is_native
            and not each.through
            and simulation.allowances_after[each.token.address, account, each.spender] > each.left
        ),
    ]


def is_read_alike_by_the_guardian(trial: Trial) -> list[str]:
    """Who did not make the plan reads the same in its bytes, and approves."""
    return list(review(trial.call).reasons)


def is_refused_with_any_word_changed(trial: Trial) -> list[str]:
    """But for the words that the case lists, with the reason, as meaning nothing; and those do mean nothing."""
    passed, made, run = find_passed(trial.call, trial.case)
    listed = {mutant.what: find_listed(trial.case, mutant) for mutant in passed}
    found = [f"{what} may be another" for what, words in listed.items() if words is None]
    unused = set(trial.case.meaningless) - set(listed.values())
    found += [f"{words} is listed as meaningless and means something" for words in sorted(unused)]
    # A decoding costs next to nothing and a run about 20 ms: so a case stays well under half a second.
    return found if run <= MOST_RUN else [*found, f"{run} of {made} changes had to be run to be refused"]


def is_covered_by_what_is_suggested(trial: Trial) -> list[str]:
    """Allowlist and cage, as they are suggested, let every call and token of it pass; an owner names recipients, and
    sends what would give an identity away or rewrite it.
    """
    choices, plan = suggest_allowlist(CHAIN_ID), trial.plan
    contracts = {each.address for each in choices if each.kind == AllowlistKind.CONTRACT}
    rules = {rule.key for rule in call_rules(CHAIN_ID, contracts, valued=None)}
    uncaged = frozenset(SHELF.uncaged_on(CHAIN_ID))
    unlisted = find_unlisted(
        plan=plan,
        account=trial.stage.account,
        allowlist=frozenset((str(each.kind), each.address) for each in choices),
        wrapped_native=find_wrapped_native(trial.stage.reader()),
    )
    return [
        *(
            f"{each.address} is not suggested: {each.kind}, {each.words}"
            for each in unlisted
            if each.kind is not AllowlistKind.RECIPIENT
        ),
        *(
            f"no rule of a cage is suggested for {call.label}"
            for call in plan.calls
            if trial.case.tool not in _OWNERS_SEND
            # What no valuer can count is under no cage, and its protocol says why; nor is what leads to it.
            and not uncaged.intersection(plan.contracts)
            and not is_call(call.data, _APPROVE)
            and call_key(call.to, call.data[:4]) not in rules
        ),
    ]


def is_the_kind_that_is_measured(trial: Trial) -> list[str]:
    """The class of the action, from what was measured, is the case's."""
    assert trial.call.chain is not None
    measured = measure_action(trial.call, trial.simulation, trial.call.chain)
    return [] if measured is trial.case.is_a else [f"it is measured as {measured}"]


def refuses_what_it_says(trial: Trial) -> list[str]:
    """Each refusal of the case, by tool or hook 5, with its code and a next step."""
    found = []
    for changes, code in trial.case.refuses:
        error = call_refused(trial.stage, trial.case, **changes) or _refused_in_simulation(trial, changes)
        if error is None:
            found.append(f"{dict(changes)} passes")
        elif error.code != code:
            found.append(f"{dict(changes)} is refused with {error.code}: {error.detail}")
    return found


def refuses_a_short_balance(trial: Trial) -> list[str]:
    """With one base unit less than it spends it is refused, or spends no more than there is."""
    stage, found = trial.stage, []
    for flow in trial.plan.spends:
        if not flow.expected:
            # What earlier steps of the plan bring pays for it: of the wallet it needs nothing.
            continue
        with stage.apart():
            have = _leave(stage, flow.token.address, flow.expected - 1)
            try:
                plan = stage.call(trial.case).plan
            except GolemError as error:
                if error.code != "INSUFFICIENT_BALANCE":
                    found.append(f"short of {flow.token.symbol} it is refused with {error.code}")
                continue
            assert plan is not None
            asked = sum(each.bound for each in plan.spends if each.token.address == flow.token.address)
            if asked > have and _refused_in_simulation(trial, {}) is None:
                found.append(f"it plans to spend {asked} {flow.token.symbol} of {have}")
    return found


def holds_after_300_days_without_anybody(trial: Trial) -> list[str]:
    """Interest that nobody counted yet breaks neither its plan nor what was planned before."""
    stage, case = trial.stage, trial.case
    with stage.apart():
        stage.pass_days(OLD_DAYS)
        try:
            call = stage.call(case)
            verdict = Simulator().check(call)
            error = verdict.as_error("simulator") if isinstance(verdict, Reject) else None
        except GolemError as refused:
            error = refused
        if error is not None:
            return [] if error.code == case.when_old else [f"it is refused with {error.code}: {error.detail}"]
        if case.when_old:
            return [f"it passes, and the case says {case.when_old}"]
        return [f"the guardian: {reason}" for reason in review(call).reasons]


def keeps_the_worth_and_reports_what_happened(trial: Trial) -> list[str]:
    """Carried out: the worth is what it was but for fees, nobody else's position moved, and the report says so."""
    stage, case, plan = trial.stage, trial.case, trial.plan
    before, there = stage.holdings(), stage.positions()
    outcome = stage.carry_out(plan)
    told = stage.note(case, outcome)
    after, now_there = stage.holdings(), stage.positions()
    found = [f"the report lacks the receipt's {word}" for word in _missing_in(told, outcome.receipts)]
    found += [
        f"the report says {told.get(key)!r} for {key}"
        for key, wanted in case.tells.items()
        if (not _is_told(told.get(key), wanted) if isinstance(wanted, About) else told.get(key) != wanted)
    ]
    found += [f"the report lacks {field}, which was specified" for field in list_missing(case.tool, told)]
    fees = sum(receipt.fee for receipt in outcome.receipts)
    change = after.nav_micro_usd - before.nav_micro_usd + _worth(stage, NATIVE, fees)
    moved = max((_worth(stage, address_of(symbol), _size(raw)) for symbol, raw in _all_amounts(case)), default=0)
    if not -moved * case.loses_bps // 10_000 - CENT <= change <= moved * case.gains_bps // 10_000 + CENT:
        found.append(f"the worth changed by {change} micro-USD besides gas, of {moved} moved")
    broken = find_broken(plan.changes, pair_up(there, now_there), room=40 * len(plan.calls))
    if broken is not None:
        found.append(f"mined it is other than planned: {broken}")
    return found


def gets_out_under_a_halt(trial: Trial) -> list[str]:
    """After it a halt leaves, by calls that a halted golem may sign, until nothing is left or something must be waited
    for; after 300 days too.
    """
    stage = trial.stage
    found = []
    with stage.apart():
        found += [f"at once: {each}" for each in leave_everything(stage, may_be_stuck=False)]
    with stage.apart():
        stage.pass_days(OLD_DAYS)
        found += [f"after 300 days: {each}" for each in leave_everything(stage, may_be_stuck=True)]
    return found


BEFORE: Final[tuple[Proof, ...]] = (
    fits_every_dialect,
    moves_exactly_what_it_says,
    is_read_alike_by_the_guardian,
    is_refused_with_any_word_changed,
    is_covered_by_what_is_suggested,
    is_the_kind_that_is_measured,
    refuses_what_it_says,
    refuses_a_short_balance,
    holds_after_300_days_without_anybody,
)
"""On the state before the case."""
AFTER: Final[tuple[Proof, ...]] = (keeps_the_worth_and_reports_what_happened, gets_out_under_a_halt)
"""These carry it out."""


# ---- below ----------------------------------------------------------------------------------------------------------


def _refused_in_simulation(trial: Trial, changes: Mapping[str, Any]) -> GolemError | None:
    try:
        verdict = Simulator().check(trial.stage.call(trial.case, **changes))
    except GolemError as error:
        return error
    return verdict.as_error("simulator") if isinstance(verdict, Reject) else None


def _leave(stage: Stage, token: str, raw: int) -> int:
    """Take so much of a token away from the golem that only this is left; of the coin it keeps nothing for gas."""
    rpc = stage.world.rpc
    if token == NATIVE:
        rpc.call("anvil_setBalance", stage.account, hex(raw))
        return raw
    away = rpc.balance_of(token, stage.account) - raw
    if away > 0:
        plan = TxPlan(
            CHAIN_ID, (erc20.transfer(token=stage.reader().token(token), recipient="0x" + "44" * 20, amount=away),)
        )
        stage.send(plan)
    return int(rpc.balance_of(token, stage.account))


def _watched(simulation: SimulationResult, account: str) -> list[str]:
    claims = {
        token
        for each in (*(simulation.positions_before or ()), *(simulation.positions_after or ()))
        for token in each.claim_tokens
    }
    moved = {token for holder, token in simulation.balances_before if holder == account}
    moved |= {seen.token for seen in simulation.unexpected_transfers if seen.token_id is None}
    return sorted(moved - claims)


def _legs(positions: tuple[Position, ...], sign: int) -> dict[str, int]:
    sums: dict[str, int] = {}
    for position in positions:
        for leg in position.legs:
            if leg.raw * sign > 0:
                sums[leg.token] = sums.get(leg.token, 0) + leg.raw * sign
    return sums


def _minus(after: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {token: after.get(token, 0) - before.get(token, 0) for token in {*after, *before}}


def _compare(where: str, found: Mapping[str, int], said: Mapping[str, Amount], rounding: int) -> list[str]:
    wanted = {address_of(symbol): amount for symbol, amount in said.items()}
    names = {address: symbol for symbol, address in symbols().items()}
    return [
        f"{where}: {names.get(token, token)} changes by {found.get(token, 0)}, and the case says {wanted.get(token, 0)}"
        for token in sorted({*found, *wanted})
        if not is_near(found.get(token, 0), wanted.get(token, 0), rounding=rounding)
    ]


def _missing_in(told: Any, receipts: Any) -> list[str]:
    text = str(told)
    found = [] if any(each.tx_hash in text for each in receipts) else ["hash"]
    if "block_number" in told and told["block_number"] not in {each.block_number for each in receipts}:
        found.append("block")
    if "gas_used" in told and int(told["gas_used"]) != sum(each.gas_used for each in receipts):
        found.append("gas")
    return found


def _is_told(found: Any, wanted: About) -> bool:
    return found is not None and is_near(int(found), wanted, rounding=0)


def _all_amounts(case: Case) -> list[tuple[str, Amount]]:
    return [pair for amounts in (case.moves, case.holds, case.owes) for pair in amounts.items()]


def _size(amount: Amount) -> int:
    return abs(amount.raw if isinstance(amount, About) else amount)


def _worth(stage: Stage, token: str, raw: int) -> int:
    reader = stage.reader()
    meta = reader.native() if token == NATIVE else reader.token(token)
    price = reader.price(meta)
    return value_in_micro_usd(raw=raw, token_decimals=meta.decimals, price=price.answer, price_decimals=price.decimals)


def find_wrong(stage: Stage, case: Case) -> list[str]:
    """What is not true of a case whose beginnings are prepared: every proof's findings, with its name."""
    stage.standing = read_standing(stage.live)
    # What the proofs before did is undone: what was planned then is carried out as it is.
    trial = begin(stage, case)
    wrong = [(proof.__name__, each) for proof in (*BEFORE, *AFTER) for each in proof(trial)]
    return [f"{name}: {each}" for name, each in wrong]

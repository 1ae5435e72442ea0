"""Reads for a pre-flight what it needs of the chain: one simulation of the calls between two looks at the cage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.call_rules import list_rights
from permits_app.policy_cage.contract import PERMIT2, RuleKind, decode_cage_error
from permits_app.policy_cage.preflight_types import Measured, Observed, Refusal, Right
from permits_app.policy_cage.safe_tx import IS_MODULE_ENABLED, NONCE, ZERO_ADDRESS
from permits_app.policy_cage.safe_watch import GET_STORAGE, GUARD_SLOT, MODULE_GUARD_SLOT
from permits_app.policy_cage.state import CageState
from tools_app.chain.abi import checksum, decode_output, encode_call
from tools_app.chain.feeds import LATEST_ROUND
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import CallOutcome, SimulationRequest
from tools_app.simulation.select import run_simulation
from tools_app.standards.loan_callback import HANDLER_SLOT
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.enums import EngineSetting, RiskTier
from tools_app.toolkit.plan import Call

_DELEGATION_BYTES = 23
_ALLOWANCE = "function allowance(address account, address spender) view returns (uint256)"
_PERMIT2_ALLOWANCE = (
    "function allowance(address account, address token, address spender)"
    " view returns (uint160 amount, uint48 expiration, uint48 nonce)"
)
_OWNER = "function owner() view returns (address)"
_IS_OWNER = "function isOwner(address owner) view returns (bool)"
_MEASURE_BEFORE_8 = (
    "function measure() view returns ((uint256[] balances, uint256[] values, uint256[] gross, uint256[] debts,"
    " uint256[] largest, uint256[] newest, int256 total, uint256[] covers, int256[] exposures, uint256[] held))"
)
_LISTS_BEFORE_8 = 10
_HOOK_SLOTS = (GUARD_SLOT, MODULE_GUARD_SLOT, HANDLER_SLOT)


@dataclass(frozen=True, slots=True)
class _Account:
    """What the Safe is: its guards and handler, which targets are its modules or its own, whether the key owns it."""

    hooks: frozenset[str]
    modules: frozenset[str]
    owned: frozenset[str]
    is_key_owner: bool


def observe_batch(
    *,
    state: CageState,
    calls: Sequence[Call],
    chain: ChainReader,
    now: int,
    deadline: Deadline,
    risk_tier: RiskTier | None = None,
    setting: EngineSetting = EngineSetting.AUTO,
) -> Observed:
    """Run `calls` from the account and see what the cage would see. `now` in unix seconds.

    Raises SimulationUnavailable, SimulationTimeout, SimulationDisagrees, and what a node raises.
    """
    rights = list_rights(state, calls)
    asked = [_ask_right(right, state.account) for right in rights]
    look = Call(to=state.cage, data=encode_call(FUNCTIONS["measure"]), value=0, label="what the cage sees")
    count = Call(to=state.account, data=encode_call(NONCE), value=0, label="what the Safe has sent")
    prices = [
        Call(to=state.cage, data=encode_call(FUNCTIONS["priceOf"], asset), value=0, label="a price")
        for asset in state.assets
    ]
    standing = _ask_standing(state)
    request = SimulationRequest(
        chain_id=chain.chain_id,
        sender=state.account,
        calls=(look, *prices, *standing, *asked, count, *calls, look, *asked, count),
        block=chain.block,
    )
    result = run_simulation(request, deadline=deadline, risk_tier=risk_tier, setting=setting)
    outcomes = iter(result.calls)

    def take(count: int) -> list[CallOutcome]:
        return [next(outcomes) for _ in range(count)]

    [before], priced, [seen, *sequencer] = take(1), take(len(prices)), take(len(standing))
    held, [sent] = take(len(rights)), take(1)
    ran, [after], held_after, [sent_after] = take(len(calls)), take(1), take(len(rights)), take(1)
    nonce = _read_count(sent)
    at = max(now, chain.block.timestamp + 1)
    failed = next((index for index, outcome in enumerate(ran) if not outcome.succeeded), None)
    targets = list(dict.fromkeys(call.to for call in calls))
    account = _look_at_account(chain, state, targets)
    return Observed(
        now=at,
        prices={asset: _read_price(one) for asset, one in zip(state.assets, priced, strict=True)},
        before=_read_measure(before),
        after=None if failed is not None else _read_measure(after),
        failure=None if failed is None else Refusal("CallFailed", (failed, ran[failed].output)),
        codeless=frozenset(to for to in targets if not is_contract(chain.code(to))),
        hooks=account.hooks,
        modules=account.modules,
        owned=account.owned,
        is_key_owner=account.is_key_owner,
        nonce=nonce,
        acted=_read_count(sent_after) - nonce,
        has_account_code=is_contract(chain.code(state.account)),
        seen_prices=int.from_bytes(seen.output[:32], "big") if seen.succeeded else 0,
        sequencer=_read_sequencer(sequencer),
        rights_before={right: _read_right(right, one, at) for right, one in zip(rights, held, strict=True)},
        rights_after={right: _read_right(right, one, at) for right, one in zip(rights, held_after, strict=True)},
    )


def is_contract(code: bytes) -> bool:
    """Whether the cage takes this for a contract: there is code, and it is no delegation of an EOA (EIP-7702)."""
    return len(code) not in (0, _DELEGATION_BYTES)


def read_measured(output: bytes) -> Measured:
    """What `measure` of the contract answered, of this version or of one before it."""
    # Where the first list lies tells how many there are.
    is_former = int.from_bytes(output[32:64], "big") == 32 * _LISTS_BEFORE_8
    signature = _MEASURE_BEFORE_8 if is_former else FUNCTIONS["measure"]
    [(balances, _, gross, debts, largest, newest, _, *rest)] = decode_output(signature, output)
    return Measured(balances, gross, debts, largest, newest, *rest)


def _ask_right(right: Right, account: str) -> Call:
    data = (
        encode_call(_PERMIT2_ALLOWANCE, account, right.token, right.spender)
        if right.is_of_permit2
        else encode_call(_ALLOWANCE, account, right.spender)
    )
    return Call(to=PERMIT2 if right.is_of_permit2 else right.token, data=data, value=0, label="an allowance")


def _read_right(right: Right, outcome: CallOutcome, at: int) -> int | Refusal:
    is_read = outcome.succeeded and len(outcome.output) >= 32
    if not right.is_of_permit2:
        return int.from_bytes(outcome.output[:32], "big") if is_read else Refusal("BalanceUnreadable", (right.token,))
    if not is_read:
        return Refusal("")
    amount, expiration, _ = decode_output(_PERMIT2_ALLOWANCE, outcome.output)
    return 0 if expiration < at else int(amount)


def _ask_standing(state: CageState) -> list[Call]:
    """The prices of the last batch, and the feed of the chain's sequencer where the rules name one."""
    asked = [Call(to=state.cage, data=encode_call(FUNCTIONS["seenPrices"]), value=0, label="the last batch's prices")]
    feed = state.rule(RuleKind.SEQUENCER, bytes(32)) & (1 << 160) - 1
    if feed:
        asked.append(
            Call(to=checksum(f"0x{feed:040x}"), data=encode_call(LATEST_ROUND), value=0, label="the sequencer")
        )
    return asked


def _read_sequencer(outcomes: Sequence[CallOutcome]) -> tuple[int, int] | None:
    for outcome in outcomes:
        if outcome.succeeded and len(outcome.output) >= 160:
            _, answer, since, _, _ = decode_output(LATEST_ROUND, outcome.output)
            return answer, since
    return None


def _read_price(outcome: CallOutcome) -> tuple[int, int] | Refusal:
    if not outcome.succeeded:
        return _read_refusal(outcome)
    answer, unit = decode_output(FUNCTIONS["priceOf"], outcome.output)
    return answer, unit


def _read_measure(outcome: CallOutcome) -> Measured | Refusal:
    if not outcome.succeeded:
        return _read_refusal(outcome)
    return read_measured(outcome.output)


def _read_refusal(outcome: CallOutcome) -> Refusal:
    reason = decode_cage_error(outcome.output)
    return Refusal(reason.name or "", tuple(reason.args.values()))


def _look_at_account(chain: ChainReader, state: CageState, targets: Sequence[str]) -> _Account:
    """What the Safe says of itself and of `targets`, and what those say of their owner: one batch of reads."""
    account = state.account
    outcomes = iter(
        chain.call_many(
            [
                *(ReadCall(account, GET_STORAGE, (slot, 1)) for slot in _HOOK_SLOTS),
                *(ReadCall(account, IS_MODULE_ENABLED, (target,)) for target in targets),
                *(ReadCall(target, _OWNER, ()) for target in targets),
                ReadCall(account, _IS_OWNER, (state.session.key,)),
            ]
        )
    )
    hooks = [next(outcomes) for _ in _HOOK_SLOTS]
    enabled = [next(outcomes) for _ in targets]
    owners = [next(outcomes) for _ in targets]
    [is_owner] = outcomes
    found = {checksum("0x" + hook.values[0][-20:].hex()) for hook in hooks if hook.ok}
    return _Account(
        hooks=frozenset(found | {ZERO_ADDRESS}),
        modules=frozenset(to for to, one in zip(targets, enabled, strict=True) if one.ok and one.values[0]),
        owned=frozenset(to for to, one in zip(targets, owners, strict=True) if one.ok and one.values[0] == account),
        is_key_owner=is_owner.ok and bool(is_owner.values[0]),
    )


def _read_count(outcome: CallOutcome) -> int:
    """The Safe's nonce; an account that has none never signs."""
    return int.from_bytes(outcome.output[:32], "big") if outcome.succeeded and len(outcome.output) >= 32 else 0

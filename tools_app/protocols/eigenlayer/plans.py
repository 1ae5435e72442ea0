"""The calls that deposit, delegate, leave an operator, queue and complete, with what each promises to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.protocols.eigenlayer.addresses import DELEGATION, DEPOSITS, NAME
from tools_app.protocols.eigenlayer.math import WAD
from tools_app.protocols.eigenlayer.positions import KIND, deposit_ref, withdrawal_ref
from tools_app.protocols.eigenlayer.reads import NOBODY, Deposited, Waiting
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, Statement, TxPlan
from tools_app.toolkit.positions import REQUEST_KIND, PositionChange, PositionRef
from tools_app.toolkit.views import TokenMeta

DEPOSIT: Final = "function depositIntoStrategy(address strategy, address token, uint256 amount)"
DELEGATE: Final = "function delegateTo(address operator, (bytes signature, uint256 expiry) approval, bytes32 salt)"
REDELEGATE: Final = "function redelegate(address operator, (bytes signature, uint256 expiry) approval, bytes32 salt)"
UNDELEGATE: Final = "function undelegate(address staker)"
QUEUE: Final = (
    "function queueWithdrawals((address[] strategies, uint256[] depositShares, address withdrawer)[] withdrawals)"
)
COMPLETE: Final = (
    "function completeQueuedWithdrawal((address staker, address delegatedTo, address withdrawer, uint256 nonce,"
    " uint32 startBlock, address[] strategies, uint256[] scaledShares) withdrawal, address[] tokens,"
    " bool receiveAsTokens)"
)
ROUNDING: Final = 2
"""Base units that whole shares may leave of an amount."""
FACTOR_ROUNDING: Final = 4
"""Of a factor of eighteen decimals: so many base units of each whole share."""
_NO_APPROVAL: Final = (b"", 0)
_NO_SALT: Final = bytes(32)


def plan_deposit(
    reader: ChainReader,
    account: str,
    at: Mapping[str, str],
    strategy: str,
    token: TokenMeta,
    amount: int,
    *,
    deposited: int = 0,
) -> TxPlan:
    """Put tokens into a strategy in which there are `deposited` shares. Raises InsufficientBalance,
    ContractOutputUnexpected.

    What is there and what comes are held by one factor of eighteen decimals, whose rounding costs a little of both.
    """
    draft = PlanDraft(reader.chain_id, account)
    draft.pay(reader, token, amount, to=at[DEPOSITS])
    data = encode_call(DEPOSIT, strategy, token.address, amount)
    draft.call(Call(at[DEPOSITS], data, 0, f"Deposit {token.symbol} for restaking"))
    slack = ROUNDING + FACTOR_ROUNDING * -(-(deposited + amount) // WAD)
    ref = deposit_ref(reader.chain_id, strategy)
    draft.changes.append(PositionChange(NAME, KIND, token.address, amount, amount - slack, ref=ref))
    return draft.finish(
        action_class=ActionClass.NEW_POSITION, details={"venue": NAME, "strategy": strategy, "amount": str(amount)}
    )


def plan_delegate(chain_id: int, account: str, at: Mapping[str, str], operator: str) -> TxPlan:
    """Delegate all of an account that is delegated to nobody."""
    draft = PlanDraft(chain_id, account)
    data = encode_call(DELEGATE, operator, _NO_APPROVAL, _NO_SALT)
    draft.call(Call(at[DELEGATION], data, 0, f"Delegate everything to operator {operator}"))
    return draft.finish(
        action_class=ActionClass.REBALANCE,
        details={"venue": NAME, "operator": operator},
        statements=(_operator(at, account, operator),),
    )


def plan_leave_operator(
    chain_id: int, account: str, at: Mapping[str, str], deposits: Sequence[Deposited], *, to: str | None = None
) -> TxPlan:
    """Leave the operator, for another where `to` names one: the contract queues every deposit."""
    draft = PlanDraft(chain_id, account)
    if to is None:
        data, said = encode_call(UNDELEGATE, account), "Leave the operator; every deposit goes into the queue"
    else:
        data = encode_call(REDELEGATE, to, _NO_APPROVAL, _NO_SALT)
        said = f"Leave the operator for {to}; every deposit goes into the queue"
    draft.call(Call(at[DELEGATION], data, 0, said))
    for held in deposits:
        draft.changes += _queued(chain_id, held, held.worth)
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        details={"venue": NAME, "operator": to},
        statements=(_operator(at, account, to or NOBODY),),
    )


def plan_queue(chain_id: int, account: str, at: Mapping[str, str], wanted: Sequence[tuple[Deposited, int]]) -> TxPlan:
    """Queue deposit shares of some strategies, at most what is deposited of each, as one withdrawal."""
    draft = PlanDraft(chain_id, account)
    entry = ([held.strategy for held, _ in wanted], [shares for _, shares in wanted], account)
    draft.call(Call(at[DELEGATION], encode_call(QUEUE, [entry]), 0, "Queue a withdrawal of restaked tokens"))
    for held, shares in wanted:
        draft.changes += _queued(chain_id, held, held.worth * shares // held.deposited)
    details = {"venue": NAME, "strategies": entry[0], "shares": [str(shares) for shares in entry[1]]}
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details=details)


def plan_complete(
    chain_id: int, account: str, at: Mapping[str, str], waiting: Waiting, tokens: Mapping[str, TokenMeta]
) -> TxPlan:
    """Take what a withdrawal gives, as tokens. `tokens` are those of its parts, by address."""
    draft = PlanDraft(chain_id, account)
    given = [part.token for part in waiting.parts]
    data = encode_call(COMPLETE, waiting.as_argument, given, True)
    draft.call(Call(at[DELEGATION], data, 0, "Complete a withdrawal of restaked tokens"))
    ref = withdrawal_ref(chain_id, waiting.root)
    for part in waiting.parts:
        if part.worth:
            draft.receive(tokens[part.token], part.worth, at_least=part.worth - ROUNDING)
            draft.changes.append(_change(REQUEST_KIND, part.token, -part.worth, ref))
    details: dict[str, object] = {"venue": NAME, "withdrawal_root": waiting.root, "tokens": given}
    return draft.finish(action_class=ActionClass.CLOSE_POSITION, details=details)


def _queued(chain_id: int, held: Deposited, worth: int) -> list[PositionChange]:
    return [
        _change(KIND, held.token, -worth, deposit_ref(chain_id, held.strategy)),
        _change(REQUEST_KIND, held.token, worth, None),
    ]


def _change(kind: str, token: str, raw: int, ref: PositionRef | None) -> PositionChange:
    return PositionChange(NAME, kind, token, raw, raw - ROUNDING, ref=ref)


def _operator(at: Mapping[str, str], account: str, operator: str) -> Statement:
    return Statement(at[DELEGATION], account, "operator", operator)

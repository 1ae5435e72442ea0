"""The binding of PolicyCage: its words as enums, its calls as bytes, its answers as values.

Everything is built from the generated signatures of `abi.py`; nothing here reads a chain or a database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from permits_app.policy_cage.abi import CONSTRUCTOR, ERRORS, EVENTS, FUNCTIONS
from permits_app.policy_cage.conditions import Condition
from permits_app.policy_cage.feed_bounds import MOST_JUMP_PERCENT, pack_bound, unpack_bound
from tools_app.chain.abi import RevertReason, checksum, decode_log, decode_revert, encode_call, encode_constructor
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

WINDOW_SECONDS: Final = 86_400
"""Length of every rolling window of the contract."""
SLOT_SECONDS: Final = 900
"""Amounts of one slot are counted together, until the youngest of them is a window old."""
GRACE_SECONDS: Final = 7 * 86_400
MOST_CALLS: Final = 32
MOST_POSITIONS: Final = 8
MOST_CONDITIONS: Final = 32
MOST_ROLES: Final = 16
"""Role 0 is the golem's own; the others may what they were given."""
MOST_RECIPIENTS: Final = 256
MOST_ALLOWANCE_SECONDS: Final = 86_400
PERMIT2: Final = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
UINT128_MAX: Final = 2**128 - 1
_MASK_112: Final = 2**112 - 1
APPROVE: Final = bytes.fromhex("095ea7b3")


class RuleKind(IntEnum):
    """What a rule is about; with its key it names one number of the owner's."""

    LIMIT = 0
    ASSET = 1
    OUTFLOW_PER_BATCH = 2
    OUTFLOW_PER_WINDOW = 3
    CALL = 4
    SPENDER = 5
    VALUER = 6
    GUARDIAN = 7
    CONDITION = 8
    ROLE_CALL = 9
    ROLE_ALLOWANCE = 10
    RECIPIENT = 11
    PAYOUT = 12
    SEQUENCER = 13


class Limit(IntEnum):
    """The scalar limits, in the contract's order. Units: bps, seconds, wei, micro-USD, ticks as the names say."""

    MAX_LOSS_BPS = 0
    MAX_WINDOW_LOSS_BPS = 1
    MAX_POSITION_BPS = 2
    MAX_CONCENTRATION_BPS = 3
    MAX_DRAWDOWN_BPS = 4
    MIN_COLLATERAL_RATIO_BPS = 5
    MIN_REBALANCE_INTERVAL_SECONDS = 6
    MAX_REBALANCES_PER_DAY = 7
    MAX_ASSETS = 8
    MAX_GAS_TOP_UP_WEI = 9
    ALLOWS_ARBITRARY_CALLS = 10
    PHASE = 11
    HIGH_WATER_MARK_MICRO_USD = 12
    MAX_SESSION_SECONDS = 13
    MAX_SESSION_OPERATIONS = 14
    MAX_SESSION_BUDGET_MICRO_USD = 15
    MIN_COVER_BPS = 16
    MIN_RANGE_TICKS = 17
    MAX_POOLED_PER_DAY_BPS = 18


class BatchClass(IntEnum):
    """What a batch did to the account."""

    LEAVING = 0
    REBALANCE = 1
    OPENING = 2
    OPENING_AND_REBALANCE = 3


class AssetState(IntEnum):
    """APPROVED assets may grow and fall; RETIRING ones only fall."""

    ABSENT = 0
    APPROVED = 1
    RETIRING = 2


@dataclass(frozen=True, slots=True)
class Rule:
    """One number of the owner's: `value` under a kind and a 32-byte key."""

    kind: RuleKind
    key: bytes
    value: int

    def as_tuple(self) -> tuple[int, bytes, int]:
        """As the contract takes it."""
        return int(self.kind), self.key, self.value


@dataclass(frozen=True, slots=True)
class AssetRule:
    """What the value of an ASSET rule packs: the feed, what it must keep to, and both scales.

    An answer may be `max_age_seconds` old, is above `least` and below `most` (in the feed's own units), and differs by
    at most `most_jump_percent` from that of the last batch. Of these 0 asks nothing. Bounds are kept with nine bits:
    `least` is rounded up and `most` down.
    """

    feed: str
    max_age_seconds: int
    token_decimals: int
    feed_decimals: int
    state: AssetState = AssetState.APPROVED
    most_jump_percent: int = 0
    least: int = 0
    most: int = 0

    def pack(self) -> int:
        """The rule's value. Raises ValueError for a jump of more than 255 per cent."""
        if not 0 <= self.most_jump_percent <= MOST_JUMP_PERCENT:
            raise ValueError(f"a jump is of 0 to {MOST_JUMP_PERCENT} per cent")
        return (
            int(self.feed, 16)
            | self.max_age_seconds << 160
            | self.feed_decimals << 192
            | self.token_decimals << 200
            | int(self.state) << 208
            | self.most_jump_percent << 216
            | pack_bound(self.least, rounds_up=True) << 224
            | pack_bound(self.most) << 240
        )

    @classmethod
    def unpack(cls, value: int) -> AssetRule:
        """What a rule's value means."""
        return cls(
            feed=checksum(f"0x{value & (1 << 160) - 1:040x}"),
            max_age_seconds=value >> 160 & 0xFFFFFFFF,
            feed_decimals=value >> 192 & 0xFF,
            token_decimals=value >> 200 & 0xFF,
            state=AssetState(value >> 208 & 0xFF),
            most_jump_percent=value >> 216 & 0xFF,
            least=unpack_bound(value >> 224 & 0xFFFF),
            most=unpack_bound(value >> 240),
        )


@dataclass(frozen=True, slots=True)
class Refill:
    """An allowance that refills: at most `most` base units at once, of which `back` return each `period_seconds`.

    What never returns has neither.
    """

    most: int
    back: int = 0
    period_seconds: int = 0

    def pack(self) -> int:
        """The rule's value. Raises ValueError for what does not fit."""
        if not 0 <= self.back <= self.most < 2**112 or not 0 <= self.period_seconds < 2**32:
            raise ValueError("what returns is at most what there is: 112 bits, and a period of 32")
        if bool(self.back) != bool(self.period_seconds):
            raise ValueError("what returns has a period, and nothing else has one")
        return self.period_seconds << 224 | self.back << 112 | self.most

    @classmethod
    def unpack(cls, value: int) -> Refill:
        """What a rule's value means."""
        return cls(most=value & _MASK_112, back=value >> 112 & _MASK_112, period_seconds=value >> 224)


# ---- keys and rules ----------------------------------------------------------------------------------------------


def address_key(address: str) -> bytes:
    """The key of an asset, a spender, or a position's target."""
    return int(address, 16).to_bytes(32, "big")


def limit_key(limit: Limit) -> bytes:
    return int(limit).to_bytes(32, "big")


def call_key(target: str, selector: bytes) -> bytes:
    """The key of a permitted call; selector `00000000` is a plain transfer of coins."""
    return (int(target, 16) << 32 | int.from_bytes(selector, "big")).to_bytes(32, "big")


def key_address(key: bytes) -> str:
    """The address in a key of an asset, a spender or a target."""
    return checksum("0x" + key[12:].hex())


def limit_rule(limit: Limit, value: int) -> Rule:
    return Rule(RuleKind.LIMIT, limit_key(limit), value)


def asset_rules(token: str, asset: AssetRule, *, per_batch: int, per_window: int) -> list[Rule]:
    """An asset with its outflow caps, in the token's base units."""
    key = address_key(token)
    return [
        Rule(RuleKind.ASSET, key, asset.pack()),
        Rule(RuleKind.OUTFLOW_PER_BATCH, key, per_batch),
        Rule(RuleKind.OUTFLOW_PER_WINDOW, key, per_window),
    ]


def condition_key(target: str, selector: bytes, place: int) -> bytes:
    """The key of one condition of a permitted call; `place` counts from 0."""
    return (int.from_bytes(call_key(target, selector), "big") << 8 | place).to_bytes(32, "big")


def call_rule(target: str, selector: bytes, *, is_allowed: bool = True) -> Rule:
    """A call allowed with any arguments, or not at all."""
    return Rule(RuleKind.CALL, call_key(target, selector), int(is_allowed))


def conditional_call_rules(target: str, selector: bytes, conditions: Sequence[Condition]) -> list[Rule]:
    """A call allowed only where every group of `conditions` has one that is met; at most MOST_CONDITIONS of them."""
    rules = [
        Rule(RuleKind.CONDITION, condition_key(target, selector, place), condition.pack())
        for place, condition in enumerate(conditions)
    ]
    return [*rules, Rule(RuleKind.CALL, call_key(target, selector), 1 + len(conditions))]


def spender_rule(spender: str, *, most_micro_usd: int) -> Rule:
    """The largest allowance a spender may have, per token, by its value when it is given."""
    return Rule(RuleKind.SPENDER, address_key(spender), most_micro_usd)


def valuer_rule(target: str, valuer: str) -> Rule:
    """What the account holds at `target` counts as `valuer` says."""
    return Rule(RuleKind.VALUER, address_key(target), int(valuer, 16))


def guardian_rule(guardian: str) -> Rule:
    return Rule(RuleKind.GUARDIAN, bytes(32), int(guardian, 16))


def sequencer_rule(feed: str, *, grace_seconds: int) -> Rule:
    """Batches run when `feed` says that the chain's sequencer has been up for that long; the zero address asks none."""
    return Rule(RuleKind.SEQUENCER, bytes(32), grace_seconds << 160 | int(feed, 16))


def role_call_key(role: int, target: str, selector: bytes) -> bytes:
    """The key of a call that a role was given of what the account may."""
    return (role << 192 | int.from_bytes(call_key(target, selector), "big")).to_bytes(32, "big")


def role_allowance_key(role: int, asset: str) -> bytes:
    """The key of what a role may let go of an asset."""
    return (role << 160 | int(asset, 16)).to_bytes(32, "big")


def payout_key(role: int, recipient: int, asset: str) -> bytes:
    """The key of what a role may pay a recipient of an asset; `recipient` is its number."""
    return (role << 168 | recipient << 160 | int(asset, 16)).to_bytes(32, "big")


def role_call_rule(role: int, target: str, selector: bytes, *, is_allowed: bool = True) -> Rule:
    """A call a role may make, under whatever the account's own rules ask of it."""
    return Rule(RuleKind.ROLE_CALL, role_call_key(role, target, selector), int(is_allowed))


def role_spender_rule(role: int, spender: str, *, is_allowed: bool = True) -> Rule:
    """Whom a role may give an allowance, up to the account's own largest one for that spender."""
    return role_call_rule(role, spender, APPROVE, is_allowed=is_allowed)


def role_allowance_rule(role: int, asset: str, refill: Refill) -> Rule:
    """What a role may let go of an asset, beside the account's own caps."""
    return Rule(RuleKind.ROLE_ALLOWANCE, role_allowance_key(role, asset), refill.pack())


def recipient_rule(number: int, recipient: str) -> Rule:
    """Who is paid under this number; the zero address for nobody."""
    return Rule(RuleKind.RECIPIENT, number.to_bytes(32, "big"), int(recipient, 16))


def payout_rule(role: int, recipient: int, asset: str, refill: Refill) -> Rule:
    """What a role may pay a recipient of an asset; `recipient` is its number."""
    return Rule(RuleKind.PAYOUT, payout_key(role, recipient, asset), refill.pack())


# ---- calls ---------------------------------------------------------------------------------------------------------


BYTES_OF_A_RULE: Final = 64
"""Two words of the constructor's list."""


def encode_deployment(creation_code: bytes, *, account: str, base_asset: str, rules: Sequence[Rule]) -> bytes:
    """The data of the transaction that creates a cage."""
    listed = [(int(rule.kind) << 248 | int.from_bytes(rule.key, "big"), rule.value) for rule in rules]
    words = [word for pair in listed for word in pair]
    return creation_code + encode_constructor(CONSTRUCTOR, account, base_asset, words)


def encode_execute(calls: Sequence[Call]) -> bytes:
    """Call data of `execute`: what a session key sends to the cage to run `calls` from the account, all or none."""
    return encode_call(FUNCTIONS["execute"], [(call.to, call.value, call.data) for call in calls])


def build_execute_call(cage: str, calls: Sequence[Call]) -> Call:
    """The one call that replaces `calls` when the golem acts through its cage."""
    label = "; ".join(call.label for call in calls)
    return Call(to=cage, data=encode_execute(calls), value=0, label=f"through the cage: {label}")


def build_payout_call(cage: str, *, recipient: int, asset: str, amount: int, label: str) -> Call:
    """The one call that pays a recipient in the golem's stead."""
    data = encode_pay_out(recipient=recipient, asset=asset, amount=amount)
    return Call(to=cage, data=data, value=0, label=f"paid out by the cage: {label}")


def encode_propose(rules: Sequence[Rule]) -> bytes:
    """For the owner's Safe: tightening takes effect at once, loosening is pending for its delay."""
    return encode_call(FUNCTIONS["propose"], [rule.as_tuple() for rule in rules])


def encode_apply_change(kind: RuleKind, key: bytes) -> bytes:
    """Anyone may send it, once the delay is over."""
    return encode_call(FUNCTIONS["applyChange"], int(kind), key)


def encode_cancel_change(kind: RuleKind, key: bytes) -> bytes:
    """For the owner's Safe."""
    return encode_call(FUNCTIONS["cancelChange"], int(kind), key)


def encode_set_session(*, key: str, expires_at: int, operations: int, budget_micro_usd: int) -> bytes:
    """For the owner's Safe; `expires_at` in unix seconds. The zero address ends the session."""
    return encode_call(FUNCTIONS["setSession"], key, expires_at, operations, budget_micro_usd)


def encode_appoint(role: int, *, key: str, expires_at: int, operations: int, budget_micro_usd: int) -> bytes:
    """For the owner's Safe: the same of any role."""
    return encode_call(FUNCTIONS["appoint"], role, key, expires_at, operations, budget_micro_usd)


def encode_pay_out(*, recipient: int, asset: str, amount: int) -> bytes:
    """For the key of a role; `recipient` is its number, `amount` in base units."""
    return encode_call(FUNCTIONS["payOut"], recipient, asset, amount)


def encode_top_up_gas(wei: int) -> bytes:
    """For the session key."""
    return encode_call(FUNCTIONS["topUpGas"], wei)


def encode_worsen_phase(phase_index: int) -> bytes:
    """For the session key; 0 thriving to 4 terminal."""
    return encode_call(FUNCTIONS["worsenPhase"], phase_index)


def encode_halt() -> bytes:
    """For the account, any owner of it, or the guardian."""
    return encode_call(FUNCTIONS["halt"])


def encode_resume() -> bytes:
    """For the owner's Safe."""
    return encode_call(FUNCTIONS["resume"])


def encode_acknowledge_drawdown() -> bytes:
    """For the owner's Safe."""
    return encode_call(FUNCTIONS["acknowledgeDrawdown"])


def encode_note_prices() -> bytes:
    """Anyone may send it, and batches run an hour later; from the owner's Safe they run at once."""
    return encode_call(FUNCTIONS["notePrices"])


# ---- answers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CageEvent:
    """One event of a cage, its arguments by name, and where it stands."""

    name: str
    args: dict[str, Any]  # Any: each is of the type that the event's signature says
    block_number: int
    log_index: int


def decode_cage_event(log: LogEntry) -> CageEvent | None:
    """The event in `log`, or None when it is none of the cage's."""
    for name, signature in EVENTS.items():
        args = decode_log(signature, log)
        if args is not None:
            return CageEvent(name=name, args=args, block_number=log.block_number, log_index=log.log_index)
    return None


def decode_cage_error(data: bytes) -> RevertReason:
    """Why the cage refused. A call that failed inside a batch is named with its own reason."""
    reason = decode_revert(data, tuple(ERRORS.values()))
    if reason.name != "CallFailed":
        return reason
    index, cause = reason.args.values()
    inner = decode_revert(cause, tuple(ERRORS.values()))
    text = f"call {index + 1} failed: {inner.text}"
    return RevertReason(text, reason.name, reason.args, data)

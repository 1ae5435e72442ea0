"""Rules of a cage in words: what one is called, and its value with its unit. Pure; asks neither chain nor database.

The same words are written when a change is asked for and when `verify_request` decodes its bytes on another machine.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from permits_app.policy_cage.conditions import Condition, Must
from permits_app.policy_cage.contract import APPROVE, AssetRule, AssetState, Limit, Refill, RuleKind, key_address
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState, SessionState
from tools_app.chain.abi import checksum
from tools_app.core.units import format_micro_usd, format_units
from tools_app.toolkit.enums import Phase
from tools_app.wording.address_names import format_token_amount, name_address
from tools_app.wording.decoded_calls import name_selector
from tools_app.wording.formats import format_bps, format_coin, format_seconds, format_ticks, shorten_hex

PHASES: Final = (Phase.THRIVING, Phase.CAUTIOUS, Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL)
LIMIT_WORDS: Final = {
    Limit.MAX_LOSS_BPS: "Most a batch may lose of what it moves",
    Limit.MAX_WINDOW_LOSS_BPS: "Most that may be lost within 24 h",
    Limit.MAX_POSITION_BPS: "One position at most",
    Limit.MAX_CONCENTRATION_BPS: "One asset at most",
    Limit.MAX_DRAWDOWN_BPS: "Drawdown at most",
    Limit.MIN_COLLATERAL_RATIO_BPS: "Collateral over debt at least",
    Limit.MIN_REBALANCE_INTERVAL_SECONDS: "Between rebalances at least",
    Limit.MAX_REBALANCES_PER_DAY: "Rebalances within 24 h",
    Limit.MAX_ASSETS: "Approved assets at most",
    Limit.MAX_GAS_TOP_UP_WEI: "Gas for the session key within 24 h",
    Limit.ALLOWS_ARBITRARY_CALLS: "Calls that are not listed",
    Limit.PHASE: "Phase",
    Limit.HIGH_WATER_MARK_MICRO_USD: "High-water mark",
    Limit.MAX_SESSION_SECONDS: "A session lasts at most",
    Limit.MAX_SESSION_OPERATIONS: "Operations of a session at most",
    Limit.MAX_SESSION_BUDGET_MICRO_USD: "Budget of a session at most",
    Limit.MIN_COVER_BPS: "Cover at liquidation over debt at least",
    Limit.MIN_RANGE_TICKS: "Range of a position in a pool at least",
    Limit.MAX_POOLED_PER_DAY_BPS: "Put into pools within 24 h at most",
}


def name_rule(kind: int, key: bytes, *, chain_id: int) -> str:
    """What the rule is about: `One asset at most`, `Calls of exactInputSingle at` a router."""
    if kind == RuleKind.LIMIT:
        number = int.from_bytes(key, "big")
        return LIMIT_WORDS[Limit(number)] if number < len(Limit) else f"Limit {number}"
    if kind == RuleKind.GUARDIAN:
        return "Guardian, who may only halt"
    if kind == RuleKind.CALL:
        packed = int.from_bytes(key, "big")
        target, selector = checksum(f"0x{packed >> 32:040x}"), (packed & 0xFFFFFFFF).to_bytes(4, "big")
        return f"Calls of {_name_function(selector)} at {show_address(chain_id, target)}"
    if kind == RuleKind.ROLE_CALL:
        return _name_role_call(int.from_bytes(key, "big"), chain_id)
    if kind == RuleKind.RECIPIENT:
        return f"Recipient {int.from_bytes(key, 'big')}, who may be paid"
    if kind == RuleKind.SEQUENCER:
        return "The chain's sequencer"
    if kind == RuleKind.CONDITION:
        packed = int.from_bytes(key, "big")
        call = name_rule(RuleKind.CALL, (packed >> 8).to_bytes(32, "big"), chain_id=chain_id)
        return f"Condition {(packed & 0xFF) + 1} of {call[0].lower()}{call[1:]}"
    subject, above = show_address(chain_id, key_address(key)), int.from_bytes(key[:12], "big")
    return {
        RuleKind.ROLE_ALLOWANCE: f"Role {above}: {subject} that it may let go",
        RuleKind.PAYOUT: f"Role {above >> 8}: {subject} that it may pay recipient {above & 0xFF}",
        RuleKind.ASSET: f"Asset {subject}",
        RuleKind.OUTFLOW_PER_BATCH: f"{subject} that may leave in one batch",
        RuleKind.OUTFLOW_PER_WINDOW: f"{subject} that may leave within 24 h",
        RuleKind.SPENDER: f"Largest allowance of {subject}",
        RuleKind.VALUER: f"Who values what lies at {subject}",
    }[RuleKind(kind)]


def show_rule(kind: int, key: bytes, value: int, *, chain_id: int) -> str:
    """The rule's value with its unit."""
    if kind == RuleKind.LIMIT:
        return _show_limit(int.from_bytes(key, "big"), value, chain_id)
    if kind in (RuleKind.CALL, RuleKind.ROLE_CALL):
        return _show_call(value)
    if kind in (RuleKind.ROLE_ALLOWANCE, RuleKind.PAYOUT):
        return _show_refill(chain_id, key_address(key), value)
    if kind == RuleKind.CONDITION:
        return show_condition(value, chain_id=chain_id)
    if kind == RuleKind.SPENDER:
        return format_micro_usd(value) if value else "none"
    if kind in (RuleKind.OUTFLOW_PER_BATCH, RuleKind.OUTFLOW_PER_WINDOW):
        return format_token_amount(chain_id, key_address(key), value)
    if kind == RuleKind.ASSET:
        return _show_asset(value)
    if kind == RuleKind.SEQUENCER:
        return _show_sequencer(value, chain_id)
    return show_address(chain_id, checksum(f"0x{value:040x}")) if value else "nobody"


def show_address(chain_id: int, address: str) -> str:
    """Its registered name with the address behind it, or the address alone."""
    name = name_address(chain_id, address)
    return f"{name} {shorten_hex(address)}" if name else address


def _show_limit(number: int, value: int, chain_id: int) -> str:
    if number >= len(Limit):
        return str(value)
    limit = Limit(number)
    if limit is Limit.PHASE:
        return PHASES[value].value.lower() if value < len(PHASES) else str(value)
    if limit is Limit.ALLOWS_ARBITRARY_CALLS:
        return "allowed" if value else "refused"
    if limit.name.endswith("_BPS"):
        return format_bps(value)
    if limit.name.endswith("_TICKS"):
        return format_ticks(value)
    if limit.name.endswith("_SECONDS"):
        return format_seconds(value)
    if limit.name.endswith("_MICRO_USD"):
        return format_micro_usd(value)
    if limit.name.endswith("_WEI"):
        return format_coin(value, chain_id)
    return f"{value:,}"


def _show_call(value: int) -> str:
    if value < 2:
        return "allowed" if value else "not allowed"
    return f"allowed under {value - 1} condition{'s' if value > 2 else ''}"


def _name_role_call(packed: int, chain_id: int) -> str:
    role, call = packed >> 192, (packed & (1 << 192) - 1).to_bytes(32, "big")
    if call[28:] == APPROVE:
        return f"Role {role}: allowances for {show_address(chain_id, checksum('0x' + call[8:28].hex()))}"
    words = name_rule(RuleKind.CALL, call, chain_id=chain_id)
    return f"Role {role}: {words[0].lower()}{words[1:]}"


def _show_refill(chain_id: int, asset: str, value: int) -> str:
    refill = Refill.unpack(value)
    if not refill.most:
        return "none"
    most = format_token_amount(chain_id, asset, refill.most)
    if not refill.back:
        return f"{most}, once"
    back = "all of it" if refill.back == refill.most else format_token_amount(chain_id, asset, refill.back)
    return f"{most}, {back} again every {format_seconds(refill.period_seconds)}"


def show_condition(value: int, *, chain_id: int) -> str:
    """What must be so and where: `argument 0 › 1 must be the account`; `none` for what is never met."""
    condition = Condition.unpack(value)
    if condition is None:
        return "none"
    place = " › ".join(map(str, condition.place))
    where = f"argument {place}" if condition.place else "the coins sent along"
    operand = condition.operand
    is_address = condition.must is Must.EQUAL and operand >> 64 and not operand >> 160
    shown = show_address(chain_id, checksum(f"0x{operand:040x}")) if is_address else f"{operand:,}"
    bits = f"hold {operand & (1 << 96) - 1:#x} under the mask {operand >> 96:#x}"
    what = {
        Must.BE_ACCOUNT: "be the account",
        Must.EQUAL: f"be {shown}",
        Must.BE_ASSET: "be an approved asset",
        Must.BE_AT_MOST: f"be at most {operand:,}",
        Must.BE_AT_LEAST: f"be at least {operand:,}",
        Must.HAVE_BITS: bits,
        Must.BE_ASSETS: "be approved assets, each of them",
        Must.BE_PATH_OF_ASSETS: "lead through approved assets only",
    }[condition.must]
    return f"{where} must {'not ' if condition.is_not else ''}{what}; group {condition.group}"


def _show_asset(value: int) -> str:
    if not value:
        return "not approved"
    asset = AssetRule.unpack(value)
    state = "approved" if asset.state is AssetState.APPROVED else "only to be sold"
    asked = [f"at most {format_seconds(asset.max_age_seconds)} old"]
    if asset.most_jump_percent:
        asked.append(f"within {asset.most_jump_percent}% of the last batch's")
    if asset.least:
        asked.append(f"above {_show_answer(asset.least, asset)}")
    if asset.most:
        asked.append(f"below {_show_answer(asset.most, asset)}")
    return f"{state}; priced by {asset.feed}, {', '.join(asked)}"


def _show_answer(answer: int, asset: AssetRule) -> str:
    return f"{format_units(answer, asset.feed_decimals)} USD"


def _show_sequencer(value: int, chain_id: int) -> str:
    if not value:
        return "not asked"
    feed = show_address(chain_id, checksum(f"0x{value & (1 << 160) - 1:040x}"))
    return f"must have been up for {format_seconds(value >> 160)}, as {feed} says"


def _name_function(selector: bytes) -> str:
    if selector == bytes(4):
        return "a plain transfer of coins"
    return name_selector(selector) or f"0x{selector.hex()}"


def say_session(state: CageState) -> str:
    """Who is appointed, until when, and what is left to it."""
    return say_terms(state.session)


def say_terms(left: SessionState) -> str:
    """The same of any role's key."""
    if left.key == ZERO_ADDRESS:
        return "nobody is appointed"
    ends = datetime.fromtimestamp(left.expires_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"{left.key} until {ends}; {left.operations_left:,} operations and {format_micro_usd(left.budget_left)} left"

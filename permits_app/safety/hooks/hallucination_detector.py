"""Hook 6: the plan against what is true on the chain: addresses, tokens, recipients, amounts, names and time.

A model that invents an address or repeats one it was fed is stopped here, by facts and not by its own word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eth_utils.address import is_checksum_address
from eth_utils.crypto import keccak

from permits_app.errors import HallucinationDetected, UntrustedText
from permits_app.hook_rejection import Reject
from permits_app.models import KnownContract
from permits_app.models.allowlist import AllowlistKind
from permits_app.safety.bound_code import bind_code, judge_bound_code
from permits_app.safety.chain_facts import preload_chain_facts
from permits_app.safety.decode_token_calls import list_recipients, read_token_call
from permits_app.safety.format_rule_figures import format_amount
from permits_app.safety.hook import Allow, HookCall, HookStage, Verdict
from permits_app.safety.hook_rules import judge_pool_hooks
from permits_app.safety.load_call_records import records_of
from permits_app.words.look_alikes import find_look_alike
from tools_app.chain.abi import clean_text
from tools_app.chain.lookalike_symbols import make_skeleton
from tools_app.chain.token_lists import choose_listed, list_listed_tokens
from tools_app.chain.tokens import UNREGISTERED_MARK
from tools_app.core.errors import InsufficientBalance, Recovery
from tools_app.core.invisible_text import is_invisible
from tools_app.standards.erc20 import BALANCE_OF, TOTAL_SUPPLY
from tools_app.standards.loan_callback import list_contracts, unfold
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE, TokenMeta

_BURN_ADDRESSES: Final = frozenset(
    {
        "0x" + "0" * 40,
        "0x000000000000000000000000000000000000dead",
        "0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead",
        "0xffffffffffffffffffffffffffffffffffffffff",
    }
)
_LARGEST_PRECOMPILE: Final = 0xFFFF
_INSTRUCTION: Final = re.compile(
    r"(?ix)"
    r"https?://|www\.|\b[a-z0-9-]+\.(?:com|net|org|io|xyz|app|finance|fi|eth|gift|claims?|site|top|vip)\b"
    r"|\bt\.me/|<\|?|\|>|```|\{\{|\[(?:inst|system)"
    r"|\b(?:system|assistant|user|human|developer)\s*:"
    r"|\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|all|rules?|instructions?|limits?)\b"
    r"|\b(?:you\s+(?:must|should|are)|instructions?|prompt|jailbreak)\b"
    r"|\b(?:send|transfer|approve|swap|sell|withdraw|deposit|sign)\b.{0,40}\b(?:to|all|everything|your|0x)"
    r"|\b(?:claim|visit|redeem|airdrop|reward|voucher)\b.{0,40}\b(?:at|now|your|here|free|token|reward)\b"
)
# What each rule holds a plan to, as the limit of its refusal where it has no figure.
_TRUTHS: Final = {
    "chain": "one chain in the whole plan",
    "checksum": "every address in its EIP-55 form",
    "registry": "the registry's own description of the token",
    "impostor": "the registered token's address, or a token under a name of its own",
    "recipient": "an account that somebody holds",
    "look_alike": "the known address itself, compared to its last digit",
    "code": "an address with a contract",
    "code_changed": "the code it had when it was first seen",
    "supply": "no more than there is of the token",
}


_is_checksum_address = lru_cache(maxsize=8_192)(is_checksum_address)


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What a token's contract says at the pinned block, in base units; None where it does not answer."""

    total_supply: int | None
    balance: int | None


class HallucinationDetector:
    """Checksums, code, registry, recipients, amounts, names and deadline."""

    name = "hallucination_detector"

    def check(self, call: HookCall) -> Verdict:
        """Allow, or Reject with the first thing that is not so."""
        plan, chain, account = call.plan, call.chain, call.view.address
        if plan is None:
            return Allow(note="no transaction")
        if chain is None or account is None:
            return Reject(
                rule="hallucination_detector.unknown",
                reason="there is no chain to check the plan against",
                observed="no chain or no account",
                limit="a chain that answers",
                would_pass="the same action once the golem has a wallet on a chain this server reaches",
            )
        recipients = list_recipients(plan)
        known = {address for kind, address in call.allowlist if kind == AllowlistKind.RECIPIENT}
        refusal = (
            judge_chain(plan=plan, chain_id=chain.chain_id)
            or judge_checksums(plan=plan, recipients=recipients)
            or judge_registry(tokens=plan.tokens, registered=_list_known(chain))
            or judge_names(tokens=plan.tokens)
            or judge_recipients(plan=plan, recipients=recipients, account=account)
            or judge_look_alikes(recipients=recipients, known={*known, account})
            or judge_deadline(deadline=plan.deadline, now=max(int(call.now.timestamp()), chain.block.timestamp))
        )
        if refusal is not None:
            return refusal
        preload_chain_facts(call, with_portfolio=False)
        refusal = (
            (judge_bound_code(call, chain) if call.stage is HookStage.COMMIT else None)
            or judge_code(plan=plan, chain=chain)
            or judge_code_hashes(found=hash_codes(plan=plan, chain=chain), known=records_of(call).known_code)
            or judge_amounts(plan=plan, facts=read_facts(plan=plan, chain=chain, account=account))
            or judge_pool_hooks(plan=plan, chain=chain, account=account)
        )
        if refusal is not None:
            return refusal
        if call.stage is HookStage.COMMIT:
            return Allow(note="addresses, tokens, amounts, times and code agree with the chain")
        bound = bind_code(call, chain)
        if isinstance(bound, Reject):
            return bound
        remember_code(call, chain=chain, found=hash_codes(plan=plan, chain=chain))
        return Allow(note="addresses, tokens, amounts and times agree with the chain", bound=bound)


def _list_known(chain: ChainReader) -> tuple[TokenMeta, ...]:
    own = chain.registered_tokens()
    return (chain.native(), *own, *choose_listed(own, list_listed_tokens(chain.chain_id)))


def judge_chain(*, plan: TxPlan, chain_id: int) -> Reject | None:
    """The plan, or one of its tokens, belongs to another chain."""
    for found in (plan.chain_id, *(token.chain_id for token in plan.tokens)):
        if found != chain_id:
            return _unlike("chain", f"the plan speaks of chain {found} on chain {chain_id}", observed=f"chain {found}")
    return None


def judge_checksums(*, plan: TxPlan, recipients: Iterable[str]) -> Reject | None:
    """An address is not in its EIP-55 form: one of its characters may have been changed on the way."""
    tokens = (token.address for token in plan.tokens)
    spenders = (allowance.spender for allowance in plan.allowances)
    for address in dict.fromkeys((*list_contracts(plan), *tokens, *spenders, *recipients)):
        if not _is_checksum_address(address):
            return _unlike("checksum", f"{address!r} is not an address with a right checksum", observed=address)
    return None


def judge_registry(*, tokens: Iterable[TokenMeta], registered: Iterable[TokenMeta]) -> Reject | None:
    """A token passes for a registered one, or is described otherwise than the registry describes it."""
    by_address = {token.address: token for token in registered}
    by_symbol = {make_skeleton(token.symbol): token for token in by_address.values()}
    for token in tokens:
        own = by_address.get(token.address)
        if own is not None:
            if (token.symbol, token.decimals) != (own.symbol, own.decimals):
                return _unlike(
                    "registry",
                    f"{token.address} is {own.symbol} with {own.decimals} decimals,"
                    f" not {clean_text(token.symbol)} with {token.decimals}",
                    observed=clean_text(token.symbol),
                    limit=own.symbol,
                )
            continue
        twin = by_symbol.get(make_skeleton(token.symbol.removesuffix(UNREGISTERED_MARK)))
        if twin is not None or token.is_registered:
            right = f"; {twin.symbol} is {twin.address}" if twin is not None else ""
            return _unlike(
                "impostor",
                f"{token.address} calls itself {clean_text(token.symbol)} and is not registered under it{right}",
                observed=token.address,
                limit=twin.address if twin is not None else "",
            )
    return None


def judge_names(*, tokens: Iterable[TokenMeta]) -> Reject | None:
    """The name or symbol of a token we do not vouch for holds hidden characters, or reads like an instruction. What is
    registered is vouched for, and so is a contract that a protocol of the product names by its address.
    """
    for token in tokens:
        if token.is_registered or SHELF.of_contract(token.chain_id, token.address) is not None:
            continue
        for word, text in (("symbol", token.symbol.removesuffix(UNREGISTERED_MARK)), ("name", token.name)):
            finding = find_untrusted(text)
            if finding:
                return Reject(
                    rule="hallucination_detector.untrusted_text",
                    reason=f"the {word} of token {token.address} holds {finding}",
                    observed=clean_text(text, limit=64),
                    limit="a name that is only a name",
                    would_pass="a token whose name speaks to nobody",
                    error=UntrustedText,
                    data={"token": token.address, "untrusted": True},
                )
    return None


def judge_recipients(*, plan: TxPlan, recipients: Iterable[str], account: str) -> Reject | None:
    """What is sent there would be lost: nowhere, a burn address, a precompile, or a contract of the plan itself."""
    contracts = {call.to for call in unfold(plan.calls) if call.data}
    losing: Mapping[str, str] = {
        **dict.fromkeys((token.address.lower() for token in plan.tokens), "a token's own contract"),
        **dict.fromkeys((contract.lower() for contract in contracts), "a contract this action calls"),
        **dict.fromkeys(_BURN_ADDRESSES, "an address nobody can spend from"),
        NATIVE.lower(): "the name of the chain's coin, not an account",
    }
    for recipient in recipients:
        if recipient == account:
            continue
        what = losing.get(recipient.lower())
        if what is None and int(recipient, 16) <= _LARGEST_PRECOMPILE:
            what = "a precompile"
        if what is not None:
            return _unlike("recipient", f"the recipient {recipient} is {what}", observed=recipient)
    return None


def judge_look_alikes(*, recipients: Iterable[str], known: Iterable[str]) -> Reject | None:
    """A recipient begins and ends like an address the golem knows, and is another: address poisoning."""
    named = [(address, address) for address in known]
    for recipient in recipients:
        found = (
            None if any(recipient.lower() == other.lower() for other, _ in named) else find_look_alike(recipient, named)
        )
        if found is not None:
            twin = found[0]
            return _unlike(
                "look_alike",
                f"{recipient} looks like {twin}, which the golem knows, but is another address",
                observed=recipient,
                limit=twin,
            )
    return None


def judge_deadline(*, deadline: int | None, now: int) -> Reject | None:
    """The time inside the calldata is over. Unix seconds."""
    if deadline is None or deadline > now:
        return None
    return Reject(
        rule="hallucination_detector.deadline",
        reason=f"the deadline inside the transaction passed {now - deadline} s ago",
        observed=f"{deadline} (Unix seconds)",
        limit=f"after {now} (Unix seconds)",
        would_pass="a new preview",
        error=HallucinationDetected,
        data={"recovery": Recovery.PREVIEW_AGAIN},
    )


def judge_code(*, plan: TxPlan, chain: ChainReader) -> Reject | None:
    """There is no contract where one is called, or where a token is said to be."""
    called = {call.to: "the action calls a contract there" for call in unfold(plan.calls) if call.data}
    # Who loses an allowance need not be a contract: what was given to a person is taken back like any other.
    spenders = {
        allowance.spender: "it would be a spender"
        for allowance in plan.allowances
        if allowance.granted or allowance.left
    }
    spoken = {
        found.party: "it would be a spender"
        for call in unfold(plan.calls)
        if (found := read_token_call(call)) and found.act == "APPROVE" and found.amount
    }
    tokens = {token.address: f"{token.symbol} should be there" for token in plan.tokens if not token.is_native}
    hooks = {hook.address: f"it is said to be the hook of pool {hook.pool}" for hook in plan.hooks}
    for address, why in {**hooks, **spenders, **spoken, **called, **tokens}.items():
        if not chain.code(address):
            return _unlike("code", f"there is no contract at {address}, and {why}", observed=address)
    return None


def judge_code_hashes(*, found: Mapping[str, str], known: Mapping[str, str]) -> Reject | None:
    """A contract that was known has other code now. Keccak-256 by EIP-55 address; what is not known is not judged."""
    for address, code_hash in found.items():
        before = known.get(address)
        if before is not None and before != code_hash:
            return _unlike(
                "code_changed",
                f"the code at {address} is not what it was when it was first seen",
                observed=code_hash,
                limit=before,
                would_pass="after an operator looked at the contract and removed it from the known contracts",
            )
    return None


def hash_codes(*, plan: TxPlan, chain: ChainReader) -> dict[str, str]:
    """Keccak-256 of the code at every contract the plan calls, approves, or speaks of as a token or a pool's hook."""
    tokens = (token.address for token in plan.tokens if not token.is_native)
    called = (call.to for call in unfold(plan.calls) if call.data)
    spenders = (allowance.spender for allowance in plan.allowances)
    hooks = (hook.address for hook in plan.hooks)
    touched = dict.fromkeys((*tokens, *called, *spenders, *hooks))
    return {address: _hash_code(chain.code(address)) for address in touched}


@lru_cache(maxsize=256)
def _hash_code(code: bytes) -> str:
    return "0x" + keccak(code).hex()


def remember_code(call: HookCall, *, chain: ChainReader, found: Mapping[str, str]) -> None:
    """Record, once, the code of what somebody vouches for: the registry's tokens, and what the owner listed."""
    vouched = {token.address for token in chain.registered_tokens()} | {address for _, address in call.allowlist}
    known = records_of(call).known_code
    rows = [
        KnownContract(chain_id=chain.chain_id, address=address, code_hash=code_hash, first_seen_at=call.now)
        for address, code_hash in found.items()
        if address in vouched and address not in known
    ]
    if rows:
        KnownContract.objects.bulk_create(rows, ignore_conflicts=True)


def judge_amounts(*, plan: TxPlan, facts: Mapping[str, TokenFacts]) -> Reject | None:
    """An amount is larger than all there is of the token, or than what the golem holds."""
    for flow in (*plan.spends, *plan.receives):
        found = facts.get(flow.token.address, TokenFacts(None, None))
        if found.total_supply is not None and flow.expected > found.total_supply:
            return _unlike(
                "supply",
                f"{format_amount(flow.expected, flow.token)} is more than all there is of {flow.token.symbol}",
                observed=format_amount(flow.expected, flow.token),
                limit=format_amount(found.total_supply, flow.token),
            )
    for flow in plan.spends:
        held = facts.get(flow.token.address, TokenFacts(None, None)).balance
        if held is not None and flow.expected > held:
            return Reject(
                rule="hallucination_detector.balance",
                reason=(
                    f"the golem holds {format_amount(held, flow.token)},"
                    f" and this would spend {format_amount(flow.expected, flow.token)}"
                ),
                observed=format_amount(flow.expected, flow.token),
                limit=format_amount(held, flow.token),
                remaining=format_amount(held, flow.token),
                would_pass=f"at most {format_amount(held, flow.token)}",
                error=InsufficientBalance,
                data={"token": flow.token.address, "have": str(held), "need": str(flow.expected)},
            )
    return None


def read_facts(*, plan: TxPlan, chain: ChainReader, account: str) -> dict[str, TokenFacts]:
    """Supply and the golem's balance of every token of the plan, in one batch; the coin has a balance only."""
    tokens = [token for token in plan.tokens if not token.is_native]
    reads = [
        read
        for token in tokens
        for read in (ReadCall(token.address, TOTAL_SUPPLY), ReadCall(token.address, BALANCE_OF, (account,)))
    ]
    answers = iter(chain.call_many(reads))
    facts: dict[str, TokenFacts] = {}
    for token in tokens:
        supply, balance = next(answers), next(answers)
        facts[token.address] = TokenFacts(
            int(supply.values[0]) if supply.ok else None, int(balance.values[0]) if balance.ok else None
        )
    if any(token.is_native for token in plan.tokens):
        facts[NATIVE] = TokenFacts(None, chain.native_balance(account))
    return facts


def find_untrusted(text: str) -> str:
    """What is wrong with a text from outside, in words, or nothing."""
    if any(letter in "\n\t" or is_invisible(letter) for letter in text):
        return "hidden or control characters"
    plain = unicodedata.normalize("NFKC", text)
    return "text that reads like an instruction or an address of a site" if _INSTRUCTION.search(plain) else ""


def _unlike(rule: str, reason: str, *, observed: str = "", limit: str = "", would_pass: str = "") -> Reject:
    return Reject(
        rule=f"hallucination_detector.{rule}",
        reason=reason,
        observed=observed,
        limit=limit or _TRUTHS[rule],
        would_pass=would_pass or _TRUTHS[rule],
        error=HallucinationDetected,
    )

"""Permits and their money. The committed swap has real call data, so that pages decode what they would in earnest."""

from __future__ import annotations

import secrets
import uuid
from datetime import datetime, timedelta
from typing import Any

from archetypes_app.models import Golem
from permits_app.models import (
    ActionPermit,
    AllowlistEntry,
    CageMirror,
    CapabilityGrant,
    DeniedCall,
    HaltRecord,
    NavSnapshot,
    NonceReservation,
    OutboundTransaction,
    OutcomeRecord,
    PolicyCage,
    SigningKey,
    SpendEntry,
    SpendingLimits,
    StandingAllowance,
    VenueTrust,
    Wallet,
)
from permits_app.models.nonce import NonceState
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import TransactionState
from permits_app.policy_cage.state import CageState
from permits_app.safety.hook_chain import SAFETY_HOOKS
from tests.factories.recorded import recorded
from tests.factories.records import make_audit_entry, make_episode
from tools_app.chain.abi import checksum, encode_call
from tools_app.core import clock
from tools_app.core.units import format_units
from tools_app.wording.address_names import known_deployment, list_tokens

CHAIN_ID = 31337
SPENT = 500_000_000
EXPECTED = 186_712_345_678_901_234
GAS = (46_120, 128_455)


def make_wallet(*, golem: Golem, address: str | None = None) -> Wallet:
    """A wallet row without a key file; sets the golem's address."""
    address = address or checksum("0x" + secrets.token_hex(20))
    Golem.objects.filter(pk=golem.pk).update(address=address)
    golem.address = address
    return Wallet.objects.create(golem=golem, address=address)


def make_signing_key(*, golem: Golem, **columns: Any) -> SigningKey:
    """A key's row without a key file, active."""
    address = checksum("0x" + secrets.token_hex(20))
    facts = {"address": address, "state": "ACTIVE", "activated_at": clock.now(), **columns}
    return SigningKey.objects.create(golem=golem, **facts)


def make_limits(*, golem: Golem, **columns: Any) -> SpendingLimits:
    """Spending limits, with the settings' defaults."""
    return SpendingLimits.objects.create(golem=golem, **columns)


def make_venue_trust(*, permit: ActionPermit, **columns: Any) -> VenueTrust:
    """Low trust in the permit's venue, lowered by its outcome."""
    facts = {"lowered_at": clock.now(), "divergence_bps": 350, **columns}
    return VenueTrust.objects.create(
        golem=permit.golem, chain_id=permit.chain_id, venue=permit.venue, permit=permit, **facts
    )


def make_halt(*, golem: Golem) -> HaltRecord:
    """A halt whose steps are done."""
    now = clock.now()
    return HaltRecord.objects.create(
        golem=golem,
        epoch=1,
        reason="drill",
        actor="system:test",
        started_at=now,
        completed_at=now,
        steps=[{"step": "commits and signatures refused", "at_ms": 3}],
    )


def make_denied_call(*, golem: Golem, rule: str = "spending_limiter.per_transaction", **columns: Any) -> DeniedCall:
    """A swap that a rule refused a moment ago."""
    given: dict[str, Any] = {
        "denied_at": clock.now(),
        "tool_name": "uniswap_execute_swap",
        "action_type": "swap",
        "venue": "uniswap",
        "chain_id": golem.home_chain_id,
        "action_class": "NEW_POSITION",
        "bounds": {},
        "value_micro_usd": 25_000_000_000,
        "code": "SPENDING_LIMIT_EXCEEDED",
        "rule": rule,
        "detail": "this could cost $25,000.00 in one transaction",
    }
    return DeniedCall.objects.create(golem=golem, **{**given, **columns})


def make_nav_snapshot(*, golem: Golem, worth: int = 1_000_000_000, **columns: Any) -> NavSnapshot:
    """What a golem was worth a moment ago, in micro-USD, all of it one token of its wallet."""
    newest = NavSnapshot.objects.filter(golem=golem).order_by("-block_number").first()
    share = {"symbol": "USDC", "address": "0x" + "11" * 20, "micro_usd": str(worth)}
    given: dict[str, Any] = {
        "at": clock.now(),
        "chain_id": golem.home_chain_id,
        "block_number": newest.block_number + 1 if newest is not None else 1,
        "value_micro_usd": worth,
        "holdings": {
            "tokens": [],
            "positions": [],
            "value": str(worth),
            "debt": "0",
            "liquid": str(worth),
            "problems": [],
            "shares": [share],
        },
    }
    return NavSnapshot.objects.create(golem=golem, **{**given, **columns})


def make_cage(*, golem: Golem, **columns: Any) -> PolicyCage:
    """A local cage, with the defaults."""
    return PolicyCage.objects.create(golem=golem, **columns)


def make_cage_mirror(*, golem: Golem) -> CageMirror:
    """A cage that follows a contract of the local chain."""
    cage = PolicyCage.objects.filter(golem=golem).first() or make_cage(golem=golem)
    contract, account, base = (f"0x{golem.pk.hex}{number:08x}" for number in (1, 2, 3))
    return CageMirror.objects.create(
        cage=cage,
        chain_id=CHAIN_ID,
        contract=contract,
        account=account,
        base_asset=base,
        deployed_block=1,
        state=CageState(cage=contract, account=account, base_asset=base).as_dict(),
        block_number=1,
        block_hash="0x" + "ab" * 32,
        block_at=clock.now(),
        synced_at=clock.now(),
    )


def make_allowlist_entry(
    *, golem: Golem, address: str | None = None, kind: str = "TOKEN", label: str = "USDC"
) -> AllowlistEntry:
    """One allowed address on the local chain."""
    return AllowlistEntry.objects.create(
        golem=golem, chain_id=CHAIN_ID, kind=kind, address=address or list_tokens(CHAIN_ID)[1].address, label=label
    )


def make_permit(
    *,
    golem: Golem,
    status: str = PermitStatus.CREATED,
    now: datetime | None = None,
    api_key: Any = None,
    lives_seconds: int = 60,
    **columns: Any,
) -> ActionPermit:
    """A swap of 500 USDC for WETH on the local chain, simulated in words and numbers but never on a node."""
    now = now or clock.now()
    signer = golem.address or checksum("0x" + "11" * 20)
    tokens = {token.symbol: token for token in list_tokens(CHAIN_ID)}
    deployment = known_deployment(CHAIN_ID)
    assert deployment is not None
    router = deployment.contracts["uniswap_v3_swap_router_02"]
    usdc, weth = tokens["USDC"], tokens["WETH"]
    least = EXPECTED * 995 // 1000
    swap = encode_call(
        "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
        (usdc.address, weth.address, 500, signer, SPENT, least, 0),
    )
    deadline = int(now.timestamp()) + 120
    calls = [
        _call(
            usdc.address,
            encode_call("function approve(address,uint256)", router, SPENT),
            "Approve exactly 500 USDC",
            60_000,
        ),
        _call(
            router, encode_call("function multicall(uint256,bytes[])", deadline, [swap]), "Swap on Uniswap V3", 190_000
        ),
    ]
    permit = ActionPermit(
        golem=golem,
        api_key=api_key,
        status=status,
        tool_name="uniswap_execute_swap",
        action_type="swap",
        venue="uniswap",
        chain_id=CHAIN_ID,
        params=recorded(ActionPermit, "params", account=signer, told={"token_in": "USDC", "token_out": "WETH"}),
        action_hash=_hash(),
        action_class="NEW_POSITION",
        risk_tier="STANDARD",
        signer=signer,
        calls=calls,
        max_fee_per_gas="2000000014",
        max_priority_fee_per_gas="100000000",
        bounds={
            "spends": [_flow(usdc, SPENT, SPENT)],
            "receives": [_flow(weth, EXPECTED, least)],
            "allowances": [{"token": _token(usdc), "spender": router, "granted": str(SPENT), "left": "0"}],
            "contracts": [usdc.address, router],
            "recipients": [signer],
            "action_class": "NEW_POSITION",
            "slippage_bps": 50,
            "price_impact_bps": 7,
            "deadline": deadline,
            "details": {},
        },
        expected_outcome={
            "balance_deltas": _deltas(usdc, weth, EXPECTED),
            "gas_used": sum(GAS),
            "gas_per_call": list(GAS),
            "fee_wei": str(sum(GAS) * 1_100_000_007),
        },
        value_micro_usd=501_320_000,
        prices=[
            {
                "symbol": "USDC",
                "feed": usdc.address,
                "round_id": "18446744073709551617",
                "answer": "100000000",
                "decimals": 8,
                "age_seconds": 41,
            },
        ],
        simulation=_simulation(now, signer, usdc, weth),
        block_number=1_204,
        block_hash=_hash(),
        plan_hash=_hash(),
        simulation_hash=_hash(),
        policy_hash=_hash(),
        hook_decisions=[
            {"hook": name, "decision": "Allow", "note": note, "ms": ms + 0.4}
            for ms, (name, note) in enumerate(zip(SAFETY_HOOKS[:6], _NOTES, strict=True))
        ],
        expires_at=now + timedelta(seconds=lives_seconds),
        expires_at_tick=3,
    )
    for name in ("bounds", "expected_outcome", "simulation"):
        setattr(permit, name, recorded(ActionPermit, name, account=signer, told=getattr(permit, name)))
    for name in ("code", "facts", "soft_params"):
        setattr(permit, name, recorded(ActionPermit, name, account=signer))
    if status == PermitStatus.COMMITTED:
        permit.result = recorded(ActionPermit, "result", account=signer)
    for name, value in columns.items():
        setattr(permit, name, value)
    permit.save(force_insert=True)
    ActionPermit.objects.filter(pk=permit.pk).update(created_at=now)
    permit.created_at = now
    return permit


def make_spend_entry(*, permit: ActionPermit, settled_micro_usd: int | None = None) -> SpendEntry:
    """The permit's claim on the limits."""
    return SpendEntry.objects.create(
        golem=permit.golem,
        permit=permit,
        api_key=permit.api_key,
        state=SpendState.RESERVED if settled_micro_usd is None else SpendState.SETTLED,
        reserved_micro_usd=permit.value_micro_usd,
        settled_micro_usd=settled_micro_usd,
        counted_at=permit.created_at,
        pair=permit.facts["trade"][1],
        venue=permit.facts["trade"][2],
        breakdown=[
            {"role": "spend", "symbol": "USDC", "raw": str(SPENT), "units": "500 USDC", "micro_usd": "500000000"},
            {"role": "gas", "raw": "440000000000000", "micro_usd": "1320000"},
        ],
    )


def make_standing_allowance(
    *, permit: ActionPermit, worth_micro_usd: int = 500_000_000, counted_at: datetime | None = None, spender: str = ""
) -> StandingAllowance:
    """What the permit's plan left a spender to take."""
    return StandingAllowance.objects.create(
        golem=permit.golem,
        permit=permit,
        chain_id=permit.chain_id,
        account="0x" + "a1" * 20,
        token="0x" + "b2" * 20,
        symbol="USDC",
        decimals=6,
        spender=spender or "0x" + "c3" * 20,
        left=str(SPENT),
        worth_micro_usd=worth_micro_usd,
        counted_at=counted_at or permit.created_at,
        block_number=1,
    )


def make_grant(*, permit: ActionPermit, is_consumed: bool = True) -> CapabilityGrant:
    """The database's half of the capability."""
    now = permit.created_at
    return CapabilityGrant.objects.create(
        permit=permit,
        tool_name=permit.tool_name,
        plan_hash=permit.plan_hash,
        policy_hash=permit.policy_hash,
        value_limit_micro_usd=permit.value_micro_usd,
        minted_at=now,
        expires_at=now + timedelta(seconds=60),
        consumed_at=now if is_consumed else None,
    )


def make_nonce_reservation(*, permit: ActionPermit, nonce: int = 0, call_index: int = 0) -> NonceReservation:
    """One nonce of one call."""
    return NonceReservation.objects.create(
        chain_id=permit.chain_id,
        address=permit.signer,
        nonce=nonce,
        permit=permit,
        call_index=call_index,
        state=NonceState.SIGNED,
    )


def make_transaction(
    *, permit: ActionPermit, call_index: int = 0, nonce: int = 0, gas_used: int = 46_120
) -> OutboundTransaction:
    """One mined transaction of one call."""
    return OutboundTransaction.objects.create(
        permit=permit,
        call_index=call_index,
        chain_id=permit.chain_id,
        sender=permit.signer,
        nonce=nonce,
        to=permit.calls[call_index]["to"],
        value_wei="0",
        gas_limit=int(permit.calls[call_index]["gas_limit"]),
        max_fee_per_gas=permit.max_fee_per_gas,
        max_priority_fee_per_gas=permit.max_priority_fee_per_gas,
        raw="0x02f8deadbeef",
        tx_hash=_hash(),
        state=TransactionState.MINED,
        broadcast_at=permit.created_at,
        broadcast_count=1,
        block_number=1_205,
        action_digest=_hash(),
        receipt=recorded(OutboundTransaction, "receipt", account=permit.signer, told={"gas_used": gas_used}),
        gas_used=gas_used,
        fee_wei=str(gas_used * 1_100_000_007),
    )


def make_outcome(
    *, permit: ActionPermit, is_verified: bool = True, received: int = EXPECTED, **columns: Any
) -> OutcomeRecord:
    """Predicted beside actual."""
    tokens = {token.symbol: token for token in list_tokens(CHAIN_ID)}
    actual_gas = sum(GAS) - 12
    return OutcomeRecord.objects.create(
        permit=permit,
        is_verified=is_verified,
        expected=permit.expected_outcome,
        actual=recorded(
            OutcomeRecord,
            "actual",
            account=permit.signer,
            told={
                "balance_deltas": _deltas(tokens["USDC"], tokens["WETH"], received),
                "gas_used": actual_gas,
                "fee_wei": str(actual_gas * 1_100_000_007),
                "succeeded": True,
            },
        ),
        gas_expected=sum(GAS),
        gas_used=actual_gas,
        fee_wei=str(actual_gas * 1_100_000_007),
        ground_truth_source="receipt",
        findings=[] if is_verified else ["WETH: less arrived than was promised"],
        **columns,
    )


def make_committed_permit(
    *, golem: Golem, now: datetime | None = None, api_key: Any = None, first_nonce: int = 0
) -> ActionPermit:
    """A swap that went the whole way, with every row it leaves."""
    now = now or clock.now()
    started = now + timedelta(seconds=4)
    permit = make_permit(
        golem=golem,
        status=PermitStatus.COMMITTED,
        now=now,
        api_key=api_key,
        committing_at=started,
        finished_at=started + timedelta(milliseconds=1_400),
    )
    make_spend_entry(permit=permit, settled_micro_usd=500_370_000)
    make_grant(permit=permit)
    for index, gas in enumerate(GAS):
        make_nonce_reservation(permit=permit, nonce=first_nonce + index, call_index=index)
        make_transaction(permit=permit, call_index=index, nonce=first_nonce + index, gas_used=gas)
    episode = make_episode(golem=golem, permit_id=permit.pk, account=permit.signer)
    parts = recorded(OutcomeRecord, "pnl_parts", account=permit.signer)
    worth = sum(int(each) for each in parts.values())
    make_outcome(permit=permit, episode_id=episode.pk, pnl_micro_usd=worth, pnl_parts=parts)
    for event in ("PermitCreated", "PermitCommitStarted", "PermitConsumed"):
        make_audit_entry(golem=golem, event=event, data={"permit_id": str(permit.pk)})
    return permit


_NOTES = (
    "thriving allows a new position; no cage rule is touched",
    "2 contracts, 2 tokens, 1 spender are listed",
    "$501.32 of $10,000.00; $99,498.68 left in 24 h",
    "1 of 20 writes this hour",
    "2 calls, 174,575 gas, block 1,204",
    "checksums, code and symbols agree",
)


def _call(to: str, data: bytes, label: str, gas_limit: int) -> dict[str, str]:
    return {"to": to, "data": "0x" + data.hex(), "value": "0", "gas_limit": str(gas_limit), "label": label}


def _token(token: Any) -> dict[str, Any]:
    return {
        "chain_id": token.chain_id,
        "address": token.address,
        "symbol": token.symbol,
        "decimals": token.decimals,
        "name": token.name,
        "is_registered": True,
        "is_simulated": token.is_simulated,
        "has_transfer_fee": False,
    }


def _flow(token: Any, expected: int, bound: int) -> dict[str, Any]:
    return {
        "token": _token(token),
        "expected": str(expected),
        "bound": str(bound),
        "bound_units": format_units(bound, token.decimals, token.symbol),
    }


def _deltas(usdc: Any, weth: Any, received: int) -> list[dict[str, str]]:
    return [
        {"token": usdc.address, "symbol": "USDC", "raw": str(-SPENT), "units": format_units(-SPENT, 6, "USDC")},
        {"token": weth.address, "symbol": "WETH", "raw": str(received), "units": format_units(received, 18, "WETH")},
    ]


def _simulation(now: datetime, signer: str, usdc: Any, weth: Any) -> dict[str, Any]:
    held = 20_000 * 10**6
    return {
        "block": {
            "number": "1204",
            "hash": _hash(),
            "timestamp": str(int(now.timestamp()) - 2),
            "base_fee": "1000000007",
        },
        "sender": signer,
        "succeeded": True,
        "calls": [
            {"succeeded": True, "output": "0x", "gas_used": str(gas), "revert_reason": None, "logs": []} for gas in GAS
        ],
        "balances": [
            {"account": signer, "token": usdc.address, "before": str(held), "after": str(held - SPENT)},
            {"account": signer, "token": weth.address, "before": str(2 * 10**18), "after": str(2 * 10**18 + EXPECTED)},
        ],
        "allowances": [],
        "unexpected_transfers": [],
        "unexpected_approvals": [],
    }


def _hash() -> str:
    return "0x" + (uuid.uuid4().hex + uuid.uuid4().hex)

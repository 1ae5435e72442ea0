"""Writes a plan as JSON into the permit's row and reads it back without loss; what is signed is read from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Final

from django.db.models import Q

from permits_app.models import ActionPermit, DeniedCall
from permits_app.permits.stored_calls import read_planned_calls, read_signed_calls
from tools_app.chain.signatures import parse_signature
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import IntText, read_stored
from tools_app.core.units import format_units
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.others_money import PrincipalFlow
from tools_app.toolkit.plan import (
    AllowanceLeft,
    AmountGiven,
    Arrival,
    Call,
    ItemGiven,
    LocalEffect,
    Statement,
    TokenFlow,
    TxPlan,
)
from tools_app.toolkit.pool_hooks import PoolHooks
from tools_app.toolkit.positions import Gauge, GaugeBound, PositionChange, PositionRef
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import TokenMeta

_EFFECT: Final = "effect"
ENDS_AT: Final = "ends_at"
"""Beside a stored call: Unix seconds, when what the owners of a Safe sign for it ends by itself."""


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A promise about a position as it is stored; `ref` is None for one that is opened."""

    protocol: str
    kind: str
    token: str
    expected: IntText
    bound: IntText
    ref: str | None
    least_health_bps: int | None
    counts: bool = True


@dataclass(frozen=True, slots=True)
class StoredGauge:
    """A bound of a figure as it is stored: every argument of its read is text."""

    name: str
    to: str
    signature: str
    args: tuple[str, ...]
    index: int
    least: IntText | None
    most: IntText | None


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """The promises of a plan as `encode_bounds` writes them. What has no default stands in every plan."""

    spends: tuple[TokenFlow, ...]
    receives: tuple[TokenFlow, ...]
    allowances: tuple[AllowanceLeft, ...]
    action_class: ActionClass | None
    recipients: tuple[str, ...]
    slippage_bps: int | None
    price_impact_bps: int | None
    deadline: int | None
    details: dict[str, object]
    collateral_ratio_bps: int | None = None
    changes: tuple[StoredChange, ...] = ()
    gauges: tuple[StoredGauge, ...] = ()
    statements: tuple[Statement, ...] = ()
    items: tuple[ItemGiven, ...] = ()
    amounts: tuple[AmountGiven, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    hooks: tuple[PoolHooks, ...] = ()
    promise: dict[str, object] | None = None
    principals: tuple[PrincipalFlow, ...] = ()


def encode_calls(calls: Sequence[Call], gas_limits: Sequence[int]) -> list[dict[str, object]]:
    """The calls as they will be signed: value in wei and gas limit as text, data as 0x-hex."""
    return [
        {
            "to": call.to,
            "data": "0x" + call.data.hex(),
            "value": str(call.value),
            "gas_limit": str(gas_limit),
            "label": call.label,
        }
        for call, gas_limit in zip(calls, gas_limits, strict=True)
    ]


def encode_batch(calls: Sequence[Call]) -> list[dict[str, object]]:
    """The plan's calls that one transaction carries; they have no gas limits of their own."""
    return [
        {"to": call.to, "data": "0x" + call.data.hex(), "value": str(call.value), "label": call.label} for call in calls
    ]


def read_stated_end(permit: ActionPermit) -> int:
    """When what the owners of the permit's Safe sign ends, Unix seconds, as its hash binds it; 0 where it does not."""
    calls = read_signed_calls(permit)
    return calls[0].ends_at if calls else 0


def encode_bounds(plan: TxPlan) -> JsonObject:
    """Everything the plan promises. Amounts are decimal strings in base units, each with its units beside it."""
    return {
        "spends": [_encode_flow(flow) for flow in plan.spends],
        "receives": [_encode_flow(flow) for flow in plan.receives],
        "allowances": [
            {
                "token": _encode_token(allowance.token),
                "spender": allowance.spender,
                "granted": str(allowance.granted),
                "left": str(allowance.left),
                **({"through": allowance.through} if allowance.through else {}),
            }
            for allowance in plan.allowances
        ],
        "contracts": list(plan.contracts),
        "recipients": list(plan.recipients),
        "action_class": plan.action_class.value if plan.action_class else None,
        "slippage_bps": plan.slippage_bps,
        "price_impact_bps": plan.price_impact_bps,
        "deadline": plan.deadline,
        "collateral_ratio_bps": plan.collateral_ratio_bps,
        "details": dict(plan.details),
        **({"changes": [_encode_change(change) for change in plan.changes]} if plan.changes else {}),
        **({"gauges": [_encode_gauge(promise) for promise in plan.gauges]} if plan.gauges else {}),
        **({"statements": [asdict(each) for each in plan.statements]} if plan.statements else {}),
        **({"items": [{**asdict(each), "token_id": str(each.token_id)} for each in plan.items]} if plan.items else {}),
        **({"amounts": [_encode_amount(each) for each in plan.amounts]} if plan.amounts else {}),
        **({"arrivals": [{**asdict(each), "raw": str(each.raw)} for each in plan.arrivals]} if plan.arrivals else {}),
        **({"hooks": [asdict(each) for each in plan.hooks]} if plan.hooks else {}),
        **({"promise": plan.promise.as_json()} if plan.promise is not None else {}),
        **({"principals": [_encode_principal(flow) for flow in plan.principals]} if plan.principals else {}),
    }


def match_dealings(address: str) -> Q:
    """The condition on permits whose calls reach, approve or pay `address` (EIP-55), by the bounds they keep."""
    return (
        Q(bounds__contracts__contains=[address])
        | Q(bounds__recipients__contains=[address])
        | Q(bounds__allowances__contains=[{"spender": address}])
    )


def encode_effect_bound(effect: LocalEffect | None) -> dict[str, object]:
    """What a write without a transaction rests on, as the permit keeps it and its hash covers it."""
    return {_EFFECT: dict(effect.bound)} if effect is not None and effect.bound else {}


def read_effect_bound(permit: ActionPermit) -> Mapping[str, object]:
    """What the effect of a permit's local write rested on when it was previewed; empty for everything else."""
    bound: Mapping[str, object] = permit.bounds.get(_EFFECT, {})
    return bound


def decode_plan(permit: ActionPermit | DeniedCall) -> TxPlan:
    """The plan the permit was given for, or the refused one, from its row alone."""
    bounds = read_stored(StoredPlan, permit.bounds)
    return TxPlan(
        chain_id=permit.chain_id,
        calls=decode_calls(permit.plan_calls),
        spends=bounds.spends,
        receives=bounds.receives,
        allowances=bounds.allowances,
        action_class=bounds.action_class,
        recipients=bounds.recipients,
        slippage_bps=bounds.slippage_bps,
        price_impact_bps=bounds.price_impact_bps,
        deadline=bounds.deadline,
        collateral_ratio_bps=bounds.collateral_ratio_bps,
        changes=tuple(_decode_change(change) for change in bounds.changes),
        gauges=tuple(_decode_gauge(gauge) for gauge in bounds.gauges),
        statements=bounds.statements,
        items=bounds.items,
        amounts=bounds.amounts,
        arrivals=bounds.arrivals,
        hooks=bounds.hooks,
        promise=TypedData.of_json(bounds.promise) if bounds.promise is not None else None,
        principals=bounds.principals,
        details=bounds.details,
    )


def decode_flows(stored: Sequence[Mapping[str, object]]) -> tuple[TokenFlow, ...]:
    """Stored promises as values."""
    return tuple(read_stored(TokenFlow, flow) for flow in stored)


def decode_changes(stored: Sequence[Mapping[str, object]]) -> tuple[PositionChange, ...]:
    """Stored promises about positions as values."""
    return tuple(_decode_change(read_stored(StoredChange, change)) for change in stored)


def decode_calls(stored: Sequence[Mapping[str, object]]) -> tuple[Call, ...]:
    """Stored calls as values."""
    return tuple(each.call for each in read_planned_calls(stored))


def _encode_amount(amount: AmountGiven) -> dict[str, object]:
    return {**asdict(amount), "token_id": str(amount.token_id), "raw": str(amount.raw)}


def _encode_change(change: PositionChange) -> dict[str, object]:
    return {
        "protocol": change.protocol,
        "kind": change.kind,
        "token": change.token,
        "expected": str(change.expected),
        "bound": str(change.bound),
        "ref": None if change.ref is None else str(change.ref),
        "least_health_bps": change.least_health_bps,
        # Said only where it is so: plans of before are hashed as they were.
        **({} if change.counts else {"counts": False}),
    }


def _decode_change(stored: StoredChange) -> PositionChange:
    return PositionChange(
        protocol=stored.protocol,
        kind=stored.kind,
        token=stored.token,
        expected=stored.expected,
        bound=stored.bound,
        ref=None if stored.ref is None else PositionRef.parse(stored.ref),
        least_health_bps=stored.least_health_bps,
        counts=stored.counts,
    )


def _encode_gauge(promise: GaugeBound) -> dict[str, object]:
    gauge = promise.gauge
    return {
        "name": gauge.name,
        "to": gauge.to,
        "signature": gauge.signature,
        "args": [str(each) for each in gauge.args],
        "index": gauge.index,
        "least": None if promise.least is None else str(promise.least),
        "most": None if promise.most is None else str(promise.most),
    }


def _decode_gauge(stored: StoredGauge) -> GaugeBound:
    types = parse_signature(stored.signature).input_types
    args = tuple(int(each) if "int" in kind else each for each, kind in zip(stored.args, types, strict=True))
    return GaugeBound(
        Gauge(stored.name, stored.to, stored.signature, args, stored.index), least=stored.least, most=stored.most
    )


def decode_principal(stored: Mapping[str, object]) -> PrincipalFlow:
    """A stored flow of others' money as a value."""
    return read_stored(PrincipalFlow, stored)


def _encode_principal(flow: PrincipalFlow) -> dict[str, object]:
    return {
        "protocol": flow.protocol,
        "reference": flow.reference,
        "principal": flow.principal,
        "token": _encode_token(flow.token),
        "most": str(flow.most),
        "most_units": format_units(flow.most, flow.token.decimals, flow.token.symbol),
        "limit": {name: str(value) for name, value in asdict(flow.limit).items()},
    }


_TOKEN_FIELDS = tuple(each.name for each in fields(TokenMeta))


def _encode_token(token: TokenMeta) -> dict[str, object]:
    return {name: getattr(token, name) for name in _TOKEN_FIELDS}


def _encode_flow(flow: TokenFlow) -> dict[str, object]:
    return {
        "token": _encode_token(flow.token),
        "expected": str(flow.expected),
        "bound": str(flow.bound),
        "bound_units": format_units(flow.bound, flow.token.decimals, flow.token.symbol),
    }

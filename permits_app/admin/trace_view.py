"""The calls inside a permit's plan as a tree for a page: who called what, in names and units, with gas and reverts.

The plan runs once more in this process on the block it was simulated on, so the page asks a node for state; what the
node no longer has is said instead of shown. Texts of contracts stay data and are escaped by the template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from permits_app.admin.pool_names import NamedPool, name_pools
from permits_app.models import ActionPermit
from permits_app.permits.kept_simulation import KeptSimulation, read_simulation
from permits_app.permits.stored_calls import list_sent_calls, read_planned_calls
from permits_app.safety.final_simulation import foretell_nothing
from permits_app.words.address_book import read_book
from tools_app.chain.abi import checksum
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.recursion_limit import deep_calls
from tools_app.core.stored_json import IntText, read_stored
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.select import describe_fidelity
from tools_app.simulation.trace import trace_calls
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import BlockRef
from tools_app.wording.address_names import format_token_amount, name_address, name_addresses
from tools_app.wording.call_signatures import NAMED_SIGNATURES
from tools_app.wording.decoded_calls import DecodedArgument, decode_call, format_deadline
from tools_app.wording.formats import format_gas

BUDGET_MS: Final = 8_000
# What contracts say to each other inside a plan; what golems themselves call is named by the admin's own list.
INNER_SIGNATURES: Final = (
    "function factory() view",
    "function balanceOf(address account) view",
    "function allowance(address owner, address spender) view",
    "function decimals() view",
    "function transferFrom(address from, address to, uint160 amount, address token)",
    "function permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details,"
    " address spender, uint256 sigDeadline) permitSingle, bytes signature)",
)
_OPEN_TO_DEPTH: Final = 2
_KINDS: Final[Mapping[str, str]] = {
    "CALL": "calls",
    "STATICCALL": "reads",
    "DELEGATECALL": "runs the code of",
    "CREATE": "creates",
}


@dataclass(frozen=True, slots=True)
class TraceArgument:
    """One argument in words and units."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class TraceFrame:
    """One call. `is_open` is whether the page shows its inside at once: near the top, and on the way to a revert."""

    verb: str
    address: str
    name: str
    function: str
    arguments: tuple[TraceArgument, ...]
    value: str
    gas: str
    is_ok: bool
    error: str
    events: tuple[str, ...]
    calls: tuple[TraceFrame, ...]
    calls_left_out: int
    is_open: bool
    label: str = ""


@dataclass(frozen=True, slots=True)
class PermitTrace:
    """The frames of every call of the plan, or why there are none; `fidelity` is of the permit's own simulation."""

    frames: tuple[TraceFrame, ...]
    fidelity: str
    problem: str = ""


def build_trace(permit: ActionPermit) -> PermitTrace:
    """The trace of a permit's plan. A node that cannot answer is a problem on the page and no error."""
    run = read_simulation(permit.simulation)
    if run is None:
        return PermitTrace((), "", "This write sends no transaction, so there is nothing to trace.")
    fidelity = describe_fidelity(run.fidelity, run.block, at=permit.created_at)
    request, block = rebuild_request(permit, run)
    try:
        trees = trace_calls(request, deadline=Deadline.after_ms(BUDGET_MS), signatures=_list_signatures())
    except GolemError as error:
        return PermitTrace((), fidelity, f"The node no longer shows the state of that block: {error.detail}")
    try:
        pools = name_pools(trees, chain_id=permit.chain_id, block=block, deadline=Deadline.after_ms(BUDGET_MS))
    except GolemError:
        # The tree is whole without them; its pools stay addresses.
        pools = {}
    namer = _Namer(permit.chain_id, pools, name_own(permit))
    with deep_calls():
        return PermitTrace(tuple(_tell(tree, namer, depth=0) for tree in trees), fidelity)


def rebuild_request(permit: ActionPermit, run: KeptSimulation) -> tuple[SimulationRequest, BlockRef]:
    """What was simulated for a permit, as it is signed, and the block it was simulated on."""
    # Before the owners of a Safe signed, the simulation had the Safe itself make the plan's calls; what a user
    # operation does, it had the EntryPoint do.
    sender = run.sender or permit.signer
    stored = read_planned_calls(permit.batch) if sender == permit.acts_for else list_sent_calls(permit)
    calls = tuple(each.call for each in stored)
    randomness = foretell_nothing(permit.chain_id, run.block.hash)
    terms = replace(run.signed_with, randomness=randomness) if run.signed_with is not None else None
    return SimulationRequest(permit.chain_id, sender, calls, block=run.block, terms=terms), run.block


def name_own(permit: ActionPermit) -> dict[str, str]:
    """Addresses its owner has a name for, and the golem's own. Where it acts through an account, its key only signs."""
    book = {checksum(address): name for (_, address), name in read_book(permit.golem.owner_id).names.items()}
    if not permit.acts_for:
        return {**book, permit.signer: "the golem"}
    return {**book, permit.signer: "the golem's key", permit.acts_for: "the golem's account"}


@dataclass(frozen=True, slots=True)
class _Namer:
    """Names of addresses on one chain; `pools` are those of this tree and `own` the golem's, by address."""

    chain_id: int
    pools: Mapping[str, NamedPool]
    own: Mapping[str, str]

    def name(self, address: str) -> str:
        """A name, or nothing."""
        known = name_address(self.chain_id, address) or self.own.get(address, "")
        return known or (self.pools[address].name if address in self.pools else "")

    def in_text(self, text: str) -> str:
        """A text with every address named, or cut short."""
        for address, name in (*((a, pool.name) for a, pool in self.pools.items()), *self.own.items()):
            text = text.replace(address, name)
        return name_addresses(text, self.chain_id)

    def in_units(self, values: Mapping[str, str], *, pool: str) -> dict[str, str]:
        """Values by name: moments as dates, what a pool counts in the units of its tokens, addresses named."""
        return {name: self._in_unit(name, text, values, pool) for name, text in values.items()}

    def _in_unit(self, name: str, text: str, values: Mapping[str, str], pool: str) -> str:
        found = self.pools.get(pool)
        if not text.removeprefix("-").isdigit():
            return self.in_text(text)
        if name in {"deadline", "expiration"}:
            return format_deadline(int(text))
        if found is None:
            return text
        if name == "amountSpecified":
            # More than nothing is what goes in, less is what shall come out.
            goes_in = not text.startswith("-")
            token = found.token0 if (values.get("zeroForOne") == "yes") is goes_in else found.token1
        elif name.startswith(("amount0", "reserve0")):
            token = found.token0
        elif name.startswith(("amount1", "reserve1")):
            token = found.token1
        else:
            return text
        return format_token_amount(self.chain_id, token, text)


@dataclass(frozen=True, slots=True)
class TracedArgument:
    """An argument as the trace tells it."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class TracedEvent:
    """An event as the trace tells it; `event` is empty for one that is not known."""

    address: str
    name: str
    event: str
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class TracedCall:
    """One call as the trace tells it, `value_wei` in wei and `calls` those that it made."""

    kind: str
    sender: str
    to: str
    name: str
    function: str
    arguments: tuple[TracedArgument, ...]
    value_wei: IntText
    value: str
    gas_used: IntText
    succeeded: bool
    error: str | None
    input: str
    events: tuple[TracedEvent, ...]
    calls: tuple[dict[str, object], ...]
    calls_left_out: int
    label: str = ""


def _tell(tree: Mapping[str, object], namer: _Namer, *, depth: int) -> TraceFrame:
    frame = read_stored(TracedCall, tree)
    # Not read as one value: a reader of nested values goes no deeper than a few hundred calls.
    calls = tuple(_tell(child, namer, depth=depth + 1) for child in frame.calls)
    arguments, is_ok = _list_arguments(frame, namer), frame.succeeded
    has_failure = not is_ok or any(not call.is_ok for call in calls)
    return TraceFrame(
        verb=_KINDS[frame.kind],
        address=frame.to,
        name=namer.name(frame.to) or frame.name,
        function=frame.function,
        arguments=arguments,
        value=frame.value if frame.value_wei else "",
        gas=format_gas(frame.gas_used),
        is_ok=is_ok,
        error=frame.error or "",
        events=tuple(_describe_event(event, namer) for event in frame.events),
        calls=calls,
        calls_left_out=frame.calls_left_out,
        is_open=depth < _OPEN_TO_DEPTH or has_failure,
        label=namer.in_text(frame.label),
    )


def _list_arguments(frame: TracedCall, namer: _Namer) -> tuple[TraceArgument, ...]:
    decoded = decode_call({"to": frame.to, "data": frame.input}, chain_id=namer.chain_id)
    if decoded.function:
        own = (_tell_argument(argument, namer) for argument in decoded.arguments)
        steps = (
            TraceArgument(
                f"{position}. {inner.function or 'unknown'}",
                ", ".join(
                    f"{one.name} {one.text}" for one in (_tell_argument(each, namer) for each in inner.arguments)
                ),
            )
            for position, inner in enumerate(decoded.inner, start=1)
        )
        return (*own, *steps)
    # A pool asks its caller for what it is owed: then the pool is who calls.
    pool = frame.sender if frame.function.endswith("Callback") else frame.to
    values = {told.name: told.value for told in frame.arguments}
    return tuple(TraceArgument(*told) for told in namer.in_units(values, pool=pool).items())


def _tell_argument(argument: DecodedArgument, namer: _Namer) -> TraceArgument:
    return TraceArgument(argument.name, argument.text or namer.in_text(argument.address))


def _describe_event(event: TracedEvent, namer: _Namer) -> str:
    name = event.name or namer.name(event.address) or namer.in_text(event.address)
    if not event.event:
        return f"an event of {name}"
    values = ", ".join(f"{key} {text}" for key, text in namer.in_units(event.values, pool=event.address).items())
    return f"{name} {event.event}: {values}"


def _list_signatures() -> tuple[str, ...]:
    return (*(text for each in SHELF for text in each.inner_calls), *INNER_SIGNATURES, *NAMED_SIGNATURES)

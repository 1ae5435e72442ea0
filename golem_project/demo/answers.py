"""What the journey reads of each answer, and what each of its steps tells."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class Step:
    """One step that was taken: how long it took, and either what it showed or why it failed."""

    name: str
    ok: bool
    ms: float
    facts: DataclassInstance | None
    problem: str = ""

    def to_json(self) -> dict[str, object]:
        """The step as the report keeps it: what it showed stands beside its name."""
        shown = {} if self.facts is None else asdict(self.facts)
        told: dict[str, object] = {"name": self.name, "ok": self.ok, "ms": self.ms, **shown}
        return {**told, "problem": self.problem} if self.problem else told


@dataclass(frozen=True, slots=True)
class Delta:
    """What the account gains or loses of one token: base units as text, and the same in units."""

    token: str
    symbol: str
    raw: str
    units: str


# What answers say.


@dataclass(frozen=True, slots=True)
class Nothing:
    """An answer of which nothing is read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal."""

    code: str | None = None
    detail: str | None = None
    recovery: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A tool of the manifest."""

    name: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the golem can do."""

    tools: list[Named]


@dataclass(frozen=True, slots=True)
class Token:
    """A token that is held."""

    symbol: str


@dataclass(frozen=True, slots=True)
class Balance:
    """How much of it: base units as text, and the same in units."""

    token: Token
    balance: str
    balance_units: str


@dataclass(frozen=True, slots=True)
class Wallet:
    """What the wallet holds."""

    balances: list[Balance]


@dataclass(frozen=True, slots=True)
class WalletAnswer:
    """The answer to `wallet_status`."""

    data: Wallet


@dataclass(frozen=True, slots=True)
class Quote:
    """What the swap would bring; also what the step tells."""

    amount_in: str
    amount_in_units: str
    amount_out: str
    amount_out_units: str
    route: object


@dataclass(frozen=True, slots=True)
class QuoteAnswer:
    """The answer to `quote`."""

    data: Quote


@dataclass(frozen=True, slots=True)
class Expected:
    """What the simulation predicts."""

    worst_cost_usd: str
    balance_deltas: list[Delta]
    gas_used: int


@dataclass(frozen=True, slots=True)
class NewPermit:
    """A permit as `preview_action` gives it."""

    permit_id: str
    plan_hash: str
    simulation_hash: str
    risk_tier: str
    expected_outcome: Expected
    fidelity: str
    expires_at: str
    timings_ms: dict[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundPermit:
    """A permit as it is read back."""

    plan_hash: str
    status: str


@dataclass(frozen=True, slots=True)
class UsedPermit:
    """A permit after its commit."""

    status: str
    status_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Actual:
    """What the chain did."""

    balance_deltas: list[Delta]
    gas_used: int
    fee_wei: int | str
    tx_hashes: list[str]


@dataclass(frozen=True, slots=True)
class CommitResult:
    """What became of the action, and who says so."""

    actual_outcome: Actual
    ground_truth_source: str


@dataclass(frozen=True, slots=True)
class CommitAnswer:
    """The answer to `commit_action`."""

    permit: UsedPermit
    result: CommitResult


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode that memory found."""

    id: str


@dataclass(frozen=True, slots=True)
class Episodes:
    """What memory found, each as it came."""

    episodes: list[dict[str, object]]
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What a node answers."""

    result: object = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The node's receipt: who sent the transaction, what gas it used, its logs as they came."""

    sender: str
    gas_used: int
    logs: list[dict[str, object]]


# What steps tell.


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Names of the tools."""

    tools: list[str]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the wallet holds of USDC, and how much of it is swapped."""

    holds: str
    amount_in: str


@dataclass(frozen=True, slots=True)
class Previewed:
    """The permit that was given."""

    permit_id: str
    plan_hash: str
    simulation_hash: str
    risk_tier: str
    worst_cost_usd: str
    predicted: list[Delta]
    gas_predicted: int
    fidelity: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class ReadBack:
    """The permit's status as it is read back."""

    status: str


@dataclass(frozen=True, slots=True)
class Committed:
    """What was predicted beside what happened."""

    status: str
    predicted: list[Delta]
    actual: list[Delta]
    gas_predicted: int
    gas_actual: int
    fee_wei: int | str
    tx_hashes: list[str]
    ground_truth_source: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What the receipts say."""

    amounts_equal: bool
    gas_on_chain: int
    gas_predicted: int
    tx_hashes: list[str]


@dataclass(frozen=True, slots=True)
class Refused:
    """How a second commit is refused."""

    code: str
    recovery: str | None


@dataclass(frozen=True, slots=True)
class FoundEpisode:
    """The episode of the swap, and how it was found."""

    episode_id: str
    mode: str | None


@dataclass(frozen=True, slots=True)
class Latency:
    """How long warm previews take, in milliseconds."""

    p50_ms: float
    p95_ms: float
    breakdown_ms: dict[str, int | float]

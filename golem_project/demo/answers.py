"""What the journey reads of each answer, and what each of its steps tells."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class DemoStep:
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
class DemoDelta:
    """What the account gains or loses of one token: base units as text, and the same in units."""

    token: str
    symbol: str
    raw: str
    units: str


# What answers say.


@dataclass(frozen=True, slots=True)
class DemoNothing:
    """An answer of which nothing is read."""


@dataclass(frozen=True, slots=True)
class DemoProblem:
    """A refusal."""

    code: str | None = None
    detail: str | None = None
    recovery: str | None = None


@dataclass(frozen=True, slots=True)
class DemoNamed:
    """A tool of the manifest."""

    name: str


@dataclass(frozen=True, slots=True)
class DemoManifest:
    """What the golem can do."""

    tools: list[DemoNamed]


@dataclass(frozen=True, slots=True)
class DemoToken:
    """A token that is held."""

    symbol: str


@dataclass(frozen=True, slots=True)
class DemoBalance:
    """How much of it: base units as text, and the same in units."""

    token: DemoToken
    balance: str
    balance_units: str


@dataclass(frozen=True, slots=True)
class DemoWallet:
    """What the wallet holds."""

    balances: list[DemoBalance]


@dataclass(frozen=True, slots=True)
class DemoWalletAnswer:
    """The answer to `wallet_status`."""

    data: DemoWallet


@dataclass(frozen=True, slots=True)
class DemoQuote:
    """What the swap would bring; also what the step tells."""

    amount_in: str
    amount_in_units: str
    amount_out: str
    amount_out_units: str
    route: object


@dataclass(frozen=True, slots=True)
class DemoQuoteAnswer:
    """The answer to `quote`."""

    data: DemoQuote


@dataclass(frozen=True, slots=True)
class DemoExpected:
    """What the simulation predicts."""

    worst_cost_usd: str
    balance_deltas: list[DemoDelta]
    gas_used: int


@dataclass(frozen=True, slots=True)
class DemoNewPermit:
    """A permit as `preview_action` gives it."""

    permit_id: str
    plan_hash: str
    simulation_hash: str
    risk_tier: str
    expected_outcome: DemoExpected
    fidelity: str
    expires_at: str
    timings_ms: dict[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DemoFoundPermit:
    """A permit as it is read back."""

    plan_hash: str
    status: str


@dataclass(frozen=True, slots=True)
class DemoUsedPermit:
    """A permit after its commit."""

    status: str
    status_reason: str | None = None


@dataclass(frozen=True, slots=True)
class DemoActual:
    """What the chain did."""

    balance_deltas: list[DemoDelta]
    gas_used: int
    fee_wei: int | str
    tx_hashes: list[str]


@dataclass(frozen=True, slots=True)
class DemoCommitResult:
    """What became of the action, and who says so."""

    actual_outcome: DemoActual
    ground_truth_source: str


@dataclass(frozen=True, slots=True)
class DemoCommitAnswer:
    """The answer to `commit_action`."""

    permit: DemoUsedPermit
    result: DemoCommitResult


@dataclass(frozen=True, slots=True)
class DemoEpisode:
    """An episode that memory found."""

    id: str


@dataclass(frozen=True, slots=True)
class DemoEpisodes:
    """What memory found, each as it came."""

    episodes: list[dict[str, object]]
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class DemoNodeAnswer:
    """What a node answers."""

    result: object = None


@dataclass(frozen=True, slots=True)
class DemoReceipt:
    """The node's receipt: who sent the transaction, what gas it used, its logs as they came."""

    sender: str
    gas_used: int
    logs: list[dict[str, object]]


# What steps tell.


@dataclass(frozen=True, slots=True)
class DemoToolNames:
    """Names of the tools."""

    tools: list[str]


@dataclass(frozen=True, slots=True)
class DemoChosen:
    """What the wallet holds of USDC, and how much of it is swapped."""

    holds: str
    amount_in: str


@dataclass(frozen=True, slots=True)
class DemoPreviewed:
    """The permit that was given."""

    permit_id: str
    plan_hash: str
    simulation_hash: str
    risk_tier: str
    worst_cost_usd: str
    predicted: list[DemoDelta]
    gas_predicted: int
    fidelity: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class DemoReadBack:
    """The permit's status as it is read back."""

    status: str


@dataclass(frozen=True, slots=True)
class DemoCommitted:
    """What was predicted beside what happened."""

    status: str
    predicted: list[DemoDelta]
    actual: list[DemoDelta]
    gas_predicted: int
    gas_actual: int
    fee_wei: int | str
    tx_hashes: list[str]
    ground_truth_source: str


@dataclass(frozen=True, slots=True)
class DemoChecked:
    """What the receipts say."""

    amounts_equal: bool
    gas_on_chain: int
    gas_predicted: int
    tx_hashes: list[str]


@dataclass(frozen=True, slots=True)
class DemoRefused:
    """How a second commit is refused."""

    code: str
    recovery: str | None


@dataclass(frozen=True, slots=True)
class DemoFoundEpisode:
    """The episode of the swap, and how it was found."""

    episode_id: str
    mode: str | None


@dataclass(frozen=True, slots=True)
class DemoLatency:
    """How long warm previews take, in milliseconds."""

    p50_ms: float
    p95_ms: float
    breakdown_ms: dict[str, int | float]

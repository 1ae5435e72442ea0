"""Prints the journey as a table a person reads, and the curl for each step."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from golem_project.demo.answers import DemoChecked, DemoCommitted, DemoDelta, DemoLatency, DemoPreviewed, DemoStep
from golem_project.embedded.page_address import find_page_url

CONSOLE = Console(highlight=False)


_TOLD = (
    "permit_id",
    "risk_tier",
    "worst_cost_usd",
    "gas_predicted",
    "gas_actual",
    "gas_on_chain",
    "fee_wei",
    "episode_id",
    "code",
    "fidelity",
    "holds",
    "amount_in_units",
    "amount_out_units",
)


def print_step(step: DemoStep) -> None:
    """One line as it happens."""
    mark = "[green]ok[/]" if step.ok else "[red]FAILED[/]"
    CONSOLE.print(f"  {mark} {step.name} ({step.ms:.0f} ms)")


def print_table(steps: list[DemoStep]) -> None:
    """Every step with its time and what it showed."""
    table = Table(title="The main job, step by step", show_lines=False)
    table.add_column("step")
    table.add_column("result")
    table.add_column("ms", justify="right")
    table.add_column("what happened")
    for step in steps:
        result = "[green]ok[/]" if step.ok else "[red]failed[/]"
        table.add_row(step.name, result, f"{step.ms:.1f}", describe(step))
    CONSOLE.print(table)


def describe(step: DemoStep) -> str:
    """The few facts of a step that a person looks for."""
    if step.problem:
        return step.problem
    lines, tx_hashes = [], []
    match step.facts:
        case DemoLatency() as latency:
            lines.append(f"p50 {latency.p50_ms} ms, p95 {latency.p95_ms} ms")
            lines += [f"{name}: {ms} ms" for name, ms in latency.breakdown_ms.items()]
        case DemoPreviewed() as previewed:
            lines.append(_line_of("predicted", previewed.predicted))
        case DemoCommitted() as committed:
            lines += [_line_of("predicted", committed.predicted), _line_of("actual", committed.actual)]
            tx_hashes = committed.tx_hashes
        case DemoChecked() as checked:
            tx_hashes = checked.tx_hashes
    told = step.to_json()
    lines += [f"{key.replace('_', ' ')}: {told[key]}" for key in _TOLD if key in told]
    lines += [f"transaction {tx_hash}" for tx_hash in tx_hashes]
    return "\n".join(lines)


def _line_of(name: str, deltas: list[DemoDelta]) -> str:
    return f"{name}: {', '.join(delta.units for delta in deltas)}"


def print_access(*, base_url: str, login: str, password: str, token: str) -> None:
    """Where to look, how to log in, and how to do each step by hand."""
    header = f'-H "Authorization: Bearer {token}" -H "Content-Type: application/json"'
    swap = '{"action_type":"swap","venue":"uniswap","token_in":"USDC","token_out":"WETH","amount":"500000000"}'
    CONSOLE.rule("Golem is running")
    CONSOLE.print(f"  admin   {find_page_url(base_url)}/admin/   login [bold]{login}[/]   password [bold]{password}[/]")
    CONSOLE.print(f"  API     {base_url}/api/v1/docs")
    CONSOLE.print(f"  token   [bold]{token}[/]\n")
    print("  # what this golem can do")  # noqa: T201  (rich would wrap a command a person copies)
    print(f"  curl -s {header} {base_url}/api/v1/pi/manifest\n")  # noqa: T201
    print("  # 1 preview: simulate the exact bytes, get a permit")  # noqa: T201
    print(f"  curl -s {header} {base_url}/api/v1/pi/preview_action -d '{swap}'\n")  # noqa: T201
    print("  # 2 commit: use the permit within its life, once")  # noqa: T201
    print(f'  curl -s {header} {base_url}/api/v1/pi/commit_action -d \'{{"permit_id":"PERMIT_ID"}}\'\n')  # noqa: T201
    print("  # 3 look at it again")  # noqa: T201
    print(f"  curl -s {header} {base_url}/api/v1/pi/permits/PERMIT_ID\n")  # noqa: T201
    print("  # 4 remember it")  # noqa: T201
    grimoire = '{"query":"swap USDC for WETH","store":"episodes","limit":5}'
    print(f"  curl -s {header} {base_url}/api/v1/pi/query_grimoire -d '{grimoire}'\n")  # noqa: T201

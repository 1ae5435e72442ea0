"""What the safety chain costs: deciding on loaded rules, with nothing read and nothing written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archetypes_app.toolset import resolve_toolset
from golem_project.demo.seed import seed_demo
from permits_app.limits.policy import read_policy
from permits_app.models.allowlist import AllowlistKind
from permits_app.previews.hook_call import make_hook_call
from permits_app.safety import hook_chain
from permits_app.safety.hook import Allow, HookStage
from tests.bench.figures import Figure, measure, percentile, time_calls
from tools_app import runner
from tools_app.core import clock
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool

RULES = 100
COUNT = 1_000
BATCHES = 10


@measure("safety")
def measure_decide() -> Iterator[Figure]:
    """p50 and p99 of hooks 1 to 4 over a real swap's plan, portfolio and sums, and a hundred listed addresses."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    toolset = resolve_toolset(golem)
    tool = REGISTRY.get("uniswap_execute_swap")
    if not isinstance(tool, WriteTool):
        raise TypeError("the swap is no write tool")
    params = runner.check_params(tool=tool, params={"token_in": "USDC", "token_out": "WETH", "amount": "500000000"})
    call = make_hook_call(
        stage=HookStage.PREVIEW,
        golem=golem,
        toolset=toolset,
        policy=read_policy(golem=golem, toolset=toolset),
        tool=tool,
        params=params,
        api_key_id=None,
        now=clock.now(),
    )
    # Recipients do not count as assets, so the list grows to its hundred without breaking the cage.
    extra = {(str(AllowlistKind.RECIPIENT), f"0x{index:040x}") for index in range(RULES - len(call.allowlist))}
    call = replace(call, allowlist=call.allowlist | extra)
    loaded = hook_chain.load_rules(call)
    verdict = hook_chain.decide(call, loaded)
    if not isinstance(verdict, Allow):
        raise TypeError(f"the measured call is refused: {verdict}")
    # Deciding is arithmetic of microseconds: one time slice given to another process is a hundred times as long, so the
    # quietest of the batches tells what deciding takes.
    batches = [time_calls(lambda: hook_chain.decide(call, loaded), count=COUNT, warm_up=50) for _ in range(BATCHES)]
    quietest = min(batches, key=lambda times: percentile(times, 99))
    what = f"hooks 1 to 4 on loaded rules, {len(call.allowlist)} listed addresses, quietest of {BATCHES} x {COUNT}"
    yield Figure("safety.decide_p50", what, percentile(quietest, 50), "ms", target=0.2)
    yield Figure("safety.decide_p99", "the same, 99th percentile", percentile(quietest, 99), "ms", target=1)

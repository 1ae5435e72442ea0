"""The engines on one V3 swap of the local world: warm, cold behind a slow line, and for ten thousand simulations.

Every ratio is of one run on one machine, and anvil's own simulation, pyrevm and eth-tester stand beside ours in the
table. Where those two cannot be fetched their rows are missing, and so is that of screening in revm.
"""

from __future__ import annotations

import http.client
import http.server
import json
import os
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from django.conf import settings

from archetypes_app.toolset import view_golem
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.rpc import JsonRpc
from tests.bench import other_engines
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.proof.serving import serving
from tools_app.chain import chains
from tools_app.chain.abi import encode_call
from tools_app.chain.networks import get_network, with_rpc_urls
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.hashing import hash_canonical
from tools_app.simulation.engine import SimulationEngine, SimulationRequest
from tools_app.simulation.pyevm.base import BASES
from tools_app.simulation.pyevm.engine import PyEvmSimulationEngine
from tools_app.simulation.revm_screening.screening import is_turbo_installed, screen_candidates
from tools_app.simulation.select import select_engine
from tools_app.standards import erc20
from tools_app.toolkit.plan import Call

_SWAP = (
    "function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn,"
    " uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountOut)"
)
_ROUND_TRIP_SECONDS = 0.05
_MANY = 10_000
_SIMULATIONS_PER_BLOCK = 100


@dataclass(frozen=True)
class _Bench:
    """One account on the local world and what it does."""

    account: str
    reader: chains.PinnedReader

    def request(self, amount: int) -> SimulationRequest:
        """Approve and swap `amount` base units of USDC, with the balances read before and after."""
        usdc, wrapped = self.reader.token("USDC"), self.reader.token("WETH")
        router = chains.get_deployment(CHAIN_ID).contracts["uniswap_v3_swap_router_02"]
        data = encode_call(_SWAP, (usdc.address, wrapped.address, 500, self.account, amount, 1, 0))
        return SimulationRequest(
            chain_id=CHAIN_ID,
            sender=self.account,
            calls=(
                erc20.approve_exact(token=usdc, spender=router, amount=amount),
                Call(router, data, 0, "swap"),
            ),
            watch=((self.account, usdc.address), (self.account, wrapped.address)),
            allowances=((usdc.address, self.account, router),),
            block=self.reader.block,
        )

    def transfer(self, amount: int) -> SimulationRequest:
        """Send `amount` base units of USDC away."""
        usdc = self.reader.token("USDC")
        call = erc20.transfer(token=usdc, recipient="0x" + "99" * 20, amount=amount)
        return replace(self.request(amount), calls=(call,), watch=((self.account, usdc.address),), allowances=())


@measure("simulation")
def measure_simulation() -> Iterator[Figure]:
    """Warm, cold, throughput and memory of the engines."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    account = view_golem(golem).address
    if account is None:
        raise AssertionError("the demo's golem has a wallet")
    bench = _Bench(account, _open_reader())
    yield from _measure_warm(bench)
    yield from _measure_others()
    yield from _measure_turbo(bench)
    yield from _measure_cold(bench)
    yield from _measure_throughput(bench)
    yield _measure_memory(bench)


def _deadline() -> Deadline:
    return Deadline.after_ms(60_000)


def _measure_warm(bench: _Bench) -> Iterator[Figure]:
    request = bench.request(1_000_000)
    node = percentile(time_calls(_raw_simulation(request), count=60), 50)
    yield Figure(
        "simulation.warm.anvil",
        "the bare two calls in the node's eth_simulateV1, median of 60",
        node,
        "ms",
        reference="for comparison only",
    )
    for name, target in (("pyevm", 20.0), ("rpc", 2.0)):
        engine = select_engine(CHAIN_ID, name)
        times = time_calls(lambda engine=engine: engine.run(request, deadline=_deadline()), count=60)  # type: ignore[misc]
        median = percentile(times, 50)
        yield Figure(
            f"simulation.warm.{name}",
            f"warm V3 approve, swap and reads on {name}, median of 60",
            median,
            "ms",
            target=target,
            reference=f"{median / node:.1f} times the node's bare eth_simulateV1 of the two calls",
        )


def _measure_others() -> Iterator[Figure]:
    """The same two calls on pyrevm and eth-tester, from an account whose key is known, over one fork's state."""
    if not other_engines.provide():
        return
    account = derive_account("bench of engines")
    fund(JsonRpc(settings.GOLEM_RPC_URLS[CHAIN_ID][0]), account.address, 10**18, {"USDC": 10**10})
    request = _Bench(account.address, _open_reader()).request(1_000_000)
    if request.block is None:
        raise AssertionError("the bench pins its block")
    engine = PyEvmSimulationEngine(network=get_network(CHAIN_ID), pool=chains.get_pool(CHAIN_ID))
    fork = engine.open_fork(request, request.block, deadline=_deadline())
    for call in request.calls:
        fork.send(request.sender, call)
    pyrevm = other_engines.open_pyrevm(fork, sender=request.sender, calls=request.calls)
    key = "0x" + bytes(account.key).hex()
    tester = other_engines.open_eth_tester(fork, private_key=key, calls=request.calls)
    for name, how, run, count in (
        ("pyrevm", "in this process and undone", pyrevm, 60),
        ("eth_tester", "mined and undone", tester, 10),
    ):
        yield Figure(
            f"simulation.warm.{name}",
            f"the same two calls on {name}, {how}, median of {count}",
            percentile(time_calls(run, count=count), 50),
            "ms",
            reference="for comparison only",
        )


def _measure_turbo(bench: _Bench) -> Iterator[Figure]:
    """One candidate among many, without the worker's start, which hundreds of candidates share."""
    if not is_turbo_installed():
        return
    candidates = [bench.request(1_000_000 + number).calls for number in range(600)]

    def screen(count: int) -> float:
        request = bench.request(1)
        return time_calls(
            lambda: screen_candidates(request, candidates[:count], deadline=_deadline()), count=1, warm_up=0
        )[0]

    screen(10)
    few, many = screen(100), screen(600)
    yield Figure(
        "simulation.warm.turbo",
        "the same swap and reads as one of many candidates in revm",
        round((many - few) / 500, 3),
        "ms",
        target=0.5,
        reference=f"600 candidates in {many:.0f} ms with the worker's start",
    )


def _raw_simulation(request: SimulationRequest) -> Callable[[], object]:
    parts = urlsplit(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port or 80, timeout=30)
    calls = [{"from": request.sender, "to": call.to, "input": "0x" + call.data.hex()} for call in request.calls]
    block = request.block
    if block is None:
        raise AssertionError("the bench pins its block")
    payload = {"blockStateCalls": [{"calls": calls}], "validation": False}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "eth_simulateV1", "params": [payload, {"blockHash": block.hash}]}
    )

    def run() -> object:
        connection.request("POST", "/", body, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())

    return run


def _measure_cold(bench: _Bench) -> Iterator[Figure]:
    request = bench.request(2_000_000)
    with slow_node(settings.GOLEM_RPC_URLS[CHAIN_ID][0]) as (url, posts):
        network = with_rpc_urls(get_network(CHAIN_ID), [url])
        pool = RpcPool.of_network(network)
        engine = PyEvmSimulationEngine(network=network, pool=pool)
        pool.call("eth_blockNumber", deadline=_deadline())
        times, trips = [], []
        for _ in range(7):
            BASES.clear()
            before = len(posts)
            times += time_calls(lambda: engine.run(request, deadline=_deadline()), count=1, warm_up=0)
            trips.append(len(posts) - before)
    yield Figure(
        "simulation.cold",
        "cold fork of the same swap at 50 ms round trip, median of 7",
        percentile(times, 50),
        "ms",
        target=250,
        reference=f"{max(trips)} round trips, {max(trips) * _ROUND_TRIP_SECONDS * 1000:g} ms of waiting",
    )
    yield Figure("simulation.cold.trips", "round trips of a cold fork, most of 7", max(trips), "", target=4)


@contextmanager
def slow_node(upstream: str) -> Iterator[tuple[str, list[int]]]:
    """A node that passes everything on, half a round trip late each way; the list collects its requests."""
    posts: list[int] = []
    parts = urlsplit(upstream)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posts.append(len(body))
            time.sleep(_ROUND_TRIP_SECONDS)
            connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port or 80, timeout=30)
            connection.request("POST", "/", body, {"Content-Type": "application/json"})
            answer = connection.getresponse().read()
            connection.close()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server):
        yield f"http://127.0.0.1:{server.server_address[1]}", posts


def _measure_throughput(bench: _Bench) -> Iterator[Figure]:
    for name, target, count, threads in (("pyevm", 45.0, 200, 1), ("rpc", 1_000.0, 1_200, 4)):
        engine = select_engine(CHAIN_ID, name)
        rate, cpu_ms = _rate(bench, engine, count, threads)
        yield Figure(
            f"simulation.rate.{name}",
            f"plan, simulate and hash on {name}, one process, {threads} threads",
            rate,
            "/s",
            target=target,
            at_least=True,
            reference=f"{cpu_ms:.2f} ms of this process's own time each; load of the machine {os.getloadavg()[0]:.1f}",
        )


def _rate(bench: _Bench, engine: SimulationEngine, count: int, threads: int) -> tuple[float, float]:
    """Simulations per second, each of another amount, and milliseconds of processor time for each."""

    def run(number: int) -> None:
        result = engine.run(bench.request(1_000_000 + number), deadline=_deadline())
        hash_canonical(result.as_dict())

    for number in range(5):
        run(number)
    with ThreadPoolExecutor(threads) as pool:
        started, spent = clock.monotonic_ms(), time.process_time()
        list(pool.map(run, range(count)))
        took_ms, cpu_seconds = clock.monotonic_ms() - started, time.process_time() - spent
    return round(count * 1000 / took_ms, 1), cpu_seconds * 1000 / count


def _measure_memory(bench: _Bench) -> Figure:
    """Different amounts on changing blocks, so that every cache that could grow is asked to."""
    engine = select_engine(CHAIN_ID, "pyevm")
    for number in range(200):
        engine.run(bench.request(1_000 + number), deadline=_deadline())
    before = _resident_megabytes()
    node = JsonRpc(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    for number in range(_MANY):
        if number % _SIMULATIONS_PER_BLOCK == 0:
            node.call("evm_mine")
            bench = _Bench(bench.account, _open_reader())
        make = bench.request if number % 10 == 0 else bench.transfer
        engine.run(make(2_000 + number), deadline=_deadline())
    grown = round(_resident_megabytes() - before, 1)
    blocks = _MANY // _SIMULATIONS_PER_BLOCK
    return Figure(
        "simulation.memory",
        f"growth of the process after {_MANY:,} different simulations on pyevm",
        grown,
        "MB",
        target=50,
        reference=f"{before:.0f} MB before; on {blocks} blocks",
    )


def _open_reader() -> chains.PinnedReader:
    return chains.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(600_000))


def _resident_megabytes() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6

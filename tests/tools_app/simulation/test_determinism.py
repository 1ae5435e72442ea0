"""The same inputs give the same bytes: in any process, whatever the order of its dictionaries, and on any engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest

from golem_project.embedded.paths import CHECKOUT
from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.plans import PLANS, Plan, lp_mint
from tools_app.core.clock import Deadline
from tools_app.core.hashing import canonical_bytes, hash_canonical
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.select import ENGINE_NAMES, select_engine

# What only one engine can tell, and the engine's own name.
_OWN = {"engine", "fidelity"}


def _request(open_reader: OpenReader, chain: World, plan: Plan) -> SimulationRequest:
    amounts = {symbol: token.units(10_000) for symbol, token in chain.tokens.items() if symbol != "WETH"}
    account = chain.new_account(eth_wei=10**19, tokens=amounts)
    reader = open_reader()
    calls = plan(reader, chain, account.address)
    watch = tuple((account.address, token.address) for token in (*reader.registered_tokens(), reader.native()))
    return SimulationRequest(31337, account.address, calls, watch=watch, block=reader.block, wants_state_diff=True)


def _simulate_elsewhere(request: SimulationRequest, *, url: str, engine: str, seed: str) -> bytes:
    assert request.block is not None
    told = {
        "url": url,
        "engine": engine,
        "sender": request.sender,
        "calls": [[call.to, call.data.hex(), call.value] for call in request.calls],
        "watch": request.watch,
        "block": asdict(request.block),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools_app.simulation.one_simulation"],
        input=json.dumps(told).encode(),
        capture_output=True,
        timeout=60,
        cwd=CHECKOUT,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_other_processes_give_the_same_bytes_and_hash(open_reader: OpenReader, chain: World, engine: str) -> None:
    request = _request(open_reader, chain, lp_mint)
    here = select_engine(31337, engine).run(request, deadline=Deadline.after_ms(20_000))
    elsewhere = {_simulate_elsewhere(request, url=chain.rpc_url, engine=engine, seed=seed) for seed in ("0", "4242")}

    assert here.succeeded
    assert elsewhere == {canonical_bytes(here.as_dict())}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.__name__)
def test_engines_give_the_same_bytes_but_for_what_only_one_can_tell(
    open_reader: OpenReader, chain: World, plan: Plan
) -> None:
    request = _request(open_reader, chain, plan)
    told: list[dict[str, Any]] = []
    for name in ENGINE_NAMES:
        result = select_engine(31337, name).run(request, deadline=Deadline.after_ms(20_000)).as_dict()
        for call in result["calls"]:
            call.pop("gas_before_refunds", None)
        told.append({key: value for key, value in result.items() if key not in _OWN})

    assert told[0]["succeeded"] is True
    assert hash_canonical(told[0]) == hash_canonical(told[1])

"""Computes the three hashes of a permit: of its plan, its simulation and its policy."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from permits_app.models import ActionPermit
from tools_app.core.hashing import hash_canonical
from tools_app.simulation.engine import SimulationResult


def hash_plan(permit: ActionPermit) -> str:
    """SHA-256 over everything that will be signed and promised; recomputed from the row at commit."""
    return hash_canonical(
        {
            "permit": str(permit.pk),
            "golem": str(permit.golem_id),
            "signer": permit.signer,
            "chain": permit.chain_id,
            "tool": permit.tool_name,
            "schema_version": permit.schema_version,
            "params": permit.params,
            "calls": permit.calls,
            "max_fee_per_gas": permit.max_fee_per_gas,
            "max_priority_fee_per_gas": permit.max_priority_fee_per_gas,
            "value_micro_usd": permit.value_micro_usd,
            "bounds": permit.bounds,
            **({"code": permit.code} if permit.code else {}),
            **({"acts_for": permit.acts_for, "batch": permit.batch} if permit.acts_for else {}),
        }
    )


def hash_simulation(*, plan_hash: str, simulation: SimulationResult) -> str:
    """SHA-256 over plan, engine, block, result, and gas and deltas of the simulation."""
    return hash_canonical(
        {
            "plan_hash": plan_hash,
            "engine": simulation.engine,
            "block_hash": simulation.block.hash,
            "succeeded": simulation.succeeded,
            "gas": [call.gas_used for call in simulation.calls],
            "deltas": {address: str(delta) for address, delta in simulation.deltas.items()},
        }
    )


def hash_action(*, golem_id: UUID, tool_name: str, params: Mapping[str, object]) -> str:
    """Names an equal action: same golem, tool and parameters."""
    return hash_canonical({"golem": str(golem_id), "tool": tool_name, "params": params})

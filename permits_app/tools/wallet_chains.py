"""`wallet_get_supported_chains` and `wallet_detect_account_type`: where a golem can act, and what an address is."""

from __future__ import annotations

from dataclasses import dataclass

from permits_app.policy_cage.safe_watch import read_safe_state
from permits_app.tools.wallet import wallet
from tools_app.chain.chains import get_pool
from tools_app.chain.networks import Network, configured_networks
from tools_app.chain.running_code import find_delegate
from tools_app.core.errors import GolemError
from tools_app.portfolio.markets import list_markets
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import Address, ChainId

_BLOCKS_LATE = 10
"""A chain whose newest block is older than so many of its usual times between blocks is told as degraded."""
_GRACE_SECONDS = 60
_ENTRY_POINTS = ("function entryPoint() view returns (address)", "function entrypoint() view returns (address)")


@dataclass(frozen=True, slots=True)
class SupportedChain:
    """One chain of this server. `rpc_status` is healthy, degraded (a node rests, or blocks are late; `reason` says
    which) or down; `block_number` is null where nobody answers; `markets` are the protocols whose pools are read
    there.
    """

    chain_id: int
    name: str
    is_private: bool
    rpc_status: str
    reason: str | None
    block_number: int | None
    block_age_seconds: int | None
    markets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SupportedChains:
    """Every chain that is set up on this server, in the order of their ids."""

    chains: tuple[SupportedChain, ...]


@dataclass(frozen=True, slots=True)
class AccountType:
    """What an address is now: eoa, safe, erc4337, contract, or unknown. `delegates_to` is whose code an account runs
    that delegated itself (EIP-7702), else null; it is an eoa all the same, whose key decides.
    """

    address: str
    chain_id: int
    account_type: str
    has_code: bool
    code_size: int
    delegates_to: str | None
    block_number: int


@wallet.read(
    snippet=(
        "supported_chains: every chain of this server with its newest block, how its nodes are, and whose pools are"
        " traded there."
    ),
    guidelines=("Where a chain is down or degraded nothing new is begun on it; wait or choose another.",),
)
def wallet_get_supported_chains(ctx: ReadContext) -> SupportedChains:
    """List the chains that this server reads, each with how it is now.

    Use before naming a chain. A chain is degraded while one of its nodes rests or its newest block is late.
    Does not say what the golem may do there; its owner's list does.
    """
    ctx.step("Asking every chain")
    networks = sorted(configured_networks(), key=lambda each: each.chain_id)
    return SupportedChains(tuple(_describe(ctx, each) for each in networks))


@wallet.read(
    query="account_type",
    budget=TickBudget.FAST,
    snippet=(
        "account_type: whether an address is a key's account, a Safe, a smart account, another contract, and whose code"
        " it runs where it delegated itself."
    ),
    guidelines=("Look before paying an address that is new: a contract may not be able to send on what it gets.",),
)
def wallet_detect_account_type(ctx: ReadContext, address: Address, chain_id: ChainId | None = None) -> AccountType:
    """Say what an address is, by the code that is there now.

    Use before a first transfer. A key's account that delegated itself to code is an eoa, and the code is named.
    Does not tell who holds a key, and an address without code may become a contract later.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Reading its code")
    code = reader.code(address)
    delegate = find_delegate(code)
    return AccountType(
        address=address,
        chain_id=reader.chain_id,
        account_type=_name_type(reader, address, code, is_delegated=delegate is not None),
        has_code=bool(code),
        code_size=len(code),
        delegates_to=delegate,
        block_number=reader.block.number,
    )


def _name_type(reader: ChainReader, address: str, code: bytes, *, is_delegated: bool) -> str:
    if not code or is_delegated:
        return "eoa"
    if read_safe_state(reader, address) is not None:
        return "safe"
    answers = reader.call_many([ReadCall(address, each) for each in _ENTRY_POINTS])
    if any(each.ok and reader.code(each.values[0]) for each in answers):
        return "erc4337"
    return "contract"


def _describe(ctx: ReadContext, network: Network) -> SupportedChain:
    markets = tuple(sorted(list_markets(network.chain_id)))
    try:
        block = ctx.chain(network.chain_id).block
    except GolemError as error:
        return SupportedChain(
            network.chain_id, network.name, network.is_dev, "down", f"{error.code}: {error.title}", None, None, markets
        )
    age = max(0, int(ctx.now.timestamp()) - block.timestamp)
    reason = _find_fault(network, age)
    return SupportedChain(
        network.chain_id,
        network.name,
        network.is_dev,
        "healthy" if reason is None else "degraded",
        reason,
        block.number,
        age,
        markets,
    )


def _find_fault(network: Network, age: int) -> str | None:
    # A private chain makes blocks only when something is sent.
    if not network.is_dev and age > _BLOCKS_LATE * network.block_seconds + _GRACE_SECONDS:
        return f"its newest block is {age} s old"
    nodes = get_pool(network.chain_id).health()
    failing = [each for each in nodes if each.failures]
    return f"{len(failing)} of its {len(nodes)} nodes do not answer" if failing else None

"""The built-in tool profiles as data. `data` is in every profile."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.toolkit.enums import Category

_ALL = frozenset(Category)


@dataclass(frozen=True, slots=True)
class BuiltinProfile:
    name: str
    description: str
    categories: frozenset[Category]
    is_read_only: bool = False
    is_conservative: bool = False


def _profile(name: str, description: str, *categories: Category, is_read_only: bool = False) -> BuiltinProfile:
    return BuiltinProfile(name, description, frozenset({Category.DATA, *categories}), is_read_only)


_ACTIVE = _ALL - {Category.TESTNET, Category.CODING}

BUILTIN_PROFILES: tuple[BuiltinProfile, ...] = (
    _profile("data", "Reads of the chain and of identities", Category.IDENTITY, is_read_only=True),
    _profile("trader", "Quotes and swaps", Category.TRADING, Category.SAFETY, Category.STREAMING),
    _profile("lp", "Swaps and liquidity positions", Category.TRADING, Category.LP, Category.SAFETY, Category.STREAMING),
    _profile(
        "lender", "Lending: supply, take back, borrow and repay", Category.LENDING, Category.SAFETY, Category.STREAMING
    ),
    _profile("vault", "ERC-4626 vaults", Category.VAULT, Category.SAFETY),
    _profile(
        "vault-curator",
        "Runs a vault and the strategies under it",
        Category.VAULT,
        Category.LP,
        Category.TRADING,
        Category.SAFETY,
        Category.INTELLIGENCE,
        Category.STREAMING,
    ),
    _profile("fees", "Fee collection and burning", Category.FEES),
    _profile("erc8004", "On-chain agent identity", Category.IDENTITY),
    _profile("identity", "Identity and wallet", Category.IDENTITY, Category.WALLET),
    _profile("intelligence", "Market intelligence", Category.INTELLIGENCE),
    _profile("dashboard", "Market intelligence for a display", Category.INTELLIGENCE),
    _profile(
        "observatory",
        "Watches, remembers, never trades",
        Category.INTELLIGENCE,
        Category.IDENTITY,
        Category.MEMORY,
        Category.STREAMING,
        is_read_only=True,
    ),
    _profile(
        "learning", "Memory and self-improvement", Category.INTELLIGENCE, Category.MEMORY, Category.SELF_IMPROVEMENT
    ),
    _profile("evaluation", "Judges risk before money moves", Category.SAFETY, Category.INTELLIGENCE),
    _profile("minimal", "Reads of the chain only"),
    BuiltinProfile(
        "conservative",
        "Every read; plain writes of trading, liquidity, vaults and safety, without leverage",
        _ALL - {Category.CODING, Category.TESTNET},
        is_conservative=True,
    ),
    BuiltinProfile("active", "Everything but test chains and shells", _ACTIVE),
    BuiltinProfile("golem", "A whole golem's life: the same tools as active", _ACTIVE),
    BuiltinProfile("full", "Everything but test chains and shells", _ACTIVE),
    BuiltinProfile("dev", "Everything but shells, test chains included", _ALL - {Category.CODING}),
    BuiltinProfile("development", "The same as dev", _ALL - {Category.CODING}),
)

CONSERVATIVE_WRITE_CATEGORIES = frozenset({Category.TRADING, Category.LP, Category.VAULT, Category.SAFETY})

"""What a golem may come to hold: which assets and how many, and how large a share one position, asset or debt may be,
or all that depends on one issuer, bridge or oracle.

Shares are compared by cross-multiplication, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from permits_app.errors import TokenNotAllowed
from permits_app.hook_rejection import Reject
from permits_app.safety.assets import Portfolio
from permits_app.safety.format_rule_figures import format_bps
from permits_app.safety.predicted_holdings import Dependent, Share
from tools_app.core.errors import Recovery
from tools_app.core.units import BPS, format_micro_usd
from tools_app.portfolio.issuer_and_bridge_risk import Dependence, DependenceKind, Failure
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.address_names import name_oracle


def judge_asset_list(*, arriving: Iterable[TokenMeta], approved: frozenset[str]) -> Reject | None:
    """A token that would come to be held is not an approved asset. `approved` are EIP-55 addresses."""
    for token in arriving:
        if token.address not in approved:
            return Reject(
                rule="policy_cage.approved_asset",
                reason=f"{token.symbol or token.address} is not an approved asset of this golem",
                observed=f"{token.symbol} {token.address}",
                limit=f"{len(approved)} approved assets",
                would_pass="an approved asset, or after the owner approves this one",
                error=TokenNotAllowed,
                data={"token": token.address},
            )
    return None


def judge_asset_count(*, count: int, most: int) -> Reject | None:
    """More assets than the cage has room for."""
    if count <= most:
        return None
    return Reject(
        rule="policy_cage.max_assets",
        reason=f"{count} assets; the cage allows {most}",
        observed=f"{count} assets",
        limit=f"{most} assets",
        would_pass="fewer assets: one has to be sold, or taken off the list, first",
    )


def judge_range(plan: TxPlan, *, least_ticks: int) -> Reject | None:
    """Liquidity goes into a range narrower than the owner's least, a new one or one that is held."""
    lower, upper = plan.details.get("tick_lower"), plan.details.get("tick_upper")
    if lower is None or upper is None:
        return None
    ticks = int(upper) - int(lower)
    if ticks >= least_ticks:
        return None
    return Reject(
        rule="policy_cage.min_range",
        reason=f"a range of {ticks} ticks is narrower than the owner's least of {least_ticks}: when the price leaves"
        " it, what lies in it is lost to whoever trades",
        observed=f"{ticks} ticks",
        limit=f"at least {least_ticks} ticks",
        would_pass=f"a range of {least_ticks} ticks or more, each a ten-thousandth of the price; or a least range that"
        " the owner lowered",
    )


def judge_position(*, value_micro_usd: int, total_micro_usd: int, most_bps: int) -> Reject | None:
    """One venue position would be too large a share of what the golem holds."""
    if value_micro_usd * BPS <= most_bps * total_micro_usd:
        return None
    most = total_micro_usd * most_bps // BPS
    return Reject(
        rule="policy_cage.max_position",
        reason=(
            f"a position of {format_micro_usd(value_micro_usd)} would be"
            f" {_share(value_micro_usd, total_micro_usd)} of the portfolio of {format_micro_usd(total_micro_usd)}"
        ),
        observed=_share(value_micro_usd, total_micro_usd),
        limit=format_bps(most_bps),
        would_pass=f"a position of at most {format_micro_usd(most)}",
    )


def judge_share(*, share: Share, symbol: str, total_micro_usd: int, most_bps: int) -> Reject | None:
    """All that is kept of one asset at one protocol would be too large a share, whichever positions it lies in."""
    if share.after * BPS <= most_bps * total_micro_usd:
        return None
    most = max(0, total_micro_usd) * most_bps // BPS
    return Reject(
        rule="policy_cage.max_position",
        reason=(
            f"{symbol} at {share.protocol} would be {format_micro_usd(share.after)} in all,"
            f" {_share(share.after, total_micro_usd)} of the portfolio of {format_micro_usd(total_micro_usd)}"
        ),
        observed=_share(share.after, total_micro_usd),
        limit=format_bps(most_bps),
        remaining=format_micro_usd(max(0, most - share.before)),
        would_pass=f"at most {format_micro_usd(most)} of {symbol} in positions at {share.protocol}",
        data={"protocol": share.protocol, "asset": share.asset},
    )


def judge_concentration(*, portfolio: Portfolio, most_bps: int) -> Reject | None:
    """An asset other than the base asset would be too large a share, and larger than before.

    Owed and followed assets move the portfolio as held ones do: a debt in an asset is a share of it too.
    """
    total_before, total_after = portfolio.total_before, portfolio.total_after
    for asset in dict.fromkeys([*portfolio.after, *portfolio.exposure]):
        value = portfolio.weigh(portfolio.after, asset)
        if asset == portfolio.base_asset or value * BPS <= most_bps * total_after:
            continue
        # Shares compared by cross-multiplication, so that nothing is rounded.
        held = portfolio.weigh(portfolio.before, asset)
        if total_before > 0 and value * total_before <= held * total_after:
            continue
        symbol = portfolio.names.get(asset, asset)
        return Reject(
            rule="policy_cage.max_concentration",
            reason=(
                f"{symbol} would be {_share(value, total_after)} of the portfolio of {format_micro_usd(total_after)},"
                f" up from {_share(held, total_before)}"
            ),
            observed=_share(value, total_after),
            limit=format_bps(most_bps),
            remaining=format_micro_usd(max(0, total_after * most_bps // BPS - held)),
            would_pass=f"{symbol} worth at most {format_micro_usd(total_after * most_bps // BPS)} in all",
            data={"asset": asset},
        )
    return None


_DEPENDENCE_RULES: Final = {
    DependenceKind.ISSUER: ("policy_cage.max_issuer", "is issued by"),
    DependenceKind.BRIDGE: ("policy_cage.max_bridge", "came or comes over the bridge"),
    DependenceKind.ORACLE: ("policy_cage.max_oracle", "is priced by the oracle"),
}


_FAILED_RULES: Final = {
    DependenceKind.ISSUER: "policy_cage.issuer_failed",
    DependenceKind.BRIDGE: "policy_cage.bridge_failed",
    DependenceKind.ORACLE: "policy_cage.oracle_failed",
}


def judge_dependence(*, dependent: Dependent, total_micro_usd: int, most_bps: int) -> Reject | None:
    """All that depends on one issuer, bridge or oracle would be too large a share, and larger than before."""
    if dependent.after <= dependent.before or dependent.after * BPS <= most_bps * total_micro_usd:
        return None
    most = max(0, total_micro_usd) * most_bps // BPS
    kind = DependenceKind(dependent.kind)
    rule, words = _DEPENDENCE_RULES[kind]
    name = name_oracle(dependent.name) if kind is DependenceKind.ORACLE else dependent.name
    return Reject(
        rule=rule,
        reason=(
            f"{format_micro_usd(dependent.after)} that {words} {name} would be"
            f" {_share(dependent.after, total_micro_usd)} of the portfolio of {format_micro_usd(total_micro_usd)}:"
            " where that fails, all of it does"
        ),
        observed=_share(dependent.after, total_micro_usd),
        limit=format_bps(most_bps),
        remaining=format_micro_usd(max(0, most - dependent.before)),
        would_pass=(
            f"at most {format_micro_usd(most)} that {words} {name}; another {kind.value}; or a larger share"
            " that the owner allowed"
        ),
        data={"recovery": Recovery.FIX_PARAMS, "kind": kind.value, "name": dependent.name},
    )


def judge_failures(*, failures: Iterable[Failure], entered: frozenset[Dependence]) -> Reject | None:
    """More would depend on an issuer, a bridge or an oracle that failed what is held already."""
    for failure in failures:
        if failure.dependence not in entered:
            continue
        kind, name = failure.dependence.kind, failure.dependence.name
        told = name_oracle(name) if kind is DependenceKind.ORACLE else name
        return Reject(
            rule=_FAILED_RULES[kind],
            reason=f"the {kind.value} {told} failed, and nothing more goes there: {failure.words}",
            observed=failure.words,
            limit=f"no more at {kind.value} {told} until that is over",
            would_pass=f"the same with another {kind.value}, a decrease or close now, or this one once that is over",
            data={"recovery": Recovery.WAIT, "kind": kind.value, "name": name},
        )
    return None


def judge_collateral(*, ratio_bps: int | None, least_bps: int, borrows: bool) -> Reject | None:
    """Collateral over debt below the cage's least, or not told by a plan that borrows."""
    if ratio_bps is None and not borrows:
        return None
    if ratio_bps is not None and ratio_bps >= least_bps:
        return None
    known = ratio_bps is not None
    return Reject(
        rule="policy_cage.collateral_ratio" if known else "policy_cage.collateral_unknown",
        reason=(
            f"collateral would be {format_bps(ratio_bps or 0)} of the debt; the cage asks for {format_bps(least_bps)}"
            if known
            else "the plan borrows and does not say how much collateral would stand behind the debt"
        ),
        observed=format_bps(ratio_bps or 0) if known else "no collateral ratio",
        limit=f"at least {format_bps(least_bps)}",
        would_pass=f"less debt or more collateral: at least {format_bps(least_bps)}",
    )


def _share(value: int, total: int) -> str:
    return format_bps(-(-value * BPS // total)) if total > 0 else "all of it"

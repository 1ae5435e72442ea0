"""`safety_get_protocol_exposure`: where an account's worth lies and on whom it depends: protocols, chains, tokens,
issuers, bridges and oracles.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from tools_app.portfolio.issuer_and_bridge_risk import DependenceKind, sum_dependences
from tools_app.subsystems.safety.account_measurement import MeasuredAccount, measure_account, show_percent
from tools_app.subsystems.safety.family import ChainOrAll, board
from tools_app.subsystems.safety.price_shocks import follows_dollar
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.params import Address
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import UsdAmount

WALLET = "wallet"
_HIGH_BPS = 5_000
_MEDIUM_BPS = 2_500


@dataclass(frozen=True, slots=True)
class ExposureShare:
    """One place, chain, token or kind. `net_usd` is held less owed; the share is of all that is held."""

    name: str
    held_usd: UsdAmount
    owed_usd: UsdAmount
    net_usd: UsdAmount
    held_share_percent: str


@dataclass(frozen=True, slots=True)
class ProtocolExposure:
    """Where worth lies and on whom it depends, the largest first. The risk of concentration leaves out the wallet and
    dollar tokens. What depends on an issuer, a bridge or an oracle (`chain:address`) is what is held alone.
    """

    account: str
    by_protocol: tuple[ExposureShare, ...]
    by_chain: tuple[ExposureShare, ...]
    by_asset: tuple[ExposureShare, ...]
    by_asset_type: tuple[ExposureShare, ...]
    by_issuer: tuple[ExposureShare, ...]
    by_bridge: tuple[ExposureShare, ...]
    by_oracle: tuple[ExposureShare, ...]
    concentration_risk: str
    recommendations: tuple[str, ...]
    not_counted: tuple[str, ...]


@board.read(
    snippet=(
        "protocol_exposure: how much of an account lies at each protocol, on each chain, in each token and in tokens"
        " that follow the dollar, held and owed apart."
    ),
    guidelines=("What is High rests on one protocol or one token: spread it before you add to it.",),
)
def safety_get_protocol_exposure(
    ctx: ReadContext, account: Address | None = None, chain_id: ChainOrAll | None = None
) -> ProtocolExposure:
    """Say where an account's worth lies: by protocol, by chain, by token, and in dollar tokens or others.

    Use before adding to a position. Concentration is High where one protocol or one token that follows no dollar has
    more than half of all that is held, Medium from a quarter on.
    Does not count what only follows a token's price without holding it. Issuers, bridges and oracles are those that
    this server knows; one it does not know is in no line.
    """
    ctx.step("Reading everything the account holds")
    measured = measure_account(ctx, account, chain_id)
    protocols, chains, assets, kinds = _Sums(), _Sums(), _Sums(), _Sums()
    dollars = {follow.token.address for _, follow in measured.list_parts() if follows_dollar(follow.price)}
    for place, part in measured.list_parts():
        worth = part.micro_usd or 0
        chains.add(f"chain {place.chain_id}", worth)
        # A token's own word for itself is data: its address stands beside it.
        assets.add(f"{part.token.symbol or 'token'} {part.token.address}", worth)
        kinds.add("follows the dollar" if part.token.address in dollars else "moves in price", worth)
    for place in measured.chains:
        for token in place.holdings.tokens:
            protocols.add(WALLET, token.micro_usd or 0)
        for held in place.holdings.positions:
            name = SHELF.label_on(held.ref.protocol, place.chain_id)
            for part in held.parts:
                protocols.add(name, part.micro_usd or 0)
    moving = {name for name in assets.held if name.rpartition(" ")[2] not in dollars}
    risk, advice = _judge(protocols, assets, moving)
    return ProtocolExposure(
        account=measured.account,
        by_protocol=protocols.list_shares(),
        by_chain=chains.list_shares(),
        by_asset=assets.list_shares(),
        by_asset_type=kinds.list_shares(),
        **_list_dependences(measured, protocols.whole),
        concentration_risk=risk,
        recommendations=(*advice, *_say_gaps(measured)),
        not_counted=measured.not_counted,
    )


def _list_dependences(measured: MeasuredAccount, whole: int) -> dict[str, tuple[ExposureShare, ...]]:
    sums = sum_dependences([place.holdings for place in measured.chains])
    found: dict[str, list[ExposureShare]] = {f"by_{kind.value}": [] for kind in DependenceKind}
    for each, worth in sorted(sums.items(), key=lambda item: (-item[1], item[0])):
        if worth:
            share = show_percent(worth * 10_000 // whole if whole else 0)
            held = ExposureShare(each.name, UsdAmount(worth), UsdAmount(0), UsdAmount(worth), share)
            found[f"by_{each.kind.value}"].append(held)
    return {name: tuple(shares) for name, shares in found.items()}


class _Sums:
    """Micro-USD held and owed by name."""

    def __init__(self) -> None:
        self.held: dict[str, int] = defaultdict(int)
        self.owed: dict[str, int] = defaultdict(int)

    def add(self, name: str, worth: int) -> None:
        """Count one part: negative is owed."""
        self.held[name] += max(0, worth)
        self.owed[name] += max(0, -worth)

    @property
    def whole(self) -> int:
        """All that is held."""
        return sum(self.held.values())

    def share_bps(self, name: str) -> int:
        """What one has of all that is held."""
        return self.held[name] * 10_000 // self.whole if self.whole else 0

    def list_shares(self) -> tuple[ExposureShare, ...]:
        """The largest first; what is nothing is left out."""
        names = sorted(self.held, key=lambda name: (-self.held[name], -self.owed[name], name))
        return tuple(
            ExposureShare(
                name,
                UsdAmount(self.held[name]),
                UsdAmount(self.owed[name]),
                UsdAmount(self.held[name] - self.owed[name]),
                show_percent(self.share_bps(name)),
            )
            for name in names
            if self.held[name] or self.owed[name]
        )


def _judge(protocols: _Sums, assets: _Sums, moving: set[str]) -> tuple[str, tuple[str, ...]]:
    shares = [
        *((protocols.share_bps(name), f"{name} has") for name in sorted(protocols.held) if name != WALLET),
        *((assets.share_bps(name), f"{name} is") for name in sorted(moving)),
    ]
    most = max((share for share, _ in shares), default=0)
    level = "High" if most > _HIGH_BPS else "Medium" if most > _MEDIUM_BPS else "Low"
    advice = tuple(
        f"{text} {show_percent(share)}% of all that is held: spread it before you add to it"
        for share, text in sorted(shares, reverse=True)
        if share > _MEDIUM_BPS
    )
    return level, advice


def _say_gaps(measured: MeasuredAccount) -> tuple[str, ...]:
    return ("some of what is held is not counted: read not_counted first",) if measured.not_counted else ()

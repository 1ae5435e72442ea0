"""ERC-4626 vaults: what shares are worth, plans that guard their price, positions, and the effects of calls.

The standard has no least shares or assets in its calls, so the price is guarded around them: what a deposit gains is
measured in the simulation, and the price of a share is a figure that must stay where the plan saw it. A price that a
donation moved, before the deposit or between preview and commit, refuses the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import AbiDecodeError, decode_input, encode_call
from tools_app.chain.abi_records import AbiEvent
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.units import format_units
from tools_app.standards import erc20
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.context import AbiValues, ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import (
    Gauge,
    GaugeBound,
    Leg,
    Locked,
    Position,
    PositionChange,
    PositionRef,
    PositionsUnreadable,
    Reads,
    ShareIndex,
)
from tools_app.toolkit.views import LogEntry, TokenMeta

ASSET: Final = "function asset() view returns (address)"
TO_ASSETS: Final = "function convertToAssets(uint256 shares) view returns (uint256 assets)"
PREVIEW_DEPOSIT: Final = "function previewDeposit(uint256 assets) view returns (uint256 shares)"
PREVIEW_REDEEM: Final = "function previewRedeem(uint256 shares) view returns (uint256 assets)"
MAX_DEPOSIT: Final = "function maxDeposit(address receiver) view returns (uint256)"
MAX_REDEEM: Final = "function maxRedeem(address owner) view returns (uint256)"
DEPOSIT: Final = "function deposit(uint256 assets, address receiver) returns (uint256 shares)"
MINT: Final = "function mint(uint256 shares, address receiver) returns (uint256 assets)"
WITHDRAW: Final = "function withdraw(uint256 assets, address receiver, address owner) returns (uint256 shares)"
REDEEM: Final = "function redeem(uint256 shares, address receiver, address owner) returns (uint256 assets)"
SUPPORTS: Final = "function supportsInterface(bytes4 interfaceId) view returns (bool)"
ENTERED_BY_REQUEST: Final = bytes.fromhex("ce3bbe50")
LEFT_BY_REQUEST: Final = bytes.fromhex("620ee8e4")
"""ERC-165 ids of ERC-7540: a vault that has one takes, or gives back, nothing that was not asked for before."""
ASKED: Final = (
    "function pendingDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)",
    "function claimableDepositRequest(uint256 requestId, address controller) view returns (uint256 assets)",
    "function pendingRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)",
    "function claimableRedeemRequest(uint256 requestId, address controller) view returns (uint256 shares)",
)
"""What an account asked for; request 0 is the sum of those that the vault still tells."""
TRANSFER_EVENT: Final = erc20.TRANSFER_EVENT
DEPOSIT_EVENT: Final = "event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)"
WITHDRAW_EVENT: Final = (
    "event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets,"
    " uint256 shares)"
)


@dataclass(frozen=True, slots=True)
class AssetsIn:
    """Assets that somebody paid in, and the shares that `owner` got for them."""

    owner: str
    assets: int
    shares: int


@dataclass(frozen=True, slots=True)
class AssetsOut:
    """Assets that were paid to `receiver`, and the shares of `owner` that were burned for them."""

    receiver: str
    owner: str
    assets: int
    shares: int


PAID_IN: Final = AbiEvent(DEPOSIT_EVENT, AssetsIn)
PAID_OUT: Final = AbiEvent(WITHDRAW_EVENT, AssetsOut)

KIND: Final = "vault"
MOST_LOSS_BPS: Final = 10
"""A deposit may be worth this much less at once: fees and rounding, not a price that somebody blew up."""
MOST_JUMP_BPS: Final = 25
"""The price of a share may move this much between the plan and the transaction."""
INDEX_SHARES: Final = 10**24
"""The price of a share is told of so many base units, so that rounding does not show in it."""
_BPS: Final = 10_000


class VaultClosed(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The vault does not take or give that much now",
    cleared_by="the vault takes or gives more; as much as data.room passes now",
):
    """The vault takes or gives less than asked; `data.room` base units (or shares) pass."""


class VaultByRequest(
    VaultClosed,
    recovery=Recovery.ASK_OWNER,
    title="The vault is entered or left by request",
    cleared_by="another vault, or its owner, who asks the vault, waits, and claims",
):
    """The vault is entered or left by request (ERC-7540), and is not known here as one that is asked.

    `data` has what was asked for by the account's owner: `pending_deposit` and `claimable_deposit` in base units of the
    asset, `pending_redeem` and `claimable_redeem` in shares; null where the vault does not tell.
    """


class SharePriceUnsafe(
    GolemError, status=409, recovery=Recovery.GIVE_UP, title="The vault would keep a part of the deposit"
):
    """What would be had for the deposit is worth less than it: the price of a share was blown up, or a fee is high."""


class SharesMissing(
    GolemError,
    code="VAULT_SHARES_MISSING",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The account does not hold that many shares of the vault",
):
    """The account holds fewer shares than asked, or none."""


@dataclass(frozen=True, slots=True)
class Vault:
    """A vault as a protocol's data knows it: shares of `address` stand for `asset`. `by_request` is whether it is
    entered and left by request (ERC-7540).
    """

    address: str
    asset: str
    label: str
    by_request: bool = False


@dataclass(frozen=True, slots=True)
class VaultFamily:
    """The vaults of one protocol: its name, as first word of their positions."""

    protocol: str
    kind: str = KIND

    def ref(self, chain_id: int, vault: str) -> PositionRef:
        """The position of an account in a vault."""
        return PositionRef(self.protocol, self.kind, chain_id, vault)

    def list_positions(self, chain_id: int, account: str, vaults: Sequence[Vault]) -> Reads[tuple[Position, ...]]:
        """What `account` has in each; for one without shares one batch. Raises PositionsUnreadable."""
        balances = yield [erc20.balance_call(vault.address, account) for vault in vaults]
        held = [
            (vault, shares)
            for vault, outcome in zip(vaults, balances, strict=True)
            if (shares := _answer(outcome, vault, "shares"))
        ]
        if not held:
            return ()
        asked = [
            call
            for vault, shares in held
            for call in (
                ReadCall(vault.address, TO_ASSETS, (shares,)),
                ReadCall(vault.address, MAX_REDEEM, (account,)),
                ReadCall(vault.address, TO_ASSETS, (INDEX_SHARES,)),
                ReadCall(vault.address, SUPPORTS, (LEFT_BY_REQUEST,)),
            )
        ]
        outcomes = iter((yield asked))
        return tuple(
            self._make(chain_id, vault, shares, next(outcomes), next(outcomes), next(outcomes), next(outcomes))
            for vault, shares in held
        )

    def _make(
        self,
        chain_id: int,
        vault: Vault,
        shares: int,
        worth: ReadOutcome,
        redeemable: ReadOutcome,
        price: ReadOutcome,
        asked: ReadOutcome,
    ) -> Position:
        assets = _answer(worth, vault, "what its shares are worth")
        free = min(shares, redeemable.values[0]) if redeemable.ok else 0
        fast = assets - assets * free // shares
        by_request = asked.ok and bool(asked.values[0])
        return Position(
            ref=self.ref(chain_id, vault.address),
            label=vault.label,
            legs=(Leg(vault.asset, assets),) if assets else (),
            claim_tokens=frozenset({vault.address}),
            facts={
                "vault": vault.address,
                "asset": vault.asset,
                "shares": str(shares),
                "assets": str(assets),
                # A vault that does not tell gives nothing that can be counted on.
                "redeemable_shares": str(redeemable.values[0] if redeemable.ok else 0),
                "by_request": "yes" if by_request else "",
            },
            share_index=ShareIndex(vault.address, _answer(price, vault, "what a share is worth"), shares),
            locked=(Locked(vault.asset, fast, "asked" if by_request else "used"),) if free < shares and fast else (),
        )

    def born(
        self, chain_id: int, logs: Sequence[LogEntry], account: str, vaults: Sequence[Vault]
    ) -> tuple[PositionRef, ...]:
        """The vaults whose shares logs say came to `account`."""
        known = {vault.address for vault in vaults}
        found: dict[PositionRef, None] = {}
        for log in logs:
            if log.address in known:
                told = erc20.MOVED.read(log)
                if told is not None and told.to == account:
                    found[self.ref(chain_id, log.address)] = None
        return tuple(found)

    def plan_deposit(self, reader: ChainReader, account: str, vault: Vault, assets: int) -> TxPlan:
        """Put `assets` in for shares.

        Raises InsufficientBalance, VaultClosed, SharePriceUnsafe.
        """
        token = reader.token(vault.asset)
        quoted, room, held, redeemable, by_request = reader.call_many(
            [
                ReadCall(vault.address, PREVIEW_DEPOSIT, (assets,)),
                ReadCall(vault.address, MAX_DEPOSIT, (account,)),
                erc20.balance_call(vault.address, account),
                ReadCall(vault.address, MAX_REDEEM, (account,)),
                ReadCall(vault.address, SUPPORTS, (ENTERED_BY_REQUEST,)),
            ]
        )
        if by_request.ok and by_request.values[0]:
            raise _entered_by_request(reader, vault, account)
        # What a vault gives is told to those alone who have shares of it.
        if held.ok and held.values[0] and not (redeemable.ok and redeemable.values[0]):
            raise VaultClosed(
                "the vault takes no shares back now, so nothing more is put in",
                recovery=Recovery.WAIT,
                cleared_by="the vault takes shares back",
                vault=vault.address,
                room="0",
            )
        most = _answer(room, vault, "how much it takes")
        if assets > most:
            raise VaultClosed(f"the vault takes {_shown(most, token)} now", vault=vault.address, room=str(most))
        if not quoted.ok:
            raise _entered_by_request(reader, vault, account)
        shares, before = int(quoted.values[0]), _answer(held, vault, "shares")
        worth, now = (
            _answer(outcome, vault, "what its shares are worth")
            for outcome in reader.call_many(
                [
                    ReadCall(vault.address, TO_ASSETS, (before + shares,)),
                    ReadCall(vault.address, TO_ASSETS, (before,)),
                ]
            )
        )
        gained, least = worth - now, assets - assets * MOST_LOSS_BPS // _BPS - 1
        if not shares or gained < least:
            raise SharePriceUnsafe(
                f"{_shown(assets, token)} would give shares worth {_shown(max(0, gained), token)}",
                vault=vault.address,
                shares=str(shares),
                worth=str(gained),
            )
        draft = PlanDraft(reader.chain_id, account)
        draft.pay(reader, token, assets, to=vault.address)
        label = f"Deposit {_shown(assets, token)} into {vault.label}"
        draft.call(Call(vault.address, encode_call(DEPOSIT, assets, account), 0, label))
        draft.changes.append(self._change(reader, vault, gained, least))
        return draft.finish(
            action_class=ActionClass.INCREASE_POSITION if before else ActionClass.NEW_POSITION,
            gauges=(_price_gauge(reader, vault),),
            details={"vault": vault.address, "shares": str(shares), "fee": str(max(0, assets - gained - 2))},
        )

    def plan_redeem(self, reader: ChainReader, account: str, vault: Vault, shares: int | None) -> TxPlan:
        """Give `shares` back for assets; None is all of them. Raises SharesMissing, VaultClosed."""
        token = reader.token(vault.asset)
        held, room, by_request = reader.call_many(
            [
                erc20.balance_call(vault.address, account),
                ReadCall(vault.address, MAX_REDEEM, (account,)),
                ReadCall(vault.address, SUPPORTS, (LEFT_BY_REQUEST,)),
            ]
        )
        owned, most = _answer(held, vault, "shares"), _answer(room, vault, "how much it gives")
        given = owned if shares is None else shares
        if by_request.ok and by_request.values[0] and (not owned or given > min(owned, most)):
            raise _left_by_request(reader, vault, account)
        if not owned or given > owned:
            raise SharesMissing(f"the account holds {owned} shares of {vault.label}", available=str(owned))
        if given > most:
            raise VaultClosed(f"the vault takes back {most} shares now", vault=vault.address, room=str(most))
        preview, *worths = reader.call_many(
            [
                ReadCall(vault.address, PREVIEW_REDEEM, (given,)),
                ReadCall(vault.address, TO_ASSETS, (owned,)),
                ReadCall(vault.address, TO_ASSETS, (owned - given,)),
            ]
        )
        whole, rest = (_answer(outcome, vault, "what its shares are worth") for outcome in worths)
        leaving = whole - rest
        # Of a vault that is left by request the preview always reverts; what was granted is what shares stand for.
        quoted = int(preview.values[0]) if preview.ok else leaving
        label = f"Redeem shares of {vault.label} for {_shown(quoted, token)}"
        draft = PlanDraft(reader.chain_id, account)
        draft.call(Call(vault.address, encode_call(REDEEM, given, account, account), 0, label))
        draft.receive(token, quoted, at_least=quoted - quoted * MOST_JUMP_BPS // _BPS)
        draft.changes.append(self._change(reader, vault, -leaving, -leaving - leaving * MOST_JUMP_BPS // _BPS - 2))
        return draft.finish(
            action_class=ActionClass.CLOSE_POSITION if given == owned else ActionClass.DECREASE_POSITION,
            gauges=(_price_gauge(reader, vault),),
            details={"vault": vault.address, "shares": str(given), "fee": str(max(0, leaving - quoted - 2))},
        )

    def read_effects(self, call: Call, vault: Vault, account: str, chain: ChainReader, into: Effects) -> None:
        """Add what a call to `vault` does. Raises UnknownCall for any byte that is not accounted for."""
        if call.value:
            raise UnknownCall("a vault is sent coin, which it does not take")
        ref = self.ref(chain.chain_id, vault.address)
        for signature in (DEPOSIT, MINT, WITHDRAW, REDEEM):
            if call.data[:4] == _selector(signature):
                amount, receiver, *owner = _exactly(signature, call.data)
                if owner and owner[0] != account:
                    raise UnknownCall(f"the shares of {owner[0]} would be given back")
                self._add(signature, amount, receiver, vault, account, chain, into, ref)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of a vault is not known")

    def _add(
        self,
        signature: str,
        amount: int,
        receiver: str,
        vault: Vault,
        account: str,
        chain: ChainReader,
        into: Effects,
        ref: PositionRef,
    ) -> None:
        is_in = signature in (DEPOSIT, MINT)
        if is_in and receiver != account:
            raise UnknownCall(f"the shares would be {receiver}'s")
        in_shares = signature in (MINT, REDEEM)
        assets = _ask(chain, vault, TO_ASSETS, amount) if in_shares else amount
        if is_in:
            # What minting costs is bounded by what the vault was allowed to take, which the approval says.
            into.spends[vault.asset] += assets + (1 if in_shares else 0)
        else:
            least = assets - assets * MOST_JUMP_BPS // _BPS if in_shares else assets
            into.receives[vault.asset] += least
            into.recipients.append(receiver)
            if in_shares:
                into.open_minimums.add(vault.asset)
        raw = assets if is_in else -assets
        # A deposit gives whole shares: what is left over of the last one is worth less than one.
        rounding = _price_of_unit(chain, vault) if is_in else 0
        change = ChangeRead(self.protocol, self.kind, vault.asset, raw, ref, is_exact=not in_shares, rounding=rounding)
        into.changes.append(change)

    def _change(self, reader: ChainReader, vault: Vault, expected: int, bound: int) -> PositionChange:
        ref = self.ref(reader.chain_id, vault.address)
        return PositionChange(self.protocol, self.kind, vault.asset, expected, bound, ref=ref)


@dataclass(frozen=True, slots=True)
class KnownVaults:
    """Positions in the vaults that a protocol knows by its data: shares at what each vault says they would give."""

    family: VaultFamily
    known: Callable[[int], Sequence[Vault]]

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every known vault in which `account` has shares. Raises PositionsUnreadable."""
        vaults = self.known(chain_id)
        return (yield from self.family.list_positions(chain_id, account, vaults)) if vaults else ()

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The vaults whose shares came to `account`."""
        return self.family.born(chain_id, logs, account, self.known(chain_id))


@dataclass(frozen=True, slots=True)
class _VaultNamed:
    vault: str


def sum_shares(outcome: PlanOutcome, side: str) -> int:
    """Base units of shares that came to the account (`to`) or left it (`from`), by the vault's own transfers; the plan
    names the vault in its details.
    """
    moved = list_events(outcome, erc20.MOVED, contract=read_details(_VaultNamed, outcome).vault)
    return sum(each.value for each in moved if (each.to if side == "to" else each.from_) == outcome.account)


def _price_gauge(reader: ChainReader, vault: Vault) -> GaugeBound:
    """What so many shares as one unit of the asset are worth must stay near what it is now."""
    unit = 10 ** reader.token(vault.address).decimals
    gauge = Gauge(f"the price of a share of {vault.label}", vault.address, TO_ASSETS, (unit,))
    price = int(reader.call(vault.address, TO_ASSETS, unit)[0])
    room = price * MOST_JUMP_BPS // _BPS + 1
    return GaugeBound(gauge, least=price - room, most=price + room)


def _entered_by_request(reader: ChainReader, vault: Vault, account: str) -> VaultByRequest:
    words = (
        "the vault is entered by request (ERC-7540): assets are asked for, wait until it settles them, and are claimed"
    )
    return _by_request(reader, vault, account, words, Recovery.GIVE_UP, "another vault")


def _left_by_request(reader: ChainReader, vault: Vault, account: str) -> VaultByRequest:
    words = (
        "the vault is left by request (ERC-7540): shares are asked back, wait until it settles them, and are claimed"
    )
    return _by_request(reader, vault, account, words, Recovery.ASK_OWNER, "its owner, who asks, waits and claims")


def _by_request(
    reader: ChainReader, vault: Vault, account: str, words: str, recovery: Recovery, cleared_by: str
) -> VaultByRequest:
    names = ("pending_deposit", "claimable_deposit", "pending_redeem", "claimable_redeem")
    asked = reader.call_many([ReadCall(vault.address, each, (0, account)) for each in ASKED])
    amounts = {name: str(each.values[0]) if each.ok else None for name, each in zip(names, asked, strict=True)}
    under_way = ", ".join(f"{raw} {name.replace('_', ' ')}" for name, raw in amounts.items() if raw not in ("0", None))
    return VaultByRequest(
        f"{words}, which is done at vaults alone that are known as such; under way: {under_way or 'nothing'}",
        recovery=recovery,
        cleared_by=cleared_by,
        vault=vault.address,
        room="0",
        **amounts,
    )


def _answer(outcome: ReadOutcome, vault: Vault, what: str) -> int:
    if not outcome.ok:
        raise PositionsUnreadable(f"{vault.label} does not tell {what}: {outcome.revert_reason}")
    return int(outcome.values[0])


def _ask(chain: ChainReader, vault: Vault, signature: str, *arguments: object) -> int:
    (outcome,) = chain.call_many([ReadCall(vault.address, signature, arguments)])
    if not outcome.ok:
        raise UnknownCall(f"{vault.label} does not tell what its shares are worth")
    return int(outcome.values[0])


def _price_of_unit(chain: ChainReader, vault: Vault) -> int:
    """Base units of the asset that one base unit of shares is worth, rounded up."""
    unit = 10 ** chain.token(vault.address).decimals
    return -(-_ask(chain, vault, TO_ASSETS, unit) // unit)


def _selector(signature: str) -> bytes:
    head = signature.removeprefix("function ")
    name, _, rest = head.partition("(")
    types = ",".join(each.split()[0] for each in rest[: rest.index(")")].split(","))
    return bytes(keccak(text=f"{name}({types})")[:4])


def _exactly(signature: str, data: bytes) -> AbiValues:
    try:
        arguments = decode_input(signature, data)
    except AbiDecodeError as error:
        raise UnknownCall(str(error)) from error
    if encode_call(signature, *arguments) != data:
        raise UnknownCall("the bytes hold more than the arguments")
    return arguments


def _shown(amount: int, token: TokenMeta) -> str:
    return format_units(amount, token.decimals, token.symbol)

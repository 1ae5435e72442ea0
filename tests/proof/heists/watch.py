"""Runs a heist on the node and looks, after each step, at what everybody owns; nothing here asks the cage for a value.

A whole heist is one request on simulated blocks; steps without time between them share a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.safe_tx import NONCE
from tests.proof.caged.engines import GAS, Sent, make_account, parse_simulated
from tests.proof.caged.morpho import MARKET, POSITION
from tests.proof.caged.safe import BALANCE
from tests.proof.caged.uniswap import POSITIONS
from tests.proof.heists.looking import Question, assemble, read_words
from tests.proof.heists.plans import bundle
from tests.proof.heists.scene import Scene
from tests.proof.heists.steps import Heist
from tools_app.chain.abi import encode_call

BLOCK_GAS = 10**10
WORDS_OF_POSITION = 12
WORDS_OF_URI, WORDS_OF_METADATA = 3, 3
WORDS_OF_LOAN, WORDS_OF_MARKET = 3, 6
VIRTUAL_SHARES = 10**6
WALLET_OF = "function getAgentWallet(uint256 id) view returns (address)"
APPROVED_FOR = "function getApproved(uint256 id) view returns (address)"
IS_FOR_ALL = "function isApprovedForAll(address owner, address operator) view returns (bool)"
URI_OF = "function tokenURI(uint256 id) view returns (string)"
METADATA_OF = "function getMetadata(uint256 id, string key) view returns (bytes)"
OWNER_OF = "function ownerOf(uint256 id) view returns (address)"


@dataclass(frozen=True, slots=True)
class Position:
    """A V3 position of the Safe, by its place among those that are looked at: tokens as numbers, the ends of its range,
    liquidity, and what is owed of both tokens.
    """

    place: int
    token0: int
    token1: int
    lower: int
    upper: int
    liquidity: int
    owed0: int
    owed1: int


@dataclass(frozen=True, slots=True)
class Loan:
    """At Morpho's honest market, base units: dollars lent, ether pledged, dollars owed."""

    lent: int
    pledged: int
    owed: int


@dataclass(frozen=True, slots=True)
class Seen:
    """Base units by symbol, in the wallet, lent and owed; dollars in the vault; coins; V3 positions of the Safe; what
    the treasury has left and what the thief has; the Safe's nonce, the owned contract's word, whose the identity is,
    what is said of it, two rules of a proposal, and what there is at Morpho.
    """

    wallet: dict[str, int]
    lent: dict[str, int]
    owed: dict[str, int]
    vault: int
    coins: int
    positions: tuple[Position, ...]
    treasury: int
    thief: dict[str, int]
    nonce: int
    owned: int
    identity: int
    said: tuple[int, ...]
    bundle: tuple[int, int]
    morpho: Loan


@dataclass(frozen=True, slots=True)
class Looker:
    """A contract that is on no chain but where it is put."""

    address: str
    code: bytes


class Watch:
    """Asks one scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        caged, reserves = scene.caged, scene.market.reserves
        safe, thief = caged.safe, caged.stranger.address
        self.symbols = tuple(caged.coins)
        self.lent = tuple(reserves)
        self.fixed: list[Question] = []
        for holders in (
            [(coin.address, safe) for coin in caged.coins.values()],
            [(reserves[symbol].a_token, safe) for symbol in self.lent],
            [(reserves[symbol].debt_token, safe) for symbol in self.lent],
            [(coin.address, thief) for coin in caged.coins.values()],
            [(coin.address, caged.venue) for coin in caged.coins.values()],
            [(scene.vault, safe), (caged.coins["USDC"].address, scene.treasury)],
        ):
            self.fixed += [Question(token, encode_call(BALANCE, holder)) for token, holder in holders]
        self.fixed += [
            Question(scene.vault, encode_call("function totalAssets() view returns (uint256)")),
            Question(scene.vault, encode_call("function totalSupply() view returns (uint256)")),
            Question(scene.multicall, encode_call("function getEthBalance(address a) view returns (uint256)", safe)),
            Question(safe, encode_call(NONCE)),
            Question(scene.owned, encode_call("function getAddress(bytes32 id) view returns (address)", bytes(32))),
            Question(scene.registry, encode_call(OWNER_OF, scene.agent)),
        ]
        for rule in bundle(scene):
            self.fixed.append(Question(caged.cage, encode_call(FUNCTIONS["rules"], int(rule.kind), rule.key)))
        self.fixed += [
            Question(scene.registry, encode_call(WALLET_OF, scene.agent)),
            Question(scene.registry, encode_call(APPROVED_FOR, scene.agent)),
            Question(scene.registry, encode_call(IS_FOR_ALL, safe, thief)),
            # Where the text begins, its length and its first words.
            Question(scene.registry, encode_call(URI_OF, scene.agent), WORDS_OF_URI),
            Question(scene.registry, encode_call(METADATA_OF, scene.agent, "a2a"), WORDS_OF_METADATA),
            Question(scene.morpho.at, encode_call(POSITION, scene.morpho.honest.id, safe), WORDS_OF_LOAN),
            Question(scene.morpho.at, encode_call(MARKET, scene.morpho.honest.id), WORDS_OF_MARKET),
        ]
        self.words = sum(question.words for question in self.fixed)
        self._lookers: dict[range, Looker] = {}

    def ask(self, heist: Heist) -> tuple[Any, ...]:
        """The parameters of `eth_simulateV1`; every step is followed by a look."""
        looker = self.make_looker(heist.tokens)
        look = {"from": self.scene.caged.stranger.address, "to": looker.address, "gas": hex(10 * GAS)}
        blocks: list[dict[str, Any]] = []
        at = self.scene.engine.now()
        for step in heist.steps:
            if step.seconds or not blocks:
                at += max(1, step.seconds)
                blocks.append({"blockOverrides": {"time": hex(at), "gasLimit": hex(BLOCK_GAS)}, "calls": []})
            request = {"from": step.sender, "to": step.to, "data": "0x" + step.data.hex(), "gas": hex(GAS)}
            blocks[-1]["calls"] += [request, look]
        blocks[0]["stateOverrides"] = {looker.address: {"code": "0x" + looker.code.hex()}}
        return {"blockStateCalls": blocks, "validation": False}, "latest"

    def read(self, heist: Heist, answer: list[dict[str, Any]]) -> list[tuple[Sent, Seen]]:
        """What each step did, and what was seen after it."""
        found = []
        for block in answer:
            at = int(block["timestamp"], 16)
            for index in range(0, len(block["calls"]), 2):
                seen = bytes.fromhex(block["calls"][index + 1]["returnData"][2:])
                found.append((parse_simulated({**block["calls"][index], "logs": []}, at), self.read_seen(seen)))
        return found

    def make_looker(self, tokens: range) -> Looker:
        """What looks at everything, these V3 positions among it."""
        if tokens not in self._lookers:
            npm, safe = self.scene.v3.npm, int(self.scene.caged.safe, 16)
            asked = list(self.fixed)
            for token in tokens:
                asked.append(Question(npm, encode_call(OWNER_OF, token)))
                asked.append(Question(npm, encode_call(POSITIONS, token), WORDS_OF_POSITION, after=safe))
            address = make_account(f"heists: looks at {tokens}").address
            self._lookers[tokens] = Looker(address, assemble(asked))
        return self._lookers[tokens]

    def read_seen(self, output: bytes) -> Seen:
        """What a look answered."""
        words = read_words(output)
        numbers = iter(words)
        wallet, lent, owed, thief, venue = (
            dict.fromkeys(self.symbols, 0) | {symbol: next(numbers) for symbol in symbols}
            for symbols in (self.symbols, self.lent, self.lent, self.symbols, self.symbols)
        )
        shares, treasury, assets, supply, coins, nonce, owned, identity, one, other = islice(numbers, 10)
        said = tuple(islice(numbers, 3 + WORDS_OF_URI + WORDS_OF_METADATA))
        part, debt, pledged = islice(numbers, WORDS_OF_LOAN)
        lent_in_all, all_lent, owed_in_all, all_owed, *_ = islice(numbers, WORDS_OF_MARKET)
        loan = Loan(
            lent=part * (lent_in_all + 1) // (all_lent + VIRTUAL_SHARES),
            pledged=pledged,
            owed=-(-debt * (owed_in_all + 1) // (all_owed + VIRTUAL_SHARES)),
        )
        safe = int(self.scene.caged.safe, 16)
        return Seen(
            wallet=wallet,
            lent=lent,
            owed=owed,
            vault=shares * assets // supply if supply else 0,
            coins=coins,
            positions=tuple(
                Position(first, *(_signed(words[first + place]) for place in (2, 3, 5, 6, 7, 10, 11)))
                for first in range(self.words + 1, len(words), 1 + WORDS_OF_POSITION)
                if words[first - 1] == safe
            ),
            treasury=treasury,
            thief={symbol: thief[symbol] + venue[symbol] for symbol in self.symbols},
            nonce=nonce,
            owned=owned,
            identity=identity,
            said=said,
            bundle=(one, other),
            morpho=loan,
        )


def _signed(word: int) -> int:
    """Only ends of ranges are below zero."""
    return word - 2**256 if word >> 255 else word

"""Lists where liquid restaking tokens are issued and taken back, as data: one deployment of three issuers a chain.

Ethereum: ether.fi as `script/deploys/Deployed.s.sol` of its makers' repository lists it, Kelp as the README of its
makers' does, Renzo's token, manager and deposit queue as its makers' repository says that it deployed them
(`deployments/mainnet`); a test compares all three. Renzo's withdrawal queue is the one of
docs.renzoprotocol.com/docs/contracts/ethereum-mainnet. It and the risk oracle, which is on no list, are used only while
the chain names them: the deposit queue its withdrawal queue, and that one its oracle.

Locally our own contracts stand in; their addresses follow from the account that deploys them, in that order. Kelp's
vault and its withdrawals are one contract there, and so are Renzo's two queues and the risk oracle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported
from tools_app.toolkit.context import ChainReader

NAME: Final = "liquid_restaking"
LOCAL_CHAIN_ID: Final = 31_337
ETHERFI, KELP, RENZO = "etherfi", "kelp", "renzo"
ISSUERS: Final = (ETHERFI, KELP, RENZO)
LABELS: Final[Mapping[str, str]] = MappingProxyType({ETHERFI: "ether.fi", KELP: "Kelp", RENZO: "Renzo"})
SYMBOLS: Final[Mapping[str, str]] = MappingProxyType({ETHERFI: "weETH", KELP: "rsETH", RENZO: "ezETH"})
COIN: Final = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
"""What all three call the chain's coin."""


@dataclass(frozen=True, slots=True)
class RestakingContracts:
    """The contracts of all three issuers on one chain."""

    weeth: str
    eeth: str
    etherfi_pool: str
    etherfi_adapter: str
    etherfi_requests: str
    etherfi_redemption: str
    rseth: str
    kelp_pool: str
    kelp_oracle: str
    kelp_withdrawals: str
    kelp_vault: str
    ezeth: str
    renzo_manager: str
    renzo_deposits: str
    renzo_queue: str
    renzo_risk: str

    @property
    def tokens(self) -> Mapping[str, str]:
        """Each issuer's token, which is held and traded."""
        return {ETHERFI: self.weeth, KELP: self.rseth, RENZO: self.ezeth}

    @property
    def queues(self) -> Mapping[str, str]:
        """What of each issuer is asked for ether and logs it."""
        return {ETHERFI: self.etherfi_requests, KELP: self.kelp_withdrawals, RENZO: self.renzo_queue}

    @property
    def tellers(self) -> Mapping[str, str]:
        """What logs each issuer's rate."""
        return {ETHERFI: self.etherfi_pool, KELP: self.kelp_oracle, RENZO: self.renzo_manager}


_DEPLOYMENTS: Final[Mapping[int, RestakingContracts]] = MappingProxyType(
    {
        1: RestakingContracts(
            weeth="0xCd5fE23C85820F7B72D0926FC9b05b43E359b7ee",
            eeth="0x35fA164735182de50811E8e2E824cFb9B6118ac2",
            etherfi_pool="0x308861A430be4cce5502d0A12724771Fc6DaF216",
            etherfi_adapter="0xcfC6d9Bd7411962Bfe7145451A7EF71A24b6A7A2",
            etherfi_requests="0x7d5706f6ef3F89B3951E23e557CDFBC3239D4E2c",
            etherfi_redemption="0xDadEf1fFBFeaAB4f68A9fD181395F68b4e4E7Ae0",
            rseth="0xA1290d69c65A6Fe4DF752f95823fae25cB99e5A7",
            kelp_pool="0x036676389e48133B63a802f8635AD39E752D375D",
            kelp_oracle="0x349A73444b1a310BAe67ef67973022020d70020d",
            kelp_withdrawals="0x62De59c08eB5dAE4b7E6F7a8cAd3006d6965ec16",
            kelp_vault="0xc66830E2667bc740c0BED9A71F18B14B8c8184bA",
            ezeth="0xbf5495Efe5DB9ce00f80364C8B423567e58d2110",
            renzo_manager="0x74a09653A083691711cF8215a6ab074BB4e99ef5",
            renzo_deposits="0xf2F305D14DCD8aaef887E0428B3c9534795D0d60",
            renzo_queue="0x5efc9D10E42FB517456f4ac41EB5e2eBe42C8918",
            renzo_risk="0x08921F17A32110F8df44A3d5007F2acd09Cfae6d",
        ),
        LOCAL_CHAIN_ID: RestakingContracts(
            weeth="0xae9E6657964a41D42942f6eD88ab5aD9Bf026F0C",
            eeth="0x01DE05553F9A519Ee4c4D495B68874Eb910d46b4",
            etherfi_pool="0xDE86c39a89FC783bEAe8aEA5608D6B675d6A5a10",
            etherfi_adapter="0xC2fa5670F1C2088712508845208d7B51644386D7",
            etherfi_requests="0x4c4474E9457F07f3b117a47a24f585aAf3655e47",
            etherfi_redemption="0x3b35Ffd9F33C410D9C239Bae63Ea2b712a3f0D8b",
            rseth="0x149B3c722AaDC1a50D9457d489eEB78fdaDb78eB",
            kelp_pool="0x814E1BA93d128619b6e19B314f22A78F92D45c64",
            kelp_oracle="0xeF3611be4e4D1A09B24196676B87500Af7ff586a",
            kelp_withdrawals="0x73514775833B85f78317b3cBab14a4ec2dE10d7C",
            kelp_vault="0x73514775833B85f78317b3cBab14a4ec2dE10d7C",
            ezeth="0xd8F942A22d921ef3949b65212a9A6327bF1ed302",
            renzo_manager="0xC4e12c74137f5A1b488B457A6A8F6ff6DF32f6E5",
            renzo_deposits="0x14D518CDAd41E9cc58834EF4F69bDce891C74A9E",
            renzo_queue="0x14D518CDAd41E9cc58834EF4F69bDce891C74A9E",
            renzo_risk="0x14D518CDAd41E9cc58834EF4F69bDce891C74A9E",
        ),
    }
)
_BY_KEY: Final = {chain_id: asdict(each) for chain_id, each in _DEPLOYMENTS.items()}
CHAINS: Final = frozenset(_DEPLOYMENTS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts of all issuers of a chain by key; None where there is none."""
    return _BY_KEY.get(chain_id)


def contracts_on(chain_id: int) -> RestakingContracts | None:
    """The contracts of all issuers of a chain; None where there is none."""
    return _DEPLOYMENTS.get(chain_id)


def deployment_on(reader: ChainReader) -> RestakingContracts:
    """The contracts of the reader's chain, which has code for them. Raises ChainNotSupported."""
    at = contracts_on(reader.chain_id)
    if at is None or not reader.code(at.weeth):
        raise ChainNotSupported(
            f"no liquid restaking is known on chain {reader.chain_id}", chain_id=reader.chain_id, chains=sorted(CHAINS)
        )
    return at

"""The composition root: builds chains, keystore, event stream and services from settings, and hands them down once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import redis
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from eth_utils import is_address, to_checksum_address

from archetypes_app import golem_setup_facts
from archetypes_app.log_retention import list_log_days
from golem_project.a2a import card_key, payment_gas_account
from golem_project.alerts import push_key
from golem_project.coding.workspaces import GolemWorkspaces
from golem_project.embedded.secret_files import write_once
from golem_project.embedded.token_list import token_list_path
from golem_project.heartbeat.ruled_pools import list_ruled_pools
from golem_project.heartbeat.thinking import model_planner
from golem_project.heartbeat.thinking.delegate_thinker import ModelDelegateThinker
from golem_project.heartbeat.thinking.errors import ModelEndpointRefused, ModelNotConfigured
from golem_project.heartbeat.thinking.model_client import read_client
from golem_project.outside.service_client import GuardedDoor
from golem_project.pi.definitions import define_tools
from golem_project.pi.token_count import cost_little
from golem_project.runtime.dev_chains import EmbeddedDevChains
from golem_project.runtime.golem_transfers import OwnersTransfers
from golem_project.runtime.local_faucet import LocalFaucet
from golem_project.runtime.sdk_socket import SdkSocket
from golem_project.stream import sealed_secrets
from memory_app.search_memory import search_memory
from permits_app.actions.read_product_for_owner_tool import read_product_for_owner_tool
from permits_app.custody.credentials import list_credentials
from permits_app.custody.signers import choose_signer
from permits_app.custody.signers.aws_kms import KmsClient
from permits_app.custody.signers.bundler import BundlerClient
from permits_app.custody.signers.keystore import Keystore
from permits_app.custody.signers.privy import PrivyClient
from permits_app.custody.signers.turnkey import TurnkeyClient
from permits_app.custody.smart_accounts import can_batch
from permits_app.execution import broadcast
from permits_app.limits.payment_hosts import tell_terms
from permits_app.limits.received_rights import StoredRights
from permits_app.performance.prediction_accuracy import KeptPredictions
from permits_app.policy_cage.callable_contracts import may_be_called
from permits_app.policy_cage.retiring_assets import list_retiring
from permits_app.previews.peg_check import read_declared
from permits_app.reviewers import delegate_to_archetype
from permits_app.tools.signed_orders import find_signed_order
from tools_app import runner
from tools_app.chain.chains import ChainSettings, configure_chains, open_reader
from tools_app.chain.networks import KNOWN_NETWORKS, with_rpc_urls
from tools_app.chain.rpc import RpcLimits
from tools_app.chain.token_lists import configure_token_list
from tools_app.core import audit_key, broker, event_bus, wake_waiting_process
from tools_app.core.event_ring import RingClient
from tools_app.core.taint import Secret, TaintLabel
from tools_app.history import followed_contracts, log_expiry
from tools_app.portfolio import pegs
from tools_app.sandbox.host_functions import SearchMemory
from tools_app.sandbox.owner_command import WorkspaceCommands
from tools_app.sandbox.owner_http_call import OutsideReads, OwnReads
from tools_app.standards.x402.host_asking import HostAsker
from tools_app.subsystems.coding.operations import Workspaces
from tools_app.subsystems.testnet.dev_chains import DevChains
from tools_app.toolkit.callable_contracts import CallableContracts
from tools_app.toolkit.credentials import CredentialBook
from tools_app.toolkit.enums import Requirement
from tools_app.toolkit.faucets import Faucet
from tools_app.toolkit.golem_transfers import GolemTransfers
from tools_app.toolkit.official_sdk import OfficialSdk
from tools_app.toolkit.operator_named_places import name_places
from tools_app.toolkit.order_desks import OrderDesk, OrderDesks
from tools_app.toolkit.others_money import RightsBook
from tools_app.toolkit.outside_services import OutsideDoor
from tools_app.toolkit.payment_hosts import PaymentHosts
from tools_app.toolkit.predictions import PredictionBook
from tools_app.toolkit.public_addresses import OwnDoors
from tools_app.toolkit.retiring_tokens import OnlyFalling
from tools_app.toolkit.signed_orders import SignedOrders


def name_known_places() -> None:
    """Tell protocols which places the operator named; before they are imported."""
    name_places(settings.GOLEM_NAMED_PLACES)


def configure() -> None:
    """Configure every layer of this process; safe to call again."""
    configure_token_list(token_list_path())
    configure_networks(settings.GOLEM_RPC_URLS)
    choose_signer.configure(
        Keystore(
            folder=Path(settings.GOLEM_KEYSTORE_DIR),
            passphrase=_read_passphrase(),
            scrypt_n=settings.GOLEM_KEYSTORE_SCRYPT_N,
        ),
        privy=read_privy(),
        zerodev=read_zerodev(),
        kms=read_kms(),
        turnkey=read_turnkey(),
    )
    runner.configure(runner.ToolEnvironment(open_reader=open_reader, services=_build_services()))
    audit_key.configure(_read_passphrase())
    sealed_secrets.configure(_read_passphrase())
    card_key.configure(_read_passphrase())
    push_key.configure(_read_passphrase())
    payment_gas_account.configure(_read_passphrase())
    event_bus.configure(
        _open_stream,
        checks_payloads=settings.GOLEM_EVENT_PAYLOADS_ARE_CHECKED,
        awaits_publication=settings.GOLEM_EVENT_PUBLICATION_IS_AWAITED,
    )
    wake_waiting_process.configure(open_listener=_open_listener, open_sender=_open_stream)
    golem_setup_facts.configure({Requirement.SMART_WALLET: can_batch})
    followed_contracts.configure(list_ruled_pools)
    log_expiry.configure(list_log_days)
    pegs.configure(read_declared)
    configure_thinking()


def read_privy() -> PrivyClient | None:
    """The client of Privy, None where this server has no account there. Raises ImproperlyConfigured."""
    if not settings.GOLEM_PRIVY_APP_ID:
        return None
    if not settings.GOLEM_PRIVY_APP_SECRET:
        raise ImproperlyConfigured("GOLEM_PRIVY_APP_ID is set; set GOLEM_PRIVY_APP_SECRET_FILE too")
    key = settings.GOLEM_PRIVY_AUTHORIZATION_KEY
    return PrivyClient(
        app_id=settings.GOLEM_PRIVY_APP_ID,
        app_secret=Secret(settings.GOLEM_PRIVY_APP_SECRET, TaintLabel.WALLET_SECRET),
        authorization_key=Secret(key, TaintLabel.WALLET_SECRET) if key else None,
        url=settings.GOLEM_PRIVY_URL,
        allows_private=settings.GOLEM_PRIVY_ALLOWS_PRIVATE_ADDRESSES,
        timeout_seconds=settings.GOLEM_PRIVY_TIMEOUT_SECONDS,
    )


def read_zerodev() -> BundlerClient | None:
    """The client of ZeroDev's bundler, None where this server has no project there. Raises ImproperlyConfigured."""
    paymaster = settings.GOLEM_ZERODEV_PAYMASTER
    if paymaster and (not is_address(paymaster) or paymaster != to_checksum_address(paymaster)):
        raise ImproperlyConfigured("GOLEM_ZERODEV_PAYMASTER is an EIP-55 address, or empty")
    if not settings.GOLEM_ZERODEV_PROJECT_ID:
        return None
    return BundlerClient(
        project_id=Secret(settings.GOLEM_ZERODEV_PROJECT_ID, TaintLabel.WALLET_SECRET),
        url=settings.GOLEM_ZERODEV_URL,
        allows_private=settings.GOLEM_ZERODEV_ALLOWS_PRIVATE_ADDRESSES,
        timeout_seconds=settings.GOLEM_ZERODEV_TIMEOUT_SECONDS,
    )


def read_kms() -> KmsClient | None:
    """The client of AWS KMS, None where this server has no account there. Raises ImproperlyConfigured."""
    if not settings.GOLEM_KMS_REGION:
        return None
    if not settings.GOLEM_KMS_ACCESS_KEY_ID or not settings.GOLEM_KMS_SECRET_ACCESS_KEY:
        raise ImproperlyConfigured(
            "GOLEM_KMS_REGION is set; set GOLEM_KMS_ACCESS_KEY_ID and GOLEM_KMS_SECRET_ACCESS_KEY_FILE too"
        )
    token = settings.GOLEM_KMS_SESSION_TOKEN
    return KmsClient(
        region=settings.GOLEM_KMS_REGION,
        access_key_id=settings.GOLEM_KMS_ACCESS_KEY_ID,
        secret_access_key=Secret(settings.GOLEM_KMS_SECRET_ACCESS_KEY, TaintLabel.WALLET_SECRET),
        session_token=Secret(token, TaintLabel.WALLET_SECRET) if token else None,
        url=settings.GOLEM_KMS_URL,
        allows_private=settings.GOLEM_KMS_ALLOWS_PRIVATE_ADDRESSES,
        timeout_seconds=settings.GOLEM_KMS_TIMEOUT_SECONDS,
    )


def read_turnkey() -> TurnkeyClient | None:
    """The client of Turnkey, None where this server has no organization there. Raises ImproperlyConfigured."""
    if not settings.GOLEM_TURNKEY_ORGANIZATION_ID:
        return None
    if not settings.GOLEM_TURNKEY_API_KEY:
        raise ImproperlyConfigured("GOLEM_TURNKEY_ORGANIZATION_ID is set; set GOLEM_TURNKEY_API_KEY_FILE too")
    return TurnkeyClient(
        organization_id=settings.GOLEM_TURNKEY_ORGANIZATION_ID,
        api_key=Secret(settings.GOLEM_TURNKEY_API_KEY, TaintLabel.WALLET_SECRET),
        user_id=settings.GOLEM_TURNKEY_USER_ID,
        url=settings.GOLEM_TURNKEY_URL,
        allows_private=settings.GOLEM_TURNKEY_ALLOWS_PRIVATE_ADDRESSES,
        timeout_seconds=settings.GOLEM_TURNKEY_TIMEOUT_SECONDS,
    )


def configure_thinking() -> None:
    """Set the language models this process asks, for heartbeats and for delegates. Raises ImproperlyConfigured."""
    try:
        client = read_client(write_tools=define_tools, cost_little=cost_little)
    except (ModelEndpointRefused, ModelNotConfigured) as error:
        raise ImproperlyConfigured(error.detail) from None
    model_planner.configure(client)
    delegate_to_archetype.configure(ModelDelegateThinker(client) if client is not None else None)


def configure_networks(rpc_urls: dict[int, tuple[str, ...]], *, limits: RpcLimits | None = None) -> None:
    """Set the chains this process reaches, and how long it waits for a node."""
    networks = [
        with_rpc_urls(KNOWN_NETWORKS[chain_id], urls)
        for chain_id, urls in sorted(rpc_urls.items())
        if chain_id in KNOWN_NETWORKS
    ]
    limits = limits or RpcLimits()
    chain_settings = ChainSettings(max_price_age_seconds=settings.GOLEM_FEED_MAX_AGE_SECONDS, limits=limits)
    configure_chains(networks, chain_settings, begun_later=settings.GOLEM_CHAINS_BEGUN_LATER)
    broadcast.forget_pools(limits)


def _build_services() -> dict[type, object]:
    # Importing it declares the coding tools, and the registry keeps the order in which tools are declared.
    from tools_app.subsystems.coding.written_commands import WrittenCommands

    return {
        DevChains: EmbeddedDevChains(Path(settings.VAR_DIR) / "dev_chains"),
        SearchMemory: search_memory,
        OnlyFalling: list_retiring,
        CallableContracts: may_be_called,
        SignedOrders: find_signed_order,
        PaymentHosts: tell_terms,
        HostAsker: HostAsker(
            allows_private=settings.GOLEM_PAYMENT_HOSTS_ALLOW_PRIVATE_ADDRESSES,
            seconds=settings.GOLEM_PAYMENT_HOST_SECONDS,
        ),
        OrderDesks: OrderDesks(
            {place: OrderDesk(*desk) for place, desk in settings.GOLEM_ORDER_DESKS.items()},
            allows_private=settings.GOLEM_ORDER_DESKS_ALLOW_PRIVATE_ADDRESSES,
        ),
        CredentialBook: list_credentials,
        RightsBook: StoredRights(),
        PredictionBook: KeptPredictions(),
        Faucet: LocalFaucet(),
        GolemTransfers: OwnersTransfers(),
        OwnDoors: OwnDoors(
            public_url=settings.GOLEM_PUBLIC_URL,
            has_mcp=settings.GOLEM_MCP,
            root_golem=settings.GOLEM_A2A_ROOT_GOLEM,
        ),
        Workspaces: GolemWorkspaces(
            Path(settings.GOLEM_CODING_DIR),
            key_folder=Path(settings.GOLEM_KEYSTORE_DIR) / "ssh",
            passphrase=_read_passphrase(),
            allows_private=settings.GOLEM_SSH_ALLOWS_PRIVATE_ADDRESSES,
            allows_network=settings.GOLEM_CODING_ALLOWS_NETWORK,
            allows_commands=settings.GOLEM_CODING_COMMANDS,
            memory_bytes=settings.GOLEM_CODING_MEMORY_MEBIBYTES * 1024**2,
            kept=settings.GOLEM_KEPT_FROM_COMMANDS,
        ),
        WorkspaceCommands: WrittenCommands(),
        OwnReads: read_product_for_owner_tool,
        OutsideDoor: GuardedDoor(
            urls=settings.GOLEM_SERVICE_URLS, allows_private=settings.GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES
        ),
        OfficialSdk: SdkSocket(Path(settings.GOLEM_SDK_SOCKET) if settings.GOLEM_SDK_SOCKET else None),
        OutsideReads: OutsideReads(allows_private=settings.GOLEM_WRITTEN_TOOLS_ALLOW_PRIVATE_ADDRESSES),
    }


def _read_passphrase() -> Secret:
    """Raises ImproperlyConfigured for an empty file, and for none beside keys that only the lost one opens."""
    if settings.GOLEM_KEYSTORE_PASSPHRASE:
        return Secret(settings.GOLEM_KEYSTORE_PASSPHRASE)
    path = Path(settings.GOLEM_KEYSTORE_PASSPHRASE_FILE)
    if not path.exists():
        _make_passphrase(path)
    text = path.read_text(encoding="utf-8").strip()
    if not text:
        raise ImproperlyConfigured(f"{path} is empty. Fix: write the keystore's passphrase into it")
    return Secret(text)


def _make_passphrase(path: Path) -> None:
    sealed = sum(1 for _ in Path(settings.GOLEM_KEYSTORE_DIR).glob("*.json"))
    if sealed:
        raise ImproperlyConfigured(
            f"{path} is missing, and {sealed} keys in {settings.GOLEM_KEYSTORE_DIR} open with its passphrase alone. "
            "Fix: put it back; it lies in keys.tar, where `manage.py backup` put its keys. Keys that nobody needs may "
            "be moved away"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_once(path, os.urandom(24).hex())


def _open_listener() -> redis.Redis:
    # It waits for longer than a broker may take to answer.
    return broker.open_client(silence_seconds=15)


_streams: dict[int, RingClient] = {}


def _open_stream() -> RingClient:
    # One client per process: a connection must not be shared across a fork.
    pid = os.getpid()
    if pid not in _streams:
        _streams[pid] = cast(
            "RingClient",
            broker.open_client(connect_seconds=1),
        )
    return _streams[pid]

from __future__ import annotations

from pathlib import Path

import pytest

from tools_app.chain import networks
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.core.taint import Secret, TaintLabel


def test_the_supported_chains_are_those_of_the_product() -> None:
    assert set(KNOWN_NETWORKS) == {1, 10, 137, 42161, 8453, 56, 43114, 42220, 81457, 130, 324, 31337, 31338}
    assert [network.chain_id for network in KNOWN_NETWORKS.values() if network.is_dev] == [31337, 31338]
    assert all(network.native_decimals == 18 and network.block_seconds > 0 for network in KNOWN_NETWORKS.values())
    assert len({network.slug for network in KNOWN_NETWORKS.values()}) == len(KNOWN_NETWORKS)


def test_a_network_without_a_node_is_not_configured(chain_table: None) -> None:
    networks.configure([KNOWN_NETWORKS[1], networks.with_rpc_urls(KNOWN_NETWORKS[8453], ["http://127.0.0.1:1"])])

    assert [network.chain_id for network in networks.configured_networks()] == [8453]
    with pytest.raises(ChainNotSupported) as refused:
        networks.get_network(1)
    assert refused.value.as_problem()["configured_chain_ids"] == [8453]
    assert refused.value.code == "CHAIN_NOT_SUPPORTED"


def test_urls_are_owner_secrets() -> None:
    network = networks.with_rpc_urls(KNOWN_NETWORKS[1], ["https://node.example/key"])

    assert isinstance(network.rpc_urls[0], Secret)
    assert network.rpc_urls[0].label is TaintLabel.OWNER_SECRET
    assert "node.example" not in repr(network)


@pytest.mark.parametrize(
    "url", ["ws://127.0.0.1:1", "127.0.0.1:8545", "ftp://x", "", "http://host:99999999/", "http://host:0/"]
)
def test_a_url_that_is_not_http_is_refused_without_being_repeated(url: str, chain_table: None) -> None:
    from tools_app.chain.chains import configure_chains, get_pool

    configure_chains([networks.with_rpc_urls(KNOWN_NETWORKS[1], [url + "?key=0123456789secret"])])
    with pytest.raises(ValueError, match=r"no http\(s\) url") as refused:
        get_pool(1)
    assert "0123456789secret" not in str(refused.value)


def test_a_chain_that_is_begun_later_is_told_apart_until_its_file_names_a_node(
    chain_table: None, tmp_path: Path
) -> None:
    first, file = networks.with_rpc_urls(KNOWN_NETWORKS[31337], ["http://127.0.0.1:1"]), tmp_path / "second.url"
    networks.configure([first], begun_later={31338: file})

    assert [each.chain_id for each in networks.list_begun_later()] == [31338]
    assert [each.chain_id for each in networks.configured_networks()] == [31337]
    with pytest.raises(ChainNotSupported, match="begun once a golem has it"):
        networks.get_network(31338)

    file.write_text("http://127.0.0.1:2\n")
    assert networks.get_network(31338).rpc_urls[0].reveal() == "http://127.0.0.1:2"
    assert networks.list_begun_later() == ()
    assert [each.chain_id for each in networks.configured_networks()] == [31337, 31338]


def test_a_chain_that_has_a_node_is_not_begun_later(chain_table: None, tmp_path: Path) -> None:
    second = networks.with_rpc_urls(KNOWN_NETWORKS[31338], ["http://127.0.0.1:1"])
    networks.configure([second], begun_later={31338: tmp_path / "second.url"})
    assert networks.list_begun_later() == ()

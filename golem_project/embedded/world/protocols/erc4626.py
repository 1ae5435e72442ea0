"""ERC-4626 vaults over USDC on the local chain: OpenZeppelin's own, with a depositor and something earned, and Lagoon's
own (0.5.0), which is entered and left by request (ERC-7540).

What is asked of the second waits until whoever values it has told what everything is worth and the safe settles it;
both are accounts of this building.

The third is a simulated sUSDS of Sky over DAI, since no bytecode of it is to be had. Ours has its present interface
(`ssr`, `chi`, `rho`, `drip`, deposits with a referral) and its arithmetic, and pays what it owes out of a stock.
"""

from __future__ import annotations

from typing import Final

from eth_account.signers.local import LocalAccount

from golem_project.embedded.npm import Say, say_to_stderr
from golem_project.embedded.world.compiled import compile_sources
from golem_project.embedded.world.fetched_packages import Fetched
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.rpc import encode_arguments
from golem_project.embedded.world.seed_data import worth
from golem_project.embedded.world.solidity import SETTINGS

ROOT = "@openzeppelin/contracts/"
VAULT = f"""
// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;
import {{ERC4626, IERC20, ERC20}} from "{ROOT}token/ERC20/extensions/ERC4626.sol";
contract Vault is ERC4626 {{
    constructor(IERC20 asset, string memory name, string memory symbol) ERC4626(asset) ERC20(name, symbol) {{}}
}}
"""
SAVINGS = f"""
// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;
import {{ERC4626, IERC20, ERC20}} from "{ROOT}token/ERC20/extensions/ERC4626.sol";
import {{Math}} from "{ROOT}utils/math/Math.sol";
/// @title Simulated savings vault whose shares grow by a rate a second
contract Savings is ERC4626 {{
    using Math for uint256;
    uint256 private constant RAY = 1e27;
    mapping(address account => uint256) public wards;
    uint192 public chi = 1e27;
    uint64 public rho;
    uint256 public ssr;
    event File(bytes32 indexed what, uint256 data);
    event Drip(uint256 chi, uint256 diff);
    event Referral(uint16 indexed referral, address indexed owner, uint256 assets, uint256 shares);

    constructor(IERC20 asset, uint256 ssr_) ERC4626(asset) ERC20("Savings USDS", "sUSDS") {{
        (wards[msg.sender], ssr) = (1, ssr_);
        rho = uint64(block.timestamp);
    }}

    function file(bytes32 what, uint256 data) external {{
        require(wards[msg.sender] == 1, "SUsds/not-authorized");
        require(what == "ssr", "SUsds/file-unrecognized-param");
        require(data >= RAY, "SUsds/wrong-ssr-value");
        drip();
        ssr = data;
        emit File(what, data);
    }}

    function drip() public returns (uint256 nChi) {{
        nChi = _chiNow();
        emit Drip(nChi, totalSupply() * (nChi - chi) / RAY);
        (chi, rho) = (uint192(nChi), uint64(block.timestamp));
    }}

    function deposit(uint256 assets, address receiver, uint16 referral) external returns (uint256 shares) {{
        shares = deposit(assets, receiver);
        emit Referral(referral, receiver, assets, shares);
    }}

    function mint(uint256 shares, address receiver, uint16 referral) external returns (uint256 assets) {{
        assets = mint(shares, receiver);
        emit Referral(referral, receiver, assets, shares);
    }}

    function totalAssets() public view override returns (uint256) {{
        return totalSupply() * _chiNow() / RAY;
    }}

    function _convertToShares(uint256 assets, Math.Rounding how) internal view override returns (uint256) {{
        return assets.mulDiv(RAY, _chiNow(), how);
    }}

    function _convertToAssets(uint256 shares, Math.Rounding how) internal view override returns (uint256) {{
        return shares.mulDiv(_chiNow(), RAY, how);
    }}

    function _deposit(address who, address receiver, uint256 assets, uint256 shares) internal override {{
        drip();
        super._deposit(who, receiver, assets, shares);
    }}

    function _withdraw(address who, address to, address owner, uint256 assets, uint256 shares) internal override {{
        drip();
        super._withdraw(who, to, owner, assets, shares);
    }}

    function _chiNow() private view returns (uint256) {{
        return block.timestamp > rho ? _power(ssr, block.timestamp - rho) * chi / RAY : chi;
    }}

    function _power(uint256 x, uint256 n) private pure returns (uint256 z) {{
        z = n % 2 == 0 ? RAY : x;
        for (n /= 2; n != 0; n /= 2) {{
            x = (x * x + RAY / 2) / RAY;
            if (n % 2 == 1) z = (z * x + RAY / 2) / RAY;
        }}
    }}
}}
"""
ASSET = "USDC"
DEPOSITED_USD = 1_000_000
# So that a share is worth more than one, as after some time.
EARNED_USD = 50_000
SAVED_USD = 2_000_000
# Four and a half percent a year, of which the stock pays for years.
SSR = 1_000_000_001_395_766_281_313_196_627
STOCK_USD = 1_000_000
LAGOON: Final = "eth_defi/abi/lagoon/v0.5.0/Vault.json"
FEES: Final = "eth_defi/abi/lagoon/FeeRegistry.json"
# Asset, name, symbol, safe, whitelist's manager, valuer, admin, who gets fees, both fees, whitelist, pause of rates.
FIRST_WORDS: Final = "((address,string,string,address,address,address,address,address,uint16,uint16,bool,uint256))"
CREATE_GAS: Final = 8_000_000


def compile_vault(fetched: Fetched, *, say: Say = say_to_stderr) -> str:
    """Creation code of the vault: asset, name, symbol."""
    return _compile(fetched, say)["Vault"]


def _compile(fetched: Fetched, say: Say) -> dict[str, str]:
    """Creation code of both, by name."""
    sources = {"Vault.sol": VAULT, "Savings.sol": SAVINGS, **fetched.sources("openzeppelin", under=ROOT)}
    found = compile_sources(fetched.packages["solc"], sources, SETTINGS, say=say)
    return {each: found[each].code for each in ("Vault", "Savings")}


def deploy(site: Site) -> dict[str, str]:
    """The vault, and somebody who was there before; beside it the one that is asked, and savings."""
    codes, asset = _compile(site.fetched, site.say), site.tokens[ASSET]
    vault = site.create(codes["Vault"], "(address,string,string)", asset, "Local USDC Vault", "vUSDC", what="the vault")
    depositor, deposited = site.account("depositor"), worth(ASSET, DEPOSITED_USD)
    site.give(ASSET, deposited + worth(ASSET, EARNED_USD), depositor.address)
    site.transact(asset, "approve(address,uint256)", vault, deposited, sender=depositor)
    site.transact(vault, "deposit(uint256,address)", deposited, depositor.address, sender=depositor)
    site.transact(asset, "transfer(address,uint256)", vault, worth(ASSET, EARNED_USD), sender=depositor)
    return {
        "vault": vault,
        "request_vault": _deploy_lagoon(site),
        "susds": _open_savings(site, codes["Savings"], depositor),
    }


def _deploy_lagoon(site: Site) -> str:
    """Its registry of fees, which are none, and the vault."""
    me, safe, valuer = (site.account(role).address for role in ("deployer", "safe", "valuer"))
    fees = _behind_proxy(site, site.create_from("eth_defi", FEES, "(bool)", True))
    site.transact(fees, "initialize(address,address)", me, me)
    vault = _behind_proxy(site, site.create_from("eth_defi", LAGOON, "(bool)", True))
    asset = site.tokens[ASSET]
    first = encode_arguments(FIRST_WORDS, (asset, "Local Lagoon", "LAG", safe, me, valuer, me, me, 0, 0, False, 0))
    site.transact(vault, "initialize(bytes,address,address)", first, fees, site.tokens["WETH"], gas=CREATE_GAS)
    # The safe gives back what it settles.
    site.transact(asset, "approve(address,uint256)", vault, 2**255, sender=site.account("safe"))
    return vault


def _open_savings(site: Site, code: str, depositor: LocalAccount) -> str:
    dai, saved = site.tokens["DAI"], worth("DAI", SAVED_USD)
    vault = site.create(code, "(address,uint256)", dai, SSR, what="the simulated sUSDS")
    site.give("DAI", worth("DAI", STOCK_USD), vault)
    site.give("DAI", saved, depositor.address)
    site.transact(dai, "approve(address,uint256)", vault, saved, sender=depositor)
    site.transact(vault, "deposit(uint256,address)", saved, depositor.address, sender=depositor)
    return vault


def _behind_proxy(site: Site, code_at: str) -> str:
    """A minimal proxy as ERC-1167 writes it down."""
    runs = bytes.fromhex("363d3d373d3d3d363d73" + code_at[2:] + "5af43d82803e903d91602b57fd5bf3")
    return site.create(bytes.fromhex("3d602d80600a3d3981f3") + runs, what="a proxy")


WORLD = ProtocolWorld("erc4626", deploy, compiles=compile_vault)

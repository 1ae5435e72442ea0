// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

// The part of Maker's system that vaults need, with its own interface and arithmetic, written for the local chain.
// It stands in for the real contracts and is labelled so: no auctions, no governance, no savings; DAI is not minted but
// lent out of what the DAI adapter holds.

interface IErc20 {
    function transfer(address to, uint256 amount) external returns (bool);

    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IFeed {
    function latestRoundData() external view returns (uint80, int256 answer, uint256, uint256, uint80);

    function decimals() external view returns (uint8);
}

uint256 constant RAY = 1e27;

/// @title Who may administer a contract: `wards`, as all of Maker's do
abstract contract SimulatedAuth {
    mapping(address => uint256) public wards;

    constructor() {
        wards[msg.sender] = 1;
    }

    modifier auth() {
        require(wards[msg.sender] == 1, "not-authorized");
        _;
    }

    function rely(address usr) external auth {
        wards[usr] = 1;
    }

    function deny(address usr) external auth {
        wards[usr] = 0;
    }
}

/// @title The ledger of vaults: collateral in wads, internal DAI in rads, debt as art times a rate that only grows
contract SimulatedVat is SimulatedAuth {
    struct Ilk {
        uint256 Art;
        uint256 rate;
        uint256 spot;
        uint256 line;
        uint256 dust;
    }

    struct Urn {
        uint256 ink;
        uint256 art;
    }

    mapping(address => mapping(address => uint256)) public can;
    mapping(bytes32 => Ilk) public ilks;
    mapping(bytes32 => mapping(address => Urn)) public urns;
    mapping(bytes32 => mapping(address => uint256)) public gem;
    mapping(address => uint256) public dai;
    uint256 public debt;
    uint256 public Line;
    uint256 public live = 1;

    function hope(address usr) external {
        can[msg.sender][usr] = 1;
    }

    function nope(address usr) external {
        can[msg.sender][usr] = 0;
    }

    function wish(address bit, address usr) internal view returns (bool) {
        return bit == usr || can[bit][usr] == 1;
    }

    function init(bytes32 ilk) external auth {
        require(ilks[ilk].rate == 0, "Vat/ilk-already-init");
        ilks[ilk].rate = RAY;
    }

    function file(bytes32 what, uint256 data) external auth {
        require(what == "Line", "Vat/file-unrecognized-param");
        Line = data;
    }

    function file(bytes32 ilk, bytes32 what, uint256 data) external auth {
        if (what == "spot") ilks[ilk].spot = data;
        else if (what == "line") ilks[ilk].line = data;
        else if (what == "dust") ilks[ilk].dust = data;
        else revert("Vat/file-unrecognized-param");
    }

    function cage() external auth {
        live = 0;
    }

    function slip(bytes32 ilk, address usr, int256 wad) external auth {
        gem[ilk][usr] = add(gem[ilk][usr], wad);
    }

    function flux(bytes32 ilk, address src, address dst, uint256 wad) external {
        require(wish(src, msg.sender), "Vat/not-allowed");
        gem[ilk][src] -= wad;
        gem[ilk][dst] += wad;
    }

    function move(address src, address dst, uint256 rad) external {
        require(wish(src, msg.sender), "Vat/not-allowed");
        dai[src] -= rad;
        dai[dst] += rad;
    }

    function frob(bytes32 i, address u, address v, address w, int256 dink, int256 dart) external {
        require(live == 1, "Vat/not-live");
        Urn memory urn = urns[i][u];
        Ilk memory ilk = ilks[i];
        require(ilk.rate != 0, "Vat/ilk-not-init");
        urn.ink = add(urn.ink, dink);
        urn.art = add(urn.art, dart);
        ilk.Art = add(ilk.Art, dart);
        int256 dtab = int256(ilk.rate) * dart;
        uint256 tab = ilk.rate * urn.art;
        debt = add(debt, dtab);
        require(dart <= 0 || (ilk.Art * ilk.rate <= ilk.line && debt <= Line), "Vat/ceiling-exceeded");
        require((dart <= 0 && dink >= 0) || tab <= urn.ink * ilk.spot, "Vat/not-safe");
        require((dart <= 0 && dink >= 0) || wish(u, msg.sender), "Vat/not-allowed-u");
        require(dink <= 0 || wish(v, msg.sender), "Vat/not-allowed-v");
        require(dart >= 0 || wish(w, msg.sender), "Vat/not-allowed-w");
        require(urn.art == 0 || tab >= ilk.dust, "Vat/dust");
        gem[i][v] = add(gem[i][v], -dink);
        dai[w] = add(dai[w], dtab);
        urns[i][u] = urn;
        ilks[i] = ilk;
    }

    function fold(bytes32 i, address u, int256 rate) external auth {
        require(live == 1, "Vat/not-live");
        Ilk storage ilk = ilks[i];
        ilk.rate = add(ilk.rate, rate);
        int256 rad = int256(ilk.Art) * rate;
        dai[u] = add(dai[u], rad);
        debt = add(debt, rad);
    }

    function add(uint256 x, int256 y) private pure returns (uint256) {
        return y >= 0 ? x + uint256(y) : x - uint256(-y);
    }
}

/// @title Stability fees: a rate per second in rays, compounded when somebody asks for it
contract SimulatedJug is SimulatedAuth {
    struct Ilk {
        uint256 duty;
        uint256 rho;
    }

    mapping(bytes32 => Ilk) public ilks;
    SimulatedVat public vat;
    address public vow;
    uint256 public base;

    constructor(address vat_) {
        vat = SimulatedVat(vat_);
        vow = msg.sender;
    }

    function init(bytes32 ilk) external auth {
        ilks[ilk] = Ilk(RAY, block.timestamp);
    }

    function file(bytes32 ilk, bytes32 what, uint256 data) external auth {
        require(what == "duty" && block.timestamp == ilks[ilk].rho, "Jug/rho-not-updated");
        ilks[ilk].duty = data;
    }

    /// @notice Both at once, in the block of the call: blocks of the local chain are not ours to time.
    function start(bytes32 ilk, uint256 duty) external auth {
        ilks[ilk] = Ilk(duty, block.timestamp);
    }

    function drip(bytes32 ilk) external returns (uint256 rate) {
        (, uint256 prev,,,) = vat.ilks(ilk);
        rate = rpow(base + ilks[ilk].duty, block.timestamp - ilks[ilk].rho) * prev / RAY;
        vat.fold(ilk, vow, int256(rate) - int256(prev));
        ilks[ilk].rho = block.timestamp;
    }

    function rpow(uint256 x, uint256 n) private pure returns (uint256 z) {
        z = n % 2 == 1 ? x : RAY;
        for (n /= 2; n != 0; n /= 2) {
            x = (x * x + RAY / 2) / RAY;
            if (n % 2 == 1) z = (z * x + RAY / 2) / RAY;
        }
    }
}

/// @title A price as the spotter reads it, out of a dollar feed
contract SimulatedPip {
    IFeed public immutable feed;

    constructor(address feed_) {
        feed = IFeed(feed_);
    }

    function peek() external view returns (bytes32, bool) {
        (, int256 answer,,,) = feed.latestRoundData();
        return (bytes32(uint256(answer) * 10 ** (18 - feed.decimals())), answer > 0);
    }
}

/// @title The price of collateral less the margin it must keep, written into the ledger by whoever pokes
contract SimulatedSpotter is SimulatedAuth {
    struct Ilk {
        SimulatedPip pip;
        uint256 mat;
    }

    mapping(bytes32 => Ilk) public ilks;
    SimulatedVat public vat;
    uint256 public par = RAY;

    event Poke(bytes32 ilk, bytes32 val, uint256 spot);

    constructor(address vat_) {
        vat = SimulatedVat(vat_);
    }

    function file(bytes32 ilk, bytes32 what, address data) external auth {
        require(what == "pip", "Spotter/file-unrecognized-param");
        ilks[ilk].pip = SimulatedPip(data);
    }

    function file(bytes32 ilk, bytes32 what, uint256 data) external auth {
        require(what == "mat", "Spotter/file-unrecognized-param");
        ilks[ilk].mat = data;
    }

    function poke(bytes32 ilk) external {
        (bytes32 val, bool has) = ilks[ilk].pip.peek();
        uint256 spot = has ? uint256(val) * 1e9 * RAY / par * RAY / ilks[ilk].mat : 0;
        vat.file(ilk, "spot", spot);
        emit Poke(ilk, val, spot);
    }
}

/// @title Takes collateral in and gives it out, for one kind of vault
contract SimulatedGemJoin is SimulatedAuth {
    SimulatedVat public vat;
    bytes32 public ilk;
    IErc20 public gem;
    uint256 public dec = 18;

    constructor(address vat_, bytes32 ilk_, address gem_) {
        vat = SimulatedVat(vat_);
        ilk = ilk_;
        gem = IErc20(gem_);
    }

    function join(address usr, uint256 wad) external {
        require(int256(wad) >= 0, "GemJoin/overflow");
        vat.slip(ilk, usr, int256(wad));
        require(gem.transferFrom(msg.sender, address(this), wad), "GemJoin/failed-transfer");
    }

    function exit(address usr, uint256 wad) external {
        require(int256(wad) >= 0, "GemJoin/overflow");
        vat.slip(ilk, msg.sender, -int256(wad));
        require(gem.transfer(usr, wad), "GemJoin/failed-transfer");
    }
}

/// @title Turns internal DAI into tokens and back; the tokens come out of its own stock
contract SimulatedDaiJoin is SimulatedAuth {
    SimulatedVat public vat;
    IErc20 public dai;

    constructor(address vat_, address dai_) {
        vat = SimulatedVat(vat_);
        dai = IErc20(dai_);
    }

    function join(address usr, uint256 wad) external {
        vat.move(address(this), usr, RAY * wad);
        require(dai.transferFrom(msg.sender, address(this), wad), "DaiJoin/failed-transfer");
    }

    function exit(address usr, uint256 wad) external {
        vat.move(msg.sender, address(this), RAY * wad);
        require(dai.transfer(usr, wad), "DaiJoin/failed-transfer");
    }
}

/// @title Holds one vault for the manager
contract SimulatedUrnHandler {
    constructor(address vat) {
        SimulatedVat(vat).hope(msg.sender);
    }
}

/// @title Vaults by number, each owned by an account
contract SimulatedCdpManager {
    struct List {
        uint256 prev;
        uint256 next;
    }

    address public vat;
    uint256 public cdpi;
    mapping(uint256 => address) public urns;
    mapping(uint256 => List) public list;
    mapping(uint256 => address) public owns;
    mapping(uint256 => bytes32) public ilks;
    mapping(address => uint256) public first;
    mapping(address => uint256) public last;
    mapping(address => uint256) public count;
    mapping(address => mapping(uint256 => mapping(address => uint256))) public cdpCan;

    event NewCdp(address indexed usr, address indexed own, uint256 indexed cdp);

    constructor(address vat_) {
        vat = vat_;
    }

    modifier cdpAllowed(uint256 cdp) {
        require(
            msg.sender == owns[cdp] || cdpCan[owns[cdp]][cdp][msg.sender] == 1, "cdp-not-allowed"
        );
        _;
    }

    function cdpAllow(uint256 cdp, address usr, uint256 ok) external cdpAllowed(cdp) {
        cdpCan[owns[cdp]][cdp][usr] = ok;
    }

    function open(bytes32 ilk, address usr) external returns (uint256) {
        require(usr != address(0), "usr-address-0");
        cdpi += 1;
        urns[cdpi] = address(new SimulatedUrnHandler(vat));
        owns[cdpi] = usr;
        ilks[cdpi] = ilk;
        if (first[usr] == 0) first[usr] = cdpi;
        if (last[usr] != 0) {
            list[cdpi].prev = last[usr];
            list[last[usr]].next = cdpi;
        }
        last[usr] = cdpi;
        count[usr] += 1;
        emit NewCdp(msg.sender, usr, cdpi);
        return cdpi;
    }

    function frob(uint256 cdp, int256 dink, int256 dart) external cdpAllowed(cdp) {
        address urn = urns[cdp];
        SimulatedVat(vat).frob(ilks[cdp], urn, urn, urn, dink, dart);
    }

    function flux(uint256 cdp, address dst, uint256 wad) external cdpAllowed(cdp) {
        SimulatedVat(vat).flux(ilks[cdp], urns[cdp], dst, wad);
    }

    function move(uint256 cdp, address dst, uint256 rad) external cdpAllowed(cdp) {
        SimulatedVat(vat).move(urns[cdp], dst, rad);
    }
}

/// @title Every vault of an account in one answer
contract SimulatedGetCdps {
    function getCdpsAsc(address manager, address guy)
        external
        view
        returns (uint256[] memory ids, address[] memory urns, bytes32[] memory ilks)
    {
        SimulatedCdpManager book = SimulatedCdpManager(manager);
        uint256 count = book.count(guy);
        ids = new uint256[](count);
        urns = new address[](count);
        ilks = new bytes32[](count);
        uint256 id = book.first(guy);
        for (uint256 i = 0; id != 0; ++i) {
            ids[i] = id;
            urns[i] = book.urns(id);
            ilks[i] = book.ilks(id);
            (, id) = book.list(id);
        }
    }
}

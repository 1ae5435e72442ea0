// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {FROZEN, IPrices, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

struct MarketParams {
    address loanToken;
    address collateralToken;
    address oracle;
    address irm;
    uint256 lltv;
}

struct Market {
    uint128 totalSupplyAssets;
    uint128 totalSupplyShares;
    uint128 totalBorrowAssets;
    uint128 totalBorrowShares;
    uint128 lastUpdate;
    uint128 fee;
}

interface IMorpho {
    function position(bytes32 id, address user)
        external
        view
        returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral);

    function market(bytes32 id) external view returns (Market memory);

    function idToMarketParams(bytes32 id) external view returns (MarketParams memory);
}

interface IRateModel {
    function borrowRateView(MarketParams memory params, Market memory market) external view returns (uint256);
}

interface IOracle {
    function price() external view returns (uint256);
}

/// @title Values an account in markets of Morpho Blue: what is lent and pledged less what is owed, at the owner's feeds
/// @notice Counts the markets it was made for, with the interest that nobody wrote down yet. What goes into another
/// market counts as nothing, and so does what is lent or pledged in a token without a feed. A debt in one cannot be judged
/// and is refused. Of the covers of several markets the worst stands for all: they do not stand in for each other.
/// What is lent counts in full where nothing can be taken out of the market, because who borrows for a moment could move
/// any smaller value; but it may not grow there, since what others lent would leave with it.
contract MarketValuer is IValuer {
    uint256 private constant WAD = 1e18;
    uint256 private constant ORACLE_SCALE = 1e36;
    uint256 private constant VIRTUAL_SHARES = 1e6;
    uint256 private constant VIRTUAL_ASSETS = 1;

    IMorpho public immutable morpho;
    bytes32[] private markets;

    /// @dev Of one market; amounts in base units, `health` where 1e18 is liquidation.
    struct Held {
        uint256 shares;
        uint256 lent;
        uint256 pledged;
        uint256 owed;
        uint256 health;
        address loanToken;
        address collateralToken;
        bool isStuck;
    }

    error DebtHasNoPrice(address token, uint256 amount);
    error ListedTwice(bytes32 id);
    error NoSuchMarket(bytes32 id);

    constructor(address morpho_, bytes32[] memory ids) {
        morpho = IMorpho(morpho_);
        for (uint256 i = 0; i < ids.length; ++i) {
            for (uint256 j = 0; j < i; ++j) {
                if (ids[j] == ids[i]) revert ListedTwice(ids[i]);
            }
            if (IMorpho(morpho_).market(ids[i]).lastUpdate == 0) revert NoSuchMarket(ids[i]);
            markets.push(ids[i]);
        }
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return address(morpho);
    }

    /// @notice The markets that count.
    function listMarkets() external view returns (bytes32[] memory) {
        return markets;
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        newest = 0;
        legs = new Leg[](4 * markets.length);
        uint256 count = 0;
        uint256 health = type(uint256).max;
        for (uint256 i = 0; i < markets.length; ++i) {
            Held memory held = _read(markets[i], account);
            if (held.lent == 0 && held.pledged == 0 && held.owed == 0) continue;
            uint256 value = _worthOf(held.loanToken, held.lent) + _worthOf(held.collateralToken, held.pledged);
            gross += value;
            if (value > largest) largest = value;
            if (held.lent != 0) legs[count++] = Leg(held.loanToken, int256(held.lent));
            if (held.isStuck) legs[count++] = Leg(FROZEN, int256(uint256(uint120(i)) << 128 | held.shares));
            if (held.pledged != 0) legs[count++] = Leg(held.collateralToken, int256(held.pledged));
            if (held.owed == 0) continue;
            if (!IPrices(msg.sender).isPriced(held.loanToken)) revert DebtHasNoPrice(held.loanToken, held.owed);
            legs[count++] = Leg(held.loanToken, -int256(held.owed));
            // Rounded up: what is owed never looks smaller than it is.
            debt += _worthOf(held.loanToken, held.owed) + 1;
            if (held.health < health) health = held.health;
        }
        assembly ("memory-safe") {
            mstore(legs, count)
        }
        cover = _coverOf(gross, debt, health);
    }

    function _worthOf(address token, uint256 amount) private view returns (uint256) {
        if (amount == 0 || !IPrices(msg.sender).isPriced(token)) return 0;
        (uint256 answer, uint256 unit) = IPrices(msg.sender).priceOf(token);
        return amount * answer * MICRO_USD / unit;
    }

    function _coverOf(uint256 gross, uint256 debt, uint256 health) private pure returns (uint256) {
        if (debt == 0) return gross;
        uint256 most = type(uint128).max;
        if (debt > most || health > most) return most;
        uint256 cover = debt * health / WAD;
        return cover > most ? most : cover;
    }

    function _read(bytes32 id, address account) private view returns (Held memory held) {
        (uint256 supplyShares, uint256 borrowShares, uint256 collateral) = morpho.position(id, account);
        if (supplyShares == 0 && borrowShares == 0 && collateral == 0) return held;
        MarketParams memory params = morpho.idToMarketParams(id);
        Market memory market = morpho.market(id);
        (uint256 supplied, uint256 shares, uint256 borrowed) = _accrue(params, market);
        held.loanToken = params.loanToken;
        held.collateralToken = params.collateralToken;
        held.lent = supplyShares * (supplied + VIRTUAL_ASSETS) / (shares + VIRTUAL_SHARES);
        held.pledged = collateral;
        held.shares = supplyShares;
        uint256 others = supplied > held.lent ? supplied - held.lent : 0;
        held.isStuck = supplyShares != 0 && others > held.lent / 100 && borrowed * 100 >= others * 99;
        uint256 all = uint256(market.totalBorrowShares) + VIRTUAL_SHARES;
        held.owed = (borrowShares * (borrowed + VIRTUAL_ASSETS) + all - 1) / all;
        if (held.owed != 0) held.health = _healthOf(params, collateral, held.owed);
    }

    /// @dev What the market would write down now: all that is lent, its shares, all that is borrowed.
    function _accrue(MarketParams memory params, Market memory market)
        private
        view
        returns (uint256 supplied, uint256 shares, uint256 borrowed)
    {
        (supplied, shares, borrowed) = (market.totalSupplyAssets, market.totalSupplyShares, market.totalBorrowAssets);
        uint256 elapsed = block.timestamp - market.lastUpdate;
        if (elapsed == 0 || params.irm == address(0)) return (supplied, shares, borrowed);
        uint256 first = IRateModel(params.irm).borrowRateView(params, market) * elapsed;
        uint256 second = first * first / (2 * WAD);
        uint256 interest = borrowed * (first + second + second * first / (3 * WAD)) / WAD;
        borrowed += interest;
        supplied += interest;
        if (market.fee == 0) return (supplied, shares, borrowed);
        uint256 fee = interest * market.fee / WAD;
        shares += fee * (shares + VIRTUAL_SHARES) / (supplied - fee + VIRTUAL_ASSETS);
    }

    /// @dev By the market's own price, because it is by this that it liquidates; none where nobody tells one.
    function _healthOf(MarketParams memory params, uint256 collateral, uint256 owed) private view returns (uint256) {
        if (params.oracle == address(0)) return 0;
        (bool isOk, bytes memory output) = params.oracle.staticcall(abi.encodeCall(IOracle.price, ()));
        if (!isOk || output.length != 32) return 0;
        uint256 quoted = collateral * abi.decode(output, (uint256)) / ORACLE_SCALE;
        return quoted * params.lltv / owed;
    }
}

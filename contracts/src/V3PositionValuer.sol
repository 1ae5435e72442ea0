// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {FROZEN, IPrices, IValuer, Kind, Leg, MICRO_USD, MIN_RANGE_TICKS, MIXES} from "./CageTypes.sol";

interface IV3Positions {
    function factory() external view returns (address);

    function balanceOf(address owner) external view returns (uint256);

    function tokenOfOwnerByIndex(address owner, uint256 index) external view returns (uint256);

    function positions(uint256 tokenId)
        external
        view
        returns (
            uint96 nonce,
            address operator,
            address token0,
            address token1,
            uint24 fee,
            int24 tickLower,
            int24 tickUpper,
            uint128 liquidity,
            uint256 feeGrowthInside0LastX128,
            uint256 feeGrowthInside1LastX128,
            uint128 tokensOwed0,
            uint128 tokensOwed1
        );
}

interface IV3Factory {
    function getPool(address token0, address token1, uint24 fee) external view returns (address);
}

interface IV3Pool {
    function slot0() external view returns (uint160, int24, uint16, uint16, uint16, uint8, bool);

    function feeGrowthGlobal0X128() external view returns (uint256);

    function feeGrowthGlobal1X128() external view returns (uint256);

    function ticks(int24 tick)
        external
        view
        returns (uint128, int128, uint256 outside0, uint256 outside1, int56, uint160, uint32, bool);
}

/// @title Values Uniswap V3 positions of an account
/// @notice Liquidity counts as the amounts it would hold if the pool stood at the ratio of the two feeds, never at the
/// pool's own price, which a trade can move. Fees count in full. A position in a token without a feed counts as nothing, and so
/// does one whose liquidity and noted fees are worth less than a cent. What is in a range narrower than the owner's least
/// may not grow: it is lost to whoever trades when the price leaves the range.
contract V3PositionValuer is IValuer {
    /// @notice Of more positions than this the first count, as their manager lists them. A stranger's gifts come behind what
    /// was there, so they push nothing out; what the account itself opens behind them counts as nothing and is a loss.
    uint256 public constant MOST_COUNTED = 64;
    /// @dev Micro-USD.
    uint256 private constant LEAST_COUNTED = 10_000;
    uint256 private constant Q96 = 2 ** 96;
    /// @dev 1.0001^(-2^i / 2) in Q128, i = 0..19.
    bytes private constant POWERS =
        hex"fffcb933bd6fad37aa2d162d1a594001fff97272373d413259a46990580e213a"
        hex"fff2e50f5f656932ef12357cf3c7fdccffe5caca7e10e4e61c3624eaa0941cd0"
        hex"ffcb9843d60f6159c9db58835c926644ff973b41fa98c081472e6896dfb254c0"
        hex"ff2ea16466c96a3843ec78b326b52861fe5dee046a99a2a811c461f1969c3053"
        hex"fcbe86c7900a88aedcffc83b479aa3a4f987a7253ac413176f2b074cf7815e54"
        hex"f3392b0822b70005940c7a398e4b70f3e7159475a2c29b7443b29c7fa6e889d9"
        hex"d097f3bdfd2022b8845ad8f792aa5825a9f746462d870fdf8a65dc1f90e061e5"
        hex"70d869a156d2a1b890bb3df62baf32f731be135f97d08fd981231505542fcfa6"
        hex"09aa508b5b7a84e1c677de54f3e99bc9005d6af8dedb81196699c329225ee604"
        hex"00002216e584f5fa1ea926041bedfe9800000000048a170391f7dc42444e8fa2";

    IV3Positions public immutable manager;

    struct Position {
        address token0;
        address token1;
        uint24 fee;
        int24 tickLower;
        int24 tickUpper;
        uint128 liquidity;
        uint256 inside0Last;
        uint256 inside1Last;
        uint128 owed0;
        uint128 owed1;
    }

    constructor(address manager_) {
        manager = IV3Positions(manager_);
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return address(manager);
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        uint256 count = manager.balanceOf(account);
        if (count > MOST_COUNTED) count = MOST_COUNTED;
        legs = new Leg[](3 * count);
        uint256 told = 0;
        newest = MIXES;
        uint256 least = count == 0 ? 0 : IPrices(msg.sender).rules(Kind.LIMIT, bytes32(MIN_RANGE_TICKS));
        for (uint256 i = 0; i < count; ++i) {
            uint256 id = manager.tokenOfOwnerByIndex(account, i);
            uint256 value;
            Position memory position = _read(id);
            (value, told) = _count(position, legs, told);
            if (value != 0 && position.liquidity != 0 && _widthOf(position) < least) {
                legs[told++] = Leg(FROZEN, int256(uint256(uint120(id)) << 128 | position.liquidity));
            }
            gross += value;
            if (value > largest) largest = value;
            if (value != 0 && (id | MIXES) > newest) newest = id | MIXES;
        }
        assembly ("memory-safe") {
            mstore(legs, told)
        }
        (debt, cover) = (0, gross);
    }

    /// @return amount0 base units of token0, fees included, at the feeds' ratio of the caller.
    /// @return amount1 the same of token1.
    function amountsOf(uint256 tokenId, IPrices prices) external view returns (uint256 amount0, uint256 amount1) {
        return _amountsOf(_read(tokenId), prices);
    }

    function _widthOf(Position memory position) private pure returns (uint256) {
        return uint256(int256(position.tickUpper) - position.tickLower);
    }

    /// @return value in micro-USD; its two legs are told from the place `told` on.
    function _count(Position memory position, Leg[] memory legs, uint256 told)
        private
        view
        returns (uint256 value, uint256)
    {
        if (position.liquidity | position.owed0 | position.owed1 == 0) return (0, told);
        IPrices prices = IPrices(msg.sender);
        if (!prices.isPriced(position.token0) || !prices.isPriced(position.token1)) return (0, told);
        (uint256 amount0, uint256 amount1) = _liquidityOf(position, prices);
        (amount0, amount1) = (amount0 + position.owed0, amount1 + position.owed1);
        if (_worthOf(position, prices, amount0, amount1) < LEAST_COUNTED) return (0, told);
        (uint256 fees0, uint256 fees1) = _growthOf(position);
        (amount0, amount1) = (amount0 + fees0, amount1 + fees1);
        legs[told] = Leg(position.token0, int256(amount0));
        legs[told + 1] = Leg(position.token1, int256(amount1));
        return (_worthOf(position, prices, amount0, amount1), told + 2);
    }

    function _worthOf(Position memory position, IPrices prices, uint256 amount0, uint256 amount1)
        private
        view
        returns (uint256 value)
    {
        (uint256 answer, uint256 unit) = prices.priceOf(position.token0);
        value = amount0 * answer * MICRO_USD / unit;
        (answer, unit) = prices.priceOf(position.token1);
        value += amount1 * answer * MICRO_USD / unit;
    }

    function _amountsOf(Position memory position, IPrices prices)
        private
        view
        returns (uint256 amount0, uint256 amount1)
    {
        (amount0, amount1) = _liquidityOf(position, prices);
        (uint256 fees0, uint256 fees1) = _growthOf(position);
        amount0 += fees0 + position.owed0;
        amount1 += fees1 + position.owed1;
    }

    function _liquidityOf(Position memory position, IPrices prices) private view returns (uint256, uint256) {
        if (position.liquidity == 0) return (0, 0);
        return _amountsAt(_sqrtRatio(position, prices), position);
    }

    /// @dev sqrt(base units of token1 per base unit of token0) in Q96, from the feeds.
    function _sqrtRatio(Position memory position, IPrices prices) private view returns (uint256) {
        (uint256 answer0, uint256 unit0) = prices.priceOf(position.token0);
        (uint256 answer1, uint256 unit1) = prices.priceOf(position.token1);
        uint256 above = answer0 * unit1;
        uint256 below = answer1 * unit0;
        // A ratio of 2^64 and more does not fit with all its digits, and needs them less.
        if (above / below >> 64 != 0) return _sqrt(_mulDiv(above, 2 ** 64, below)) << 64;
        return _sqrt(_mulDiv(above, 2 ** 192, below));
    }

    function _amountsAt(uint256 sqrtPrice, Position memory position)
        private
        pure
        returns (uint256 amount0, uint256 amount1)
    {
        uint256 low = _sqrtPriceAt(position.tickLower);
        uint256 high = _sqrtPriceAt(position.tickUpper);
        uint256 price = sqrtPrice < low ? low : sqrtPrice > high ? high : sqrtPrice;
        amount0 = _mulDiv(uint256(position.liquidity) << 96, high - price, high) / price;
        amount1 = _mulDiv(position.liquidity, price - low, Q96);
    }

    /// @dev Fees that the position does not note yet.
    function _growthOf(Position memory position) private view returns (uint256 fees0, uint256 fees1) {
        if (position.liquidity == 0) return (0, 0);
        IV3Pool pool =
            IV3Pool(IV3Factory(manager.factory()).getPool(position.token0, position.token1, position.fee));
        (uint256 inside0, uint256 inside1) = _growthInside(pool, position.tickLower, position.tickUpper);
        unchecked {
            // Growth wraps around by design; only differences have a meaning.
            fees0 = _mulDiv(inside0 - position.inside0Last, position.liquidity, 2 ** 128);
            fees1 = _mulDiv(inside1 - position.inside1Last, position.liquidity, 2 ** 128);
        }
    }

    function _growthInside(IV3Pool pool, int24 lower, int24 upper)
        private
        view
        returns (uint256 inside0, uint256 inside1)
    {
        (, int24 tick,,,,,) = pool.slot0();
        (,, uint256 lower0, uint256 lower1,,,,) = pool.ticks(lower);
        (,, uint256 upper0, uint256 upper1,,,,) = pool.ticks(upper);
        unchecked {
            if (tick < lower) return (lower0 - upper0, lower1 - upper1);
            if (tick >= upper) return (upper0 - lower0, upper1 - lower1);
            inside0 = pool.feeGrowthGlobal0X128() - lower0 - upper0;
            inside1 = pool.feeGrowthGlobal1X128() - lower1 - upper1;
        }
    }

    function _read(uint256 id) private view returns (Position memory position) {
        // Decoded by hand: twelve return values at once do not fit the stack.
        (bool isOk, bytes memory output) = address(manager).staticcall(abi.encodeCall(IV3Positions.positions, (id)));
        require(isOk && output.length == 384);
        uint256[12] memory words = abi.decode(output, (uint256[12]));
        position.token0 = address(uint160(words[2]));
        position.token1 = address(uint160(words[3]));
        position.fee = uint24(words[4]);
        position.tickLower = int24(int256(words[5]));
        position.tickUpper = int24(int256(words[6]));
        position.liquidity = uint128(words[7]);
        position.inside0Last = words[8];
        position.inside1Last = words[9];
        position.owed0 = uint128(words[10]);
        position.owed1 = uint128(words[11]);
    }

    function _sqrtPriceAt(int24 tick) private pure returns (uint256) {
        uint256 magnitude = uint256(int256(tick < 0 ? -tick : tick));
        bytes memory powers = POWERS;
        uint256 ratio = 2 ** 128;
        for (uint256 i = 0; i < 20; ++i) {
            if ((magnitude >> i) & 1 == 0) continue;
            uint256 power;
            assembly ("memory-safe") {
                power := shr(128, mload(add(add(powers, 32), mul(i, 16))))
            }
            ratio = (ratio * power) >> 128;
        }
        if (tick > 0) ratio = type(uint256).max / ratio;
        return (ratio + 0xffffffff) >> 32;
    }

    /// @dev floor(a * b / divisor) with the product in 512 bits. Reverts when the result has more than 256.
    function _mulDiv(uint256 a, uint256 b, uint256 divisor) private pure returns (uint256 result) {
        unchecked {
            uint256 low = a * b;
            uint256 carried = mulmod(a, b, type(uint256).max);
            uint256 high = carried - low - (carried < low ? 1 : 0);
            if (high == 0) return low / divisor;
            require(high < divisor);
            uint256 rest = mulmod(a, b, divisor);
            if (rest > low) --high;
            low -= rest;
            // The division is exact now: take out the powers of two, then multiply by the inverse modulo 2^256.
            uint256 twos = divisor & (0 - divisor);
            divisor /= twos;
            low = low / twos + high * ((0 - twos) / twos + 1);
            uint256 inverse = (3 * divisor) ^ 2;
            for (uint256 i = 0; i < 6; ++i) {
                inverse *= 2 - divisor * inverse;
            }
            return low * inverse;
        }
    }

    /// @dev floor of the square root, by Newton's steps from above.
    function _sqrt(uint256 value) private pure returns (uint256 root) {
        if (value == 0) return 0;
        uint256 rest = value;
        root = 2;
        for (uint256 bits = 128; bits > 1; bits >>= 1) {
            if (rest >> bits == 0) continue;
            rest >>= bits;
            root <<= bits / 2;
        }
        while (true) {
            uint256 next = (root + value / root) >> 1;
            if (next >= root) return root;
            root = next;
        }
    }
}

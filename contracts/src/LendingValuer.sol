// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IToken, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

interface ILendingPool {
    /// @return data two bits for each reserve of the market: whether the user borrows it, whether it is collateral.
    function getUserConfiguration(address user) external view returns (uint256 data);

    /// @dev The health factor is what stands for the debt, each reserve by its own threshold of liquidation, over the
    /// debt; 1e18 is one. Of the market's own prices, because it is by these that it liquidates.
    function getUserAccountData(address user)
        external
        view
        returns (
            uint256 collateral,
            uint256 debt,
            uint256 borrowable,
            uint256 threshold,
            uint256 loanToValue,
            uint256 healthFactor
        );
}

/// @title Values an account in a lending market of Aave's kind: aTokens less debt tokens, at the owner's feeds
/// @notice Collateral in a token without a feed, or in a reserve that is not listed, counts as nothing. A debt in one
/// cannot be judged and is refused, and so is one of another kind than the reserve's debt token counts.
contract LendingValuer is IValuer {
    struct Reserve {
        address underlying;
        address aToken;
        address debtToken;
    }

    uint256 private constant BORROWED = 0x5555555555555555555555555555555555555555555555555555555555555555;

    ILendingPool public immutable pool;
    Reserve[] private reserves;

    error DebtHasNoPrice(address underlying, uint256 amount);
    error DebtNotListed(uint256 borrowed, uint256 listed);
    error ListedTwice(address token);

    constructor(address pool_, Reserve[] memory reserves_) {
        pool = ILendingPool(pool_);
        for (uint256 i = 0; i < reserves_.length; ++i) {
            for (uint256 j = 0; j < i; ++j) {
                bool isTwice = reserves_[j].underlying == reserves_[i].underlying
                    || reserves_[j].aToken == reserves_[i].aToken || reserves_[j].debtToken == reserves_[i].debtToken;
                if (isTwice) revert ListedTwice(reserves_[i].underlying);
            }
            reserves.push(reserves_[i]);
        }
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return address(pool);
    }

    /// @notice The reserves that count.
    function listReserves() external view returns (Reserve[] memory) {
        return reserves;
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        IPrices prices = IPrices(msg.sender);
        uint256 listed = 0;
        uint256 count = 0;
        legs = new Leg[](2 * reserves.length);
        for (uint256 i = 0; i < reserves.length; ++i) {
            Reserve memory reserve = reserves[i];
            uint256 held = IToken(reserve.aToken).balanceOf(account);
            uint256 owed = IToken(reserve.debtToken).balanceOf(account);
            if (owed != 0) ++listed;
            // An aToken that is an asset of its own counts there.
            if (held != 0 && prices.isPriced(reserve.aToken)) held = 0;
            if (!prices.isPriced(reserve.underlying)) {
                if (owed != 0) revert DebtHasNoPrice(reserve.underlying, owed);
                continue;
            }
            if (held == 0 && owed == 0) continue;
            (uint256 answer, uint256 unit) = prices.priceOf(reserve.underlying);
            uint256 value = held * answer * MICRO_USD / unit;
            gross += value;
            if (value > largest) largest = value;
            if (held != 0) legs[count++] = Leg(reserve.underlying, int256(held));
            if (owed != 0) legs[count++] = Leg(reserve.underlying, -int256(owed));
            // Rounded up: what is owed never looks smaller than it is.
            if (owed != 0) debt += owed * answer * MICRO_USD / unit + 1;
        }
        uint256 borrowed = _count(pool.getUserConfiguration(account) & BORROWED);
        if (borrowed != listed) revert DebtNotListed(borrowed, listed);
        assembly ("memory-safe") {
            mstore(legs, count)
        }
        cover = _coverOf(account, gross, debt);
        newest = 0;
    }

    /// @dev The health factor is the market's own measure of how far its liquidators are; over our sum of the debt.
    function _coverOf(address account, uint256 gross, uint256 debt) private view returns (uint256) {
        if (debt == 0) return gross;
        (,,,,, uint256 healthFactor) = pool.getUserAccountData(account);
        uint256 most = type(uint128).max;
        if (debt > most || healthFactor > most) return most;
        uint256 cover = debt * healthFactor / 1e18;
        return cover > most ? most : cover;
    }

    function _count(uint256 bits) private pure returns (uint256 count) {
        for (; bits != 0; bits &= bits - 1) {
            ++count;
        }
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";
import {MadeUpBond} from "./MadeUpBond.sol";

/// @title Values claims and parts of the pool of the made-up bond, for tests; a coupon counts as nothing
/// @notice A claim counts as the lower of its average price and what is due, whatever is paid for it in this block. A
/// part of the pool counts as what would lie in it at that average.
contract MadeUpBondValuer is IValuer {
    /// @dev In storage, so that its code is the same wherever it stands.
    MadeUpBond public bond;
    uint256 public window;

    constructor(address bond_, uint256 window_) {
        (bond, window) = (MadeUpBond(bond_), window_);
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return address(bond);
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        IPrices prices = IPrices(msg.sender);
        address cash = address(bond.cash());
        (debt, newest) = (0, 0);
        if (!prices.isPriced(cash)) return (0, 0, 0, 0, 0, legs);
        uint256 rate = block.timestamp < bond.maturity() ? bond.average(window) : 1e18;
        if (rate > 1e18) rate = 1e18;
        uint256 claims = bond.claimsOf(account) * rate / 1e18;
        (uint256 inCash, uint256 inClaims) = _parts(account, rate);
        (uint256 answer, uint256 unit) = prices.priceOf(cash);
        gross = claims * answer * MICRO_USD / unit + inCash * answer * MICRO_USD / unit
            + inClaims * answer * MICRO_USD / unit;
        (largest, cover) = (gross, gross);
        legs = new Leg[](1);
        legs[0] = Leg(cash, int256(claims + inCash + inClaims));
    }

    function _parts(address account, uint256 rate) private view returns (uint256 inCash, uint256 inClaims) {
        (uint256 held, uint256 all) = (bond.sharesOf(account), bond.shares());
        if (held == 0) return (0, 0);
        uint256 product = bond.cashIn() * bond.claimsIn();
        inCash = _root(product * rate / 1e18) * held / all;
        inClaims = _root(product * 1e18 / rate) * held / all * rate / 1e18;
    }

    function _root(uint256 square) private pure returns (uint256 root) {
        root = square;
        uint256 next = (root + 1) / 2;
        while (next < root) (root, next) = (next, (next + square / next) / 2);
    }
}

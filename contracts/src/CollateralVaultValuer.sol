// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

interface IVaultManager {
    function first(address owner) external view returns (uint256);

    function list(uint256 id) external view returns (uint256 before, uint256 next);

    function urns(uint256 id) external view returns (address);

    function ilks(uint256 id) external view returns (bytes32);
}

interface IVaultLedger {
    function ilks(bytes32 ilk)
        external
        view
        returns (uint256 art, uint256 rate, uint256 spot, uint256 line, uint256 dust);

    function urns(bytes32 ilk, address urn) external view returns (uint256 ink, uint256 art);

    function dai(address urn) external view returns (uint256 rad);
}

interface IVaultFees {
    function ilks(bytes32 ilk) external view returns (uint256 duty, uint256 rho);

    function base() external view returns (uint256);
}

/// @title Values an account's vaults at Maker: collateral less DAI owed, at the owner's feeds
/// @notice The fee is counted up to this second, whoever wrote it down last. Collateral of a kind that is not listed, or
/// in a token without a feed, counts as nothing; a debt without a feed for DAI is refused, and so is one of a kind that is
/// not listed. Of the covers of several vaults the worst stands for all: they do not stand in for each other.
contract CollateralVaultValuer is IValuer {
    struct Kind {
        bytes32 ilk;
        address collateral;
    }

    struct Places {
        address manager;
        address ledger;
        address fees;
        address dai;
    }

    /// @notice Of more vaults than this the first count, as their manager lists them. What strangers open for the account
    /// comes behind what was there, so it pushes nothing out; what the account itself opens behind them counts as nothing.
    uint256 public constant MOST_COUNTED = 128;
    uint256 private constant RAY = 1e27;
    /// @dev Less than a tenth of a DAI inside a vault is what rounding left there.
    uint256 private constant LEAST_INSIDE = 1e17;

    address private immutable manager;
    IVaultLedger private immutable ledger;
    IVaultFees private immutable fees;
    address private immutable dai;
    Kind[] private kinds;

    /// @dev What was added up so far; `health` in rays, one is liquidation.
    struct Sum {
        uint256 gross;
        uint256 debt;
        uint256 largest;
        uint256 newest;
        uint256 health;
        uint256 count;
    }

    error DebtHasNoPrice(bytes32 ilk, uint256 amount);
    error ListedTwice(bytes32 ilk);

    constructor(Places memory places_, Kind[] memory kinds_) {
        (manager, dai) = (places_.manager, places_.dai);
        ledger = IVaultLedger(places_.ledger);
        fees = IVaultFees(places_.fees);
        for (uint256 i = 0; i < kinds_.length; ++i) {
            for (uint256 j = 0; j < i; ++j) {
                if (kinds_[j].ilk == kinds_[i].ilk) revert ListedTwice(kinds_[i].ilk);
            }
            kinds.push(kinds_[i]);
        }
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return manager;
    }

    /// @notice Where it looks.
    function places() external view returns (Places memory) {
        return Places(manager, address(ledger), address(fees), dai);
    }

    /// @notice The kinds of vaults that count.
    function listKinds() external view returns (Kind[] memory) {
        return kinds;
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        legs = new Leg[](3 * MOST_COUNTED);
        Sum memory sum;
        sum.health = type(uint256).max;
        uint256 id = IVaultManager(manager).first(account);
        for (uint256 i = 0; id != 0 && i < MOST_COUNTED; ++i) {
            uint256 before = sum.gross;
            _add(sum, legs, IVaultManager(manager).ilks(id), IVaultManager(manager).urns(id));
            uint256 value = sum.gross - before;
            if (value > sum.largest) sum.largest = value;
            if (value != 0 && id > sum.newest) sum.newest = id;
            (, id) = IVaultManager(manager).list(id);
        }
        uint256 told = sum.count;
        assembly ("memory-safe") {
            mstore(legs, told)
        }
        return (sum.gross, sum.debt, sum.largest, sum.newest, _coverOf(sum), legs);
    }

    function _add(Sum memory sum, Leg[] memory legs, bytes32 ilk, address urn) private view {
        (uint256 ink, uint256 art) = ledger.urns(ilk, urn);
        uint256 inside = ledger.dai(urn) / RAY;
        // Anybody opens empty ones for anybody.
        if (ink | art == 0 && inside < LEAST_INSIDE) return;
        address collateral = _collateralOf(ilk);
        sum.gross += _count(sum, legs, collateral, ink);
        if (inside >= LEAST_INSIDE) sum.gross += _count(sum, legs, dai, inside);
        if (art == 0) return;
        (, uint256 rate, uint256 spot,,) = ledger.ilks(ilk);
        (uint256 duty, uint256 since) = fees.ilks(ilk);
        rate = _power(fees.base() + duty, block.timestamp - since) * rate / RAY;
        uint256 owed = (art * rate + RAY - 1) / RAY;
        if (collateral == address(0) || !IPrices(msg.sender).isPriced(dai)) revert DebtHasNoPrice(ilk, owed);
        (uint256 answer, uint256 unit) = IPrices(msg.sender).priceOf(dai);
        // Rounded up: what is owed never looks smaller than it is.
        sum.debt += owed * answer * MICRO_USD / unit + 1;
        legs[sum.count++] = Leg(dai, -int256(owed));
        uint256 health = ink * spot / owed;
        if (health < sum.health) sum.health = health;
    }

    function _count(Sum memory sum, Leg[] memory legs, address token, uint256 amount) private view returns (uint256) {
        if (amount == 0 || token == address(0) || !IPrices(msg.sender).isPriced(token)) return 0;
        legs[sum.count++] = Leg(token, int256(amount));
        (uint256 answer, uint256 unit) = IPrices(msg.sender).priceOf(token);
        return amount * answer * MICRO_USD / unit;
    }

    function _coverOf(Sum memory sum) private pure returns (uint256) {
        if (sum.debt == 0) return sum.gross;
        uint256 most = type(uint128).max;
        if (sum.debt > most || sum.health > most) return most;
        uint256 cover = sum.debt * sum.health / RAY;
        return cover > most ? most : cover;
    }

    function _collateralOf(bytes32 ilk) private view returns (address) {
        for (uint256 i = 0; i < kinds.length; ++i) {
            if (kinds[i].ilk == ilk) return kinds[i].collateral;
        }
        return address(0);
    }

    /// @dev `base` to the `exponent` in rays, rounded to the nearest at each step as the contract of the fees rounds.
    function _power(uint256 base, uint256 exponent) private pure returns (uint256 result) {
        result = exponent & 1 == 0 ? RAY : base;
        for (exponent >>= 1; exponent != 0; exponent >>= 1) {
            base = (base * base + RAY / 2) / RAY;
            if (exponent & 1 != 0) result = (result * base + RAY / 2) / RAY;
        }
    }
}

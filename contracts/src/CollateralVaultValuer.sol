// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";

interface IVaultList {
    function getCdpsAsc(address manager, address owner)
        external
        view
        returns (uint256[] memory ids, address[] memory urns, bytes32[] memory ilks);
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
        address list;
        address ledger;
        address fees;
        address dai;
    }

    /// @notice With more vaults than this nothing is told: one that is not counted would be free to take.
    uint256 public constant MOST_COUNTED = 32;
    uint256 private constant RAY = 1e27;
    /// @dev Less than a tenth of a DAI inside a vault is what rounding left there.
    uint256 private constant LEAST_INSIDE = 1e17;

    address private immutable manager;
    IVaultList private immutable list;
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
    error TooManyVaults(uint256 observed, uint256 allowed);

    constructor(Places memory places_, Kind[] memory kinds_) {
        (manager, dai) = (places_.manager, places_.dai);
        list = IVaultList(places_.list);
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
        return Places(manager, address(list), address(ledger), address(fees), dai);
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
        (uint256[] memory ids, address[] memory urns, bytes32[] memory ilks) = list.getCdpsAsc(manager, account);
        if (ids.length > MOST_COUNTED) revert TooManyVaults(ids.length, MOST_COUNTED);
        legs = new Leg[](3 * ids.length);
        Sum memory sum;
        sum.health = type(uint256).max;
        for (uint256 i = 0; i < ids.length; ++i) {
            uint256 before = sum.gross;
            _add(sum, legs, ilks[i], urns[i]);
            uint256 value = sum.gross - before;
            if (value > sum.largest) sum.largest = value;
            if (value != 0 && ids[i] > sum.newest) sum.newest = ids[i];
        }
        uint256 told = sum.count;
        assembly ("memory-safe") {
            mstore(legs, told)
        }
        return (sum.gross, sum.debt, sum.largest, sum.newest, _coverOf(sum), legs);
    }

    function _add(Sum memory sum, Leg[] memory legs, bytes32 ilk, address urn) private view {
        (uint256 ink, uint256 art) = ledger.urns(ilk, urn);
        address collateral = _collateralOf(ilk);
        sum.gross += _count(sum, legs, collateral, ink);
        uint256 inside = ledger.dai(urn) / RAY;
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

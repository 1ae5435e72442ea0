// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IValuer, Leg, MICRO_USD} from "./CageTypes.sol";
import {MadeUpBank} from "./MadeUpBank.sol";

/// @title Values an account at the made-up bank, for tests: deposits and what waits in its queue, less what is owed
/// @notice A place in the queue counts and covers no debt. A debt without a feed is refused.
contract MadeUpBankValuer is IValuer {
    /// @dev In storage, so that its code is the same wherever it stands.
    MadeUpBank public bank;

    error DebtHasNoPrice(uint256 amount);

    constructor(address bank_) {
        bank = MadeUpBank(bank_);
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return address(bank);
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        IPrices prices = IPrices(msg.sender);
        (address cash, address loan) = (address(bank.cash()), address(bank.loan()));
        (uint256 held, uint256 owed, uint256 waiting) = (bank.deposited(account), bank.owed(account), 0);
        uint256[] memory ids = bank.requestsOf(account);
        for (uint256 i = 0; i < ids.length; ++i) {
            (, uint256 amount,) = bank.requests(ids[i]);
            waiting += amount;
        }
        legs = new Leg[](2);
        (legs[0].asset, legs[1].asset) = (cash, loan);
        if (prices.isPriced(cash)) {
            (uint256 answer, uint256 unit) = prices.priceOf(cash);
            gross = (held + waiting) * answer * MICRO_USD / unit;
            cover = held * answer * MICRO_USD / unit * bank.COVER_BPS() / 10_000;
            legs[0].amount = int256(held + waiting);
        }
        if (owed != 0) {
            if (!prices.isPriced(loan)) revert DebtHasNoPrice(owed);
            (uint256 answer, uint256 unit) = prices.priceOf(loan);
            debt = owed * answer * MICRO_USD / unit + 1;
            legs[1].amount = -int256(owed);
        }
        (largest, newest) = (gross, ids.length == 0 ? 0 : ids[ids.length - 1] + 1);
        if (debt == 0) cover = gross;
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IMoonwellAsset {
    function balanceOf(address account) external view returns (uint256);
    function decimals() external view returns (uint8);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function withdraw(uint256 value) external;
}

interface IMoonwellFeed {
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80);
}

/// @title Simulated market of Moonwell: one asset is lent, its receipts grow, and whoever entered it covers debts with it
/// @notice Stands in on the local chain (31337) for an mToken. As the real one it answers a number that is not zero,
/// and does nothing, where what is asked for is not allowed or not there; only pauses and caps revert. What is lent of
/// the wrapped coin goes in wrapped and comes out as coin.
contract SimulatedMoonwellMarket {
    uint256 private constant WAD = 1e18;
    /// @dev Rates a second where nothing and where all is lent out, and the part of interest that stays here.
    uint256 private constant RATE_LOW = 317_097_919;
    uint256 private constant RATE_SLOPE = 1_585_489_599;
    uint256 private constant RATE_STEEP = 31_709_791_983;
    uint256 private constant KINK = 9e17;
    uint256 public constant reserveFactorMantissa = 1e17;
    uint256 private constant REJECTED = 3;
    uint256 private constant NO_CASH = 9;

    string public constant name = "Simulated Moonwell market";
    string public constant symbol = "mToken";
    uint8 public constant decimals = 8;
    address public immutable underlying;
    bool public immutable paysCoin;
    SimulatedMoonwellComptroller public immutable comptroller;
    uint256 private immutable _firstRate;
    uint256 public totalSupply;
    uint256 public totalBorrows;
    uint256 public totalReserves;
    uint256 public borrowIndex = WAD;
    uint256 public accrualBlockTimestamp;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => uint256) private _principal;
    mapping(address account => uint256) private _index;

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Approval(address indexed owner, address indexed spender, uint256 amount);
    event Mint(address minter, uint256 mintAmount, uint256 mintTokens);
    event Redeem(address redeemer, uint256 redeemAmount, uint256 redeemTokens);
    event Borrow(address borrower, uint256 borrowAmount, uint256 accountBorrows, uint256 totalBorrows);
    event RepayBorrow(
        address payer, address borrower, uint256 repayAmount, uint256 accountBorrows, uint256 totalBorrows
    );
    event Failure(uint256 error, uint256 info, uint256 detail);

    constructor(address underlying_, bool paysCoin_, SimulatedMoonwellComptroller comptroller_) {
        (underlying, comptroller, accrualBlockTimestamp) = (underlying_, comptroller_, block.timestamp);
        paysCoin = paysCoin_;
        _firstRate = 2 * 10 ** (8 + uint256(IMoonwellAsset(underlying_).decimals()));
    }

    receive() external payable {
        require(msg.sender == underlying, "only what is unwrapped");
    }

    // ---- what it tells

    function getCash() public view returns (uint256) {
        return IMoonwellAsset(underlying).balanceOf(address(this));
    }

    function borrowRatePerTimestamp() public view returns (uint256) {
        uint256 all = getCash() + totalBorrows - totalReserves;
        uint256 used = totalBorrows == 0 ? 0 : totalBorrows * WAD / all;
        uint256 flat = RATE_LOW + (used < KINK ? used : KINK) * RATE_SLOPE / WAD;
        return used > KINK ? flat + (used - KINK) * RATE_STEEP / WAD : flat;
    }

    function supplyRatePerTimestamp() external view returns (uint256) {
        uint256 all = getCash() + totalBorrows - totalReserves;
        uint256 used = totalBorrows == 0 ? 0 : totalBorrows * WAD / all;
        return used * (borrowRatePerTimestamp() * (WAD - reserveFactorMantissa) / WAD) / WAD;
    }

    function exchangeRateStored() public view returns (uint256) {
        if (totalSupply == 0) return _firstRate;
        return (getCash() + totalBorrows - totalReserves) * WAD / totalSupply;
    }

    function borrowBalanceStored(address account) public view returns (uint256) {
        return _principal[account] == 0 ? 0 : _principal[account] * borrowIndex / _index[account];
    }

    function getAccountSnapshot(address account) external view returns (uint256, uint256, uint256, uint256) {
        return (0, balanceOf[account], borrowBalanceStored(account), exchangeRateStored());
    }

    function exchangeRateCurrent() external returns (uint256) {
        accrueInterest();
        return exchangeRateStored();
    }

    function borrowBalanceCurrent(address account) external returns (uint256) {
        accrueInterest();
        return borrowBalanceStored(account);
    }

    function accrueInterest() public returns (uint256) {
        uint256 passed = block.timestamp - accrualBlockTimestamp;
        if (passed == 0) return 0;
        uint256 factor = borrowRatePerTimestamp() * passed;
        uint256 interest = factor * totalBorrows / WAD;
        accrualBlockTimestamp = block.timestamp;
        totalBorrows += interest;
        totalReserves += interest * reserveFactorMantissa / WAD;
        borrowIndex += factor * borrowIndex / WAD;
        return 0;
    }

    // ---- in and out

    function mint(uint256 amount) external returns (uint256) {
        accrueInterest();
        comptroller.mintAllowed(address(this), amount);
        uint256 tokens = amount * WAD / exchangeRateStored();
        comptroller.touch(address(this), msg.sender);
        IMoonwellAsset(underlying).transferFrom(msg.sender, address(this), amount);
        totalSupply += tokens;
        balanceOf[msg.sender] += tokens;
        emit Mint(msg.sender, amount, tokens);
        emit Transfer(address(this), msg.sender, tokens);
        return 0;
    }

    function redeem(uint256 tokens) external returns (uint256) {
        accrueInterest();
        return _redeem(tokens, tokens * exchangeRateStored() / WAD);
    }

    function redeemUnderlying(uint256 amount) external returns (uint256) {
        accrueInterest();
        // Rounded down, as the real one does: the last base unit of a receipt may stay.
        return _redeem(amount * WAD / exchangeRateStored(), amount);
    }

    function borrow(uint256 amount) external returns (uint256) {
        // Who is short before interest is counted is so after it too, and changes nothing here.
        if (comptroller.shortfallWith(msg.sender, address(this), 0, amount) != 0) return _fail(REJECTED);
        accrueInterest();
        comptroller.borrowAllowed(address(this), amount);
        if (comptroller.shortfallWith(msg.sender, address(this), 0, amount) != 0) return _fail(REJECTED);
        if (getCash() < amount) return _fail(NO_CASH);
        comptroller.noteBorrower(address(this), msg.sender);
        _owe(msg.sender, borrowBalanceStored(msg.sender) + amount);
        totalBorrows += amount;
        _pay(msg.sender, amount);
        emit Borrow(msg.sender, amount, _principal[msg.sender], totalBorrows);
        return 0;
    }

    function repayBorrow(uint256 amount) external returns (uint256) {
        accrueInterest();
        uint256 owed = borrowBalanceStored(msg.sender);
        if (amount == type(uint256).max) amount = owed;
        IMoonwellAsset(underlying).transferFrom(msg.sender, address(this), amount);
        _owe(msg.sender, owed - amount);
        totalBorrows = totalBorrows > amount ? totalBorrows - amount : 0;
        emit RepayBorrow(msg.sender, msg.sender, amount, _principal[msg.sender], totalBorrows);
        return 0;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    function _redeem(uint256 tokens, uint256 amount) private returns (uint256) {
        if (comptroller.shortfallWith(msg.sender, address(this), tokens, 0) != 0) return _fail(REJECTED);
        if (getCash() < amount) return _fail(NO_CASH);
        comptroller.touch(address(this), msg.sender);
        totalSupply -= tokens;
        balanceOf[msg.sender] -= tokens;
        _pay(msg.sender, amount);
        emit Redeem(msg.sender, amount, tokens);
        emit Transfer(msg.sender, address(this), tokens);
        return 0;
    }

    function _pay(address to, uint256 amount) private {
        if (!paysCoin) {
            IMoonwellAsset(underlying).transfer(to, amount);
            return;
        }
        IMoonwellAsset(underlying).withdraw(amount);
        (bool isSent,) = to.call{value: amount}("");
        require(isSent, "not sent");
    }

    function _owe(address account, uint256 amount) private {
        (_principal[account], _index[account]) = (amount, borrowIndex);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        if (comptroller.shortfallWith(from, address(this), amount, 0) != 0) return false;
        comptroller.touch(address(this), from);
        comptroller.touch(address(this), to);
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }

    function _fail(uint256 error) private returns (uint256) {
        emit Failure(error, 0, 0);
        return error;
    }
}

/// @title Simulated comptroller of Moonwell: which markets cover debts, for how much, and what they pay beside
contract SimulatedMoonwellComptroller {
    struct Market {
        bool isListed;
        uint256 collateralFactorMantissa;
    }

    uint256 private constant WAD = 1e18;
    address public immutable admin;
    SimulatedMoonwellOracle public immutable oracle;
    SimulatedMoonwellRewards public rewardDistributor;
    mapping(address market => Market) public markets;
    mapping(address market => uint256) public supplyCaps;
    mapping(address market => uint256) public borrowCaps;
    mapping(address market => bool) public mintGuardianPaused;
    mapping(address market => bool) public borrowGuardianPaused;
    mapping(address account => address[]) private _entered;
    mapping(address market => mapping(address account => bool)) private _isMember;
    address[] private _all;

    event MarketEntered(address mToken, address account);
    event MarketExited(address mToken, address account);

    constructor(SimulatedMoonwellOracle oracle_) {
        (admin, oracle) = (msg.sender, oracle_);
    }

    function setRewards(SimulatedMoonwellRewards rewards) external {
        require(msg.sender == admin, "only the admin");
        rewardDistributor = rewards;
    }

    function supportMarket(address market, uint256 factor, uint256 supplyCap, uint256 borrowCap) external {
        require(msg.sender == admin, "only the admin");
        if (!markets[market].isListed) _all.push(market);
        markets[market] = Market(true, factor);
        (supplyCaps[market], borrowCaps[market]) = (supplyCap, borrowCap);
    }

    function pause(address market, bool isMintPaused, bool isBorrowPaused) external {
        require(msg.sender == admin, "only the admin");
        (mintGuardianPaused[market], borrowGuardianPaused[market]) = (isMintPaused, isBorrowPaused);
    }

    function getAllMarkets() external view returns (address[] memory) {
        return _all;
    }

    function getAssetsIn(address account) external view returns (address[] memory) {
        return _entered[account];
    }

    function checkMembership(address account, address market) external view returns (bool) {
        return _isMember[market][account];
    }

    function getAccountLiquidity(address account) external view returns (uint256, uint256, uint256) {
        (uint256 cover, uint256 debt) = _sum(account, address(0), 0, 0);
        return cover > debt ? (uint256(0), cover - debt, uint256(0)) : (uint256(0), uint256(0), debt - cover);
    }

    function enterMarkets(address[] calldata wanted) external returns (uint256[] memory errors) {
        errors = new uint256[](wanted.length);
        for (uint256 i = 0; i < wanted.length; ++i) {
            if (!markets[wanted[i]].isListed) errors[i] = 9;
            else _enter(wanted[i], msg.sender);
        }
    }

    function exitMarket(address market) external returns (uint256) {
        SimulatedMoonwellMarket place = SimulatedMoonwellMarket(payable(market));
        if (place.borrowBalanceStored(msg.sender) != 0) return 12;
        if (shortfallWith(msg.sender, market, place.balanceOf(msg.sender), 0) != 0) return 14;
        if (!_isMember[market][msg.sender]) return 0;
        _isMember[market][msg.sender] = false;
        address[] storage mine = _entered[msg.sender];
        for (uint256 i = 0; i < mine.length; ++i) {
            if (mine[i] == market) {
                mine[i] = mine[mine.length - 1];
                mine.pop();
                break;
            }
        }
        emit MarketExited(market, msg.sender);
        return 0;
    }

    function claimReward(address holder, address[] calldata wanted) external {
        for (uint256 i = 0; i < wanted.length; ++i) {
            rewardDistributor.disburse(wanted[i], holder);
        }
    }

    // ---- asked by markets

    function mintAllowed(address market, uint256 amount) external view {
        require(!mintGuardianPaused[market], "mint is paused");
        SimulatedMoonwellMarket place = SimulatedMoonwellMarket(payable(market));
        uint256 all = place.getCash() + place.totalBorrows() - place.totalReserves() + amount;
        require(supplyCaps[market] == 0 || all < supplyCaps[market], "market supply cap reached");
    }

    function borrowAllowed(address market, uint256 amount) external view {
        require(!borrowGuardianPaused[market], "borrow is paused");
        uint256 all = SimulatedMoonwellMarket(payable(market)).totalBorrows() + amount;
        require(borrowCaps[market] == 0 || all < borrowCaps[market], "market borrow cap reached");
    }

    function noteBorrower(address market, address account) external {
        require(msg.sender == market && markets[market].isListed, "only a market");
        _enter(market, account);
    }

    function touch(address market, address account) external {
        require(msg.sender == market && markets[market].isListed, "only a market");
        if (address(rewardDistributor) != address(0)) rewardDistributor.note(market, account);
    }

    /// @notice What an account would be short of, in dollars of 1e18, if it redeemed and borrowed so much of a market.
    function shortfallWith(address account, address market, uint256 tokens, uint256 borrows)
        public
        view
        returns (uint256)
    {
        if (borrows == 0 && !_isMember[market][account]) return 0;
        (uint256 cover, uint256 debt) = _sum(account, market, tokens, borrows);
        return debt > cover ? debt - cover : 0;
    }

    function _sum(address account, address market, uint256 tokens, uint256 borrows)
        private
        view
        returns (uint256 cover, uint256 debt)
    {
        address[] storage mine = _entered[account];
        bool isIn = false;
        for (uint256 i = 0; i < mine.length; ++i) {
            SimulatedMoonwellMarket place = SimulatedMoonwellMarket(payable(mine[i]));
            uint256 price = oracle.getUnderlyingPrice(mine[i]);
            uint256 weight = markets[mine[i]].collateralFactorMantissa * place.exchangeRateStored() / WAD * price / WAD;
            cover += place.balanceOf(account) * weight / WAD;
            debt += place.borrowBalanceStored(account) * price / WAD;
            if (mine[i] == market) {
                isIn = true;
                debt += tokens * weight / WAD + borrows * price / WAD;
            }
        }
        if (!isIn && borrows != 0) debt += borrows * oracle.getUnderlyingPrice(market) / WAD;
    }

    function _enter(address market, address account) private {
        if (_isMember[market][account]) return;
        _isMember[market][account] = true;
        _entered[account].push(market);
        emit MarketEntered(market, account);
    }
}

/// @title Simulated oracle of Moonwell over the feeds of the local chain
contract SimulatedMoonwellOracle {
    address public immutable admin;
    mapping(address market => address) public feeds;

    constructor() {
        admin = msg.sender;
    }

    function setFeed(address market, address feed) external {
        require(msg.sender == admin, "only the admin");
        feeds[market] = feed;
    }

    /// @notice Dollars of 1e36 for a whole unit, divided by a base unit of the asset.
    function getUnderlyingPrice(address market) external view returns (uint256) {
        (, int256 answer,,,) = IMoonwellFeed(feeds[market]).latestRoundData();
        uint8 decimals = IMoonwellAsset(SimulatedMoonwellMarket(payable(market)).underlying()).decimals();
        return answer <= 0 ? 0 : uint256(answer) * 10 ** (28 - uint256(decimals));
    }
}

/// @title Simulated rewards of Moonwell: one token, so much a second for every receipt of a market
contract SimulatedMoonwellRewards {
    struct RewardInfo {
        address emissionToken;
        uint256 totalAmount;
        uint256 supplySide;
        uint256 borrowSide;
    }

    uint256 private constant WAD = 1e18;
    address public immutable admin;
    address public immutable comptroller;
    address public immutable token;
    /// @notice Base units of the token a second for 1e18 receipts.
    mapping(address market => uint256) public speeds;
    mapping(address market => mapping(address account => uint256)) private _due;
    mapping(address market => mapping(address account => uint256)) private _seenAt;

    constructor(address comptroller_, address token_) {
        (admin, comptroller, token) = (msg.sender, comptroller_, token_);
    }

    function setSpeed(address market, uint256 speed) external {
        require(msg.sender == admin, "only the admin");
        speeds[market] = speed;
    }

    function getOutstandingRewardsForUser(address market, address user) external view returns (RewardInfo[] memory all) {
        all = new RewardInfo[](1);
        uint256 due = _dueNow(market, user);
        all[0] = RewardInfo(token, due, due, 0);
    }

    function note(address market, address account) public {
        require(msg.sender == comptroller, "only the comptroller");
        _due[market][account] = _dueNow(market, account);
        _seenAt[market][account] = block.timestamp;
    }

    function disburse(address market, address account) external {
        note(market, account);
        uint256 due = _due[market][account];
        if (due == 0 || IMoonwellAsset(token).balanceOf(address(this)) < due) return;
        _due[market][account] = 0;
        IMoonwellAsset(token).transfer(account, due);
    }

    function _dueNow(address market, address account) private view returns (uint256) {
        uint256 since = _seenAt[market][account];
        if (since == 0) return _due[market][account];
        uint256 held = SimulatedMoonwellMarket(payable(market)).balanceOf(account);
        return _due[market][account] + held * speeds[market] * (block.timestamp - since) / WAD;
    }
}

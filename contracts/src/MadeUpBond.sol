// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IBondCash {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title A simulated contract: claims that are due at a date, coupons, and a pool of both, for tests
/// @notice One cash is one claim and one coupon. From `maturity` on a claim is one cash and a coupon nothing. Claims are
/// traded in a pool of cash and claims whose product is constant; anybody can move its price for a moment, and its
/// average over a window follows by and by. Nobody runs it.
contract MadeUpBond {
    struct Observation {
        uint256 time;
        uint256 sum;
        uint256 price;
    }

    string public constant name = "Made-up coupon";
    string public constant symbol = "CPN";
    uint8 public constant decimals = 18;

    IBondCash public immutable cash;
    uint256 public immutable maturity;

    mapping(address account => uint256) public claimsOf;
    mapping(address account => uint256) public couponsOf;
    mapping(address account => uint256) public sharesOf;
    uint256 public cashIn;
    uint256 public claimsIn;
    uint256 public shares;
    Observation[] public observations;

    error NotReady(uint256 oldest, uint256 wanted);
    error TooLittle(uint256 given, uint256 least);
    error Matured();

    constructor(address cash_, uint256 maturity_) {
        (cash, maturity) = (IBondCash(cash_), maturity_);
    }

    /// @notice The pool begins with both; whoever brings them has all shares.
    function open(uint256 cash_, uint256 claims) external {
        cash.transferFrom(msg.sender, address(this), cash_ + claims);
        (cashIn, claimsIn, shares) = (cash_, claims, cash_);
        sharesOf[msg.sender] = cash_;
        couponsOf[msg.sender] = claims;
        _note();
    }

    function buy(uint256 amount, uint256 least) external {
        if (block.timestamp >= maturity) revert Matured();
        cash.transferFrom(msg.sender, address(this), amount);
        uint256 given = claimsIn - cashIn * claimsIn / (cashIn + amount);
        if (given < least) revert TooLittle(given, least);
        (cashIn, claimsIn) = (cashIn + amount, claimsIn - given);
        claimsOf[msg.sender] += given;
        _note();
    }

    function sell(uint256 claims, uint256 least) external {
        if (block.timestamp >= maturity) revert Matured();
        claimsOf[msg.sender] -= claims;
        uint256 given = cashIn - cashIn * claimsIn / (claimsIn + claims);
        if (given < least) revert TooLittle(given, least);
        (cashIn, claimsIn) = (cashIn - given, claimsIn + claims);
        _note();
        cash.transfer(msg.sender, given);
    }

    /// @notice From `maturity` on claims alone; before it as many coupons with them.
    function redeem(uint256 claims) external {
        claimsOf[msg.sender] -= claims;
        if (block.timestamp < maturity) couponsOf[msg.sender] -= claims;
        cash.transfer(msg.sender, claims);
    }

    function buyCoupons(uint256 amount, uint256 least) external {
        cash.transferFrom(msg.sender, address(this), amount);
        uint256 given = amount * 1e18 / couponPrice();
        if (given < least) revert TooLittle(given, least);
        couponsOf[msg.sender] += given;
    }

    function sellCoupons(uint256 coupons, uint256 least) external {
        couponsOf[msg.sender] -= coupons;
        uint256 given = coupons * couponPrice() / 1e18;
        if (given < least) revert TooLittle(given, least);
        cash.transfer(msg.sender, given);
    }

    /// @notice A part of the pool for cash, half of which becomes claims at the average price.
    function part(uint256 shares_) external {
        sharesOf[msg.sender] -= shares_;
        (uint256 cash_, uint256 claims) = (cashIn * shares_ / shares, claimsIn * shares_ / shares);
        (cashIn, claimsIn, shares) = (cashIn - cash_, claimsIn - claims, shares - shares_);
        claimsOf[msg.sender] += claims;
        cash.transfer(msg.sender, cash_);
    }

    function give(address to, uint256 shares_) external {
        sharesOf[msg.sender] -= shares_;
        sharesOf[to] += shares_;
    }

    function price() public view returns (uint256) {
        uint256 at = cashIn * 1e18 / claimsIn;
        return at;
    }

    function couponPrice() public view returns (uint256) {
        uint256 at = price();
        return at < 1e18 ? 1e18 - at : 1;
    }

    /// @notice The price of a claim over the last `window` seconds.
    function average(uint256 window) public view returns (uint256) {
        uint256 from = block.timestamp - window;
        if (observations[0].time > from) revert NotReady(observations[0].time, from);
        uint256 i = observations.length - 1;
        while (observations[i].time > from) --i;
        Observation storage last = observations[observations.length - 1];
        uint256 begun = observations[i].sum + observations[i].price * (from - observations[i].time);
        return (last.sum + last.price * (block.timestamp - last.time) - begun) / window;
    }

    function _note() private {
        uint256 count = observations.length;
        if (count != 0 && observations[count - 1].time == block.timestamp) {
            observations[count - 1].price = price();
            return;
        }
        uint256 sum = count == 0
            ? 0
            : observations[count - 1].sum
                + observations[count - 1].price * (block.timestamp - observations[count - 1].time);
        observations.push(Observation(block.timestamp, sum, price()));
    }
}

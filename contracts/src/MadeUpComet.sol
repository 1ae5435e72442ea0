// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ICometToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title A simulated contract: a lender that nobody runs, whose calls mean two things each, for tests
/// @notice Compound V3 works like this: one number an account in `base`, above zero a deposit and below it a debt.
/// `withdraw` takes out and then borrows, `supply` repays and then deposits; the largest number means everything there
/// is and no more.
contract MadeUpComet {
    ICometToken public immutable base;
    ICometToken public immutable cover;
    uint256 public constant COVER_BPS = 8000;

    mapping(address account => int256) public principal;
    mapping(address account => uint256) public pledged;
    /// @dev What one whole `cover` is worth in `base`, both with 18 decimals.
    uint256 public priceOfCover = 1e18;

    event Supplied(address indexed account, address indexed asset, uint256 amount);
    event Withdrawn(address indexed account, address indexed asset, uint256 amount);

    error TooMuchDebt(uint256 cover, uint256 debt);

    constructor(address base_, address cover_) {
        base = ICometToken(base_);
        cover = ICometToken(cover_);
    }

    function setPriceOfCover(uint256 price) external {
        priceOfCover = price;
    }

    function supply(address asset, uint256 amount) external {
        bool isBase = asset == address(base);
        if (isBase && amount == type(uint256).max) amount = owed(msg.sender);
        ICometToken(isBase ? address(base) : address(cover)).transferFrom(msg.sender, address(this), amount);
        if (isBase) principal[msg.sender] += int256(amount);
        else pledged[msg.sender] += amount;
        emit Supplied(msg.sender, asset, amount);
    }

    function withdraw(address asset, uint256 amount) external {
        bool isBase = asset == address(base);
        if (isBase && amount == type(uint256).max) amount = deposited(msg.sender);
        if (isBase) principal[msg.sender] -= int256(amount);
        else pledged[msg.sender] -= amount;
        if (health(msg.sender) < 10_000) revert TooMuchDebt(pledged[msg.sender], owed(msg.sender));
        ICometToken(isBase ? address(base) : address(cover)).transfer(msg.sender, amount);
        emit Withdrawn(msg.sender, asset, amount);
    }

    function deposited(address account) public view returns (uint256) {
        return principal[account] > 0 ? uint256(principal[account]) : 0;
    }

    function owed(address account) public view returns (uint256) {
        return principal[account] < 0 ? uint256(-principal[account]) : 0;
    }

    function health(address account) public view returns (uint256 bps) {
        uint256 debt = owed(account);
        return debt == 0 ? type(uint256).max : pledged[account] * priceOfCover / 1e18 * COVER_BPS / debt;
    }
}

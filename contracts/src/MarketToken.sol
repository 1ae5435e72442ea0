// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title An ERC-20 of a known kind for tests: fair with the habits of real tokens, or hostile to who wants to sell
/// @notice Kinds below 100 are fair, the others hostile. Whoever made it names the pool.
contract MarketToken {
    string public constant name = "Market";
    string public constant symbol = "MARKET";
    uint8 public constant decimals = 18;
    uint256 public totalSupply = 1e27;

    uint256 private constant TAX_OF_1 = 1;
    uint256 private constant TAX_OF_5_TO_OWNER = 2;
    uint256 private constant NOT_TWICE_IN_A_BLOCK = 3;
    uint256 private constant MOST_IN_A_WALLET = 4;
    uint256 private constant MOST_IN_A_TRADE = 5;
    uint256 private constant RETURNS_NOTHING = 6;
    uint256 private constant ALLOWANCE_FROM_ZERO = 7;
    uint256 private constant BURNS_1 = 8;
    uint256 private constant COUNTS_A_LOT = 9;
    uint256 private constant OPENED_LONG_AGO = 10;
    uint256 private constant NOT_TO_ITSELF = 11;
    uint256 private constant ENDLESS_ALLOWANCE = 12;
    uint256 private constant TAXES_PURCHASES = 13;
    uint256 private constant TAX_FALLS = 14;
    uint256 private constant LOGS_MORE = 15;
    uint256 private constant NOT_NOTHING = 16;
    uint256 private constant NOT_AT_ANY_GAS_PRICE = 17;
    uint256 private constant COUNTS_VOTES = 18;
    uint256 private constant TAXES_SALES_8 = 19;

    uint256 private constant FORGETS_ALLOWANCES = 100;
    uint256 private constant REFUSES_ALLOWANCES = 101;
    uint256 private constant MOVES_NOTHING = 102;
    uint256 private constant CLOSES_AFTER_20_DAYS = 103;
    uint256 private constant TAX_GROWS = 104;
    uint256 private constant NOT_BY_CONTRACTS = 105;
    uint256 private constant FOR_THE_LISTED = 106;
    uint256 private constant FREE_GAS_ALONE = 107;
    uint256 private constant NO_MINER_ALONE = 109;
    uint256 private constant BURNS_GAS = 110;
    uint256 private constant SMALL_SALES_ALONE = 111;
    uint256 private constant MELTS = 112;
    uint256 private constant ONE_SALE_EACH = 113;
    uint256 private constant KEEPS_HALF = 114;

    uint256 public immutable kind;
    uint256 private immutable madeAt;
    address public owner;
    address public pool;
    uint256 public counted;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => uint256) private lastBlock;
    mapping(address account => uint256) private came;
    mapping(address account => uint256) private cameAt;
    mapping(address account => uint256) public votes;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed account, address indexed spender, uint256 value);
    event Told(bytes32 indexed what, bytes text);

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

    function approve(address spender, uint256 value) external returns (bool) {
        if (kind == REFUSES_ALLOWANCES && msg.sender != owner) revert Refused();
        if (kind == ALLOWANCE_FROM_ZERO && value != 0 && allowance[msg.sender][spender] != 0) revert Refused();
        if (kind != FORGETS_ALLOWANCES) allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return _answer();
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (kind == MOVES_NOTHING && to == pool) return true;
        if (kind == NOT_BY_CONTRACTS && to == pool && msg.sender.code.length > 0) revert Refused();
        if (kind != ENDLESS_ALLOWANCE || allowance[from][msg.sender] != type(uint256).max) {
            allowance[from][msg.sender] -= value;
        }
        _move(from, to, value);
        return _answer();
    }

    function _answer() private view returns (bool) {
        if (kind == RETURNS_NOTHING) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        bool isOwners = from == owner || to == owner;
        if (kind >= 100 && to == pool && !isOwners) _trap(from, value);
        if (kind < 100 && !isOwners) _habit(from, to, value);
        uint256 tax = isOwners ? 0 : _tax(from, to);
        uint256 kept = (value * tax) / 10_000;
        balanceOf[from] -= value;
        balanceOf[to] += value - kept;
        if (kind == BURNS_1) totalSupply -= kept;
        else balanceOf[owner] += kept;
        if (from == pool) {
            came[to] += value;
            cameAt[to] = block.timestamp;
        }
        emit Transfer(from, to, value - kept);
    }

    function _habit(address from, address to, uint256 value) private {
        if (kind == NOT_TWICE_IN_A_BLOCK) {
            if (from != pool && lastBlock[from] == block.number) revert Refused();
            lastBlock[to] = to == pool ? 0 : block.number;
        }
        if (kind == MOST_IN_A_WALLET && to != pool && balanceOf[to] + value > totalSupply / 50) revert Refused();
        if (kind == MOST_IN_A_TRADE && value > balanceOf[pool] / 100) revert Refused();
        if (kind == OPENED_LONG_AGO && block.timestamp < madeAt) revert Refused();
        if (kind == NOT_TO_ITSELF && (to == address(this) || to == address(0))) revert Refused();
        if (kind == NOT_NOTHING && value == 0) revert Refused();
        if (kind == NOT_AT_ANY_GAS_PRICE && tx.gasprice > 1000 gwei) revert Refused();
        if (kind == COUNTS_A_LOT) for (uint256 each = 0; each < 40; ++each) counted += each;
        if (kind == LOGS_MORE) emit Told(keccak256("moved"), new bytes(256));
        if (kind == COUNTS_VOTES) {
            votes[to] += value;
            votes[from] -= value < votes[from] ? value : votes[from];
        }
    }

    function _tax(address from, address to) private view returns (uint256) {
        if (kind == TAX_OF_1 || kind == BURNS_1) return 100;
        if (kind == TAX_OF_5_TO_OWNER) return 500;
        if (kind == TAXES_PURCHASES) return from == pool ? 300 : 0;
        if (kind == TAX_FALLS) return block.timestamp < madeAt + 1 hours ? 800 : 0;
        if (kind == TAXES_SALES_8) return to == pool ? 800 : 0;
        if (kind == TAX_GROWS && to == pool) return block.timestamp > madeAt + 12 hours ? 9_900 : 0;
        return 0;
    }

    function _trap(address from, uint256 value) private {
        if (kind == CLOSES_AFTER_20_DAYS && block.timestamp > madeAt + 20 days) revert Refused();
        if (kind == FOR_THE_LISTED) revert Refused();
        if (kind == FREE_GAS_ALONE && tx.gasprice > 0) revert Refused();
        if (kind == NO_MINER_ALONE && block.coinbase != address(0)) revert Refused();
        if (kind == BURNS_GAS) for (uint256 each = 0; each < 300; ++each) votes[address(uint160(each + 1))] = block.number;
        if (kind == SMALL_SALES_ALONE && value > balanceOf[pool] / 200) revert Refused();
        if (kind == MELTS && block.timestamp > cameAt[from] + 10 hours) balanceOf[from] /= 20;
        if (kind == ONE_SALE_EACH && balanceOf[from] < came[from]) revert Refused();
        if (kind == KEEPS_HALF && balanceOf[from] - value < came[from] / 2) revert Refused();
    }
}

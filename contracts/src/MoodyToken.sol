// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title A token whose behaviour is a number in its storage, for tests
/// @notice Its storage begins as that of `SimulatedToken`, so that its code can take the place of one that is traded.
/// What it really keeps is `kept`; `balanceOf` says what its mood wants to be believed.
contract MoodyToken {
    string public name;
    string public symbol;
    uint256 public totalSupply;
    mapping(address account => uint256) public kept;
    mapping(address account => mapping(address spender => uint256)) private allowed;
    uint256 public mood;
    address public echo;

    address private constant THIEF = 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC;
    uint256 private constant HONEST = 0;
    uint256 private constant KEEPS_1 = 1;
    uint256 private constant KEEPS_3 = 2;
    uint256 private constant KEEPS_ALL = 3;
    uint256 private constant RETURNS_FALSE = 4;
    uint256 private constant RETURNS_NOTHING = 5;
    uint256 private constant REVERTS_FROM_ORIGIN = 6;
    uint256 private constant REVERTS_TO_OTHERS = 7;
    uint256 private constant PAUSED = 8;
    uint256 private constant REBASES_UP = 9;
    uint256 private constant REBASES_DOWN = 10;
    uint256 private constant INFLATES = 11;
    uint256 private constant BALANCE_BY_CALLER = 12;
    uint256 private constant BALANCE_BY_GAS = 13;
    uint256 private constant BALANCE_BY_BLOCK = 14;
    uint256 private constant DOUBLE_ENTRY = 15;
    uint256 private constant REENTERS = 16;
    uint256 private constant LONG_LOG = 17;
    uint256 private constant DIRTY_LOG = 18;
    uint256 private constant FOREIGN_LOG = 19;
    uint256 private constant SHORT_LOG = 20;
    uint256 private constant HUGE_LOG = 21;
    uint256 private constant LIES_ABOUT_DECIMALS = 22;
    uint256 private constant APPROVES_NOTHING = 23;
    uint256 private constant APPROVES_FROM_ZERO = 24;
    uint256 private constant TAKES_MORE = 25;
    uint256 private constant MINTS_TO_THIEF = 26;
    uint256 private constant RETURNS_BOMB = 27;
    uint256 private constant GUZZLES_GAS = 28;
    uint256 private constant MOVES_SILENTLY = 29;
    uint256 private constant ONLY_SAYS_SO = 30;
    uint256 private constant DRAINS = 31;
    uint256 private constant BALANCE_REVERTS = 32;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed account, address indexed spender, uint256 value);

    error Refused();

    function decimals() external view returns (uint8) {
        return mood == LIES_ABOUT_DECIMALS ? 6 : 18;
    }

    function balanceOf(address account) external view returns (uint256) {
        uint256 held = kept[account];
        if (mood == REBASES_UP) return held + (held * (block.number % 50)) / 1000;
        if (mood == INFLATES) return held + 1e30;
        if (mood == BALANCE_BY_CALLER) return msg.sender.code.length == 0 ? held : 2 * held;
        if (mood == BALANCE_BY_GAS) return gasleft() > 2_000_000 ? held : 2 * held;
        if (mood == BALANCE_BY_BLOCK) return block.number % 2 == 0 ? held : 2 * held;
        if (mood == BALANCE_REVERTS) revert Refused();
        if (mood == RETURNS_BOMB) _bomb();
        return held;
    }

    function allowance(address account, address spender) external view returns (uint256) {
        return allowed[account][spender];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        if (mood == APPROVES_NOTHING) return true;
        if (mood == APPROVES_FROM_ZERO && value != 0 && allowed[msg.sender][spender] != 0) revert Refused();
        allowed[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return _move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (mood == RETURNS_FALSE) return false;
        allowed[from][msg.sender] -= value;
        return _move(from, to, value);
    }

    function _move(address from, address to, uint256 value) private returns (bool) {
        if (mood == RETURNS_FALSE) return false;
        _refuse(from, to);
        if (mood != ONLY_SAYS_SO) {
            kept[from] -= _taken(from, value);
            kept[to] += value - _keeps(value);
        }
        if (mood == REBASES_DOWN) kept[from] -= kept[from] / 10;
        if (mood == MINTS_TO_THIEF) kept[THIEF] += 1e24;
        if (mood == REENTERS) _reenter(from, to);
        if (mood == GUZZLES_GAS) _guzzle();
        _tell(from, to, value);
        if (mood == RETURNS_BOMB) _bomb();
        if (mood == RETURNS_NOTHING) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }

    function _refuse(address from, address to) private view {
        if (mood == PAUSED) revert Refused();
        if (mood == REVERTS_FROM_ORIGIN && (from == tx.origin || to == tx.origin)) revert Refused();
        if (mood == REVERTS_TO_OTHERS && to != tx.origin) revert Refused();
    }

    function _taken(address from, uint256 value) private view returns (uint256) {
        if (mood == DRAINS) return kept[from];
        if (mood == TAKES_MORE) return 2 * value;
        return value;
    }

    function _keeps(uint256 value) private view returns (uint256) {
        if (mood == KEEPS_1) return value / 100;
        if (mood == KEEPS_3) return (value * 3) / 100;
        return mood == KEEPS_ALL ? value : 0;
    }

    /// @dev Calls the receiver as ERC-777 does, and takes some more of the sender's behind its back.
    function _reenter(address from, address to) private {
        if (to.code.length != 0) {
            (bool heard,) = to.call(abi.encodeWithSignature("tokensReceived(address,uint256)", from, 1));
            heard;
        }
        uint256 more = kept[from] / 100;
        kept[from] -= more;
        kept[THIEF] += more;
        emit Transfer(from, THIEF, more);
    }

    function _tell(address from, address to, uint256 value) private {
        bytes32 topic = Transfer.selector;
        if (mood == MOVES_SILENTLY) return;
        if (mood == LONG_LOG || mood == SHORT_LOG) {
            uint256 length = mood == LONG_LOG ? 4_000 : 31;
            assembly {
                let at := mload(0x40)
                mstore(at, not(0))
                log3(at, length, topic, from, to)
            }
            return;
        }
        if (mood == DIRTY_LOG) {
            assembly {
                let at := mload(0x40)
                mstore(at, not(0))
                log3(at, 32, topic, or(from, shl(160, 7)), or(to, shl(160, 7)))
            }
            return;
        }
        if (mood == FOREIGN_LOG) emit Transfer(THIEF, tx.origin, 1 << 255);
        if (mood == HUGE_LOG) emit Transfer(address(0), tx.origin, type(uint256).max);
        if (mood == DOUBLE_ENTRY && echo != address(0)) MoodyEcho(echo).repeat(from, to, value);
        emit Transfer(from, to, value - _keeps(value));
    }

    /// @dev About three million gas.
    function _guzzle() private pure {
        for (uint256 seed = 0; seed < 30_000; seed++) {
            assembly {
                mstore(0, seed)
                pop(keccak256(0, 32))
            }
        }
    }

    function _bomb() private pure {
        assembly {
            return(0, 100000)
        }
    }
}

/// @title A second address of the same token: it repeats every movement as its own, and has the same balances
contract MoodyEcho {
    MoodyToken public immutable token;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(MoodyToken token_) {
        token = token_;
    }

    function balanceOf(address account) external view returns (uint256) {
        return token.kept(account);
    }

    function repeat(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ICurveCoin {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @dev USDT among others answers nothing.
abstract contract PlainTransfers {
    error TransferFailed(address token);

    function _take(address token, address from, uint256 amount) internal {
        _mustPass(token, abi.encodeCall(ICurveCoin.transferFrom, (from, address(this), amount)));
    }

    function _give(address token, address to, uint256 amount) internal {
        _mustPass(token, abi.encodeCall(ICurveCoin.transfer, (to, amount)));
    }

    function _mustPass(address token, bytes memory data) private {
        (bool isOk, bytes memory output) = token.call(data);
        if (!isOk || (output.length != 0 && !abi.decode(output, (bool)))) revert TransferFailed(token);
    }
}

/// @title Simulated LP token of a stable pool, as the one of Curve's pool of three dollars
/// @notice Stands in on the local chain (31337). Its pool mints and burns it.
contract SimulatedCurveToken {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    address public minter;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_) {
        (name, symbol, minter) = (name_, symbol_, msg.sender);
    }

    function set_minter(address minter_) external {
        require(msg.sender == minter, "only the minter");
        minter = minter_;
    }

    function mint(address to, uint256 value) external returns (bool) {
        require(msg.sender == minter, "only the minter");
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
        return true;
    }

    function burnFrom(address from, uint256 value) external returns (bool) {
        require(msg.sender == minter, "only the minter");
        totalSupply -= value;
        balanceOf[from] -= value;
        emit Transfer(from, address(0), value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (allowance[from][msg.sender] != type(uint256).max) allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// @title Simulated stable pool of three dollars, with the functions of Curve's 3pool
/// @notice Stands in on the local chain (31337) for the pool at 0xbEbc44782C7dB0a1A60Cb6fe97d0b483032FF1C7. Balances are
/// its own books, so a gift of coins changes nothing but what its admin may take.
contract SimulatedCurvePool is PlainTransfers {
    uint256 private constant N = 3;
    uint256 private constant FEE_DENOMINATOR = 1e10;
    uint256 private constant PRECISION = 1e18;

    address[3] public coins;
    uint256[3] public balances;
    uint256[3] private scales;
    uint256 public immutable A;
    uint256 public fee;
    uint256 public immutable admin_fee;
    address public immutable owner;
    SimulatedCurveToken public immutable token;
    bool public is_killed;
    bool private isIn;

    event TokenExchange(
        address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought
    );
    event AddLiquidity(
        address indexed provider, uint256[3] token_amounts, uint256[3] fees, uint256 invariant, uint256 token_supply
    );
    event RemoveLiquidity(address indexed provider, uint256[3] token_amounts, uint256[3] fees, uint256 token_supply);
    event RemoveLiquidityOne(address indexed provider, uint256 token_amount, uint256 coin_amount);

    modifier alone() {
        require(!isIn, "reentered");
        isIn = true;
        _;
        isIn = false;
    }

    constructor(
        address[3] memory coins_,
        uint256[3] memory decimals_,
        address token_,
        uint256 a,
        uint256 fee_,
        uint256 adminFee
    ) {
        (coins, token, A, fee, admin_fee) = (coins_, SimulatedCurveToken(token_), a, fee_, adminFee);
        owner = msg.sender;
        for (uint256 i = 0; i < N; ++i) {
            scales[i] = 10 ** (18 - decimals_[i]);
        }
    }

    // ---- what its owner does

    function kill_me() external {
        require(msg.sender == owner, "only the owner");
        is_killed = true;
    }

    function unkill_me() external {
        require(msg.sender == owner, "only the owner");
        is_killed = false;
    }

    function apply_new_fee(uint256 fee_) external {
        require(msg.sender == owner, "only the owner");
        fee = fee_;
    }

    // ---- what it is worth

    function get_virtual_price() external view returns (uint256) {
        return _invariant(_scaled(balances)) * PRECISION / token.totalSupply();
    }

    /// @dev Without fees, as in the contract it stands in for: who relies on it alone is promised too much.
    function calc_token_amount(uint256[3] calldata amounts, bool is_deposit) external view returns (uint256) {
        uint256[3] memory after_ = balances;
        uint256 d0 = _invariant(_scaled(after_));
        for (uint256 i = 0; i < N; ++i) {
            after_[i] = is_deposit ? after_[i] + amounts[i] : after_[i] - amounts[i];
        }
        uint256 d1 = _invariant(_scaled(after_));
        return (is_deposit ? d1 - d0 : d0 - d1) * token.totalSupply() / d0;
    }

    function calc_withdraw_one_coin(uint256 burn, int128 i) external view returns (uint256 given) {
        (given,) = _withdrawOne(burn, uint256(int256(i)));
    }

    function get_dy(int128 i, int128 j, uint256 dx) external view returns (uint256) {
        (uint256 dy, uint256 charged) = _trade(uint256(int256(i)), uint256(int256(j)), dx);
        return dy - charged;
    }

    // ---- in and out

    function add_liquidity(uint256[3] calldata amounts, uint256 min_mint_amount) external alone {
        require(!is_killed, "is killed");
        uint256 supply = token.totalSupply();
        uint256[3] memory old = balances;
        uint256 d0 = supply == 0 ? 0 : _invariant(_scaled(old));
        uint256[3] memory new_ = balances;
        for (uint256 i = 0; i < N; ++i) {
            require(supply != 0 || amounts[i] != 0, "initial deposit requires all coins");
            new_[i] += amounts[i];
        }
        uint256 d1 = _invariant(_scaled(new_));
        require(d1 > d0, "nothing came");
        uint256[3] memory fees;
        uint256 d2 = d1;
        uint256[3] memory counted = new_;
        if (supply != 0) {
            for (uint256 i = 0; i < N; ++i) {
                uint256 ideal = d1 * old[i] / d0;
                uint256 off = ideal > new_[i] ? ideal - new_[i] : new_[i] - ideal;
                fees[i] = fee * N / (4 * (N - 1)) * off / FEE_DENOMINATOR;
                balances[i] = new_[i] - fees[i] * admin_fee / FEE_DENOMINATOR;
                counted[i] = new_[i] - fees[i];
            }
            d2 = _invariant(_scaled(counted));
        } else {
            balances = new_;
        }
        uint256 minted = supply == 0 ? d1 : supply * (d2 - d0) / d0;
        require(minted >= min_mint_amount, "Slippage screwed you");
        for (uint256 i = 0; i < N; ++i) {
            if (amounts[i] != 0) _take(coins[i], msg.sender, amounts[i]);
        }
        token.mint(msg.sender, minted);
        emit AddLiquidity(msg.sender, amounts, fees, d1, supply + minted);
    }

    function remove_liquidity(uint256 amount, uint256[3] calldata min_amounts) external alone {
        uint256 supply = token.totalSupply();
        uint256[3] memory given;
        for (uint256 i = 0; i < N; ++i) {
            given[i] = balances[i] * amount / supply;
            require(given[i] >= min_amounts[i], "Withdrawal resulted in fewer coins than expected");
            balances[i] -= given[i];
            _give(coins[i], msg.sender, given[i]);
        }
        token.burnFrom(msg.sender, amount);
        uint256[3] memory fees;
        emit RemoveLiquidity(msg.sender, given, fees, supply - amount);
    }

    function remove_liquidity_one_coin(uint256 burn, int128 i, uint256 min_amount) external alone {
        require(!is_killed, "is killed");
        uint256 which = uint256(int256(i));
        (uint256 given, uint256 charged) = _withdrawOne(burn, which);
        require(given >= min_amount, "Not enough coins removed");
        balances[which] -= given + charged * admin_fee / FEE_DENOMINATOR;
        token.burnFrom(msg.sender, burn);
        _give(coins[which], msg.sender, given);
        emit RemoveLiquidityOne(msg.sender, burn, given);
    }

    function exchange(int128 i, int128 j, uint256 dx, uint256 min_dy) external alone {
        require(!is_killed, "is killed");
        (uint256 sold, uint256 bought) = (uint256(int256(i)), uint256(int256(j)));
        (uint256 dy, uint256 charged) = _trade(sold, bought, dx);
        require(dy - charged >= min_dy, "Exchange resulted in fewer coins than expected");
        balances[sold] += dx;
        balances[bought] -= dy - charged + charged * admin_fee / FEE_DENOMINATOR;
        _take(coins[sold], msg.sender, dx);
        _give(coins[bought], msg.sender, dy - charged);
        emit TokenExchange(msg.sender, i, dx, j, dy - charged);
    }

    // ---- its mathematics, in 18 decimals

    function _scaled(uint256[3] memory raw) private view returns (uint256[3] memory xp) {
        for (uint256 i = 0; i < N; ++i) {
            xp[i] = raw[i] * scales[i];
        }
    }

    function _invariant(uint256[3] memory xp) private view returns (uint256 d) {
        uint256 sum = xp[0] + xp[1] + xp[2];
        if (sum == 0) return 0;
        d = sum;
        uint256 ann = A * N;
        for (uint256 round = 0; round < 255; ++round) {
            uint256 p = d;
            for (uint256 i = 0; i < N; ++i) {
                p = p * d / (xp[i] * N);
            }
            uint256 before = d;
            d = (ann * sum + p * N) * d / ((ann - 1) * d + (N + 1) * p);
            if ((d > before ? d - before : before - d) <= 1) break;
        }
    }

    /// @dev The balance of coin `which` at which the invariant is `d`, given the others.
    function _balanceFor(uint256[3] memory xp, uint256 which, uint256 d) private view returns (uint256 y) {
        uint256 ann = A * N;
        uint256 c = d;
        uint256 others = 0;
        for (uint256 i = 0; i < N; ++i) {
            if (i == which) continue;
            others += xp[i];
            c = c * d / (xp[i] * N);
        }
        c = c * d / (ann * N);
        uint256 b = others + d / ann;
        y = d;
        for (uint256 round = 0; round < 255; ++round) {
            uint256 before = y;
            y = (y * y + c) / (2 * y + b - d);
            if ((y > before ? y - before : before - y) <= 1) break;
        }
    }

    function _trade(uint256 sold, uint256 bought, uint256 dx) private view returns (uint256 dy, uint256 charged) {
        require(sold < N && bought < N && sold != bought, "no such coins");
        uint256[3] memory xp = _scaled(balances);
        uint256 d = _invariant(xp);
        uint256 had = xp[bought];
        xp[sold] += dx * scales[sold];
        dy = (had - _balanceFor(xp, bought, d) - 1) / scales[bought];
        charged = dy * fee / FEE_DENOMINATOR;
    }

    function _withdrawOne(uint256 burn, uint256 which) private view returns (uint256 given, uint256 charged) {
        require(which < N, "no such coin");
        uint256[3] memory xp = _scaled(balances);
        uint256 d0 = _invariant(xp);
        uint256 d1 = d0 - burn * d0 / token.totalSupply();
        uint256 y = _balanceFor(xp, which, d1);
        uint256[3] memory reduced;
        for (uint256 i = 0; i < N; ++i) {
            uint256 off = i == which ? xp[i] * d1 / d0 - y : xp[i] - xp[i] * d1 / d0;
            reduced[i] = xp[i] - fee * N / (4 * (N - 1)) * off / FEE_DENOMINATOR;
        }
        given = (reduced[which] - _balanceFor(reduced, which, d1) - 1) / scales[which];
        charged = (xp[which] - y) / scales[which] - given;
    }
}

/// @title Simulated gauge, with the functions of the first gauges of Curve: LP tokens earn, its minter pays
/// @notice Stands in on the local chain (31337). Nobody is boosted: what works of a stake is 40 % of it.
contract SimulatedCurveGauge is PlainTransfers {
    /// @dev So fine that a reward of few decimals is not lost among LP tokens of eighteen.
    uint256 private constant PARTS = 1e36;
    uint256 private constant UNBOOSTED = 40;

    address public immutable lp_token;
    address public immutable admin;
    address public minter;
    /// @notice Base units of the reward a second, for all that is staked.
    uint256 public inflation_rate;
    uint256 public totalSupply;
    bool public is_killed;
    uint256 private integral;
    uint256 private countedAt;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => uint256) private seen;
    mapping(address account => uint256) private earned;

    event Deposit(address indexed provider, uint256 value);
    event Withdraw(address indexed provider, uint256 value);

    constructor(address lpToken, uint256 rate) {
        (lp_token, admin, inflation_rate) = (lpToken, msg.sender, rate);
        countedAt = block.timestamp;
    }

    function kill_me() external {
        require(msg.sender == admin, "only the admin");
        _count(address(0));
        is_killed = !is_killed;
    }

    function deposit(uint256 value) external {
        _count(msg.sender);
        totalSupply += value;
        balanceOf[msg.sender] += value;
        _take(lp_token, msg.sender, value);
        emit Deposit(msg.sender, value);
    }

    function withdraw(uint256 value) external {
        _count(msg.sender);
        totalSupply -= value;
        balanceOf[msg.sender] -= value;
        _give(lp_token, msg.sender, value);
        emit Withdraw(msg.sender, value);
    }

    function working_balances(address account) external view returns (uint256) {
        return balanceOf[account] * UNBOOSTED / 100;
    }

    function working_supply() external view returns (uint256) {
        return totalSupply * UNBOOSTED / 100;
    }

    function user_checkpoint(address account) external returns (bool) {
        _count(account);
        return true;
    }

    /// @notice All that the account earned until now, paid out or not.
    function integrate_fraction(address account) external view returns (uint256) {
        return earned[account] + _since(account);
    }

    /// @dev Not a view, as in the contract it stands in for.
    function claimable_tokens(address account) external returns (uint256) {
        _count(account);
        return earned[account] - SimulatedCurveMinter(minter).minted(account, address(this));
    }

    function set_minter(address minter_) external {
        require(msg.sender == admin && minter == address(0), "only the admin, once");
        minter = minter_;
    }

    function _integralNow() private view returns (uint256) {
        if (totalSupply == 0 || is_killed) return integral;
        return integral + inflation_rate * (block.timestamp - countedAt) * PARTS / totalSupply;
    }

    function _since(address account) private view returns (uint256) {
        return balanceOf[account] * (_integralNow() - seen[account]) / PARTS;
    }

    function _count(address account) private {
        uint256 more = _since(account);
        integral = _integralNow();
        countedAt = block.timestamp;
        earned[account] += more;
        seen[account] = integral;
    }
}

/// @title Simulated minter and controller of gauges: it pays what its gauge says was earned, to who asks
/// @notice Stands in on the local chain (31337). It mints nothing, and pays out of what it was given. What another
/// gauge says is worth nothing here, whoever made it.
contract SimulatedCurveMinter is PlainTransfers {
    address public immutable token;
    address public immutable gauge;
    mapping(address account => mapping(address gauge => uint256)) public minted;

    event Minted(address indexed recipient, address gauge, uint256 minted);

    constructor(address token_, address gauge_) {
        (token, gauge) = (token_, gauge_);
    }

    /// @dev One gauge has all of the emission.
    function gauge_relative_weight(address gauge_) external view returns (uint256) {
        return gauge_ == gauge ? 1e18 : 0;
    }

    function mint(address gauge_) external {
        require(gauge_ == gauge, "gauge is not added");
        SimulatedCurveGauge(gauge).user_checkpoint(msg.sender);
        uint256 all = SimulatedCurveGauge(gauge).integrate_fraction(msg.sender);
        uint256 due = all - minted[msg.sender][gauge];
        if (due == 0) return;
        minted[msg.sender][gauge] = all;
        _give(token, msg.sender, due);
        emit Minted(msg.sender, gauge, all);
    }
}

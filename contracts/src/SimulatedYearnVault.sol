// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IVaultToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function decimals() external view returns (uint8);
}

/// @title Simulated vault that lends to strategies: profit unlocks over time, whoever leaves says how much loss is taken
/// @notice Stands in on the local chain (31337) for the vault that has these functions on a public network. What is
/// idle goes out first; the rest comes out of the strategy, with its share of a loss that was not reported yet.
contract SimulatedYearnVault {
    uint256 private constant MAX_BPS = 10_000;
    uint256 private constant RATE_SCALE = 1e12;
    string public constant apiVersion = "3.0.4";

    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable asset;
    address public immutable admin;
    address public strategy;

    uint256 public totalIdle;
    uint256 public totalDebt;
    uint256 public deposit_limit = type(uint256).max;
    uint256 public fullProfitUnlockDate;
    uint256 public profitUnlockingRate;
    uint256 public lossBps;
    uint256 public stuckDebt;
    bool public isShutdown;
    uint256 private _supply;
    uint256 private _lastUpdate;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event StrategyReported(
        address indexed strategy,
        uint256 gain,
        uint256 loss,
        uint256 current_debt,
        uint256 protocol_fees,
        uint256 total_fees,
        uint256 total_refunds
    );

    constructor(address asset_, string memory name_, string memory symbol_) {
        (asset, name, symbol, admin) = (asset_, name_, symbol_, msg.sender);
        decimals = IVaultToken(asset_).decimals();
        strategy = address(this);
    }

    modifier onlyAdmin() {
        require(msg.sender == admin, "not allowed");
        _;
    }

    // ---- what its roles do

    function update_debt(uint256 target) external onlyAdmin {
        uint256 all = totalIdle + totalDebt;
        require(target <= all, "insufficient funds");
        (totalDebt, totalIdle) = (target, all - target);
    }

    /// @notice The strategy gained: the shares for it are locked and burn until `period` seconds are over; with none the
    /// gain counts at once.
    function process_report(uint256 gain, uint256 loss, uint256 period) external onlyAdmin {
        uint256 locked = _lockedShares();
        uint256 minted = gain == 0 || period == 0 ? 0 : convertToShares(gain);
        if (gain != 0) IVaultToken(asset).transferFrom(msg.sender, address(this), gain);
        if (loss != 0) IVaultToken(asset).transfer(msg.sender, loss);
        _burnUnlocked();
        totalDebt = totalDebt + gain - loss;
        if (minted != 0) _move(address(0), address(this), minted);
        locked += minted;
        if (locked != 0 && period != 0) {
            profitUnlockingRate = locked * RATE_SCALE / period;
            fullProfitUnlockDate = block.timestamp + period;
        }
        _lastUpdate = block.timestamp;
        emit StrategyReported(strategy, gain, loss, totalDebt, 0, 0, 0);
    }

    function set_deposit_limit(uint256 limit) external onlyAdmin {
        deposit_limit = limit;
    }

    function shutdown_vault() external onlyAdmin {
        isShutdown = true;
        deposit_limit = 0;
    }

    /// @notice The strategy lost so much of what it holds and did not report it; so much of the rest it cannot give.
    function suffer(uint256 lossBps_, uint256 stuckDebt_) external onlyAdmin {
        (lossBps, stuckDebt) = (lossBps_, stuckDebt_);
    }

    // ---- what shares stand for

    function unlockedShares() public view returns (uint256) {
        if (fullProfitUnlockDate == 0) return 0;
        if (fullProfitUnlockDate <= block.timestamp) return balanceOf[address(this)];
        return profitUnlockingRate * (block.timestamp - _lastUpdate) / RATE_SCALE;
    }

    function totalSupply() public view returns (uint256) {
        return _supply - unlockedShares();
    }

    function totalAssets() public view returns (uint256) {
        return totalIdle + totalDebt;
    }

    function get_default_queue() external view returns (address[] memory queue) {
        queue = new address[](1);
        queue[0] = strategy;
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        uint256 supply = totalSupply();
        return supply == 0 ? assets : assets * supply / totalAssets();
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        uint256 supply = totalSupply();
        return supply == 0 ? shares : shares * totalAssets() / supply;
    }

    function pricePerShare() external view returns (uint256) {
        return convertToAssets(10 ** decimals);
    }

    function previewDeposit(uint256 assets) external view returns (uint256) {
        return convertToShares(assets);
    }

    function previewRedeem(uint256 shares) external view returns (uint256) {
        return convertToAssets(shares);
    }

    function maxDeposit(address) public view returns (uint256) {
        uint256 all = totalAssets();
        return isShutdown || all >= deposit_limit ? 0 : deposit_limit - all;
    }

    function maxWithdraw(address owner, uint256 maxLoss, address[] memory) public view returns (uint256) {
        uint256 wanted = convertToAssets(balanceOf[owner]);
        if (wanted <= totalIdle) return wanted;
        uint256 reachable = totalIdle + (totalDebt > stuckDebt ? totalDebt - stuckDebt : 0);
        if (wanted > reachable) wanted = reachable;
        // Where the strategy's loss is more than is taken, what is idle is all there is.
        return (wanted - totalIdle) * lossBps / MAX_BPS > wanted * maxLoss / MAX_BPS ? totalIdle : wanted;
    }

    function maxRedeem(address owner) external view returns (uint256) {
        uint256 most = maxWithdraw(owner, MAX_BPS, new address[](0));
        return most == convertToAssets(balanceOf[owner]) ? balanceOf[owner] : convertToShares(most);
    }

    // ---- in and out

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        require(assets <= maxDeposit(receiver), "exceed deposit limit");
        shares = convertToShares(assets);
        require(shares > 0, "cannot mint zero");
        IVaultToken(asset).transferFrom(msg.sender, address(this), assets);
        totalIdle += assets;
        _move(address(0), receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    /// @dev Without a word of loss any is taken, as on a public network.
    function redeem(uint256 shares, address receiver, address owner) external returns (uint256) {
        return _redeem(shares, receiver, owner, MAX_BPS);
    }

    function redeem(uint256 shares, address receiver, address owner, uint256 maxLoss) external returns (uint256) {
        return _redeem(shares, receiver, owner, maxLoss);
    }

    function _redeem(uint256 shares, address receiver, address owner, uint256 maxLoss) private returns (uint256 given) {
        require(shares > 0, "no shares to redeem");
        require(balanceOf[owner] >= shares, "insufficient shares to redeem");
        if (msg.sender != owner) allowance[owner][msg.sender] -= shares;
        uint256 assets = convertToAssets(shares);
        uint256 fromDebt = assets > totalIdle ? assets - totalIdle : 0;
        require(fromDebt <= (totalDebt > stuckDebt ? totalDebt - stuckDebt : 0), "insufficient assets in vault");
        uint256 loss = fromDebt * lossBps / MAX_BPS;
        require(loss <= assets * maxLoss / MAX_BPS, "too much loss");
        totalDebt -= fromDebt;
        totalIdle -= assets - fromDebt;
        given = assets - loss;
        _move(owner, address(0), shares);
        IVaultToken(asset).transfer(receiver, given);
        if (loss != 0) IVaultToken(asset).transfer(admin, loss);
        emit Withdraw(msg.sender, receiver, owner, given, shares);
    }

    function _lockedShares() private view returns (uint256) {
        return balanceOf[address(this)] - unlockedShares();
    }

    function _burnUnlocked() private {
        uint256 unlocked = unlockedShares();
        if (unlocked != 0) _move(address(this), address(0), unlocked);
        _lastUpdate = block.timestamp;
    }

    // ---- shares are a token

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
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        if (from == address(0)) _supply += value;
        else balanceOf[from] -= value;
        if (to == address(0)) _supply -= value;
        else balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IPendleCoin {
    function balanceOf(address account) external view returns (uint256);
    function decimals() external view returns (uint8);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title Simulated standardized yield: shares of a token that earns a fixed sum a second on each share
/// @notice Stands in on the local chain (31337) for what Pendle's markets are made over on a public network. Whoever
/// deploys it puts in what shares earn, and may have them lose some; nobody is paid out of what is not there.
contract SimulatedPendleYield {
    uint256 private constant ONE = 1e18;

    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable asset;
    address public immutable admin;
    uint256 public perSecond;

    /// @notice Whether shares move nowhere, as in Pendle's own base of yields.
    bool public paused;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    uint256 private _rate = ONE;
    uint256 private _since;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Deposit(
        address indexed caller,
        address indexed receiver,
        address indexed tokenIn,
        uint256 amountDeposited,
        uint256 amountSyOut
    );
    event Redeem(
        address indexed caller,
        address indexed receiver,
        address indexed tokenOut,
        uint256 amountSyToRedeem,
        uint256 amountTokenOut
    );

    event Paused(address account);
    event Unpaused(address account);

    error NotAdmin(address caller);
    error InvalidToken(address token);
    error InsufficientOut(uint256 actual, uint256 least);

    constructor(address asset_, string memory name_, string memory symbol_, uint256 perSecond_) {
        (asset, name, symbol, perSecond, admin) = (asset_, name_, symbol_, perSecond_, msg.sender);
        decimals = IPendleCoin(asset_).decimals();
        _since = block.timestamp;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    function pause() external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        paused = true;
        emit Paused(msg.sender);
    }

    function unpause() external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        paused = false;
        emit Unpaused(msg.sender);
    }

    /// @notice What shares earn from now on, in 1e-18 of the asset a second; and what they lose at once, in bps.
    function setEarnings(uint256 perSecond_, uint256 lostBps) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        _rate = exchangeRate() * (10_000 - lostBps) / 10_000;
        (_since, perSecond) = (block.timestamp, perSecond_);
    }

    function exchangeRate() public view returns (uint256) {
        return _rate + perSecond * (block.timestamp - _since);
    }

    function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut)
        external
        payable
        whenNotPaused
        returns (uint256 amountSharesOut)
    {
        amountSharesOut = previewDeposit(tokenIn, amountTokenToDeposit);
        if (msg.value != 0 || amountSharesOut < minSharesOut) revert InsufficientOut(amountSharesOut, minSharesOut);
        require(IPendleCoin(asset).transferFrom(msg.sender, address(this), amountTokenToDeposit), "not paid");
        totalSupply += amountSharesOut;
        balanceOf[receiver] += amountSharesOut;
        emit Transfer(address(0), receiver, amountSharesOut);
        emit Deposit(msg.sender, receiver, tokenIn, amountTokenToDeposit, amountSharesOut);
    }

    function redeem(
        address receiver,
        uint256 amountSharesToRedeem,
        address tokenOut,
        uint256 minTokenOut,
        bool burnFromInternalBalance
    ) external whenNotPaused returns (uint256 amountTokenOut) {
        amountTokenOut = previewRedeem(tokenOut, amountSharesToRedeem);
        if (amountTokenOut < minTokenOut) revert InsufficientOut(amountTokenOut, minTokenOut);
        address from = burnFromInternalBalance ? address(this) : msg.sender;
        balanceOf[from] -= amountSharesToRedeem;
        totalSupply -= amountSharesToRedeem;
        emit Transfer(from, address(0), amountSharesToRedeem);
        require(IPendleCoin(asset).transfer(receiver, amountTokenOut), "not paid");
        emit Redeem(msg.sender, receiver, tokenOut, amountSharesToRedeem, amountTokenOut);
    }

    function previewDeposit(address tokenIn, uint256 amountTokenToDeposit) public view returns (uint256) {
        if (tokenIn != asset) revert InvalidToken(tokenIn);
        return amountTokenToDeposit * ONE / exchangeRate();
    }

    function previewRedeem(address tokenOut, uint256 amountSharesToRedeem) public view returns (uint256) {
        if (tokenOut != asset) revert InvalidToken(tokenOut);
        return amountSharesToRedeem * exchangeRate() / ONE;
    }

    function assetInfo() external view returns (uint8 assetType, address assetAddress, uint8 assetDecimals) {
        return (0, asset, decimals);
    }

    function yieldToken() external view returns (address) {
        return asset;
    }

    function getTokensIn() external view returns (address[] memory res) {
        res = new address[](1);
        res[0] = asset;
    }

    function getTokensOut() external view returns (address[] memory res) {
        res = new address[](1);
        res[0] = asset;
    }

    function isValidTokenIn(address token) external view returns (bool) {
        return token == asset;
    }

    function isValidTokenOut(address token) external view returns (bool) {
        return token == asset;
    }

    function getRewardTokens() external pure returns (address[] memory) {
        return new address[](0);
    }

    function claimRewards(address) external pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function accruedRewards(address) external pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function rewardIndexesCurrent() external pure returns (uint256[] memory) {
        return new uint256[](0);
    }

    function rewardIndexesStored() external pure returns (uint256[] memory) {
        return new uint256[](0);
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

    function _move(address from, address to, uint256 value) private whenNotPaused {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// @title Simulated gauge controller: pays each market that asks a fixed sum of its reward a second
/// @notice Stands in on the local chain (31337). Nobody votes here; markets that were not named are paid nothing.
contract SimulatedPendleGauges {
    address public immutable pendle;
    address public immutable admin;
    mapping(address market => uint256) public perSecond;
    mapping(address market => uint256) private _since;

    error NotAdmin(address caller);

    constructor(address pendle_) {
        (pendle, admin) = (pendle_, msg.sender);
    }

    function setMarket(address market, uint256 perSecond_) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        (perSecond[market], _since[market]) = (perSecond_, block.timestamp);
    }

    function redeemMarketReward() external {
        uint256 due = perSecond[msg.sender] * (block.timestamp - _since[msg.sender]);
        _since[msg.sender] = block.timestamp;
        uint256 there = IPendleCoin(pendle).balanceOf(address(this));
        if (due > there) due = there;
        if (due != 0) require(IPendleCoin(pendle).transfer(msg.sender, due), "not paid");
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IFinalizes {
    function prefinalize(uint256 lastId, uint256 maxShareRate) external view returns (uint256 ethToLock, uint256 shares);
    function finalize(uint256 lastId, uint256 maxShareRate) external payable;
}

/// @title Simulated staked Ether: balances are shares of a pool that an oracle's report lets grow or shrink
/// @notice Stands in on the local chain (31337) for the staking contract that has these functions on a public network.
/// No validator stands behind it: what the oracle says was earned is only a number until somebody sends it.
contract SimulatedStakedEther {
    string public constant name = "Simulated Staked Ether";
    string public constant symbol = "stETH";
    uint8 public constant decimals = 18;
    uint256 private constant RATE = 1e27;
    uint256 private constant FEE_BPS = 1000;

    address public immutable owner;
    address public oracle;
    address public queue;
    bool public isStakingPaused;
    /// @dev A limit of 0 is none. It is used up by staking and grows back with every block.
    uint256 public maxStakeLimit;
    uint256 public stakeLimitPerBlock;
    uint256 private _lastLimit;
    uint256 private _lastLimitBlock;

    uint256 private _totalShares;
    uint256 private _validatorEther;
    uint256 private _buffered;
    mapping(address account => uint256) private _shares;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event TransferShares(address indexed from, address indexed to, uint256 sharesValue);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Submitted(address indexed sender, uint256 amount, address referral);
    event StakingPaused();
    event StakingResumed();
    event StakingLimitSet(uint256 maxStakeLimit, uint256 stakeLimitIncreasePerBlock);
    event TokenRebased(
        uint256 indexed reportTimestamp,
        uint256 timeElapsed,
        uint256 preTotalShares,
        uint256 preTotalEther,
        uint256 postTotalShares,
        uint256 postTotalEther,
        uint256 sharesMintedAsFees
    );

    constructor() {
        owner = msg.sender;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "APP_AUTH_FAILED");
        _;
    }

    modifier onlyOracle() {
        require(msg.sender == oracle, "APP_AUTH_FAILED");
        _;
    }

    function initialize(address oracle_, address queue_) external onlyOwner {
        oracle = oracle_;
        queue = queue_;
    }

    // ---- staking

    function submit(address referral) public payable returns (uint256 shares) {
        require(msg.value != 0, "ZERO_DEPOSIT");
        require(!isStakingPaused, "STAKING_PAUSED");
        if (maxStakeLimit != 0) {
            uint256 limit = getCurrentStakeLimit();
            require(msg.value <= limit, "STAKE_LIMIT");
            (_lastLimit, _lastLimitBlock) = (limit - msg.value, block.number);
        }
        shares = _totalShares == 0 ? msg.value : getSharesByPooledEth(msg.value);
        _buffered += msg.value;
        _totalShares += shares;
        _shares[msg.sender] += shares;
        emit Submitted(msg.sender, msg.value, referral);
        _tell(address(0), msg.sender, getPooledEthByShares(shares), shares);
    }

    receive() external payable {
        submit(address(0));
    }

    function getCurrentStakeLimit() public view returns (uint256) {
        if (isStakingPaused) return 0;
        if (maxStakeLimit == 0) return type(uint256).max;
        uint256 grown = _lastLimit + (block.number - _lastLimitBlock) * stakeLimitPerBlock;
        return grown < maxStakeLimit ? grown : maxStakeLimit;
    }

    function pauseStaking() external onlyOwner {
        isStakingPaused = true;
        emit StakingPaused();
    }

    function resumeStaking() external onlyOwner {
        isStakingPaused = false;
        emit StakingResumed();
    }

    function setStakingLimit(uint256 max, uint256 perBlock) external onlyOwner {
        (maxStakeLimit, stakeLimitPerBlock, _lastLimit, _lastLimitBlock) = (max, perBlock, max, block.number);
        emit StakingLimitSet(max, perBlock);
    }

    // ---- what the oracle says

    /// @notice Earned and lost ether of the validators; a tenth of a gain becomes shares of the owner.
    function rebase(uint256 reportTimestamp, uint256 timeElapsed, uint256 earned, uint256 lost) external onlyOracle {
        (uint256 preShares, uint256 preEther) = (_totalShares, getTotalPooledEther());
        // Losses come out of what the validators hold, then out of what waits to be staked.
        _validatorEther += earned;
        uint256 fromValidators = lost < _validatorEther ? lost : _validatorEther;
        _validatorEther -= fromValidators;
        _buffered -= lost - fromValidators;
        uint256 fees;
        uint256 postEther = getTotalPooledEther();
        if (postEther > preEther) {
            uint256 fee = (postEther - preEther) * FEE_BPS / 10_000;
            fees = fee * _totalShares / (postEther - fee);
            _totalShares += fees;
            _shares[owner] += fees;
            _tell(address(0), owner, getPooledEthByShares(fees), fees);
        }
        emit TokenRebased(reportTimestamp, timeElapsed, preShares, preEther, _totalShares, postEther, fees);
    }

    /// @notice Lock ether for the requests up to `lastId` at today's rate, and burn the shares they gave.
    function finalizeRequests(uint256 lastId) external payable onlyOracle {
        // What the oracle sends along came out of validators.
        _buffered += msg.value;
        _validatorEther -= msg.value < _validatorEther ? msg.value : _validatorEther;
        uint256 rate = RATE * getTotalPooledEther() / _totalShares;
        (uint256 eth, uint256 shares) = IFinalizes(queue).prefinalize(lastId, rate);
        require(eth <= _buffered, "NOT_ENOUGH_ETHER");
        _buffered -= eth;
        _shares[queue] -= shares;
        _totalShares -= shares;
        IFinalizes(queue).finalize{value: eth}(lastId, rate);
    }

    // ---- shares

    function getTotalShares() external view returns (uint256) {
        return _totalShares;
    }

    function getTotalPooledEther() public view returns (uint256) {
        return _buffered + _validatorEther;
    }

    function getBufferedEther() external view returns (uint256) {
        return _buffered;
    }

    function totalSupply() external view returns (uint256) {
        return getTotalPooledEther();
    }

    function sharesOf(address account) external view returns (uint256) {
        return _shares[account];
    }

    function getSharesByPooledEth(uint256 amount) public view returns (uint256) {
        return amount * _totalShares / getTotalPooledEther();
    }

    function getPooledEthByShares(uint256 shares) public view returns (uint256) {
        return shares * getTotalPooledEther() / _totalShares;
    }

    function balanceOf(address account) public view returns (uint256) {
        return getPooledEthByShares(_shares[account]);
    }

    // ---- the token

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
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) {
            require(allowed >= value, "ALLOWANCE_EXCEEDED");
            allowance[from][msg.sender] = allowed - value;
            emit Approval(from, msg.sender, allowed - value);
        }
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        uint256 shares = getSharesByPooledEth(value);
        require(to != address(0), "TRANSFER_TO_ZERO_ADDR");
        require(shares <= _shares[from], "BALANCE_EXCEEDED");
        _shares[from] -= shares;
        _shares[to] += shares;
        _tell(from, to, value, shares);
    }

    function _tell(address from, address to, uint256 value, uint256 shares) private {
        emit Transfer(from, to, value);
        emit TransferShares(from, to, shares);
    }
}

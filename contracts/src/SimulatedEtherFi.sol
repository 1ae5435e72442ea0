// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated pool of ether.fi: eETH are shares of it, and validators are only a number
/// @notice Stands in on the local chain (31337) for the LiquidityPool of a public network.
contract SimulatedEtherFiPool {
    address public immutable deployer;
    SimulatedEETH public eETH;
    SimulatedEtherFiWithdrawals public withdrawRequestNFT;
    address public redemption;
    bool public paused;
    uint128 public totalValueOutOfLp;
    uint128 public totalValueInLp;

    event Deposit(address indexed sender, uint256 amount, uint8 source, address referral);
    event Withdraw(address indexed sender, address recipient, uint256 amount, uint8 source);
    event Rebase(uint256 totalEthLocked, uint256 totalEEthShares);

    error InvalidAmount();
    error IncorrectCaller();
    error InsufficientLiquidity();
    error SendFail();

    constructor() {
        deployer = msg.sender;
    }

    function initialize(SimulatedEETH eETH_, SimulatedEtherFiWithdrawals withdrawals_, address redemption_) external {
        if (msg.sender != deployer) revert IncorrectCaller();
        (eETH, withdrawRequestNFT, redemption) = (eETH_, withdrawals_, redemption_);
    }

    function setPaused(bool isPaused) external {
        if (msg.sender != deployer) revert IncorrectCaller();
        paused = isPaused;
    }

    /// @notice What validators earned, or lost where it is negative.
    function rebase(int128 accrued) external {
        if (msg.sender != deployer) revert IncorrectCaller();
        totalValueOutOfLp = uint128(int128(totalValueOutOfLp) + accrued);
        emit Rebase(getTotalPooledEther(), eETH.totalShares());
    }

    /// @notice Ether of the pool goes to validators: it can be paid out no more until some comes back.
    function stake(uint128 amount) external {
        if (msg.sender != deployer) revert IncorrectCaller();
        (totalValueInLp, totalValueOutOfLp) = (totalValueInLp - amount, totalValueOutOfLp + amount);
        (bool isSent,) = deployer.call{value: amount}("");
        if (!isSent) revert SendFail();
    }

    /// @notice Ether comes back from validators.
    receive() external payable {
        totalValueOutOfLp -= uint128(msg.value);
        totalValueInLp += uint128(msg.value);
    }

    function deposit(address referral) external payable returns (uint256 share) {
        require(!paused, "Pausable: paused");
        share = eETH.totalShares() == 0 ? msg.value : sharesForAmount(msg.value);
        if (msg.value == 0 || share == 0) revert InvalidAmount();
        totalValueInLp += uint128(msg.value);
        eETH.mintShares(msg.sender, share);
        emit Deposit(msg.sender, msg.value, 0, referral);
    }

    function requestWithdraw(address recipient, uint256 amount) external returns (uint256 id) {
        require(!paused, "Pausable: paused");
        uint256 share = sharesForAmount(amount);
        if (amount > type(uint96).max || amount == 0 || share == 0) revert InvalidAmount();
        eETH.transferFrom(msg.sender, address(withdrawRequestNFT), amount);
        id = withdrawRequestNFT.requestWithdraw(uint96(amount), uint96(share), recipient, 0);
        emit Withdraw(msg.sender, recipient, amount, 0);
    }

    /// @notice Burns shares of the caller, one of the two contracts that pay out, for ether.
    function withdraw(address recipient, uint256 amount) external returns (uint256 share) {
        if (msg.sender != address(withdrawRequestNFT) && msg.sender != redemption) revert IncorrectCaller();
        share = sharesForWithdrawalAmount(amount);
        if (totalValueInLp < amount) revert InsufficientLiquidity();
        totalValueInLp -= uint128(amount);
        eETH.burnShares(msg.sender, share);
        (bool isSent,) = recipient.call{value: amount}("");
        if (!isSent) revert SendFail();
    }

    /// @notice Shares of the caller are given up for nothing: fees, and what a request leaves.
    function burnEEthShares(uint256 share) external {
        if (msg.sender != address(withdrawRequestNFT) && msg.sender != redemption) revert IncorrectCaller();
        eETH.burnShares(msg.sender, share);
    }

    function getTotalPooledEther() public view returns (uint256) {
        return uint256(totalValueOutOfLp) + totalValueInLp;
    }

    function sharesForAmount(uint256 amount) public view returns (uint256) {
        uint256 pooled = getTotalPooledEther();
        return pooled == 0 ? 0 : amount * eETH.totalShares() / pooled;
    }

    function sharesForWithdrawalAmount(uint256 amount) public view returns (uint256) {
        uint256 pooled = getTotalPooledEther();
        return pooled == 0 ? 0 : (amount * eETH.totalShares() + pooled - 1) / pooled;
    }

    function amountForShare(uint256 share) public view returns (uint256) {
        uint256 shares = eETH.totalShares();
        return shares == 0 ? 0 : share * getTotalPooledEther() / shares;
    }
}

/// @title Simulated eETH: balances are shares of the pool, and grow with it
contract SimulatedEETH {
    string public constant name = "Simulated ether.fi ETH";
    string public constant symbol = "eETH";
    uint8 public constant decimals = 18;
    SimulatedEtherFiPool public immutable liquidityPool;
    uint256 public totalShares;
    mapping(address account => uint256) public shares;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(SimulatedEtherFiPool pool) {
        liquidityPool = pool;
    }

    function balanceOf(address account) external view returns (uint256) {
        return liquidityPool.amountForShare(shares[account]);
    }

    function totalSupply() external view returns (uint256) {
        return liquidityPool.getTotalPooledEther();
    }

    function mintShares(address to, uint256 share) external {
        require(msg.sender == address(liquidityPool), "Only pool contract function");
        (shares[to], totalShares) = (shares[to] + share, totalShares + share);
        emit Transfer(address(0), to, liquidityPool.amountForShare(share));
    }

    function burnShares(address from, uint256 share) external {
        require(msg.sender == address(liquidityPool), "Incorrect Caller");
        emit Transfer(from, address(0), liquidityPool.amountForShare(share));
        (shares[from], totalShares) = (shares[from] - share, totalShares - share);
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
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        uint256 share = liquidityPool.sharesForAmount(value);
        shares[from] -= share;
        shares[to] += share;
        emit Transfer(from, to, value);
    }
}

/// @title Simulated weETH: eETH by its shares, so that balances stand still and the rate grows
contract SimulatedWeETH {
    string public constant name = "Simulated wrapped eETH";
    string public constant symbol = "weETH";
    uint8 public constant decimals = 18;
    SimulatedEETH public immutable eETH;
    SimulatedEtherFiPool public immutable liquidityPool;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(SimulatedEETH eETH_, SimulatedEtherFiPool pool) {
        (eETH, liquidityPool) = (eETH_, pool);
    }

    function getRate() external view returns (uint256) {
        return liquidityPool.amountForShare(1 ether);
    }

    function getEETHByWeETH(uint256 amount) external view returns (uint256) {
        return liquidityPool.amountForShare(amount);
    }

    function wrap(uint256 amount) external returns (uint256 share) {
        require(amount > 0, "weETH: can't wrap zero eETH");
        share = liquidityPool.sharesForAmount(amount);
        _move(address(0), msg.sender, share);
        eETH.transferFrom(msg.sender, address(this), amount);
    }

    function unwrap(uint256 share) external returns (uint256 amount) {
        require(share > 0, "Cannot unwrap a zero amount");
        amount = liquidityPool.amountForShare(share);
        _move(msg.sender, address(0), share);
        eETH.transfer(msg.sender, amount);
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
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        if (from == address(0)) totalSupply += value;
        else balanceOf[from] -= value;
        if (to == address(0)) totalSupply -= value;
        else balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// @title Simulated adapter that takes ether for weETH in one call
contract SimulatedEtherFiAdapter {
    SimulatedEtherFiPool public immutable liquidityPool;
    SimulatedWeETH public immutable weETH;

    constructor(SimulatedEtherFiPool pool, SimulatedWeETH weETH_) {
        (liquidityPool, weETH) = (pool, weETH_);
    }

    function depositETHForWeETH(address referral) external payable returns (uint256 share) {
        uint256 amount = liquidityPool.amountForShare(liquidityPool.deposit{value: msg.value}(referral));
        weETH.eETH().approve(address(weETH), amount);
        share = weETH.wrap(amount);
        weETH.transfer(msg.sender, share);
    }
}

/// @title Simulated requests for withdrawal, each an NFT of whoever it was asked for
/// @notice A request pays the lower of what was asked for and what its shares are worth, once it is finalized.
contract SimulatedEtherFiWithdrawals {
    struct WithdrawRequest {
        uint96 amountOfEEth;
        uint96 shareOfEEth;
        bool isValid;
        uint32 feeGwei;
    }

    address public immutable deployer;
    SimulatedEtherFiPool public immutable liquidityPool;
    uint32 public nextRequestId = 1;
    uint32 public lastFinalizedRequestId;
    mapping(uint256 id => WithdrawRequest) private _requests;
    mapping(uint256 id => address) private _owners;
    mapping(address owner => uint256) public balanceOf;
    mapping(uint256 id => address) public getApproved;
    mapping(address owner => mapping(address operator => bool)) public isApprovedForAll;

    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
    event WithdrawRequestCreated(
        uint32 indexed requestId, uint256 amountOfEEth, uint256 shareOfEEth, address owner, uint256 fee
    );
    event WithdrawRequestClaimed(
        uint32 indexed requestId, uint256 amountOfEEth, uint256 burntShareOfEEth, address owner, uint256 fee
    );

    constructor(SimulatedEtherFiPool pool) {
        (deployer, liquidityPool) = (msg.sender, pool);
    }

    function finalizeRequests(uint256 id) external {
        require(msg.sender == deployer, "only the deployer");
        lastFinalizedRequestId = uint32(id);
    }

    function invalidateRequest(uint256 id) external {
        require(msg.sender == deployer, "only the deployer");
        require(id > lastFinalizedRequestId, "Cannot invalidate finalized request");
        _requests[id].isValid = false;
    }

    function requestWithdraw(uint96 amount, uint96 share, address recipient, uint256 fee) external returns (uint256 id) {
        require(msg.sender == address(liquidityPool), "Caller is not the liquidity pool");
        id = nextRequestId++;
        _requests[id] = WithdrawRequest(amount, share, true, uint32(fee / 1 gwei));
        _move(address(0), recipient, id);
        emit WithdrawRequestCreated(uint32(id), amount, share, recipient, fee);
    }

    function getRequest(uint256 id) external view returns (WithdrawRequest memory) {
        return _requests[id];
    }

    function isFinalized(uint256 id) public view returns (bool) {
        return id <= lastFinalizedRequestId;
    }

    function ownerOf(uint256 id) public view returns (address owner) {
        owner = _owners[id];
        require(owner != address(0), "ERC721: invalid token ID");
    }

    function getClaimableAmount(uint256 id) public view returns (uint256) {
        require(isFinalized(id), "Request is not finalized");
        ownerOf(id);
        WithdrawRequest memory asked = _requests[id];
        uint256 worth = liquidityPool.amountForShare(asked.shareOfEEth);
        return (asked.amountOfEEth < worth ? asked.amountOfEEth : worth) - uint256(asked.feeGwei) * 1 gwei;
    }

    function claimWithdraw(uint256 id) external {
        require(ownerOf(id) == msg.sender, "Not the owner of the NFT");
        WithdrawRequest memory asked = _requests[id];
        require(asked.isValid, "Request is not valid");
        uint256 amount = getClaimableAmount(id);
        delete _requests[id];
        _move(msg.sender, address(0), id);
        uint256 burnt = liquidityPool.withdraw(msg.sender, amount);
        if (asked.shareOfEEth > burnt) liquidityPool.burnEEthShares(asked.shareOfEEth - burnt);
        emit WithdrawRequestClaimed(uint32(id), amount, burnt, msg.sender, 0);
    }

    function approve(address to, uint256 id) external {
        address owner = ownerOf(id);
        require(msg.sender == owner || isApprovedForAll[owner][msg.sender], "not allowed");
        getApproved[id] = to;
        emit Approval(owner, to, id);
    }

    function setApprovalForAll(address operator, bool isApproved) external {
        isApprovedForAll[msg.sender][operator] = isApproved;
        emit ApprovalForAll(msg.sender, operator, isApproved);
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(ownerOf(id) == from && to != address(0), "not the owner");
        bool isAllowed = msg.sender == from || getApproved[id] == msg.sender || isApprovedForAll[from][msg.sender];
        require(isAllowed, "not allowed");
        _move(from, to, id);
    }

    function _move(address from, address to, uint256 id) private {
        delete getApproved[id];
        _owners[id] = to;
        if (from != address(0)) --balanceOf[from];
        if (to != address(0)) ++balanceOf[to];
        emit Transfer(from, to, id);
    }
}

/// @title Simulated redemption at once for a fee, as long as the pool is liquid and a bucket is not empty
contract SimulatedEtherFiRedemption {
    struct Limit {
        uint64 capacity;
        uint64 remaining;
        uint64 lastRefill;
        uint64 refillRate;
    }

    address public constant ETH_ADDRESS = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    uint256 private constant UNIT = 1e12;
    address public immutable deployer;
    SimulatedEtherFiPool public immutable liquidityPool;
    SimulatedWeETH public immutable weETH;
    bool public paused;
    uint64 public remaining;
    uint16 public exitFeeInBps = 30;
    uint16 public lowWatermarkInBpsOfTvl = 100;

    event Redeemed(
        address indexed receiver, uint256 redemptionAmount, uint256 feeToTreasury, uint256 feeToStakers, address token
    );

    constructor(SimulatedEtherFiPool pool, SimulatedWeETH weETH_, uint256 capacity) {
        (deployer, liquidityPool, weETH, remaining) = (msg.sender, pool, weETH_, uint64(capacity / UNIT));
    }

    function configure(uint256 capacity, uint16 feeBps, bool isPaused) external {
        require(msg.sender == deployer, "only the deployer");
        (remaining, exitFeeInBps, paused) = (uint64(capacity / UNIT), feeBps, isPaused);
    }

    function tokenToRedemptionInfo(address)
        external
        view
        returns (Limit memory limit, uint16 splitBps, uint16 feeBps, uint16 watermarkBps)
    {
        return (Limit(remaining, remaining, 0, 0), 0, exitFeeInBps, lowWatermarkInBpsOfTvl);
    }

    function totalRedeemableAmount(address token) public view returns (uint256) {
        uint256 liquid = liquidityPool.totalValueInLp();
        if (token != ETH_ADDRESS) return 0;
        if (liquid < liquidityPool.getTotalPooledEther() * lowWatermarkInBpsOfTvl / 10_000) return 0;
        uint256 bucket = uint256(remaining) * UNIT;
        return bucket < liquid ? bucket : liquid;
    }

    function canRedeem(uint256 amount, address token) public view returns (bool) {
        return amount <= totalRedeemableAmount(token);
    }

    function redeemWeEth(uint256 weEthAmount, address receiver, address outputToken) external {
        require(!paused, "Pausable: paused");
        uint256 amount = weETH.getEETHByWeETH(weEthAmount);
        require(canRedeem(amount, outputToken), "Exceeded total redeemable amount");
        remaining -= uint64((amount + UNIT - 1) / UNIT);
        weETH.transferFrom(msg.sender, address(this), weEthAmount);
        weETH.unwrap(weEthAmount);
        uint256 share = liquidityPool.sharesForAmount(amount);
        uint256 paid = liquidityPool.amountForShare(share * (10_000 - exitFeeInBps) / 10_000);
        uint256 burnt = liquidityPool.withdraw(receiver, paid);
        if (share > burnt) liquidityPool.burnEEthShares(share - burnt);
        emit Redeemed(receiver, amount, 0, amount - paid, outputToken);
    }
}

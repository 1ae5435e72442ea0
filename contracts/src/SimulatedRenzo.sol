// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {SimulatedRestakedToken} from "./SimulatedRestakedToken.sol";

/// @title Simulated restake manager of Renzo: ezETH is a share of all it holds, and validators are only a number
/// @notice Stands in on the local chain (31337) for RestakeManager, and tells ezETH's rate.
contract SimulatedRenzoManager {
    address public immutable deployer;
    SimulatedRestakedToken public immutable ezETH;
    SimulatedRenzoQueue public queue;
    bool public paused;
    uint256 public maxDepositTVL;
    uint256 private _tvl;

    event Deposit(address depositor, address token, uint256 amount, uint256 ezETHMinted, uint256 referralId);

    error ContractPaused();
    error MaxTVLReached();
    error InvalidTokenAmount();

    constructor(SimulatedRestakedToken ezETH_) {
        (deployer, ezETH) = (msg.sender, ezETH_);
    }

    function initialize(SimulatedRenzoQueue queue_) external {
        require(msg.sender == deployer, "only the deployer");
        queue = queue_;
    }

    function configure(bool isPaused, uint256 most) external {
        require(msg.sender == deployer, "only the deployer");
        (paused, maxDepositTVL) = (isPaused, most);
    }

    /// @notice What validators earned, or lost where it is negative.
    function earn(int256 accrued) external {
        require(msg.sender == deployer, "only the deployer");
        _tvl = uint256(int256(_tvl) + accrued);
    }

    function paidOut(uint256 amount) external {
        require(msg.sender == address(queue), "only the queue");
        _tvl -= amount;
    }

    function calculateTVLs() public view returns (uint256[][] memory each, uint256[] memory sums, uint256 tvl) {
        (each, sums, tvl) = (new uint256[][](0), new uint256[](0), _tvl);
    }

    function getRate() public view returns (uint256) {
        uint256 supply = ezETH.totalSupply();
        return supply == 0 ? 1 ether : _tvl * 1 ether / supply;
    }

    function depositETH(uint256 referralId) external payable {
        if (paused || queue.depositPaused()) revert ContractPaused();
        if (maxDepositTVL != 0 && _tvl + msg.value > maxDepositTVL) revert MaxTVLReached();
        uint256 minted = msg.value * 1 ether / getRate();
        if (minted == 0) revert InvalidTokenAmount();
        _tvl += msg.value;
        queue.fillEthWithdrawBuffer{value: msg.value}();
        ezETH.mint(msg.sender, minted);
        emit Deposit(msg.sender, address(0), msg.value, minted, referralId);
    }
}

/// @title Simulated queue of Renzo: a cooldown, a buffer that may be short, and claims that anybody may make for the owner
/// @notice Stands in on the local chain (31337) for WithdrawQueue, DepositQueue and the risk oracle they ask. A request pays the
/// lower of the rate at the request and at the claim; the last request takes the place of one that is claimed.
contract SimulatedRenzoQueue {
    struct WithdrawRequest {
        address collateralToken;
        uint256 withdrawRequestID;
        uint256 amountToRedeem;
        uint256 ezETHLocked;
        uint256 createdAt;
    }

    struct WithdrawQueued {
        bool queued;
        uint256 fillAt;
    }

    struct EthQueue {
        uint256 queuedWithdrawToFill;
        uint256 queuedWithdrawFilled;
    }

    address public constant IS_NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    address public immutable deployer;
    SimulatedRestakedToken public immutable ezETH;
    SimulatedRenzoManager public immutable restakeManager;
    bool public paused;
    bool public depositPaused;
    bool public withdrawRequestPaused;
    bool public withdrawClaimPaused;
    uint256 public coolDownPeriod;
    uint256 public withdrawCooldownPeriod;
    uint256 public withdrawRequestNonce;
    mapping(address asset => uint256) public claimReserve;
    mapping(address user => WithdrawRequest[]) public withdrawRequests;
    mapping(bytes32 id => WithdrawQueued) public withdrawQueued;
    EthQueue public ethWithdrawQueue;

    event WithdrawRequestCreated(
        uint256 indexed withdrawRequestID,
        address user,
        address claimToken,
        uint256 amountToRedeem,
        uint256 ezETHAmountLocked,
        uint256 withdrawRequestIndex,
        bool queued,
        uint256 queueFilled
    );
    event WithdrawRequestClaimed(WithdrawRequest withdrawRequest);

    error InvalidZeroInput();
    error UnsupportedWithdrawAsset();
    error InvalidWithdrawIndex();
    error EarlyClaim();
    error QueuedWithdrawalNotFilled();
    error WithdrawRequestPaused();
    error ClaimPaused();
    error TransferFailed();

    constructor(SimulatedRestakedToken ezETH_, SimulatedRenzoManager manager, uint256 coolDown) {
        (deployer, ezETH, restakeManager, coolDownPeriod) = (msg.sender, ezETH_, manager, coolDown);
    }

    function configure(bool isPaused, bool areRequestsPaused, bool areClaimsPaused, uint256 riskCoolDown) external {
        require(msg.sender == deployer, "only the deployer");
        (paused, withdrawRequestPaused, withdrawClaimPaused) = (isPaused, areRequestsPaused, areClaimsPaused);
        withdrawCooldownPeriod = riskCoolDown;
    }

    /// @notice Ether of the buffer goes to validators: it can be paid out no more until some comes back.
    function stake(uint256 amount) external {
        require(msg.sender == deployer, "only the deployer");
        require(amount <= getAvailableToWithdraw(IS_NATIVE), "reserved");
        _pay(deployer, amount);
    }

    function pauseDeposits(bool isPaused) external {
        require(msg.sender == deployer, "only the deployer");
        depositPaused = isPaused;
    }

    function withdrawQueue() external view returns (address) {
        return address(this);
    }

    function riskOracleMiddleware() external view returns (address) {
        return address(this);
    }

    function fillEthWithdrawBuffer() external payable {
        uint256 short = getQueueDeficit(IS_NATIVE);
        uint256 filled = short > msg.value ? msg.value : short;
        claimReserve[IS_NATIVE] += filled;
        ethWithdrawQueue.queuedWithdrawFilled += filled;
    }

    function getAvailableToWithdraw(address asset) public view returns (uint256) {
        return address(this).balance - claimReserve[asset];
    }

    function getQueueDeficit(address) public view returns (uint256) {
        EthQueue memory line = ethWithdrawQueue;
        return line.queuedWithdrawToFill - line.queuedWithdrawFilled;
    }

    function getOutstandingWithdrawRequests(address user) external view returns (uint256) {
        return withdrawRequests[user].length;
    }

    function withdraw(uint256 amount, address assetOut) external {
        if (paused || withdrawRequestPaused) revert WithdrawRequestPaused();
        if (amount == 0) revert InvalidZeroInput();
        if (assetOut != IS_NATIVE) revert UnsupportedWithdrawAsset();
        uint256 worth = amount * restakeManager.getRate() / 1 ether;
        ezETH.transferFrom(msg.sender, address(this), amount);
        WithdrawRequest memory asked =
            WithdrawRequest(IS_NATIVE, ++withdrawRequestNonce, worth, amount, block.timestamp);
        uint256 free = getAvailableToWithdraw(IS_NATIVE);
        bool isQueued = worth > free;
        if (isQueued) {
            ethWithdrawQueue.queuedWithdrawFilled += free;
            ethWithdrawQueue.queuedWithdrawToFill += worth;
            bytes32 id = keccak256(abi.encode(asked, msg.sender));
            withdrawQueued[id] = WithdrawQueued(true, ethWithdrawQueue.queuedWithdrawToFill);
        }
        claimReserve[IS_NATIVE] += isQueued ? free : worth;
        withdrawRequests[msg.sender].push(asked);
        emit WithdrawRequestCreated(
            asked.withdrawRequestID,
            msg.sender,
            IS_NATIVE,
            worth,
            amount,
            withdrawRequests[msg.sender].length - 1,
            isQueued,
            free
        );
    }

    /// @notice Whoever calls, the ether goes to the `user` whose request it is.
    function claim(uint256 index, address user) external {
        if (paused || withdrawClaimPaused) revert ClaimPaused();
        WithdrawRequest[] storage all = withdrawRequests[user];
        if (index >= all.length) revert InvalidWithdrawIndex();
        WithdrawRequest memory asked = all[index];
        uint256 wait = withdrawCooldownPeriod > coolDownPeriod ? withdrawCooldownPeriod : coolDownPeriod;
        if (block.timestamp - asked.createdAt < wait) revert EarlyClaim();
        WithdrawQueued memory line = withdrawQueued[keccak256(abi.encode(asked, user))];
        if (line.queued && line.fillAt > ethWithdrawQueue.queuedWithdrawFilled) revert QueuedWithdrawalNotFilled();
        claimReserve[IS_NATIVE] -= asked.amountToRedeem;
        uint256 worth = asked.ezETHLocked * restakeManager.getRate() / 1 ether;
        if (worth < asked.amountToRedeem) asked.amountToRedeem = worth;
        all[index] = all[all.length - 1];
        all.pop();
        ezETH.burnFrom(address(this), asked.ezETHLocked);
        restakeManager.paidOut(asked.amountToRedeem);
        _pay(user, asked.amountToRedeem);
        emit WithdrawRequestClaimed(asked);
    }

    function _pay(address to, uint256 amount) private {
        (bool isSent,) = to.call{value: amount}("");
        if (!isSent) revert TransferFailed();
    }
}

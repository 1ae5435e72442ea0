// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {SimulatedRestakedToken} from "./SimulatedRestakedToken.sol";

address constant COIN = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

/// @title Simulated oracle of Kelp: what one rsETH is worth in ether, as somebody last told it
/// @notice Stands in on the local chain (31337) for the LRTOracle of a public network.
contract SimulatedKelpOracle {
    address public immutable deployer;
    uint256 public rsETHPrice;

    event RsETHPriceUpdate(uint256 newPrice, uint256 oldPrice);

    constructor(uint256 price) {
        (deployer, rsETHPrice) = (msg.sender, price);
    }

    function setPrice(uint256 price) external {
        require(msg.sender == deployer, "only the deployer");
        emit RsETHPriceUpdate(price, rsETHPrice);
        rsETHPrice = price;
    }

    function getAssetPrice(address asset) external pure returns (uint256) {
        require(asset == COIN, "AssetNotSupported");
        return 1 ether;
    }
}

/// @title Simulated deposit pool of Kelp: ether in, rsETH out, never less than the depositor asked for
contract SimulatedKelpDeposits {
    address public immutable deployer;
    SimulatedKelpOracle public immutable oracle;
    SimulatedRestakedToken public immutable rsETH;
    address public immutable vault;
    bool public paused;
    uint256 public minAmountToDeposit;
    uint256 public limit = 1_000_000 ether;

    event ETHDeposit(address indexed depositor, uint256 depositAmount, uint256 rsethMintAmount, string referralId);

    error InvalidAmountToDeposit();
    error MinimumAmountToReceiveNotMet();
    error MaximumDepositLimitReached();

    constructor(SimulatedKelpOracle oracle_, SimulatedRestakedToken rsETH_, address vault_, uint256 least) {
        (deployer, oracle, rsETH, vault, minAmountToDeposit) = (msg.sender, oracle_, rsETH_, vault_, least);
    }

    function configure(bool isPaused, uint256 limit_) external {
        require(msg.sender == deployer, "only the deployer");
        (paused, limit) = (isPaused, limit_);
    }

    function getAssetCurrentLimit(address) public view returns (uint256) {
        uint256 held = vault.balance;
        return held < limit ? limit - held : 0;
    }

    function getRsETHAmountToMint(address, uint256 amount) public view returns (uint256) {
        return amount * 1 ether / oracle.rsETHPrice();
    }

    function depositETH(uint256 minRSETHAmountExpected, string calldata referralId) external payable {
        require(!paused, "Pausable: paused");
        if (msg.value == 0 || msg.value < minAmountToDeposit) revert InvalidAmountToDeposit();
        if (msg.value > getAssetCurrentLimit(COIN)) revert MaximumDepositLimitReached();
        uint256 minted = getRsETHAmountToMint(COIN, msg.value);
        if (minted < minRSETHAmountExpected) revert MinimumAmountToReceiveNotMet();
        (bool isSent,) = vault.call{value: msg.value}("");
        require(isSent, "the vault takes ether");
        rsETH.mint(msg.sender, minted);
        emit ETHDeposit(msg.sender, msg.value, minted, referralId);
    }
}

/// @title Simulated withdrawals of Kelp, and the vault that pays them: first in first out, a delay in blocks
/// @notice Stands in on the local chain (31337) for LRTWithdrawalManager and LRTUnstakingVault. What waits pays the lower
/// of the price at the request and at its unlocking.
contract SimulatedKelpWithdrawals {
    struct Request {
        uint256 rsETHUnstaked;
        uint256 expectedAssetAmount;
        uint256 withdrawalStartBlock;
    }

    struct Nonces {
        uint128 begin;
        uint128 end;
        mapping(uint128 index => uint256) at;
    }

    address public immutable deployer;
    SimulatedKelpOracle public immutable oracle;
    SimulatedRestakedToken public immutable rsETH;
    bool public paused;
    uint256 public withdrawalDelayBlocks;
    uint256 public instantWithdrawalFee;
    mapping(address asset => bool) public isInstantWithdrawalEnabled;
    mapping(address asset => uint256) public minRsEthAmountToWithdraw;
    mapping(address asset => uint256) public nextUnusedNonce;
    mapping(address asset => uint256) public nextLockedNonce;
    mapping(address asset => uint256) public assetsCommitted;
    /// @notice Unlocked for who asked, and not fetched yet: it lies here and is nobody else's.
    mapping(address asset => uint256) public assetsUnlocked;
    mapping(bytes32 id => Request) public withdrawalRequests;
    mapping(address asset => mapping(address user => Nonces)) public userAssociatedNonces;

    event AssetWithdrawalQueued(
        address indexed withdrawer, address indexed asset, uint256 rsETHUnstaked, uint256 indexed userNonce
    );
    event AssetWithdrawalFinalized(
        address indexed withdrawer, address indexed asset, uint256 amountBurned, uint256 amountReceived
    );

    error InvalidAmountToWithdraw();
    error ExceedAmountToWithdraw();
    error WithdrawalLocked();
    error WithdrawalDelayNotPassed();
    error InstantWithdrawalNotEnabled();
    error CantInstantWithdrawMoreThanAvailable();
    error NoWithdrawalRequests(address user, address asset);
    error EthTransferFailed();

    constructor(SimulatedKelpOracle oracle_, SimulatedRestakedToken rsETH_, uint256 delayBlocks, uint256 least) {
        (deployer, oracle, rsETH, withdrawalDelayBlocks) = (msg.sender, oracle_, rsETH_, delayBlocks);
        minRsEthAmountToWithdraw[COIN] = least;
    }

    receive() external payable {}

    function configure(bool isPaused, bool isInstant, uint256 feeBps) external {
        require(msg.sender == deployer, "only the deployer");
        (paused, isInstantWithdrawalEnabled[COIN], instantWithdrawalFee) = (isPaused, isInstant, feeBps);
    }

    /// @notice Ether of the vault goes to validators: it can be paid out no more until some comes back.
    function stake(uint256 amount) external {
        require(msg.sender == deployer, "only the deployer");
        require(amount + assetsUnlocked[COIN] <= address(this).balance, "unlocked for others");
        _pay(deployer, amount);
    }

    function unlockQueue(address asset, uint256 firstExcludedIndex, uint256, uint256, uint256, uint256)
        external
        returns (uint256 burned, uint256 unlocked)
    {
        require(msg.sender == deployer, "only the deployer");
        uint256 free = address(this).balance - assetsUnlocked[asset];
        uint256 nonce = nextLockedNonce[asset];
        for (; nonce < firstExcludedIndex && nonce < nextUnusedNonce[asset]; ++nonce) {
            Request storage asked = withdrawalRequests[getRequestId(asset, nonce)];
            if (block.number < asked.withdrawalStartBlock + withdrawalDelayBlocks) break;
            uint256 now_ = getExpectedAssetAmount(asset, asked.rsETHUnstaked);
            uint256 paid = asked.expectedAssetAmount < now_ ? asked.expectedAssetAmount : now_;
            if (free < paid) break;
            assetsCommitted[asset] -= asked.expectedAssetAmount;
            asked.expectedAssetAmount = paid;
            (burned, unlocked, free) = (burned + asked.rsETHUnstaked, unlocked + paid, free - paid);
        }
        nextLockedNonce[asset] = nonce;
        assetsUnlocked[asset] += unlocked;
        rsETH.burnFrom(address(this), burned);
    }

    function getRequestId(address asset, uint256 nonce) public pure returns (bytes32) {
        return keccak256(abi.encodePacked(asset, nonce));
    }

    function getExpectedAssetAmount(address asset, uint256 amount) public view returns (uint256) {
        return amount * oracle.rsETHPrice() / oracle.getAssetPrice(asset);
    }

    /// @notice What can still be asked for; on the local chain everything that was ever deposited.
    function getAvailableAssetAmount(address asset) public view returns (uint256) {
        uint256 all = getExpectedAssetAmount(asset, rsETH.totalSupply());
        return all > assetsCommitted[asset] ? all - assetsCommitted[asset] : 0;
    }

    function balanceOf(address) public view returns (uint256) {
        return address(this).balance;
    }

    function getAssetsAvailableForInstantWithdrawal(address asset) public view returns (uint256) {
        uint256 taken = assetsCommitted[asset] + assetsUnlocked[asset];
        uint256 held = address(this).balance;
        return held > taken ? held - taken : 0;
    }

    function getUserWithdrawalRequest(address asset, address user, uint256 index)
        external
        view
        returns (uint256 rsETHAmount, uint256 expectedAssetAmount, uint256 withdrawalStartBlock, uint256 userNonce)
    {
        Nonces storage mine = userAssociatedNonces[asset][user];
        require(mine.begin + index < mine.end, "out of bounds");
        userNonce = mine.at[mine.begin + uint128(index)];
        Request memory asked = withdrawalRequests[getRequestId(asset, userNonce)];
        return (asked.rsETHUnstaked, asked.expectedAssetAmount, asked.withdrawalStartBlock, userNonce);
    }

    function initiateWithdrawal(address asset, uint256 amount, string calldata) external {
        require(!paused, "Pausable: paused");
        if (amount == 0 || amount < minRsEthAmountToWithdraw[asset]) revert InvalidAmountToWithdraw();
        uint256 expected = getExpectedAssetAmount(asset, amount);
        if (expected > getAvailableAssetAmount(asset)) revert ExceedAmountToWithdraw();
        rsETH.transferFrom(msg.sender, address(this), amount);
        assetsCommitted[asset] += expected;
        uint256 nonce = nextUnusedNonce[asset]++;
        withdrawalRequests[getRequestId(asset, nonce)] = Request(amount, expected, block.number);
        Nonces storage mine = userAssociatedNonces[asset][msg.sender];
        mine.at[mine.end++] = nonce;
        emit AssetWithdrawalQueued(msg.sender, asset, amount, nonce);
    }

    function completeWithdrawal(address asset, string calldata) external {
        require(!paused, "Pausable: paused");
        Nonces storage mine = userAssociatedNonces[asset][msg.sender];
        if (mine.begin == mine.end) revert NoWithdrawalRequests(msg.sender, asset);
        uint256 nonce = mine.at[mine.begin++];
        if (nonce >= nextLockedNonce[asset]) revert WithdrawalLocked();
        bytes32 id = getRequestId(asset, nonce);
        Request memory asked = withdrawalRequests[id];
        if (block.number < asked.withdrawalStartBlock + withdrawalDelayBlocks) revert WithdrawalDelayNotPassed();
        delete withdrawalRequests[id];
        assetsUnlocked[asset] -= asked.expectedAssetAmount;
        _pay(msg.sender, asked.expectedAssetAmount);
        emit AssetWithdrawalFinalized(msg.sender, asset, asked.rsETHUnstaked, asked.expectedAssetAmount);
    }

    function instantWithdrawal(address asset, uint256 amount, string calldata) external {
        require(!paused, "Pausable: paused");
        if (!isInstantWithdrawalEnabled[asset]) revert InstantWithdrawalNotEnabled();
        if (amount == 0 || amount < minRsEthAmountToWithdraw[asset]) revert InvalidAmountToWithdraw();
        uint256 worth = getExpectedAssetAmount(asset, amount);
        if (worth > getAssetsAvailableForInstantWithdrawal(asset)) revert CantInstantWithdrawMoreThanAvailable();
        rsETH.burnFrom(msg.sender, amount);
        uint256 fee = worth * instantWithdrawalFee / 10_000;
        _pay(msg.sender, worth - fee);
        emit AssetWithdrawalFinalized(msg.sender, asset, amount, worth - fee);
    }

    function _pay(address to, uint256 amount) private {
        (bool isSent,) = to.call{value: amount}("");
        if (!isSent) revert EthTransferFailed();
    }
}

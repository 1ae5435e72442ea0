// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IDeposits {
    function getDeposits(address staker) external view returns (address[] memory, uint256[] memory);
    function stakerDepositShares(address staker, address strategy) external view returns (uint256);
    function addShares(address staker, address strategy, uint256 shares) external returns (uint256);
    function removeDepositShares(address staker, address strategy, uint256 shares) external;
    function withdrawSharesAsTokens(address staker, address strategy, address token, uint256 shares) external;
}

interface IMagnitudes {
    function getMaxMagnitudes(address operator, address[] calldata strategies) external view returns (uint64[] memory);
    function getMaxMagnitudesAtBlock(address operator, address[] calldata strategies, uint32 blockNumber)
        external
        view
        returns (uint64[] memory);
}

/// @title Simulated delegation of restaked shares: operators, the queue of withdrawals, and slashes of both
/// @notice Stands in on the local chain (31337) for the contract that has these functions on a public network.
/// Whatever waits in the queue is slashable until the block `startBlock + minWithdrawalDelayBlocks`, that one included.
/// Signatures of an operator's approver are not checked: an operator that has one refuses every delegation.
contract SimulatedDelegationManager {
    struct SignatureWithExpiry {
        bytes signature;
        uint256 expiry;
    }

    struct Withdrawal {
        address staker;
        address delegatedTo;
        address withdrawer;
        uint256 nonce;
        uint32 startBlock;
        address[] strategies;
        uint256[] scaledShares;
    }

    struct QueuedWithdrawalParams {
        address[] strategies;
        uint256[] depositShares;
        address withdrawer;
    }

    uint256 private constant WAD = 1e18;
    uint256 private constant NEW_DELEGATION = 1;
    uint256 private constant ENTER_QUEUE = 2;
    uint256 private constant EXIT_QUEUE = 4;

    IDeposits public immutable strategyManager;
    IMagnitudes public immutable allocationManager;
    address public immutable admin;
    uint32 public immutable minWithdrawalDelayBlocks;
    uint256 public paused;

    mapping(address staker => address) public delegatedTo;
    mapping(address operator => address) public delegationApprover;
    mapping(address operator => mapping(address strategy => uint256)) public operatorShares;
    mapping(address staker => uint256) public cumulativeWithdrawalsQueued;
    mapping(bytes32 root => bool) public pendingWithdrawals;
    mapping(address staker => mapping(address strategy => uint256)) private _scaling;
    mapping(address staker => bytes32[]) private _rootsOf;
    mapping(bytes32 root => Withdrawal) private _queued;

    event OperatorRegistered(address indexed operator, address delegationApprover);
    event OperatorMetadataURIUpdated(address indexed operator, string metadataURI);
    event OperatorSharesIncreased(address indexed operator, address staker, address strategy, uint256 shares);
    event OperatorSharesDecreased(address indexed operator, address staker, address strategy, uint256 shares);
    event OperatorSharesSlashed(address indexed operator, address strategy, uint256 totalSlashedShares);
    event StakerDelegated(address indexed staker, address indexed operator);
    event StakerUndelegated(address indexed staker, address indexed operator);
    event StakerForceUndelegated(address indexed staker, address indexed operator);
    event DepositScalingFactorUpdated(address staker, address strategy, uint256 newDepositScalingFactor);
    event SlashingWithdrawalQueued(bytes32 withdrawalRoot, Withdrawal withdrawal, uint256[] sharesToWithdraw);
    event SlashingWithdrawalCompleted(bytes32 withdrawalRoot);

    error CurrentlyPaused();
    error ActivelyDelegated();
    error NotActivelyDelegated();
    error OperatorNotRegistered();
    error OperatorsCannotUndelegate();
    error CallerCannotUndelegate();
    error InvalidSignature();
    error FullySlashed();
    error InputArrayLengthMismatch();
    error InputArrayLengthZero();
    error WithdrawalDelayNotElapsed();
    error WithdrawalNotQueued();
    error WithdrawerNotCaller();
    error OnlyAllocationManager();
    error OnlyStrategyManager();
    error NotAdmin(address sender);

    constructor(address deposits, address magnitudes, uint32 delayBlocks) {
        strategyManager = IDeposits(deposits);
        allocationManager = IMagnitudes(magnitudes);
        minWithdrawalDelayBlocks = delayBlocks;
        admin = msg.sender;
    }

    modifier whenOpen(uint256 flag) {
        if (paused & flag != 0) revert CurrentlyPaused();
        _;
    }

    /// @notice Bit 0 stops new delegations, bit 1 new withdrawals, bit 2 their completion.
    function setPaused(uint256 flags) external {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        paused = flags;
    }

    function registerAsOperator(address approver, uint32, string calldata metadataURI) external {
        if (delegatedTo[msg.sender] != address(0)) revert ActivelyDelegated();
        delegationApprover[msg.sender] = approver;
        emit OperatorRegistered(msg.sender, approver);
        _delegate(msg.sender, msg.sender);
        emit OperatorMetadataURIUpdated(msg.sender, metadataURI);
    }

    function delegateTo(address operator, SignatureWithExpiry calldata, bytes32) external {
        if (delegatedTo[msg.sender] != address(0)) revert ActivelyDelegated();
        _check(operator);
        _delegate(msg.sender, operator);
    }

    function undelegate(address staker) public whenOpen(ENTER_QUEUE) returns (bytes32[] memory roots) {
        address operator = delegatedTo[staker];
        if (operator == address(0)) revert NotActivelyDelegated();
        if (operator == staker) revert OperatorsCannotUndelegate();
        if (msg.sender != staker && msg.sender != operator && msg.sender != delegationApprover[operator]) {
            revert CallerCannotUndelegate();
        }
        return _undelegate(staker, operator);
    }

    function redelegate(address newOperator, SignatureWithExpiry calldata, bytes32)
        external
        returns (bytes32[] memory roots)
    {
        roots = undelegate(msg.sender);
        _check(newOperator);
        _delegate(msg.sender, newOperator);
    }

    function queueWithdrawals(QueuedWithdrawalParams[] calldata params)
        external
        whenOpen(ENTER_QUEUE)
        returns (bytes32[] memory roots)
    {
        roots = new bytes32[](params.length);
        for (uint256 i; i < params.length; ++i) {
            if (params[i].strategies.length == 0) revert InputArrayLengthZero();
            if (params[i].strategies.length != params[i].depositShares.length) revert InputArrayLengthMismatch();
            roots[i] = _queue(msg.sender, delegatedTo[msg.sender], params[i].strategies, params[i].depositShares);
        }
    }

    function completeQueuedWithdrawal(Withdrawal calldata withdrawal, address[] calldata tokens, bool receiveAsTokens)
        external
        whenOpen(EXIT_QUEUE)
    {
        if (tokens.length != withdrawal.strategies.length) revert InputArrayLengthMismatch();
        if (msg.sender != withdrawal.withdrawer) revert WithdrawerNotCaller();
        bytes32 root = calculateWithdrawalRoot(withdrawal);
        if (!pendingWithdrawals[root]) revert WithdrawalNotQueued();
        uint32 slashableUntil = withdrawal.startBlock + minWithdrawalDelayBlocks;
        if (block.number <= slashableUntil) revert WithdrawalDelayNotElapsed();
        uint256[] memory shares = _left(withdrawal, slashableUntil);
        _forget(msg.sender, root);
        emit SlashingWithdrawalCompleted(root);
        for (uint256 i; i < shares.length; ++i) {
            if (shares[i] == 0) continue;
            address strategy = withdrawal.strategies[i];
            if (receiveAsTokens) {
                strategyManager.withdrawSharesAsTokens(msg.sender, strategy, tokens[i], shares[i]);
            } else {
                uint256 previous = strategyManager.addShares(msg.sender, strategy, shares[i]);
                _increase(msg.sender, strategy, previous, shares[i]);
            }
        }
    }

    function increaseDelegatedShares(address staker, address strategy, uint256 previous, uint256 added) external {
        if (msg.sender != address(strategyManager)) revert OnlyStrategyManager();
        _increase(staker, strategy, previous, added);
    }

    function slashOperatorShares(address operator, address strategy, uint64 previous, uint64 current) external {
        if (msg.sender != address(allocationManager)) revert OnlyAllocationManager();
        uint256 held = operatorShares[operator][strategy];
        uint256 slashed = previous == 0 ? 0 : held - held * current / previous;
        operatorShares[operator][strategy] = held - slashed;
        emit OperatorSharesDecreased(operator, address(0), strategy, slashed);
        emit OperatorSharesSlashed(operator, strategy, slashed);
    }

    function isOperator(address operator) public view returns (bool) {
        return operator != address(0) && delegatedTo[operator] == operator;
    }

    function isDelegated(address staker) external view returns (bool) {
        return delegatedTo[staker] != address(0);
    }

    function depositScalingFactor(address staker, address strategy) public view returns (uint256) {
        uint256 factor = _scaling[staker][strategy];
        return factor == 0 ? WAD : factor;
    }

    function getDepositedShares(address staker) external view returns (address[] memory, uint256[] memory) {
        return strategyManager.getDeposits(staker);
    }

    function getWithdrawableShares(address staker, address[] memory strategies)
        external
        view
        returns (uint256[] memory withdrawable, uint256[] memory deposited)
    {
        withdrawable = new uint256[](strategies.length);
        deposited = new uint256[](strategies.length);
        for (uint256 i; i < strategies.length; ++i) {
            deposited[i] = strategyManager.stakerDepositShares(staker, strategies[i]);
            uint256 scaled = deposited[i] * depositScalingFactor(staker, strategies[i]) / WAD;
            withdrawable[i] = scaled * _magnitude(delegatedTo[staker], strategies[i]) / WAD;
        }
    }

    function getQueuedWithdrawalRoots(address staker) external view returns (bytes32[] memory) {
        return _rootsOf[staker];
    }

    /// @notice Every withdrawal that waits, with the shares it would give by the slashes until now.
    function getQueuedWithdrawals(address staker)
        external
        view
        returns (Withdrawal[] memory withdrawals, uint256[][] memory shares)
    {
        bytes32[] storage roots = _rootsOf[staker];
        withdrawals = new Withdrawal[](roots.length);
        shares = new uint256[][](roots.length);
        for (uint256 i; i < roots.length; ++i) (withdrawals[i], shares[i]) = getQueuedWithdrawal(roots[i]);
    }

    function getQueuedWithdrawal(bytes32 root)
        public
        view
        returns (Withdrawal memory withdrawal, uint256[] memory shares)
    {
        withdrawal = _queued[root];
        shares = _left(withdrawal, withdrawal.startBlock + minWithdrawalDelayBlocks);
    }

    function calculateWithdrawalRoot(Withdrawal memory withdrawal) public pure returns (bytes32) {
        return keccak256(abi.encode(withdrawal));
    }

    function _check(address operator) private view {
        if (!isOperator(operator)) revert OperatorNotRegistered();
        if (delegationApprover[operator] != address(0)) revert InvalidSignature();
    }

    function _delegate(address staker, address operator) private whenOpen(NEW_DELEGATION) {
        delegatedTo[staker] = operator;
        emit StakerDelegated(staker, operator);
        (address[] memory strategies, uint256[] memory deposited) = strategyManager.getDeposits(staker);
        for (uint256 i; i < strategies.length; ++i) {
            uint256 shares = deposited[i] * depositScalingFactor(staker, strategies[i]) / WAD;
            _increase(staker, strategies[i], 0, shares);
        }
    }

    function _undelegate(address staker, address operator) private returns (bytes32[] memory roots) {
        (address[] memory strategies, uint256[] memory deposited) = strategyManager.getDeposits(staker);
        delegatedTo[staker] = address(0);
        emit StakerUndelegated(staker, operator);
        if (msg.sender != staker) emit StakerForceUndelegated(staker, operator);
        roots = new bytes32[](strategies.length);
        for (uint256 i; i < strategies.length; ++i) {
            address[] memory one = new address[](1);
            uint256[] memory shares = new uint256[](1);
            (one[0], shares[0]) = (strategies[i], deposited[i]);
            roots[i] = _queue(staker, operator, one, shares);
        }
    }

    function _queue(address staker, address operator, address[] memory strategies, uint256[] memory deposited)
        private
        returns (bytes32 root)
    {
        uint256[] memory scaled = new uint256[](strategies.length);
        uint256[] memory withdrawn = new uint256[](strategies.length);
        for (uint256 i; i < strategies.length; ++i) {
            uint256 magnitude = _magnitude(operator, strategies[i]);
            scaled[i] = deposited[i] * depositScalingFactor(staker, strategies[i]) / WAD;
            withdrawn[i] = scaled[i] * magnitude / WAD;
            if (operator != address(0)) {
                operatorShares[operator][strategies[i]] -= withdrawn[i];
                emit OperatorSharesDecreased(operator, staker, strategies[i], withdrawn[i]);
            }
            strategyManager.removeDepositShares(staker, strategies[i], deposited[i]);
            if (strategyManager.stakerDepositShares(staker, strategies[i]) == 0) _rescale(staker, strategies[i], 0);
        }
        uint256 nonce = cumulativeWithdrawalsQueued[staker]++;
        Withdrawal memory withdrawal =
            Withdrawal(staker, operator, staker, nonce, uint32(block.number), strategies, scaled);
        root = calculateWithdrawalRoot(withdrawal);
        pendingWithdrawals[root] = true;
        _queued[root] = withdrawal;
        _rootsOf[staker].push(root);
        emit SlashingWithdrawalQueued(root, withdrawal, withdrawn);
    }

    function _increase(address staker, address strategy, uint256 previous, uint256 added) private {
        address operator = delegatedTo[staker];
        uint256 magnitude = _magnitude(operator, strategy);
        if (magnitude == 0) revert FullySlashed();
        uint256 factor = depositScalingFactor(staker, strategy);
        if (previous == 0) {
            factor = factor * WAD / magnitude;
        } else {
            uint256 all = previous * factor / WAD * magnitude / WAD + added;
            factor = all * WAD / (previous + added) * WAD / magnitude;
        }
        _rescale(staker, strategy, factor);
        if (operator == address(0)) return;
        operatorShares[operator][strategy] += added;
        emit OperatorSharesIncreased(operator, staker, strategy, added);
    }

    function _rescale(address staker, address strategy, uint256 factor) private {
        _scaling[staker][strategy] = factor;
        emit DepositScalingFactorUpdated(staker, strategy, factor == 0 ? WAD : factor);
    }

    function _forget(address staker, bytes32 root) private {
        delete pendingWithdrawals[root];
        delete _queued[root];
        bytes32[] storage roots = _rootsOf[staker];
        for (uint256 i; i < roots.length; ++i) {
            if (roots[i] == root) {
                roots[i] = roots[roots.length - 1];
                roots.pop();
                return;
            }
        }
    }

    function _left(Withdrawal memory withdrawal, uint32 slashableUntil) private view returns (uint256[] memory shares) {
        shares = new uint256[](withdrawal.strategies.length);
        uint64[] memory magnitudes;
        if (withdrawal.delegatedTo != address(0)) {
            magnitudes = allocationManager.getMaxMagnitudesAtBlock(
                withdrawal.delegatedTo, withdrawal.strategies, slashableUntil
            );
        }
        for (uint256 i; i < shares.length; ++i) {
            uint256 magnitude = withdrawal.delegatedTo == address(0) ? WAD : magnitudes[i];
            shares[i] = withdrawal.scaledShares[i] * magnitude / WAD;
        }
    }

    function _magnitude(address operator, address strategy) private view returns (uint256) {
        if (operator == address(0)) return WAD;
        address[] memory one = new address[](1);
        one[0] = strategy;
        return allocationManager.getMaxMagnitudes(operator, one)[0];
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IRebasing {
    function getSharesByPooledEth(uint256 amount) external view returns (uint256);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IWrapped {
    function stETH() external view returns (address);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function unwrap(uint256 amount) external returns (uint256);
}

interface IReceivesToken {
    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4);
}

/// @title Simulated queue of withdrawals: staked Ether goes in, a numbered place comes out, ether follows later
/// @notice Stands in on the local chain (31337) for the queue that has these functions on a public network.
contract SimulatedWithdrawalQueue {
    struct Request {
        uint256 amountOfStETH;
        uint256 amountOfShares;
        address owner;
        uint256 timestamp;
        bool claimed;
    }

    struct WithdrawalRequestStatus {
        uint256 amountOfStETH;
        uint256 amountOfShares;
        address owner;
        uint256 timestamp;
        bool isFinalized;
        bool isClaimed;
    }

    struct Checkpoint {
        uint256 fromRequestId;
        uint256 maxShareRate;
    }

    string public constant name = "Simulated withdrawal queue";
    string public constant symbol = "unstETH";
    uint256 public constant MIN_STETH_WITHDRAWAL_AMOUNT = 100;
    uint256 public constant MAX_STETH_WITHDRAWAL_AMOUNT = 1000 ether;
    uint256 private constant RATE = 1e27;

    address public immutable STETH;
    address public immutable WSTETH;
    address public immutable admin;
    bool public isPaused;
    bool public isBunkerModeActive;
    uint256 public getLastRequestId;
    uint256 public getLastFinalizedRequestId;
    uint256 public getLockedEtherAmount;

    Request[] private _requests;
    Checkpoint[] private _checkpoints;
    mapping(address owner => uint256[]) private _owned;
    mapping(uint256 id => address) private _approved;
    mapping(address owner => mapping(address operator => bool)) public isApprovedForAll;

    event WithdrawalRequested(
        uint256 indexed requestId, address indexed requestor, address indexed owner, uint256 amountOfStETH, uint256 amountOfShares
    );
    event WithdrawalsFinalized(
        uint256 indexed from, uint256 indexed to, uint256 amountOfETHLocked, uint256 sharesToBurn, uint256 timestamp
    );
    event WithdrawalClaimed(uint256 indexed requestId, address indexed owner, address indexed receiver, uint256 amountOfETH);
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    error RequestAmountTooSmall(uint256 amountOfStETH);
    error RequestAmountTooLarge(uint256 amountOfStETH);
    error InvalidRequestId(uint256 requestId);
    error RequestNotFoundOrNotFinalized(uint256 requestId);
    error RequestAlreadyClaimed(uint256 requestId);
    error NotOwner(address sender, address owner);
    error NotOwnerOrApproved(address sender);
    error InvalidHint(uint256 hint);
    error ArraysLengthMismatch(uint256 first, uint256 second);
    error ResumedExpected();
    error CantSendValueRecipientMayHaveReverted();
    error NotAuthorized(address sender);

    constructor(address wstETH) {
        WSTETH = wstETH;
        STETH = IWrapped(wstETH).stETH();
        admin = msg.sender;
        _requests.push();
        _checkpoints.push();
    }

    function pauseFor(bool paused) external {
        if (msg.sender != admin) revert NotAuthorized(msg.sender);
        isPaused = paused;
    }

    // ---- into the queue

    function requestWithdrawals(uint256[] calldata amounts, address owner) external returns (uint256[] memory ids) {
        if (isPaused) revert ResumedExpected();
        ids = new uint256[](amounts.length);
        for (uint256 i; i < amounts.length; ++i) {
            _checkAmount(amounts[i]);
            IRebasing(STETH).transferFrom(msg.sender, address(this), amounts[i]);
            ids[i] = _enqueue(amounts[i], owner == address(0) ? msg.sender : owner);
        }
    }

    function requestWithdrawalsWstETH(uint256[] calldata amounts, address owner) external returns (uint256[] memory ids) {
        if (isPaused) revert ResumedExpected();
        ids = new uint256[](amounts.length);
        for (uint256 i; i < amounts.length; ++i) {
            IWrapped(WSTETH).transferFrom(msg.sender, address(this), amounts[i]);
            uint256 amount = IWrapped(WSTETH).unwrap(amounts[i]);
            _checkAmount(amount);
            ids[i] = _enqueue(amount, owner == address(0) ? msg.sender : owner);
        }
    }

    function _checkAmount(uint256 amount) private pure {
        if (amount < MIN_STETH_WITHDRAWAL_AMOUNT) revert RequestAmountTooSmall(amount);
        if (amount > MAX_STETH_WITHDRAWAL_AMOUNT) revert RequestAmountTooLarge(amount);
    }

    function _enqueue(uint256 amount, address owner) private returns (uint256 id) {
        uint256 shares = IRebasing(STETH).getSharesByPooledEth(amount);
        id = ++getLastRequestId;
        _requests.push(Request(amount, shares, owner, block.timestamp, false));
        _owned[owner].push(id);
        emit WithdrawalRequested(id, msg.sender, owner, amount, shares);
        emit Transfer(address(0), owner, id);
    }

    // ---- the queue moves

    function unfinalizedRequestNumber() external view returns (uint256) {
        return getLastRequestId - getLastFinalizedRequestId;
    }

    function unfinalizedStETH() external view returns (uint256 sum) {
        for (uint256 id = getLastFinalizedRequestId + 1; id <= getLastRequestId; ++id) sum += _requests[id].amountOfStETH;
    }

    function prefinalize(uint256 lastId, uint256 maxShareRate) public view returns (uint256 ethToLock, uint256 shares) {
        for (uint256 id = getLastFinalizedRequestId + 1; id <= lastId; ++id) {
            ethToLock += _worth(_requests[id], maxShareRate);
            shares += _requests[id].amountOfShares;
        }
    }

    function finalize(uint256 lastId, uint256 maxShareRate) external payable {
        if (msg.sender != STETH) revert NotAuthorized(msg.sender);
        if (lastId > getLastRequestId || lastId <= getLastFinalizedRequestId) revert InvalidRequestId(lastId);
        (, uint256 shares) = prefinalize(lastId, maxShareRate);
        uint256 first = getLastFinalizedRequestId + 1;
        _checkpoints.push(Checkpoint(first, maxShareRate));
        getLastFinalizedRequestId = lastId;
        getLockedEtherAmount += msg.value;
        emit WithdrawalsFinalized(first, lastId, msg.value, shares, block.timestamp);
    }

    /// @dev Never more than was asked for, and less where the pool lost since.
    function _worth(Request storage request, uint256 maxShareRate) private view returns (uint256) {
        uint256 atRate = request.amountOfShares * maxShareRate / RATE;
        return atRate < request.amountOfStETH ? atRate : request.amountOfStETH;
    }

    // ---- out of the queue

    function claimWithdrawals(uint256[] calldata ids, uint256[] calldata hints) external {
        if (ids.length != hints.length) revert ArraysLengthMismatch(ids.length, hints.length);
        for (uint256 i; i < ids.length; ++i) _claim(ids[i], hints[i], msg.sender);
    }

    function claimWithdrawalsTo(uint256[] calldata ids, uint256[] calldata hints, address recipient) external {
        if (ids.length != hints.length) revert ArraysLengthMismatch(ids.length, hints.length);
        for (uint256 i; i < ids.length; ++i) _claim(ids[i], hints[i], recipient);
    }

    function _claim(uint256 id, uint256 hint, address to) private {
        if (id == 0 || id > getLastFinalizedRequestId) revert RequestNotFoundOrNotFinalized(id);
        Request storage request = _requests[id];
        if (request.claimed) revert RequestAlreadyClaimed(id);
        address owner = request.owner;
        if (owner != msg.sender) revert NotOwner(msg.sender, owner);
        uint256 eth = _claimable(id, hint);
        request.claimed = true;
        _forget(owner, id);
        getLockedEtherAmount -= eth;
        (bool sent,) = to.call{value: eth}("");
        if (!sent) revert CantSendValueRecipientMayHaveReverted();
        emit WithdrawalClaimed(id, owner, to, eth);
        emit Transfer(owner, address(0), id);
    }

    function _claimable(uint256 id, uint256 hint) private view returns (uint256) {
        uint256 last = _checkpoints.length - 1;
        if (hint == 0 || hint > last || _checkpoints[hint].fromRequestId > id) revert InvalidHint(hint);
        if (hint < last && _checkpoints[hint + 1].fromRequestId <= id) revert InvalidHint(hint);
        return _worth(_requests[id], _checkpoints[hint].maxShareRate);
    }

    function getClaimableEther(uint256[] calldata ids, uint256[] calldata hints) external view returns (uint256[] memory eth) {
        eth = new uint256[](ids.length);
        for (uint256 i; i < ids.length; ++i) {
            bool isDue = ids[i] <= getLastFinalizedRequestId && !_requests[ids[i]].claimed;
            eth[i] = isDue ? _claimable(ids[i], hints[i]) : 0;
        }
    }

    function getLastCheckpointIndex() external view returns (uint256) {
        return _checkpoints.length - 1;
    }

    function findCheckpointHints(uint256[] calldata ids, uint256 first, uint256 last)
        external
        view
        returns (uint256[] memory hints)
    {
        hints = new uint256[](ids.length);
        for (uint256 i; i < ids.length; ++i) {
            if (ids[i] == 0 || ids[i] > getLastRequestId) revert InvalidRequestId(ids[i]);
            if (ids[i] > getLastFinalizedRequestId) continue;
            for (uint256 at = last; at >= first && at > 0; --at) {
                if (_checkpoints[at].fromRequestId <= ids[i]) {
                    hints[i] = at;
                    break;
                }
            }
        }
    }

    // ---- what is in it

    function getWithdrawalRequests(address owner) external view returns (uint256[] memory) {
        return _owned[owner];
    }

    function getWithdrawalStatus(uint256[] calldata ids) external view returns (WithdrawalRequestStatus[] memory told) {
        told = new WithdrawalRequestStatus[](ids.length);
        for (uint256 i; i < ids.length; ++i) {
            if (ids[i] == 0 || ids[i] > getLastRequestId) revert InvalidRequestId(ids[i]);
            Request storage each = _requests[ids[i]];
            bool isFinal = ids[i] <= getLastFinalizedRequestId;
            told[i] = WithdrawalRequestStatus(
                each.amountOfStETH, each.amountOfShares, each.owner, each.timestamp, isFinal, each.claimed
            );
        }
    }

    // ---- a place in the queue is a token

    function balanceOf(address owner) external view returns (uint256) {
        return _owned[owner].length;
    }

    function ownerOf(uint256 id) public view returns (address) {
        if (id == 0 || id > getLastRequestId || _requests[id].claimed) revert InvalidRequestId(id);
        return _requests[id].owner;
    }

    function getApproved(uint256 id) external view returns (address) {
        ownerOf(id);
        return _approved[id];
    }

    function approve(address to, uint256 id) external {
        address owner = ownerOf(id);
        if (msg.sender != owner && !isApprovedForAll[owner][msg.sender]) revert NotOwnerOrApproved(msg.sender);
        _approved[id] = to;
        emit Approval(owner, to, id);
    }

    function setApprovalForAll(address operator, bool approved) external {
        isApprovedForAll[msg.sender][operator] = approved;
        emit ApprovalForAll(msg.sender, operator, approved);
    }

    function transferFrom(address from, address to, uint256 id) public {
        address owner = ownerOf(id);
        if (owner != from) revert NotOwner(from, owner);
        if (msg.sender != owner && _approved[id] != msg.sender && !isApprovedForAll[owner][msg.sender]) {
            revert NotOwnerOrApproved(msg.sender);
        }
        delete _approved[id];
        _forget(from, id);
        _requests[id].owner = to;
        _owned[to].push(id);
        emit Transfer(from, to, id);
    }

    function safeTransferFrom(address from, address to, uint256 id) external {
        transferFrom(from, to, id);
        if (to.code.length != 0) {
            bytes4 answer = IReceivesToken(to).onERC721Received(msg.sender, from, id, "");
            require(answer == IReceivesToken.onERC721Received.selector, "ERC721: transfer to non ERC721Receiver");
        }
    }

    function _forget(address owner, uint256 id) private {
        uint256[] storage owned = _owned[owner];
        for (uint256 i; i < owned.length; ++i) {
            if (owned[i] == id) {
                owned[i] = owned[owned.length - 1];
                owned.pop();
                return;
            }
        }
    }
}

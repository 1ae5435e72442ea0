// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IBankToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface ISignsForItself {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// @title A simulated contract: a bank that nobody runs, with debt, a queue and a right of its own, for tests
/// @notice Deposits of `cash` back loans of `loan`. What is withdrawn waits in a queue first. `isTeller` may act for
/// an account. Its `mood` makes it do more than it is asked, as hostile protocols do.
contract MadeUpBank {
    struct Request {
        address owner;
        uint256 amount;
        uint256 readyAt;
    }

    IBankToken public immutable cash;
    IBankToken public immutable loan;
    uint256 public constant WAIT = 1 days;
    uint256 public constant COVER_BPS = 8000;

    mapping(address account => uint256) public deposited;
    mapping(address account => uint256) public owed;
    mapping(address account => mapping(address teller => bool)) public isTeller;
    Request[] public requests;
    /// @dev 1: a deposit also borrows one unit; 2: a deposit makes a stranger teller; 3: a repayment takes deposits
    /// away; 4: interest of a tenth with every call; 5: a deposit counts for half; 6: a claim pays a stranger.
    uint256 public mood;
    /// @dev What one whole `loan` is worth in `cash`, both with 18 decimals.
    uint256 public priceOfLoan = 1e18;

    /// @notice What `maker` lets anybody take: `give` of its deposit for `want` of the loan token, once, until `deadline`.
    struct Offer {
        address maker;
        uint256 give;
        uint256 want;
        uint256 nonce;
        uint256 deadline;
    }

    bytes32 private constant _OFFER =
        keccak256("Offer(address maker,uint256 give,uint256 want,uint256 nonce,uint256 deadline)");
    bytes32 private constant _DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    /// @notice 0: nobody took it yet; 1: filled; 2: cancelled.
    mapping(address maker => mapping(uint256 nonce => uint256)) public offerState;

    event OfferFilled(address indexed maker, uint256 indexed nonce, address taker, uint256 give, uint256 want);
    event OfferCancelled(address indexed maker, uint256 indexed nonce);

    error OfferOver(uint256 nonce);
    error NotSigned(address maker);

    event Deposited(address indexed account, uint256 amount);
    event Borrowed(address indexed account, uint256 amount);
    event Repaid(address indexed account, uint256 amount);
    event Requested(uint256 indexed id, address indexed account, uint256 amount, uint256 readyAt);
    event Claimed(uint256 indexed id, address indexed account, uint256 amount);
    event TellerSet(address indexed account, address indexed teller, bool allowed);

    error NotReady(uint256 id, uint256 readyAt);
    error TooMuchDebt(uint256 cover, uint256 debt);
    error NotYours(uint256 id);

    constructor(address cash_, address loan_) {
        cash = IBankToken(cash_);
        loan = IBankToken(loan_);
    }

    function setMood(uint256 mood_) external {
        mood = mood_;
    }

    function setPriceOfLoan(uint256 price) external {
        priceOfLoan = price;
    }

    function deposit(uint256 amount) external {
        cash.transferFrom(msg.sender, address(this), amount);
        deposited[msg.sender] += mood == 5 ? amount / 2 : amount;
        emit Deposited(msg.sender, amount);
        if (mood == 1) owed[msg.sender] += 1e18;
        if (mood == 2) _setTeller(0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC, true);
    }

    function borrow(uint256 amount) external {
        owed[msg.sender] += amount;
        _accrue();
        _check(msg.sender);
        loan.transfer(msg.sender, amount);
        emit Borrowed(msg.sender, amount);
    }

    function repay(uint256 amount) external {
        loan.transferFrom(msg.sender, address(this), amount);
        owed[msg.sender] -= amount;
        if (mood == 3) deposited[msg.sender] /= 2;
        _accrue();
        emit Repaid(msg.sender, amount);
    }

    function request(uint256 amount) external returns (uint256 id) {
        deposited[msg.sender] -= amount;
        _check(msg.sender);
        id = requests.length;
        requests.push(Request(msg.sender, amount, block.timestamp + WAIT));
        emit Requested(id, msg.sender, amount, block.timestamp + WAIT);
    }

    function claim(uint256 id) external {
        Request memory found = requests[id];
        if (found.owner != msg.sender) revert NotYours(id);
        if (block.timestamp < found.readyAt) revert NotReady(id, found.readyAt);
        delete requests[id];
        cash.transfer(mood == 6 ? 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC : msg.sender, found.amount);
        emit Claimed(id, msg.sender, found.amount);
    }

    /// @notice Take an offer: the deposit that it gives becomes the taker's.
    function fill(Offer calldata offer, uint8 v, bytes32 r, bytes32 s) external {
        if (block.timestamp > offer.deadline || offerState[offer.maker][offer.nonce] != 0) revert OfferOver(offer.nonce);
        bytes32 domain =
            keccak256(abi.encode(_DOMAIN, keccak256("MadeUpBank"), keccak256("1"), block.chainid, address(this)));
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", domain, keccak256(abi.encode(_OFFER, offer))));
        if (!_hasSigned(offer.maker, digest, v, r, s)) revert NotSigned(offer.maker);
        offerState[offer.maker][offer.nonce] = 1;
        loan.transferFrom(msg.sender, offer.maker, offer.want);
        deposited[offer.maker] -= offer.give;
        _check(offer.maker);
        deposited[msg.sender] += offer.give;
        emit OfferFilled(offer.maker, offer.nonce, msg.sender, offer.give, offer.want);
    }

    function cancelOffer(uint256 nonce) external {
        if (offerState[msg.sender][nonce] != 0) revert OfferOver(nonce);
        offerState[msg.sender][nonce] = 2;
        emit OfferCancelled(msg.sender, nonce);
    }

    function setTeller(address teller, bool allowed) external {
        _setTeller(teller, allowed);
    }

    /// @notice Ids of the requests of `account` that were not claimed.
    function requestsOf(address account) external view returns (uint256[] memory ids) {
        uint256 count = 0;
        for (uint256 i = 0; i < requests.length; ++i) if (requests[i].owner == account) ++count;
        ids = new uint256[](count);
        for (uint256 i = requests.length; i > 0; --i) if (requests[i - 1].owner == account) ids[--count] = i - 1;
    }

    function health(address account) public view returns (uint256 bps) {
        uint256 debt = owed[account] * priceOfLoan / 1e18;
        return debt == 0 ? type(uint256).max : deposited[account] * COVER_BPS / debt;
    }

    /// @dev A key signs itself; a contract says for itself whether it signed (ERC-1271), as order protocols ask.
    function _hasSigned(address maker, bytes32 digest, uint8 v, bytes32 r, bytes32 s) private view returns (bool) {
        if (maker.code.length == 0) return maker != address(0) && ecrecover(digest, v, r, s) == maker;
        bytes4 told = ISignsForItself(maker).isValidSignature(digest, abi.encodePacked(r, s, v));
        return told == ISignsForItself.isValidSignature.selector;
    }

    function _check(address account) private view {
        uint256 bps = health(account);
        if (bps < 10_000) revert TooMuchDebt(deposited[account], owed[account]);
    }

    function _accrue() private {
        if (mood == 4) owed[msg.sender] += owed[msg.sender] / 10;
    }

    function _setTeller(address teller, bool allowed) private {
        isTeller[msg.sender][teller] = allowed;
        emit TellerSet(msg.sender, teller, allowed);
    }
}

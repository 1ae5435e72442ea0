// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ITakesAgent {
    function onERC721Received(address operator, address from, uint256 agentId, bytes calldata data) external returns (bytes4);
}

interface ISignsForItself {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// @title Simulated ERC-8004 identity registry: an agent is a token that resolves to a registration file
/// @notice Stands in on the local chain (31337) for the registry that has these functions on a public network.
contract SimulatedIdentityRegistry {
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    string public constant name = "Simulated agent identity";
    string public constant symbol = "AGENT";
    uint256 public constant LONGEST_DEADLINE = 5 minutes;
    bytes32 private constant WALLET_SET =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
    bytes32 private constant WALLET_KEY = keccak256("agentWallet");

    uint256 private _next;
    mapping(uint256 agentId => address) private _owners;
    mapping(address owner => uint256) private _balances;
    mapping(uint256 agentId => address) private _approved;
    mapping(address owner => mapping(address operator => bool)) public isApprovedForAll;
    mapping(uint256 agentId => string) private _uris;
    mapping(uint256 agentId => mapping(string key => bytes)) private _metadata;

    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue);
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    error ERC721NonexistentToken(uint256 tokenId);
    error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner);
    error ERC721InsufficientApproval(address operator, uint256 tokenId);
    error ERC721InvalidReceiver(address receiver);
    error NotAuthorized(address sender, uint256 agentId);
    error ReservedKey();
    error BadWallet();
    error BadDeadline(uint256 deadline);
    error BadWalletSignature();

    // ---- registration

    function register() external returns (uint256) {
        return _register("", new MetadataEntry[](0));
    }

    function register(string calldata agentURI) external returns (uint256) {
        return _register(agentURI, new MetadataEntry[](0));
    }

    function register(string calldata agentURI, MetadataEntry[] calldata metadata) external returns (uint256) {
        return _register(agentURI, metadata);
    }

    function _register(string memory agentURI, MetadataEntry[] memory metadata) private returns (uint256 agentId) {
        agentId = _next++;
        _owners[agentId] = msg.sender;
        ++_balances[msg.sender];
        emit Transfer(address(0), msg.sender, agentId);
        _uris[agentId] = agentURI;
        emit Registered(agentId, agentURI, msg.sender);
        _write(agentId, "agentWallet", abi.encodePacked(msg.sender));
        for (uint256 i; i < metadata.length; ++i) {
            if (keccak256(bytes(metadata[i].metadataKey)) == WALLET_KEY) revert ReservedKey();
            _write(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
        _ask(address(0), msg.sender, agentId, "");
    }

    function setAgentURI(uint256 agentId, string calldata newURI) external {
        _checkMayManage(agentId);
        _uris[agentId] = newURI;
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    function tokenURI(uint256 agentId) external view returns (string memory) {
        ownerOf(agentId);
        return _uris[agentId];
    }

    // ---- metadata

    function getMetadata(uint256 agentId, string calldata metadataKey) external view returns (bytes memory) {
        return _metadata[agentId][metadataKey];
    }

    function setMetadata(uint256 agentId, string calldata metadataKey, bytes calldata metadataValue) external {
        _checkMayManage(agentId);
        if (keccak256(bytes(metadataKey)) == WALLET_KEY) revert ReservedKey();
        _write(agentId, metadataKey, metadataValue);
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        ownerOf(agentId);
        return address(bytes20(_metadata[agentId]["agentWallet"]));
    }

    /// @notice The new wallet signs that it is the agent's; a deadline is at most five minutes away.
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature) external {
        _checkMayManage(agentId);
        if (newWallet == address(0)) revert BadWallet();
        if (deadline < block.timestamp || deadline > block.timestamp + LONGEST_DEADLINE) revert BadDeadline(deadline);
        bytes32 words = keccak256(abi.encode(WALLET_SET, agentId, newWallet, _owners[agentId], deadline));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domainSeparator(), words));
        if (!_isSignedBy(newWallet, digest, signature)) revert BadWalletSignature();
        _write(agentId, "agentWallet", abi.encodePacked(newWallet));
    }

    function unsetAgentWallet(uint256 agentId) external {
        _checkMayManage(agentId);
        _write(agentId, "agentWallet", "");
    }

    function domainSeparator() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("ERC8004IdentityRegistry"),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
    }

    function _isSignedBy(address wallet, bytes32 digest, bytes calldata signature) private view returns (bool) {
        if (wallet.code.length != 0) {
            return ISignsForItself(wallet).isValidSignature(digest, signature) == ISignsForItself.isValidSignature.selector;
        }
        if (signature.length != 65) return false;
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer == wallet;
    }

    function _write(uint256 agentId, string memory key, bytes memory value) private {
        _metadata[agentId][key] = value;
        emit MetadataSet(agentId, key, key, value);
    }

    // ---- an agent is a token

    function supportsInterface(bytes4 id) external pure returns (bool) {
        // ERC-165, ERC-721, and its metadata.
        return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5b5e139f;
    }

    function balanceOf(address owner) external view returns (uint256) {
        return _balances[owner];
    }

    function ownerOf(uint256 agentId) public view returns (address owner) {
        owner = _owners[agentId];
        if (owner == address(0)) revert ERC721NonexistentToken(agentId);
    }

    function getApproved(uint256 agentId) external view returns (address) {
        ownerOf(agentId);
        return _approved[agentId];
    }

    function approve(address to, uint256 agentId) external {
        address owner = ownerOf(agentId);
        if (msg.sender != owner && !isApprovedForAll[owner][msg.sender]) {
            revert ERC721InsufficientApproval(msg.sender, agentId);
        }
        _approved[agentId] = to;
        emit Approval(owner, to, agentId);
    }

    function setApprovalForAll(address operator, bool approved) external {
        isApprovedForAll[msg.sender][operator] = approved;
        emit ApprovalForAll(msg.sender, operator, approved);
    }

    /// @notice Who gets an agent has to prove a wallet of its own anew.
    function transferFrom(address from, address to, uint256 agentId) public {
        address owner = ownerOf(agentId);
        if (owner != from) revert ERC721IncorrectOwner(from, agentId, owner);
        if (to == address(0)) revert ERC721InvalidReceiver(to);
        if (!_mayManage(agentId, owner)) revert ERC721InsufficientApproval(msg.sender, agentId);
        delete _approved[agentId];
        --_balances[from];
        ++_balances[to];
        _owners[agentId] = to;
        emit Transfer(from, to, agentId);
        if (from != to) _write(agentId, "agentWallet", "");
    }

    function safeTransferFrom(address from, address to, uint256 agentId) external {
        safeTransferFrom(from, to, agentId, "");
    }

    function safeTransferFrom(address from, address to, uint256 agentId, bytes memory data) public {
        transferFrom(from, to, agentId);
        _ask(from, to, agentId, data);
    }

    function _ask(address from, address to, uint256 agentId, bytes memory data) private {
        if (to.code.length == 0) return;
        bytes4 answer = ITakesAgent(to).onERC721Received(msg.sender, from, agentId, data);
        if (answer != ITakesAgent.onERC721Received.selector) revert ERC721InvalidReceiver(to);
    }

    function _checkMayManage(uint256 agentId) private view {
        if (!_mayManage(agentId, ownerOf(agentId))) revert NotAuthorized(msg.sender, agentId);
    }

    function _mayManage(uint256 agentId, address owner) private view returns (bool) {
        return msg.sender == owner || isApprovedForAll[owner][msg.sender] || _approved[agentId] == msg.sender;
    }
}

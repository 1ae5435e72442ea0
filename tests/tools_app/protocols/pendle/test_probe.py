import pytest, json
pytestmark = [pytest.mark.protocols("pendle")]
def test_probe(chain):
    print("ADDR", json.dumps(chain.protocols["pendle"], indent=1))
    at=chain.protocols["pendle"]; read=chain.rpc.read
    print(read(at["oracle"], "getOracleState(address,uint32)", at["market_dai"], 900, returns="(bool,uint16,bool)"))
    for each in ("getPtToAssetRate", "getYtToAssetRate", "getLpToAssetRate"):
        print(each, read(at["oracle"], f"{each}(address,uint32)", at["market_dai"], 900, returns="(uint256)"))
    print(read(at["market_dai"],"readState(address)",at["router"],returns="(int256,int256,int256,address,int256,uint256,uint256,uint256,uint256)"))
    print(read(at["market_dai"],"_storage()",returns="(int128,int128,uint96,uint16,uint16,uint16)"), chain.timestamp())
    for n in range(3): print(read(at["market_dai"],"observations(uint256)",n,returns="(uint32,uint216,bool)"))
    print("sy", read(at["sy_dai"],"exchangeRate()",returns="(uint256)"), read(at["yt_dai"],"pyIndexStored()",returns="(uint256)"))
    user=chain.new_account(10**18,{"DAI":10_000*10**18}); dai=chain.tokens["DAI"].address
    chain.transact(user,dai,"approve(address,uint256)",at["router"],2**255)
    guess=(0,2**256-1,0,256,10**14); zero="0x"+"00"*20
    inp=(dai,1000*10**18,dai,zero,(0,zero,b"",False)); lim=(zero,0,[],[],b"")
    G="(uint256,uint256,uint256,uint256,uint256)"; I="(address,uint256,address,address,(uint8,address,bytes,bool))"
    O="(uint256,uint256,uint256,uint8,address,address,address,address,uint256,uint256,uint256,bytes)"
    F=f"({O},bytes,uint256)[]"; L=f"(address,uint256,{F},{F},bytes)"
    chain.transact(user,at["router"],f"swapExactTokenForPt(address,address,uint256,{G},{I},{L})",user.address,at["market_dai"],0,guess,inp,lim)
    print("PT", chain.rpc.balance_of(at["pt_dai"],user.address))
    chain.transact(user,at["router"],f"swapExactTokenForYt(address,address,uint256,{G},{I},{L})",user.address,at["market_dai"],0,guess,inp,lim)
    print("YT", chain.rpc.balance_of(at["yt_dai"],user.address))
    chain.transact(user,at["router"],f"addLiquiditySingleToken(address,address,uint256,{G},{I},{L})",user.address,at["market_dai"],0,guess,inp,lim)
    print("LP", chain.rpc.balance_of(at["market_dai"],user.address))
    print(read(at["market_dai"],"readState(address)",at["router"],returns="(int256,int256,int256,address,int256,uint256,uint256,uint256,uint256)"))

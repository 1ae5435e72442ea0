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
    guess=(0,2**255,0,256,10**14); zero="0x"+"00"*20
    inp=(dai,1000*10**18,dai,zero,(0,zero,b"",False)); lim=(zero,0,[],[],b"")
    G="(uint256,uint256,uint256,uint256,uint256)"; I="(address,uint256,address,address,(uint8,address,bytes,bool))"
    O="(uint256,uint256,uint256,uint8,address,address,address,address,uint256,uint256,uint256,bytes)"
    F=f"({O},bytes,uint256)[]"; L=f"(address,uint256,{F},{F},bytes)"
    from golem_project.embedded.world.rpc import call_data
    for nm in ("swapExactTokenForPt","swapExactTokenForYt","addLiquiditySingleToken"):
        r=chain.rpc
        try:
            tx={"from":user.address,"to":at["router"],"data":call_data(f"{nm}(address,address,uint256,{G},{I},{L})",user.address,at["market_dai"],0,guess,inp,lim)}
            print(nm, chain.rpc.call("eth_call",tx,"latest")[:66], int(chain.rpc.call("eth_estimateGas",tx),16))
        except Exception as e:
            print(nm, e, getattr(e,"data",None))
            try:
                tr=chain.rpc.call("debug_traceCall",tx,"latest",{"tracer":"callTracer"})
                def show(f,d=0):
                    print("T"+"."*d, f["type"], f["to"], f["input"][:10], f.get("error"), f.get("output","")[:74]); [show(x,d+1) for x in f.get("calls",[])]
                show(tr)
            except Exception as e2: print("T", e2)
    chain.transact(user,at["router"],f"swapExactTokenForPt(address,address,uint256,{G},{I},{L})",user.address,at["market_dai"],0,guess,inp,lim,gas=10_000_000)
    print("PT", chain.rpc.balance_of(at["pt_dai"],user.address))
    chain.transact(user,at["router"],f"swapExactTokenForYt(address,address,uint256,{G},{I},{L})",user.address,at["market_dai"],0,guess,inp,lim,gas=10_000_000)
    print("YT", chain.rpc.balance_of(at["yt_dai"],user.address))
    chain.transact(user,at["router"],f"addLiquiditySingleToken(address,address,uint256,{G},{I},{L})",user.address,at["market_dai"],0,guess,inp,lim,gas=10_000_000)
    print("LP", chain.rpc.balance_of(at["market_dai"],user.address))
    print(read(at["market_dai"],"readState(address)",at["router"],returns="(int256,int256,int256,address,int256,uint256,uint256,uint256,uint256)"))

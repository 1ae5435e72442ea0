// What is asked of Uniswap's SDKs: which pools give most for an exact input, and the router's calldata for that.
//
// Pools, tokens and amounts come with the question; nothing is fetched. Pools are answered by their place in the
// question, amounts as decimal text.

import { CurrencyAmount, Percent, Token, TradeType } from '@uniswap/sdk-core'
import { Pair, Route as RouteV2 } from '@uniswap/v2-sdk'
import { Pool as PoolV3, Route as RouteV3 } from '@uniswap/v3-sdk'
import { Pool as PoolV4, Route as RouteV4 } from '@uniswap/v4-sdk'
import { Trade } from '@uniswap/router-sdk'
import { SwapRouter } from '@uniswap/universal-router-sdk'

const ROUTER_VERSION = '2.1.1'
const NO_HOOK = '0x0000000000000000000000000000000000000000'

const raw = (token, amount) => CurrencyAmount.fromRawAmount(token, amount)

function makePool(told, tokens) {
  const [first, second] = [tokens[told.first], tokens[told.second]]
  if (told.version === 'v2') return new Pair(raw(first, told.reserve0), raw(second, told.reserve1))
  const ticks = told.ticks.map(([index, liquidityNet, liquidityGross]) => ({ index, liquidityNet, liquidityGross }))
  if (told.version === 'v3') return new PoolV3(first, second, told.fee, told.price, told.liquidity, told.tick, ticks)
  return new PoolV4(first, second, told.fee, told.spacing, NO_HOOK, told.price, told.liquidity, told.tick, ticks)
}

async function give(pool, amount) {
  try {
    const [out] = await pool.getOutputAmount(amount)
    return out
  } catch {
    // It cannot take so much.
    return null
  }
}

async function findBest({ chain_id, tokens: told, pools: listed, from, to, amount, one_version }) {
  const tokens = told.map((each) => new Token(chain_id, each.address, each.decimals))
  const pools = listed.map((each) => makePool(each, tokens))
  const goes = (place, token) => [listed[place].first, listed[place].second].includes(token)
  const other = (place, token) => (listed[place].first === token ? listed[place].second : listed[place].first)
  let best = null
  const offer = (places, out) => {
    if (out !== null && (best === null || out.greaterThan(best.out))) best = { places, out }
  }
  for (let near = 0; near < pools.length; near++) {
    if (!goes(near, from)) continue
    const halfway = await give(pools[near], raw(tokens[from], amount))
    if (halfway === null) continue
    const hub = other(near, from)
    if (hub === to) {
      offer([near], halfway)
      continue
    }
    for (let far = 0; far < pools.length; far++) {
      if (!goes(far, hub) || other(far, hub) !== to) continue
      const versions = [listed[near].version, listed[far].version]
      // Pools of V4 stand under another contract: a path that enters them does not leave them.
      if (versions[0] !== versions[1] && (one_version || versions.includes('v4'))) continue
      offer([near, far], await give(pools[far], halfway))
    }
  }
  return best === null ? null : { ...best, pools, tokens }
}

async function bestRoute(args) {
  const best = await findBest(args)
  return best === null ? { pools: [], amount_out: '0' } : tell(best)
}

const tell = (best) => ({ pools: best.places, amount_out: best.out.quotient.toString() })

async function calldata(args) {
  const best = await findBest({ ...args, one_version: true })
  if (best === null) return { pools: [], amount_out: '0', data: '0x', value: '0' }
  const [tokenIn, tokenOut] = [best.tokens[args.from], best.tokens[args.to]]
  const way = best.places.map((place) => best.pools[place])
  const amounts = { inputAmount: raw(tokenIn, args.amount), outputAmount: best.out }
  const version = args.pools[best.places[0]].version
  const routes = {
    v2: () => ({ v2Routes: [{ routev2: new RouteV2(way, tokenIn, tokenOut), ...amounts }] }),
    v3: () => ({ v3Routes: [{ routev3: new RouteV3(way, tokenIn, tokenOut), ...amounts }] }),
    v4: () => ({ v4Routes: [{ routev4: new RouteV4(way, tokenIn, tokenOut), ...amounts }] })
  }
  const trade = new Trade({ ...routes[version](), tradeType: TradeType.EXACT_INPUT })
  const made = SwapRouter.swapCallParameters(trade, {
    recipient: args.recipient,
    slippageTolerance: new Percent(args.slippage_bps, 10_000),
    deadlineOrPreviousBlockhash: args.deadline,
    urVersion: ROUTER_VERSION
  })
  return { ...tell(best), data: made.calldata, value: BigInt(made.value).toString() }
}

export const SUMS = { best_route: bestRoute, calldata }

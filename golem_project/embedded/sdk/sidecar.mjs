// Uniswap's SDKs beside the product: a Unix socket, one question a frame (four bytes of length, then JSON).
//
// This thread reads and writes alone; what is asked is worked out in threads with a bound on time and memory. One that
// does not end, or takes too much, is ended and another one begins; whoever asked is told so.

import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { SUMS } from './sums.mjs'

const MOST_BYTES = 1_048_576
const MOST_WAITING = 32
const MOST_CONNECTIONS = 16
const SECONDS = Number(process.env.GOLEM_SDK_SECONDS ?? 2)
const IDLE_MS = 10_000
const THREADS = 2
const MEBIBYTES = Number(process.env.GOLEM_SDK_MEBIBYTES ?? 192)
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000

function work() {
  parentPort.on('message', async ({ op, args }) => {
    try {
      parentPort.postMessage({ result: await SUMS[op](args) })
    } catch {
      parentPort.postMessage({ error: 'unsolved' })
    }
  })
  parentPort.postMessage('ready')
}

const waiting = []
const idle = []
let restarts = 0
let ready = 0
let unready = 0

function hire() {
  const worker = new Worker(__filename, { resourceLimits: { maxOldGenerationSizeMb: MEBIBYTES } })
  worker.job = null
  worker.isReady = false
  worker.on('message', (told) => {
    if (told === 'ready') {
      worker.isReady = true
      unready = 0
      ready += 1
      if (ready === THREADS) console.log('uniswap sdk ready')
    } else {
      finish(worker, told)
    }
    idle.push(worker)
    next()
  })
  worker.on('error', () => {})
  worker.on('exit', () => {
    restarts += 1
    finish(worker, { error: 'ended' })
    const place = idle.indexOf(worker)
    if (place >= 0) idle.splice(place, 1)
    // One that cannot even begin is not begun again at once, or the machine would do nothing else.
    if (worker.isReady) hire()
    else setTimeout(hire, Math.min(SHORTEST_PAUSE_MS * 2 ** unready++, LONGEST_PAUSE_MS))
  })
}

function finish(worker, told) {
  if (worker.job === null) return
  clearTimeout(worker.job.timer)
  worker.job.answer(told)
  worker.job = null
}

function next() {
  while (idle.length && waiting.length) {
    const [worker, job] = [idle.shift(), waiting.shift()]
    worker.job = job
    job.timer = setTimeout(() => {
      finish(worker, { error: 'time' })
      worker.terminate()
    }, SECONDS * 1_000)
    worker.postMessage({ op: job.op, args: job.args })
  }
}

function send(connection, told) {
  const body = Buffer.from(JSON.stringify(told))
  const head = Buffer.alloc(4)
  head.writeUInt32BE(body.length)
  if (!connection.destroyed) connection.write(Buffer.concat([head, body]))
}

function take(connection, body) {
  let asked
  try {
    asked = JSON.parse(body)
  } catch {
    connection.destroy()
    return
  }
  const { id, op, args } = asked
  if (op === 'health') {
    send(connection, { id, result: { threads: THREADS, idle: idle.length, waiting: waiting.length, restarts } })
  } else if (!Object.hasOwn(SUMS, op)) {
    send(connection, { id, error: 'unknown' })
  } else if (waiting.length >= MOST_WAITING) {
    send(connection, { id, error: 'busy' })
  } else {
    waiting.push({ op, args, answer: (told) => send(connection, { id, ...told }) })
    next()
  }
}

function serve(path) {
  rmSync(path, { force: true })
  process.umask(0o177)
  const server = createServer((connection) => {
    let read = Buffer.alloc(0)
    connection.setTimeout(IDLE_MS, () => connection.destroy())
    connection.on('error', () => {})
    connection.on('data', (part) => {
      read = Buffer.concat([read, part])
      while (read.length >= 4) {
        const length = read.readUInt32BE()
        if (length > MOST_BYTES) {
          connection.destroy()
          return
        }
        if (read.length < 4 + length) return
        const body = read.subarray(4, 4 + length)
        read = read.subarray(4 + length)
        take(connection, body)
      }
    })
  })
  server.maxConnections = MOST_CONNECTIONS
  server.listen(path, () => {
    chmodSync(path, 0o600)
    for (let each = 0; each < THREADS; each++) hire()
  })
}

if (isMainThread) serve(process.argv[2])
else work()

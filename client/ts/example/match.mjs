// Plays a match through the API to a bundle that anybody can verify: the platform's part with the client of this package, each
// player's with web/player.js. In earnest the players' parts run on the players' devices.
//
//   npm run build
//   FAIRDICE_KEY=… node example/match.mjs http://127.0.0.1:8080 "$LOG_KEY" bundle.json
//
// The log key is got elsewhere than from the service; `fairdice serve` prints it when it starts.

import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { Player } from '../../../web/player.js'
import { Client, codeOf, Refusal } from '../dist/index.js'

const [base = '', logKey = '', file = 'bundle.json'] = process.argv.slice(2)
const key = process.env['FAIRDICE_KEY']
const service = new Client(base, key ? { key } : {})
const options = 'raise=mars stake=win series=single crawford=off'
const names = { a: 'ada-7f3k', b: 'ben-91xq' }

// Keeps a player's state in a file: what set has resolved for survives a crash.
/** @param {string} path */
const keptIn = (path) => ({
  get: () => readFile(path, 'utf8').catch((e) => (e.code === 'ENOENT' ? null : Promise.reject(e))),
  /** @param {string} text @param {string | null} previous */
  async set (text, previous) {
    if (await this.get() !== previous) throw new Error(`${path} was changed by somebody else`)
    const f = await open(`${path}.new`, 'w', 0o600)
    await f.writeFile(text)
    await f.sync()
    await f.close()
    await rename(`${path}.new`, path)
  }
})

// A player asks for himself, without the platform's key.
const publicly = new Client(base)
const source = {
  /** @param {string} match @param {number} seen */
  statements: (match, seen) => publicly.get('/v1/matches/{match}/statements', { path: { match }, query: seen > 0 ? { since: seen } : {} }),
  /** @param {string} match */
  match: (match) => publicly.get('/v1/matches/{match}', { path: { match } })
}

// A UUIDv7: the id is chosen before anything is sent, so that opening the match can be repeated.
function newId () {
  const b = crypto.getRandomValues(new Uint8Array(16))
  const h = Date.now().toString(16).padStart(12, '0') + '7' + Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('').slice(13)
  return [h.slice(0, 8), h.slice(8, 12), h.slice(12, 16), '89ab'.charAt((b[8] ?? 0) & 3) + h.slice(17, 20), h.slice(20, 32)].join('-')
}

const match = newId()
const seats = {
  a: await Player.create({ store: keptIn(`${file}.a.player`), logKey, links: 256 }),
  b: await Player.create({ store: keptIn(`${file}.b.player`), logKey, links: 256 })
}

/** @param {'a' | 'b'} seat */
const stated = (seat) => ({ token: names[seat], anchor: { hash: seats[seat].anchor, custody: /** @type {const} */ ('self') } })
const { viewToken } = await service.put('/v1/matches/{match}', {
  path: { match }, body: { variant: 'short', mode: 'balanced', options, a: stated('a'), b: stated('b') }
})
await seats.a.join({ match, token: names.a, opponent: names.b, variant: 'short', mode: 'balanced', options })
await seats.b.join({ match, token: names.b, opponent: names.a, variant: 'short', mode: 'balanced', options })

const game = 1
await service.put('/v1/matches/{match}/games/{game}', { path: { match, game } })
await cut(1)

// The players cut a segment: each checks, remembers and only then releases.
/** @param {number} segment */
async function cut (segment) {
  for (const player of [seats.a, seats.b]) {
    const { seat, link } = await player.release(source, game, segment)
    await publicly.put('/v1/matches/{match}/games/{game}/segments/{segment}/links/{seat}', { path: { match, game, segment, seat }, body: { link } })
  }
}

/** @param {{ segment: number, stream: 'opening' | 'a' | 'b', index: number }} due */
async function draw ({ segment, stream, index }) {
  const path = { match, game, segment, stream, index }
  const roll = await service.put('/v1/matches/{match}/games/{game}/segments/{segment}/rolls/{stream}/{index}', { path }).catch(async (e) => {
    if (codeOf(e) !== 'awaiting-links') throw e // the stream goes on in a new segment
    await cut(segment)
    return await service.put('/v1/matches/{match}/games/{game}/segments/{segment}/rolls/{stream}/{index}', { path })
  })
  for (const player of [seats.a, seats.b]) await player.checkRoll(roll)
  return roll
}

/** @param {number} line @param {string[]} lines */
const append = (line, lines) => service.put('/v1/matches/{match}/games/{game}/events/{line}', { path: { match, game, line }, body: { lines } })

// This platform has no rules of its own: it says that nothing can be played, and learns from the refusal what can.
/** @param {number} line @param {string} seat */
async function move (line, seat) {
  try {
    await append(line, [`move ${seat} -`])
  } catch (e) {
    const [first] = e instanceof Refusal ? e.problem.alternatives ?? [] : []
    if (!first) throw e
    await append(line, [first])
  }
}

const rolls = 20 // then A has had enough: nobody has borne off all his checkers by then
for (let drawn = 0; ;) {
  const state = await service.get('/v1/matches/{match}', { path: { match } })
  const now = state.games[game - 1]
  if (now?.state !== 'playing') break
  const next = now.lines + 1
  if (now.draw && drawn < rolls) {
    await draw(now.draw)
    drawn++
  } else if (now.draw) {
    await append(next, ['resign A 3', 'end B 3'])
  } else await move(next, now.due?.split(' ')[1] ?? '')
}

const closed = await service.put('/v1/matches/{match}/games/{game}/close', { path: { match, game } })
if (!closed.finished) throw new Error(`the match goes on after ${closed.result}`)

// What an onlooker has seen of it all.
const seen = { statement: 0, line: 0 }
for await (const e of publicly.watch(match, { view: viewToken })) {
  if (e.type === 'statement' || e.type === 'line') seen[e.type]++
}
console.log(`${closed.result}; ${seen.statement} statements, ${seen.line} lines`)
await writeFile(file, await publicly.bytes('/v1/matches/{match}/bundle', { path: { match } }))
console.log(`wrote ${file}; verify bundle ${file} --key ${logKey} --my-anchor ${seats.a.anchor}`)

// What the answers of a service prove, and what a player demands of it before a link leaves (docs/protocol.md §4). No state and
// no input but the arguments; player.js remembers.

import { Malformed, STREAMS, hex, included, leafHash, liveDice, openReceipt, parseStatement, seconds, sha256, unhex } from './proof.js'

/** The house has shown what no honest house shows. `check` is the id of docs/protocol.md §9. No link has left. */
export class Distrust extends Error {
  constructor (check, reason) {
    super(`do not release a link: ${check}: ${reason}`)
    this.name = 'Distrust'
    this.check = check
  }
}

// Runs f; what is malformed there is a reason to distrust.
export async function distrusting (check, f, prefix = '') {
  try {
    return await f()
  } catch (e) {
    throw e instanceof Malformed ? new Distrust(check, prefix + e.message) : e
  }
}

// An answer of another shape is an error of the connection, not a proof of anything.
export function shaped (answer) {
  const ok = Array.isArray(answer?.statements) && answer.statements.every((s) => Number.isSafeInteger(s?.index) && typeof s.text === 'string' && Array.isArray(s.path))
  if (!ok) throw new Error('the service answered something else than statements')
  return { ...answer, consistency: Array.isArray(answer.consistency) ? answer.consistency : [] }
}

// Every statement proved against the checkpoint, sorted by type.
export async function readEvidence (statements, head) {
  const e = { origin: head.origin, open: [], commit: [], assign: [], deal: [], used: [], ended: new Set(), over: false }
  const seen = new Set()
  for (const { index, text, path } of statements) {
    const hashes = await distrusting('log.inclusion', () => path.map(unhex), `statement ${index}: `)
    if (!await included(await leafHash(text), index, head.size, hashes, head.root)) {
      throw new Distrust('log.inclusion', `statement ${index} is not in the log of ${head.size} statements`)
    }
    if (seen.has(index)) throw new Distrust('format', `statement ${index} comes twice`)
    seen.add(index)
    const s = await distrusting('format', () => parseStatement(text), `statement ${index}: `)
    if (s.type === 'deal' || s.type === 'abort') e.used.push(s)
    if (s.type === 'close' || s.type === 'abort') e.ended.add(s.game)
    else if (s.type === 'finish') e.over = true
    else e[s.type]?.push({ index, hash: hex(await sha256(text)), s })
  }
  return e
}

// The seat whose own anchor this is, "" for neither.
export function seatOf (e, anchor) {
  for (const { s } of e.open) {
    for (const seat of ['a', 'b']) if (s[`anchor-${seat}`]?.self && s[`anchor-${seat}`].hash === anchor) return seat
  }
  return ''
}

export function assignOf (e, game, segment) {
  const found = e.assign.filter(({ s }) => s.game === game && s.segment === segment)
  if (found.length === 1) return found[0]
  if (found.length === 0) throw new Distrust('log.order', `no signed checkpoint contains an assign of game ${game}, segment ${segment}`)
  throw new Distrust('statements.refs', `game ${game}, segment ${segment} is assigned ${found.length} times`)
}

// commit < assign and open < assign, of the same sequence and match.
export function checkAssign (e, open, assign) {
  const { sequence } = assign.s
  if (assign.s.match !== open.s.match) throw new Distrust('statements.refs', `the assign is of match ${assign.s.match}`)
  checkRound(open.s, assign.s)
  if (assign.index <= open.index) throw new Distrust('log.order', `the assign ${assign.index} is not behind the open ${open.index}`)
  if (e.assign.some((a) => a.s.sequence === sequence && a.index !== assign.index)) throw new Distrust('statements.refs', `sequence ${sequence} is assigned twice`)
  const commits = e.commit.filter((c) => c.s.sequence === sequence)
  if (commits.length !== 1) throw new Distrust('log.order', `${commits.length} commits of sequence ${sequence}, want one`)
  const [{ index, s: commit }] = commits
  if (index >= assign.index) throw new Distrust('log.order', `sequence ${sequence} was committed at ${index}, after its assign at ${assign.index}`)
  if (commit.log !== open.s.log || commit.tenant !== open.s.tenant || commit.mode !== open.s.mode || commit.number !== assign.s.number) {
    throw new Distrust('statements.refs', `commit, open and assign of sequence ${sequence} disagree on log, tenant, mode or number`)
  }
  return commit
}

// quicknet: round R is public at this time, and an assign names one at least 15 s ahead.
const roundTime = (round) => 1692803367 + 3 * (round - 1)

export function checkRound (open, assign) {
  if ((assign.round !== undefined) !== (open.beacon === 'quicknet')) {
    throw new Distrust('deal.beacon', `the open and the assign of game ${assign.game}, segment ${assign.segment} do not agree on a beacon`)
  }
  if (assign.round === undefined) return
  if (assign.round < 1 || seconds(assign.time) > roundTime(assign.round) - 15) {
    throw new Distrust('deal.beacon', `round ${assign.round} is public less than 15 s after the assign that names it`)
  }
}

// Receipt, opening and dice agree, and the roll opens the dealt root.
export async function checkReceipt (roll, open, deal, rolls) {
  const receipt = await distrusting('receipts.signature', () => openReceipt(roll.receipt, open['receipt-key']))
  const live = open.mode === 'live'
  if ((receipt.links !== undefined) !== live) throw new Distrust('deal.links', `a receipt of mode ${open.mode} has links or not, as no other mode has`)
  const { opening, dice } = roll
  const stream = STREAMS.indexOf(opening.stream)
  if (stream < 0) throw new Distrust('format', `${opening.stream} is no stream`)
  const key = await distrusting('format', () => unhex(opening.key))
  const path = await distrusting('format', () => opening.path.map(unhex))
  if (receipt.match !== deal.match || receipt.game !== deal.game || receipt.segment !== deal.segment || receipt.sequence !== deal.sequence ||
      receipt.stream !== opening.stream || receipt.index !== opening.index || receipt.key !== opening.key) {
    throw new Distrust('receipts.chain', 'the receipt is for another roll')
  }
  if (!Array.isArray(dice) || dice.length !== 2 || dice[0] !== receipt.dice[0] || dice[1] !== receipt.dice[1]) {
    throw new Distrust('record.rolls', `the dice shown are ${dice}, the receipt says ${receipt.dice}`)
  }
  // In mode live the leaf holds no dice, they follow from the links.
  if (live && String(await liveDice(receipt.key, ...receipt.links)) !== String(receipt.dice)) {
    throw new Distrust('rolls.opening', 'the dice do not follow from the links of the throw')
  }
  const leaf = await leafHash(Uint8Array.from([...key, ...(live ? [0, 0] : receipt.dice)]))
  const at = receipt.index + rolls.slice(0, stream).reduce((n, x) => n + x, 0)
  if (receipt.index >= rolls[stream] || !await included(leaf, at, rolls[0] + rolls[1] + rolls[2], path, unhex(deal.root))) {
    throw new Distrust('rolls.opening', `roll ${receipt.stream} ${receipt.index} does not open the dealt root`)
  }
  return receipt
}

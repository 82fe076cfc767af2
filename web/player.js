// A player who believes nobody: he makes his chain of links, keeps it, and releases a link only after he has checked for
// himself what docs/protocol.md §4 asks of a client. It does what the Go package client/player does, check for check, and
// reads and writes the same state file.
//
//   import { Player } from './player.js'
//
//   const player = await Player.create({ store, logKey })        // logKey: got elsewhere than from the platform
//   player.anchor                                                // goes into the open of the match
//   await player.join({ match, token, variant, options })        // what the player agreed to
//   const { seat, link } = await player.release(source, 1, 1)    // game, segment: checks, remembers, and only then gives it
//   const { unchecked } = await player.checkRoll(roll)           // what a draw answered
//
// `store` keeps one text: get() resolves to it, or to null, and set(text, previous) resolves once text is durable, or
// throws if what is kept is not `previous`, so that two tabs cannot spend one chain. `source` is the service and is not
// trusted: statements(match, seen) resolves to the answer of GET /v1/matches/{match}/statements?since={seen}, and
// match(match) to that of GET /v1/matches/{match}.
//
// Why each check is there: without the open in the log with his own anchor, a house-made link would take his place. Without
// the commit before the assign the house could pick a secret to its liking, and without the assign in a signed checkpoint
// it could pick a sequence after it has seen the link. A checkpoint that does not extend the last one means there are two
// logs, one of them for him alone. A second link for one segment would give the house two hands to choose from: the state is
// durable before a link leaves, so that after a crash the same link is released again, never another. One link for two
// segments would let the house choose the dice of the second one, knowing it: a state that is older than what has left,
// as from an old copy of its file, releases nothing (Outdated).
//
// The BLS signature of a beacon needs more than WebCrypto has. Whoever can check one gives `beacon`, a function of round and
// signature (hex) that resolves to whether it is good; without it checkRoll says that deal.beacon was not checked.
//
// Whoever shows the player what is checked gives `passed`, a function that is told each step of a release that was passed, in
// this order: 'signature' of the checkpoint; 'consistency' with the one seen last, or 'first' if there was none; 'inclusion'
// of all statements; 'open' with his anchor and terms; 'assign', or for a throw 'deal'; 'kept': the state is durable, and the
// link is about to leave.

import { Distrust, assignOf, checkAssign, checkReceipt, checkRound, distrusting, readEvidence, seatOf, shaped } from './evidence.js'
import { consistent, cutOf, hex, linkBefore, openCheckpoint, parseKey, unhex } from './proof.js'

export { Distrust }

/** Links of a chain: enough for a long live match. Making it takes a second or less. */
export const LINKS = 16384
const MAX_LINKS = 1 << 20
const MAX_SEGMENTS = 30
const MAX_STATE = 8 << 20
const FORMAT = 'fairdice/v1/player'
const TERMS = {
  match: 'match', token: 'own token', opponent: 'opponent', tenant: 'tenant', variant: 'variant', rules: 'rules hash', mode: 'mode', profile: 'profile',
  options: 'options', beacon: 'beacon'
}

/** Another throw is due, or the seat on roll has not released first: ask again later. */
export class NotDue extends Error {
  constructor (what) {
    super(`release link: ${what}: not due`)
    this.name = 'NotDue'
  }
}

/** The chain is used up, which counts as a refusal. */
export class Spent extends Error {
  constructor () {
    super('release link: the chain is used up')
    this.name = 'Spent'
  }
}

/** The state is an old copy of the chain: more links have left than it knows of. No link has left now. */
export class Outdated extends Error {
  constructor (released, known) {
    super(`release link: this is an old copy of the chain: it knows of ${known} released links, but ${released} have left: ` +
      'use the newest copy, or make a new chain and have a new match opened with its anchor')
    this.name = 'Outdated'
    this.released = released
    this.known = known
  }
}

// v_1 … v_n with every step-th link kept, counted from the last: any link is at most step hashes away.
class Chain {
  static async restore (last, n) {
    if (!Number.isInteger(n) || n < 1 || n > MAX_LINKS) throw new Error(`make chain: ${n} links, want 1 to ${MAX_LINKS}`)
    const c = new Chain()
    c.length = n
    c.step = 1
    while (c.step * c.step < n) c.step *= 2
    c.marks = []
    let v = last
    for (let i = 0; i < n; i++) {
      if (i % c.step === 0) c.marks.push(v)
      v = await linkBefore(v)
    }
    c.anchor = hex(v)
    return c
  }

  // v_t in hex, t from 1.
  async link (t) {
    if (t > this.length) throw new Spent()
    const back = this.length - t
    let v = this.marks[Math.floor(back / this.step)]
    for (let i = back % this.step; i > 0; i--) v = await linkBefore(v)
    return hex(v)
  }

  // The number of a link in hex, from 1; 0 if it is none of the chain.
  async number (link) {
    let v = unhex(link)
    for (let n = 1; n <= this.length; n++) {
      v = await linkBefore(v)
      if (hex(v) === this.anchor) return n
    }
    return 0
  }
}

const slotIs = (r, game, segment, turn) => r.game === game && r.segment === segment && (r.throw ?? 0) === turn
const find = (state, game, segment, turn = 0) => state.released.findIndex((r) => slotIs(r, game, segment, turn))

/** One chain for one match. Its methods run one after the other, however they are called. */
export class Player {
  #store; #state; #text; #chain; #key; #beacon; #passed
  #busy = Promise.resolve()

  /** Makes a chain and keeps it. The store must be empty: an anchor is for one match. */
  static async create ({ store, logKey, links = LINKS, beacon, passed = () => {} }) {
    const last = globalThis.crypto.getRandomValues(new Uint8Array(32))
    const p = new Player()
    p.#key = await parseKey(logKey)
    p.#chain = await Chain.restore(last, links)
    p.#store = store
    p.#beacon = beacon
    p.#passed = passed
    p.#text = null
    await p.#save({ format: FORMAT, key: logKey, last: hex(last), length: links, terms: { match: '' }, released: [] })
    return p
  }

  /** Reads what a store keeps. */
  static async load ({ store, beacon, passed = () => {} }) {
    const p = new Player()
    p.#text = await store.get()
    if (typeof p.#text !== 'string' || p.#text.length > MAX_STATE) throw new Error('load player: the store keeps no player')
    const state = JSON.parse(p.#text)
    if (state?.format !== FORMAT) throw new Error(`load player: the format is not ${FORMAT}`)
    p.#chain = await Chain.restore(unhex(state.last), state.length)
    if (!Array.isArray(state.released) || state.released.length > state.length) throw new Error('load player: more links released than there are')
    p.#key = await parseKey(state.key)
    p.#state = state
    p.#store = store
    p.#beacon = beacon
    p.#passed = passed
    return p
  }

  get anchor () { return this.#chain.anchor }
  get logKey () { return this.#state.key }
  /** The match joined, "" before. */
  get match () { return this.#state.terms.match }
  get spent () { return { links: this.#state.released.length, of: this.#chain.length } }
  /** The last checkpoint checked, a signed note: evidence to keep. */
  get checkpoint () { return this.#state.checkpoint ?? '' }
  /** The state file, for a download. It is as secret as all links not yet released. */
  get file () { return this.#text }

  /**
   * Binds the chain to a match for good. Terms that are left out are not compared with the open; joining again may say
   * them, and never changes what was said.
   */
  join (terms) {
    return this.#alone(async () => {
      if (!terms.match) throw new Error('join match: the terms name no match')
      const joined = { ...this.#state.terms }
      for (const [field, name] of Object.entries(TERMS)) {
        const [given, before] = [terms[field], joined[field]]
        if (!given || given === before) continue
        if (before) throw new Error(`join match: the chain has joined with ${name} "${before}", not "${given}"; make a new one for another match`)
        joined[field] = given
      }
      await this.#save({ ...this.#state, terms: joined })
    })
  }

  /**
   * Checks everything docs/protocol.md §4 asks for, remembers durably that the next link belongs to this segment, and
   * resolves to { seat, link }. The same segment gets the same link again. Throws Distrust when the house is not to be believed,
   * and Outdated when the state is not to be.
   */
  release (source, game, segment) {
    return this.#alone(() => this.#release(source, game, segment, 0, (draft, e) => this.#admit(source, draft, e, game, segment)))
  }

  /**
   * The same for one throw of mode live: also that the segment was dealt with this player's own link, and that it is his turn.
   * The seat on roll is first, which is its refusal to double. Throws of a game count from 1. Throws NotDue if it is too early.
   */
  releaseThrow (source, game, segment, turn) {
    return this.#alone(async () => {
      if (!(turn >= 1)) throw new Error(`release link: throws count from 1, not ${turn}`)
      return this.#release(source, game, segment, turn, (draft, e) => this.#admitThrow(source, draft, e, game, segment, turn))
    })
  }

  /**
   * Checks a roll while the game goes on: the deal is in the log and was cut with this player's own link, the roll opens
   * against it, and the receipt says the same under the key of the open. What needs the secret is left to the audit.
   * Resolves to { unchecked }, a list of check ids.
   */
  checkRoll (roll) {
    return this.#alone(() => this.#checkRoll(roll))
  }

  #alone (f) {
    const done = this.#busy.then(f)
    this.#busy = done.catch(() => {})
    return done
  }

  async #save (state) {
    const text = JSON.stringify(state, null, 2) + '\n'
    if (text !== this.#text) await this.#store.set(text, this.#text)
    this.#state = state
    this.#text = text
  }

  async #release (source, game, segment, turn, admit) {
    const { terms, checkpoint } = this.#state
    if (!terms.match) throw new Error('release link: no match was joined')
    const seen = checkpoint ? await openCheckpoint(checkpoint, this.#key) : null
    const answer = shaped(await source.statements(terms.match, seen?.size ?? 0))
    // The checkpoint is kept even if something else is wrong with the answer: a fork shows against every signed tree the
    // player has ever seen.
    const head = await this.#extend(seen, answer)
    const draft = { ...this.#state, checkpoint: answer.checkpoint, released: [...this.#state.released] }
    let e
    try {
      e = await readEvidence(answer.statements, head)
      this.#passed('inclusion')
      await admit(draft, e)
    } catch (refusal) {
      await this.#save(draft).catch(() => {}) // the refusal matters more
      throw refusal
    }
    const link = await this.#chain.link(find(draft, game, segment, turn) + 1)
    await this.#save(draft)
    this.#passed('kept')
    return { seat: seatOf(e, this.anchor), link }
  }

  // The answer's checkpoint is the log's and extends the one seen last.
  async #extend (seen, answer) {
    const head = await distrusting('log.signature', () => openCheckpoint(answer.checkpoint, this.#key))
    this.#passed('signature')
    if (!seen || seen.size === 0) {
      this.#passed('first')
      return head
    }
    const proof = await distrusting('log.consistency', () => answer.consistency.map(unhex))
    if (!await consistent(seen.size, seen.root, head.size, head.root, proof)) {
      throw new Distrust('log.consistency', `the log of ${head.size} statements does not extend the one of ${seen.size} seen before`)
    }
    this.#passed('consistency')
    return head
  }

  // Decides whether the next link may go to this segment, and writes that into the draft of the next state.
  async #admit (source, draft, e, game, segment) {
    const open = await this.#admitMatch(draft, e)
    const assign = assignOf(e, game, segment)
    // What was relied on when earlier links left must still stand.
    for (const r of draft.released) {
      const a = assignOf(e, r.game, r.segment)
      if (a.hash !== r.assign) throw new Distrust('statements.refs', `the assign of game ${r.game}, segment ${r.segment} is not the one a link was released for`)
      if (r.sequence === assign.s.sequence && (r.game !== game || r.segment !== segment)) {
        throw new Distrust('statements.refs', `sequence ${r.sequence} was used for game ${r.game}, segment ${r.segment} already`)
      }
    }
    const commit = checkAssign(e, open, assign)
    this.#passed('assign')
    if (find(draft, game, segment) >= 0) return // the same link again
    if (e.over || e.ended.has(game)) throw new Error(`release link: game ${game} has ended`)
    this.#checkTaken(draft, e, await source.match(this.match))
    this.#spend(draft, { game, segment, sequence: assign.s.sequence, assign: assign.hash, rolls: commit.rolls })
  }

  // The one open, that it is still the one seen before, and that the links in the log are those that have left.
  async #admitMatch (draft, e) {
    const open = this.#checkOpen(e)
    if (draft.open && draft.open !== open.hash) throw new Distrust('statements.refs', 'the open is not the one seen before')
    draft.open = open.hash
    await this.#checkUsed(draft, e)
    this.#passed('open')
    return open
  }

  // The links that the log shows are those that the state says have left, and for what.
  async #checkUsed (draft, e) {
    const seat = seatOf(e, this.anchor)
    let left = draft.released.length
    for (const { game, segment, [`link-${seat}`]: link } of e.used) { // without a segment: an abort, which does not name it
      const what = segment ? `game ${game}, segment ${segment} was dealt` : `game ${game} was aborted`
      if (!link && !segment) continue // the game was aborted before the link had left
      if (!link) throw new Distrust('deal.links', `${what} without this player's link`)
      if (await this.#releasedFor(draft, game, segment, link)) continue
      const n = await this.#chain.number(link)
      if (n === 0) throw new Distrust('deal.links', `${what} with a link that is not this player's`)
      if (n > draft.released.length) left = Math.max(left, n)
      else {
        const r = draft.released[n - 1]
        throw new Distrust('deal.links', `${what} with the link that was released for game ${r.game}, segment ${r.segment}`)
      }
    }
    if (left > draft.released.length) throw new Outdated(left, draft.released.length)
  }

  async #releasedFor (draft, game, segment, link) {
    for (const [i, r] of draft.released.entries()) {
      if (r.game === game && !r.throw && (!segment || r.segment === segment) && await this.#chain.link(i + 1) === link) return true
    }
    return false
  }

  // Links for a deal that is still to come, and those for throws, are not in the log. What the service says of them has no
  // proof: one that says too few could only have done so by hiding a link that it holds, and one that says too many gets none.
  #checkTaken (draft, e, { links } = {}) {
    const taken = links?.[seatOf(e, this.anchor) === 'b' ? 1 : 0]
    if (links?.length !== 2 || !Number.isSafeInteger(taken)) throw new Error('release link: the service does not say how many links it has')
    if (taken > draft.released.length) throw new Outdated(taken, draft.released.length)
  }

  #spend (draft, r) {
    if (draft.released.length >= this.#chain.length) throw new Spent()
    draft.released.push(r)
  }

  #checkOpen (e) {
    if (e.open.length !== 1) throw new Distrust('log.order', `${e.open.length} open statements, want one`)
    const [open] = e.open
    const [o, terms] = [open.s, this.#state.terms]
    const seat = seatOf(e, this.anchor)
    if (!seat) throw new Distrust('level', `the open does not have this player's own anchor ${this.anchor}`)
    if (o.log !== e.origin) throw new Distrust('statements.refs', `the open is of log ${o.log}, the checkpoint of ${e.origin}`)
    const [own, other] = seat === 'a' ? [o.a, o.b] : [o.b, o.a]
    const stated = { ...o, token: own, opponent: other, rules: o.rules[1] }
    for (const [field, name] of Object.entries(TERMS)) {
      if (terms[field] && terms[field] !== stated[field]) {
        throw new Distrust('statements.refs', `the open says ${name} "${stated[field]}", agreed was "${terms[field]}"`)
      }
    }
    return open
  }

  // The same for a throw.
  async #admitThrow (source, draft, e, game, segment, turn) {
    const open = await this.#admitMatch(draft, e)
    if (open.s.mode !== 'live') throw new Error(`release link: a throw of mode ${open.s.mode} needs none`)
    const number = find(draft, game, segment)
    if (number < 0) throw new Error(`release link: none was released for the cut of game ${game}, segment ${segment}`)
    const mine = draft.released[number]
    const assign = assignOf(e, game, segment)
    if (assign.hash !== mine.assign) throw new Distrust('statements.refs', `the assign of game ${game}, segment ${segment} is not the one a link was released for`)
    const deals = e.deal.filter((d) => d.s.game === game && d.s.segment === segment)
    if (deals.length !== 1) throw new Distrust('log.order', `${deals.length} deals of game ${game}, segment ${segment}, want one`)
    await this.#checkDeal(e, open.s, assign.s, deals[0].s, mine, number)
    this.#passed('deal')
    if (find(draft, game, segment, turn) >= 0) return // the same link again
    if (e.over || e.ended.has(game)) throw new Error(`release link: game ${game} has ended`)
    const shown = await source.match(this.match)
    this.#checkTaken(draft, e, shown) // of throws the log shows nothing before the match is over
    // A link for a later throw would be known before the dice of this one are.
    const last = Math.max(0, ...draft.released.filter((r) => r.game === game).map((r) => r.throw ?? 0))
    if (turn !== last + 1) throw new NotDue(`throw ${turn} of game ${game}: the next one is ${last + 1}`)
    this.#myTurn(shown, e, game, segment, turn)
    this.#spend(draft, { game, segment, throw: turn, sequence: mine.sequence, assign: mine.assign, rolls: mine.rolls })
  }

  // What is due has no proof: a service that lies about it gets no link it could not have had.
  #myTurn ({ games }, e, game, segment, turn) {
    const g = games?.[game - 1]
    if (!g) throw new NotDue(`the service shows no game ${game}`)
    if (g.draw?.throw !== turn || g.draw.segment !== segment) throw new NotDue(`throw ${turn} of game ${game}, segment ${segment}; "${g.due ?? ''}"`)
    const { stream } = g.draw
    if (stream === 'opening' || stream === seatOf(e, this.anchor)) return
    if (g.links?.length !== 2 || g.links[stream === 'b' ? 1 : 0] !== true) {
      throw new NotDue(`throw ${turn} of game ${game}: seat ${stream} is on roll and releases first`)
    }
  }

  async #checkRoll (roll) {
    const head = await distrusting('log.signature', () => openCheckpoint(roll.checkpoint, this.#key))
    const shown = [roll.open, roll.assign, roll.deal, ...(roll.commit?.text ? [roll.commit] : [])]
    const e = await readEvidence(shaped({ statements: shown }).statements, head)
    if (e.open.length !== 1 || e.assign.length !== 1 || e.deal.length !== 1) {
      throw new Distrust('format', 'the roll does not come with one open, one assign and one deal')
    }
    const [[open], [assign], [{ s: deal }]] = [e.open, e.assign, e.deal]
    const number = find(this.#state, assign.s.game, roll.opening.segment)
    if (number < 0) throw new Error(`check roll: no link was released for game ${assign.s.game}, segment ${roll.opening.segment}`)
    const mine = this.#state.released[number]
    if (open.hash !== this.#state.open || assign.hash !== mine.assign) {
      throw new Distrust('statements.refs', 'open or assign are not those that a link was released for')
    }
    const unchecked = await this.#checkDeal(e, open.s, assign.s, deal, mine, number)
    const receipt = await checkReceipt(roll, open.s, deal, mine.rolls)
    if (receipt.links) await this.#checkThrow(seatOf(e, this.anchor), receipt.links, deal, mine)
    return { unchecked }
  }

  // The player's own link, and in a match with a beacon a signature, is in the cut. Resolves to what was not checked.
  async #checkDeal (e, open, assign, deal, mine, number) {
    if (deal.match !== this.match || deal.game !== mine.game || deal.segment !== mine.segment || deal.sequence !== mine.sequence) {
      throw new Distrust('statements.refs', `the deal is not that of game ${mine.game}, segment ${mine.segment}`)
    }
    if (deal[`link-${seatOf(e, this.anchor)}`] !== await this.#chain.link(number + 1)) {
      throw new Distrust('deal.links', 'the deal is not cut with the link that was released for it')
    }
    checkRound(open, assign)
    const beacon = open.beacon === 'quicknet'
    if (beacon !== Boolean(deal.signature)) throw new Distrust('deal.beacon', 'a deal has a signature of the beacon exactly in a match with one')
    if (beacon && this.#beacon && !await this.#beacon(assign.round, deal.signature)) {
      throw new Distrust('deal.beacon', `the signature is not the beacon's of round ${assign.round}`)
    }
    if (deal.cut !== await cutOf(deal)) throw new Distrust('deal.cut', 'the cut of the deal does not follow from its links')
    return beacon && !this.#beacon ? ['deal.beacon'] : []
  }

  // The player's own link for a throw is in its receipt, and the opponent's continues the one he cut the deal with.
  async #checkThrow (seat, links, deal, mine) {
    const [own, other, dealt] = seat === 'a' ? [links[0], links[1], deal['link-b']] : [links[1], links[0], deal['link-a']]
    const released = this.#state.released.map((r, i) => [r, i + 1]).filter(([r]) => r.game === mine.game && r.segment === mine.segment && r.throw)
    const mineToo = await Promise.all(released.map(([, t]) => this.#chain.link(t)))
    if (!mineToo.includes(own)) {
      throw new Distrust('deal.links', `the roll is not made with a link that was released for a throw of game ${mine.game}, segment ${mine.segment}`)
    }
    // The opponent spends a link for each throw and each segment in between.
    let v = unhex(other)
    for (let i = mine.rolls[0] + mine.rolls[1] + mine.rolls[2] + MAX_SEGMENTS; i > 0; i--) {
      v = await linkBefore(v)
      if (hex(v) === dealt) return
    }
    throw new Distrust('deal.links', 'the opponent\'s link for the throw does not continue the one he cut the deal with')
  }
}

#!/usr/bin/env node
// A second verifier of fairdice bundles, which shares nothing with the Go programs but docs/protocol.md: plain JavaScript
// for Node 20, one file, no dependencies. Numbers like §9 refer to that document. It rebuilds the dice, follows the links, the cut, the
// receipts and the log. What it leaves to others it reports as "unchecked": the moves (they need docs/rules.md) and the
// BLS signature of a beacon.
//
//   node verify.mjs bundle.json --key VKEY [--my-anchor HEX] [--witness VKEY]… [--rules FILE] [--json]
//
// Exit status: 0 verified, 1 a check failed, 2 evidence incomplete, 3 malformed or empty input or wrong usage.

import { createHash, createHmac, createPublicKey, verify as ed25519 } from 'node:crypto'
import { openSync, readSync, closeSync, fstatSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

// ---------------------------------------------------------------- §1 primitives

const sha256 = (...parts) => {
  const h = createHash('sha256')
  for (const p of parts) h.update(p)
  return h.digest()
}
const hmac = (key, text) => createHmac('sha256', key).update(text).digest()
const unhex = (s) => Buffer.from(s, 'hex')
const MAX = Number.MAX_SAFE_INTEGER // 2^53 − 1

class Malformed extends Error {}
const refuse = (what) => { throw new Malformed(what) }
const clip = (s) => (s.length > 60 ? s.slice(0, 60) + '…' : s)

const isHex = (s, bytes = 32) => s.length === 2 * bytes && /^[0-9a-f]*$/.test(s)
const isInteger = (s) => /^(0|[1-9][0-9]{0,15})$/.test(s) && Number(s) <= MAX
const isToken = (s) => /^[A-Za-z0-9._-]{1,64}$/.test(s)
const isName = (s) => /^[!-*,-~]+$/.test(s) // printable, no space, no plus
const isId = (s) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(s)

// A time is a date of the calendar; the result is seconds since 1970.
function seconds (s) {
  const t = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(s) ? Date.parse(s) : NaN
  if (Number.isNaN(t) || new Date(t).toISOString() !== s.replace('Z', '.000Z')) refuse(`${clip(s)} is no time`)
  return t / 1000
}

function base64 (s) {
  const b = Buffer.from(s, 'base64')
  if (b.toString('base64') !== s) refuse('not canonical base64')
  return b
}

// Merkle trees: RFC 9162 §2.1. A path must have exactly the length that index and size demand.
const leafHash = (data) => sha256(Buffer.of(0), data)
const nodeHash = (l, r) => sha256(Buffer.of(1), l, r)
const half = (n) => Math.floor(n / 2)
const odd = (n) => n % 2 === 1

function rootOf (leaves) {
  let level = leaves
  while (level.length > 1) {
    const next = []
    for (let i = 0; i < level.length; i += 2) next.push(i + 1 < level.length ? nodeHash(level[i], level[i + 1]) : level[i])
    level = next
  }
  return level[0]
}

function included (leaf, index, size, path, root) {
  if (index >= size) return false
  let [hash, at, last] = [leaf, index, size - 1]
  for (const p of path) {
    if (last === 0) return false
    if (odd(at) || at === last) {
      hash = nodeHash(p, hash)
      while (!odd(at) && at !== 0) { at = half(at); last = half(last) }
    } else hash = nodeHash(hash, p)
    at = half(at)
    last = half(last)
  }
  return last === 0 && hash.equals(root)
}

function consistent (size1, root1, size2, root2, proof) {
  if (size1 === 0 || size1 > size2) return false
  if (size1 === size2) return proof.length === 0 && root1.equals(root2)
  if (proof.length === 0) return false
  let at = size1
  while (!odd(at) && at > 1) at = half(at)
  const list = at === 1 ? [root1, ...proof] : proof // size1 is a power of two
  let [fn, sn] = [size1 - 1, size2 - 1]
  while (odd(fn)) { fn = half(fn); sn = half(sn) }
  let [fr, sr] = [list[0], list[0]]
  for (const c of list.slice(1)) {
    if (sn === 0) return false
    if (odd(fn) || fn === sn) {
      fr = nodeHash(c, fr)
      sr = nodeHash(c, sr)
      while (!odd(fn) && fn !== 0) { fn = half(fn); sn = half(sn) }
    } else sr = nodeHash(sr, c)
    fn = half(fn)
    sn = half(sn)
  }
  return sn === 0 && fr.equals(root1) && sr.equals(root2)
}

// Keys and signed notes (C2SP signed-note): type 1 signs as a log or for receipts, type 4 cosigns as a witness.
function parseKey (vkey, type) {
  const m = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey)
  if (!m || !isName(m[1])) refuse('a verifier key is name+hash+base64')
  const raw = base64(m[3])
  if (raw.length !== 33 || raw[0] !== type) refuse(`the key is not of type ${type} with 32 bytes`)
  const hash = sha256(m[1], '\n', raw).subarray(0, 4)
  if (hash.toString('hex') !== m[2]) refuse('the key hash does not fit')
  const spki = Buffer.concat([unhex('302a300506032b6570032100'), raw.subarray(1)])
  return { name: m[1], hash, text: vkey, key: createPublicKey({ key: spki, format: 'der', type: 'spki' }) }
}

function parseNote (note) {
  if (Buffer.byteLength(note) > 65536) refuse('a note of more than 64 KiB')
  if (/[\0-\x09\x0b-\x1f]/.test(note)) refuse('a control character in a note')
  const split = note.lastIndexOf('\n\n')
  if (split < 0 || !note.endsWith('\n') || split + 2 === note.length) refuse('not text, an empty line and signatures')
  const lines = note.slice(split + 2, -1).split('\n')
  if (lines.length > 100) refuse('more than 100 signatures')
  if (new Set(lines).size !== lines.length) refuse('a signature line twice')
  const signatures = lines.map((line) => {
    const m = /^— ([^\p{Z}\x85\0-\x20+]+) ([A-Za-z0-9+/=]+)$/u.exec(line)
    if (!m) refuse('a line after the empty line is no signature')
    const raw = base64(m[2])
    if (raw.length < 5) refuse('a signature is too short')
    return { name: m[1], hash: raw.subarray(0, 4), bytes: raw.subarray(4) }
  })
  return { text: note.slice(0, split + 1), signatures }
}

const linesOf = (note, key) => note.signatures.filter((s) => s.name === key.name && s.hash.equals(key.hash))
const signedBy = (text, key, bytes) => bytes.length === 64 && ed25519(null, Buffer.from(text), key.key, bytes)

// Every line of a known key has to be good, and one has to be there.
function isSigned (note, key) {
  const lines = linesOf(note, key)
  return lines.length > 0 && lines.every((s) => signedBy(note.text, key, s.bytes))
}

// The times at which a witness cosigned (C2SP tlog-cosignature); null if one of its lines is bad.
function cosigned (note, key) {
  const times = []
  for (const s of linesOf(note, key)) {
    if (s.bytes.length !== 72) return null
    const time = s.bytes.readBigUInt64BE()
    if (time >= 1n << 63n || !signedBy(`cosignature/v1\ntime ${time}\n${note.text}`, key, s.bytes.subarray(8))) return null
    times.push(time)
  }
  return times
}

function parseCheckpoint (raw) {
  const note = parseNote(raw)
  const lines = note.text.split('\n')
  if (lines.length !== 4 || !isName(lines[0]) || !isInteger(lines[1])) refuse('a checkpoint is origin, size, root')
  const root = base64(lines[2])
  if (root.length !== 32) refuse('the root is not 32 bytes')
  return { note, origin: lines[0], size: Number(lines[1]), root }
}

// ---------------------------------------------------------------- §2 dice

const STREAMS = ['opening', 'a', 'b']
const pair = (k) => [half(k / 3) + 1, (k % 6) + 1]
const DECKS = { balanced: 1, twofold: 2, triple: 3 }

// The byte streams of one key, each label with its own read position.
function generator (key, prefix = (label) => `fairdice/v1 bytes ${label} `) {
  const streams = new Map()
  const byte = (label) => {
    let s = streams.get(label)
    if (!s) streams.set(label, s = { block: Buffer.alloc(0), at: 0, next: 0 })
    if (s.at === s.block.length) {
      s.block = hmac(key, `${prefix(label)}${s.next++}\n`)
      s.at = 0
    }
    return s.block[s.at++]
  }
  const uniform = (label, n) => {
    for (;;) {
      const b = byte(label)
      if (b < 256 - (256 % n)) return b % n
    }
  }
  const shuffle = (label, list) => {
    for (let i = list.length - 1; i > 0; i--) {
      const j = uniform(label, i + 1);
      [list[i], list[j]] = [list[j], list[i]]
    }
    return list
  }
  const below = (label, n) => {
    const limit = (1n << 64n) / BigInt(n) * BigInt(n)
    for (;;) {
      let v = 0n
      for (let i = 0; i < 8; i++) v = v << 8n | BigInt(byte(label))
      if (v < limit) return Number(v % BigInt(n))
    }
  }
  return { uniform, shuffle, below }
}

const isDouble = (d) => d[0] === d[1]
const pips = (d) => (isDouble(d) ? 4 * d[0] : d[0] + d[1])
const sum = (list, f) => list.reduce((n, x) => n + f(x), 0)
const level6 = (a, b) => Math.abs(sum(a, pips) - sum(b, pips)) <= 8 && Math.abs(sum(a, isDouble) - sum(b, isDouble)) <= 1

// The dice of the three streams; live dice are zero, as in the tree. deck holds the offsets of the deck modes.
function throwDice (gen, mode, rolls, cut, archive) {
  const [no, na, nb] = rolls
  const times = (n, f) => Array.from({ length: n }, f)
  if (mode === 'live') return { dice: rolls.map((n) => times(n, () => [0, 0])) }
  if (mode === 'real') {
    const n = no + na + nb
    const r = cut === '-' ? 0 : gen.below('real', n)
    const all = times(n, (_, j) => archive[(j + r) % n])
    return { dice: [all.slice(0, no), all.slice(no, no + na), all.slice(no + na)] }
  }
  const draw = (label) => pair(gen.uniform(label, 36))
  const opening = times(no, () => draw('opening'))
  if (mode === 'random') return { dice: [opening, times(na, () => draw('a')), times(nb, () => draw('b'))] }
  if (mode in DECKS) {
    const N = 36 * DECKS[mode]
    const deck = {}
    const deal = (label, length) => {
      deck[label] = gen.uniform(label, N)
      const out = []
      for (let from = deck[label]; out.length < length; from = 0) {
        out.push(...gen.shuffle(label, times(N, (_, i) => i)).slice(from).map((card) => pair(card % 36)))
      }
      return out.slice(0, length)
    }
    return { dice: [opening, deal('a', na), deal('b', nb)], deck }
  }
  const [a, b] = [[], []]
  while (a.length < Math.max(na, nb)) {
    if (mode === 'equal') {
      const cards = times(12, () => gen.uniform('equal', 36))
      a.push(...gen.shuffle('a', [...cards]).map(pair))
      b.push(...gen.shuffle('b', [...cards]).map(pair))
      continue
    }
    let blockA, blockB
    do {
      blockA = times(6, () => draw('levelled'))
      blockB = times(6, () => draw('levelled'))
    } while (!level6(blockA, blockB))
    a.push(...blockA)
    b.push(...blockB)
  }
  return { dice: [opening, a.slice(0, na), b.slice(0, nb)] }
}

// Everything that follows from secret, sequence and cut.
function build (secret, sequence, mode, rolls, cut, archive) {
  const key = hmac(secret, `fairdice/v1 game ${sequence} ${cut}\n`)
  const { dice, deck } = throwDice(generator(key), mode, rolls, cut, archive)
  const keys = STREAMS.map((s, i) => Array.from({ length: rolls[i] }, (_, j) => hmac(key, `fairdice/v1 key ${s} ${j}\n`)))
  const leaves = STREAMS.flatMap((_, i) => keys[i].map((k, j) => leafHash(Buffer.concat([k, Buffer.from(dice[i][j])]))))
  return { dice, keys, deck, root: rootOf(leaves) }
}

function parseArchive (text) {
  if (text.length > 65 + 4 * 65536 || !/^[0-9a-f]{64}\n(?:[1-6] [1-6]\n)+$/.test(text)) return null
  return text.slice(65, -1).split('\n').map((line) => [Number(line[0]), Number(line[2])])
}

const liveDice = (key, linkA, linkB) =>
  pair(generator(key, () => `fairdice/v1 live ${linkA} ${linkB} `).uniform('', 36))

const linkBefore = (link) => sha256('fairdice/v1 link\n', unhex(link)).toString('hex')

const cutOf = (d) => {
  if (!d['link-a'] && !d['link-b'] && !d.signature) return '-'
  const lines = [d.match, d.game, d.segment, d['link-a'] ?? '-', d['link-b'] ?? '-', d.signature ?? '-']
  return sha256('fairdice/v1 cut\n', lines.map((l) => l + '\n').join('')).toString('hex')
}

// ---------------------------------------------------------------- §3 statements, §5 receipts

const MODES = ['random', 'balanced', 'twofold', 'triple', 'equal', 'levelled', 'real', 'live']
const BLOCKS = ['balanced', 'twofold', 'triple', 'equal', 'levelled']
const LONG = ['long-classic', 'long-sport', 'long-crazy', 'gyulbar', 'crazy-gyulbar', 'khachapuri', 'tbilisi', 'fevga', 'crazy-fevga']
const VARIANTS = [...LONG, 'short', 'nackgammon', 'hyper', 'tavla', 'plakoto']
const OPTIONS = new RegExp('^raise=(none|mars|cube|beaver|jacoby|auto) stake=(win|unborne) ' +
  'series=(single|draw|reverse|(combined|points):([1-9]|1[0-9]|2[0-5])) crawford=(on|off)( head55=(general|off))?$')

// Readers of a line's value: they return what it means or refuse it.
const one = (ok, what) => (v) => (ok(v) ? v : refuse(`${clip(v)} is not ${what}`))
const hash = one((v) => isHex(v), '64 lower-case hex digits')
const id = one(isId, 'a UUIDv7')
const token = one(isToken, 'a token')
const name = one(isName, 'a key name')
const among = (...list) => one((v) => list.includes(v), list.join(' or '))
const orDash = (read) => (v) => (v === '-' ? v : read(v))
const number = (lo = 0, hi = MAX) => (v) => {
  if (!isInteger(v) || Number(v) < lo || Number(v) > hi) refuse(`${clip(v)} is not a number from ${lo} to ${hi}`)
  return Number(v)
}
const fields = (...readers) => (v) => {
  const f = v.split(' ')
  if (f.length !== readers.length) refuse(`${f.length} fields instead of ${readers.length}`)
  return f.map((x, i) => readers[i](x))
}
const time = (v) => ({ text: v, at: seconds(v) })
const rolls = fields(number(), number(), number())
const record = fields(number(), hash)
const inputs = ['link-a?', hash, 'link-b?', hash, 'signature?', one((v) => isHex(v, 48), '96 lower-case hex digits')]
const played = ['rolls', rolls, 'receipt', orDash(hash), 'record', record]
const seqLengths = (v) => {
  const n = rolls(v)
  if (n.some((x) => x < 1) || n[0] + n[1] + n[2] > 65536) refuse('rolls: a stream is empty, or more than 65,536 in all')
  return n
}
const result = (v) => {
  const m = /^(?:draw (0)|([AB]) ([0-9]+))$/.exec(v) ?? refuse(`${clip(v)} is no result`)
  return m[1] ? { seat: '', points: 0, text: 'draw' } : { seat: m[2], points: number(1)(m[3]), text: v }
}
const anchor = fields(hash, among('self', 'custodial'))
const player = (v) => ({ anchor: anchor(v)[0], self: anchor(v)[1] === 'self' })
const receiptKey = (v) => parseKey(v, 1)
const game = ['match', id, 'game', number(1)]
const segment = [...game, 'segment', number(1, 30), 'sequence', id]

const TEXTS = {
  commit: ['log', name, 'tenant', token, 'mode', among(...MODES), 'number', number(), 'sequence', id, 'rolls', seqLengths,
    'secret-hash', hash, 'root', hash, 'archive?', hash, 'time', time],
  open: ['log', name, 'match', id, 'tenant', token, 'variant', among(...VARIANTS), 'rules', fields(token, hash),
    'mode', among(...MODES), 'profile', among('refereed', 'dice-only'), 'options', one((v) => OPTIONS.test(v), 'a list of options'),
    'a', token, 'b', token, 'anchor-a?', player, 'anchor-b?', player, 'beacon', among('none', 'quicknet'),
    'receipt-key', receiptKey, 'time', time],
  assign: [...segment, 'number', number(), 'round?', number(), 'time', time],
  deal: [...segment, ...inputs, 'cut', orDash(hash), 'root', hash, 'time', time],
  close: [...game, ...played, 'result', result, 'score', fields(number(), number()), 'secret*', fields(id, hash), 'time', time],
  abort: [...game, 'by', among('platform', 'house'), 'reason', token, ...inputs, ...played, 'secret*', fields(id, hash), 'time', time],
  retire: ['sequence', id, 'reason', token, 'secret', hash, 'time', time],
  finish: ['match', id, 'score', fields(number(), number()), 'reason', among('decided', 'abandoned'), 'time', time],
  roll: [...segment, 'stream', among(...STREAMS), 'index', number(), 'dice', fields(number(1, 6), number(1, 6)),
    'links?', fields(hash, hash), 'key', hash, 'previous', orDash(hash), 'record', record, 'time', time]
}

function parseText (text, types) {
  if (Buffer.byteLength(text) > 4096) refuse('more than 4,096 bytes')
  if (!/^(?:[ -~]*\n)+$/.test(text)) refuse('not lines of printable ASCII, each ended by LF')
  const lines = text.slice(0, -1).split('\n')
  const type = types.find((t) => lines[0] === `fairdice/v1/${t}`) ?? refuse(`${clip(lines[0])} is no text that belongs here`)
  const out = { type }
  let at = 1
  const read = (key, reader) => {
    const line = lines[at] ?? ''
    if (!line.startsWith(key + ' ')) return false
    const value = line.slice(key.length + 1)
    if (/^ | $| {2}|^$/.test(value)) refuse(`${type}: ${key}: fields are separated by one space`)
    try {
      const v = reader(value)
      out[key] = Array.isArray(out[key]) && key === 'secret' ? [...out[key], v] : key === 'secret' && type !== 'retire' ? [v] : v
    } catch (e) {
      throw e instanceof Malformed ? new Malformed(`${type}: ${key}: ${e.message}`) : e
    }
    at++
    return true
  }
  const schema = TEXTS[type]
  for (let i = 0; i < schema.length; i += 2) {
    const [key, reader] = [schema[i], schema[i + 1]]
    if (key.endsWith('?')) read(key.slice(0, -1), reader)
    else if (key.endsWith('*')) { out.secret = []; while (read(key.slice(0, -1), reader)); } else if (!read(key, reader)) refuse(`${type}: line ${key} is missing`)
  }
  if (at !== lines.length) refuse(`${type}: ${clip(lines[at])} is a line too many`)
  return checkWhole(out)
}

// What single lines cannot show (§3).
function checkWhole (s) {
  if (s.type === 'commit' && ('archive' in s) !== (s.mode === 'real')) refuse('commit: archive belongs to mode real')
  if (s.type !== 'open') return s
  if (/ head55=/.test(s.options) && !LONG.includes(s.variant)) refuse('open: head55 is an option of the long family')
  if (s.a === s.b) refuse('open: equal players')
  if (s['anchor-a'] && s['anchor-b'] && s['anchor-a'].anchor === s['anchor-b'].anchor) refuse('open: equal anchors')
  if (s.mode === 'live' && (!s['anchor-a'] || !s['anchor-b'] || s.profile !== 'refereed')) refuse('open: live needs both anchors and a referee')
  return s
}

// ---------------------------------------------------------------- §6 records

const HEADER = [/^fairdice\/v1\/record$/, /^match (.+)$/, /^game ([1-9][0-9]*)$/, /^variant (.+)$/, /^options (.+)$/,
  /^score ((?:0|[1-9][0-9]*) (?:0|[1-9][0-9]*))$/, /^crawford (yes|no)$/, /^$/]
const POINT = '(?:[1-9]|1[0-9]|2[0-4])'
const STEP = `(?:bar|${POINT})(?:/${POINT}\\*?)*/(?:off|${POINT}\\*?)(?:\\([2-4]\\))?`
const EVENTS = [/^(opening) ([1-6]) ([1-6])$/, /^(roll) ([AB]) ([1-6]) ([1-6])$/, new RegExp(`^(move) ([AB]) (?:-|${STEP}(?: ${STEP})*)$`),
  /^(double|take|drop|beaver|raccoon|timeout) ([AB])$/, /^(resign) ([AB]) ([1-3])$/, /^(end) (?:draw|[AB] [1-9][0-9]{0,15})$/]

// A joined step is several, and (n) multiplies it.
const stepsOf = (line) => sum(line.split(' ').slice(2), (s) => (s.split('/').length - 1) * Number(/\(([2-4])\)$/.exec(s)?.[1] ?? 1))

function parseRecord (text) {
  if (Buffer.byteLength(text) > 1 << 20) refuse('record: more than 1 MiB')
  if (!text.endsWith('\n')) refuse('record: the last line does not end with LF')
  const lines = text.slice(0, -1).split('\n')
  const head = HEADER.map((re, i) => re.exec(lines[i] ?? ' ') ?? refuse(`record: line ${i + 1} is not as it must be`))
  const [, match, game, variant, options, score, crawford] = head.map((m) => m[1])
  if (!isId(match) || !isInteger(game) || !isToken(variant) || !OPTIONS.test(options) || !score.split(' ').every(isInteger)) {
    refuse('record: a value of the header')
  }
  const events = lines.slice(8).map((line) => {
    const m = EVENTS.map((re) => re.exec(line)).find(Boolean) ?? refuse(`record: ${clip(line)} is no event`)
    if (m[1] === 'move' && stepsOf(line) > 16) refuse('record: more than 16 steps')
    if (m[1] === 'end' && !isInteger(line.split(' ')[2] ?? '0')) refuse('record: too many points')
    const stream = m[1] === 'opening' ? 'opening' : m[1] === 'roll' ? m[2].toLowerCase() : ''
    return { line, kind: m[1], stream, dice: stream ? m.slice(-2).map(Number) : null }
  })
  const heads = [sha256(lines.slice(0, 8).join('\n') + '\n')]
  for (const e of events) heads.push(sha256(heads.at(-1), e.line + '\n'))
  return { match, game: Number(game), variant, options, score, crawford, events, heads: heads.map((h) => h.toString('hex')) }
}

// ---------------------------------------------------------------- §8 the bundle

// JSON as §8 wants it: no member twice, plain integers, nothing after the value. JSON.parse is too kind for that.
function parseJSON (text) {
  let at = 0
  const fail = () => refuse(`not the JSON of a bundle at character ${at + 1}`)
  const space = () => { while (' \t\n\r'.includes(text[at] ?? '.')) at++ }
  const take = (c) => { space(); return text[at] === c && ++at > 0 }
  const INTEGER = /(?:0|[1-9][0-9]*)(?![0-9.eE+-])/y
  const match = (re) => {
    re.lastIndex = at
    const m = re.exec(text) ?? fail()
    at = re.lastIndex
    return m[0]
  }
  const string = () => {
    const from = at++
    if (text[from] !== '"') fail()
    for (; text[at] !== '"'; at++) {
      if (at >= text.length) fail()
      if (text[at] === '\\') at++
    }
    try {
      const s = JSON.parse(text.slice(from, ++at)) // strict about escapes and control characters
      return s.isWellFormed() ? s : fail()
    } catch {
      return fail()
    }
  }
  const list = (end, item) => {
    if (take(end)) return
    do { space(); item() } while (take(','))
    if (!take(end)) fail()
  }
  const value = (depth) => {
    space()
    if (depth > 8) fail()
    const c = text[at]
    if (c === '"') return string()
    if (c === '[') {
      at++
      const out = []
      list(']', () => out.push(value(depth + 1)))
      return out
    }
    if (c === '{') {
      at++
      const out = new Map()
      list('}', () => {
        const key = string()
        if (out.has(key) || !take(':')) fail()
        out.set(key, value(depth + 1))
      })
      return out
    }
    const n = Number(match(INTEGER))
    return n <= MAX ? n : fail()
  }
  const v = value(0)
  space()
  return at === text.length ? v : fail()
}

// Shapes of §8; a reader turns a JSON value into what the checks use.
const text = (v) => (typeof v === 'string' ? v : refuse('a string is missing'))
const integer = (v) => (typeof v === 'number' ? v : refuse('a number is missing'))
const small = (v) => (integer(v) < 2 ** 31 ? v : refuse(`${v} is too large here`))
const array = (read) => (v) => (Array.isArray(v) ? v.map((x) => read(x)) : refuse('a list is missing'))
const bytes32 = (v) => unhex(hash(text(v)))
const proof = (v) => (Array.isArray(v) && v.length > 65 ? refuse('a proof of more than 65 hashes') : array(bytes32)(v))
const object = (members) => (v) => {
  if (!(v instanceof Map)) refuse('an object is missing')
  const known = Object.keys(members).map((k) => k.replace('?', ''))
  for (const k of v.keys()) if (!known.includes(k)) refuse(`unknown member ${clip(k)}`)
  const out = {}
  for (const [k, read] of Object.entries(members)) {
    const key = k.replace('?', '')
    if (v.has(key)) out[key] = read(v.get(key))
    else if (key === k) refuse(`member ${key} is missing`)
  }
  return out
}
const BUNDLE = object({
  format: (v) => among('fairdice/v1/bundle')(text(v)),
  log: object({
    origin: text,
    key: (v) => parseKey(text(v), 1),
    checkpoint: (v) => parseCheckpoint(text(v)),
    earlier: array(object({ checkpoint: (v) => parseCheckpoint(text(v)), consistency: proof }))
  }),
  statements: array(object({ index: integer, text, path: proof })),
  games: array(object({
    game: small,
    record: (v) => parseRecord(text(v)),
    receipts: array((v) => {
      const note = parseNote(text(v))
      return { ...parseText(note.text, ['roll']), note, hash: sha256(note.text).toString('hex') }
    }),
    openings: array(object({
      segment: small,
      stream: (v) => among(...STREAMS)(text(v)),
      index: small,
      key: (v) => hash(text(v)),
      path: proof
    }))
  })),
  'archives?': array(text)
})

const place = (x) => `${x.segment} ${x.stream} ${x.index}`

function parseBundle (data) {
  if (data.length > 64 << 20) refuse('more than 64 MiB')
  let json
  try {
    json = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    refuse('not UTF-8')
  }
  const b = BUNDLE(parseJSON(json))
  b.statements = b.statements.map((s) => ({
    ...parseText(s.text, Object.keys(TEXTS).filter((t) => t !== 'roll')), index: s.index, path: s.path, leaf: leafHash(s.text)
  }))
  if (b.statements.length === 0 || b.games.length === 0) refuse('no statements or no games')
  const opens = b.statements.filter((s) => s.type === 'open')
  if (opens.length > 1) refuse('two open statements')
  b.open = opens[0]
  b.games.forEach((g, i) => {
    if (g.game !== i + 1) refuse('games are 1, 2, 3 … in this order')
    if (new Set(g.openings.map(place)).size !== g.openings.length) refuse('an opening twice')
  })
  if (b.open && (b.open.mode === 'real') !== Boolean(b.archives)) refuse('archives belong to mode real')
  b.statements.sort((x, y) => x.index - y.index)
  return b
}

// ---------------------------------------------------------------- §9 checks

// The checks in the order of a report. The level does not rest on those in JUDGED: they are about the game, not the dice.
const CHECKS = ['format', 'log.signature', 'log.inclusion', 'log.consistency', 'log.witness', 'log.order', 'statements.refs',
  'sequence.secret', 'sequence.root', 'deal.links', 'deal.beacon', 'deal.cut', 'deal.root', 'assign.lowest', 'rolls.opening',
  'rolls.order', 'receipts.signature', 'receipts.chain', 'record.head', 'record.rolls', 'rules.version', 'rules.moves',
  'rules.forced', 'cube', 'result', 'mode.law', 'level']
const JUDGED = ['record.head', 'rules.version', 'rules.moves', 'rules.forced', 'cube', 'result']
const QUICKNET = { genesis: 1692803367, period: 3, lead: 15 }
const roundTime = (round) => QUICKNET.genesis + QUICKNET.period * (round - 1)
const MAX_REBUILT = 1 << 22 // rolls; a hostile file must not keep us busy for hours

class Report {
  constructor () { this.list = new Map(CHECKS.map((c) => [c, { fails: [], skips: [], passed: false }])) }
  pass (id) { this.list.get(id).passed = true }
  fail (id, detail, game, line) { this.list.get(id).fails.push({ id, status: 'fail', game, line, detail }) }
  skip (id, detail, game) { this.list.get(id).skips.push({ id, status: 'unchecked', game, detail }) }
  // test records one instance of a check and returns whether it held.
  test (ok, id, detail, game, line) {
    this.pass(id)
    if (!ok) this.fail(id, detail, game, line)
    return ok
  }

  failed (id) { return this.list.get(id).fails.length > 0 }
  failures () { return CHECKS.filter((id) => this.failed(id)) }
  lines () {
    return CHECKS.flatMap((id) => {
      const c = this.list.get(id)
      if (c.fails.length > 0) return c.fails.slice(0, 20)
      const out = c.passed ? [{ id, status: 'pass' }] : []
      return out.concat(c.skips.length + out.length > 0 ? c.skips : [{ id, status: 'unchecked', detail: 'nothing to check' }])
    })
  }
}

// verifyBundle carries out all checks. trust: { key, witnesses, myAnchor, rules }, keys as text.
export function verifyBundle (data, trust = {}) {
  const r = new Report()
  const witnesses = (trust.witnesses ?? []).map((w) => parseKey(w, 4))
  const out = { verdict: 'malformed', level: '', levelNote: '', match: '', variant: '', mode: '', says: [], checks: [], games: [] }
  const done = (verdict) => ({ ...out, verdict, checks: r.lines(), failed: r.failures() })
  let b
  try {
    b = parseBundle(data)
  } catch (e) {
    if (!(e instanceof Malformed)) throw e
    r.fail('format', e.message)
    return done('malformed')
  }
  r.pass('format')
  r.skip('assign.lowest', 'needs the whole log')
  checkLog(b, r, trust, witnesses)
  if (!b.open) {
    r.fail('log.order', 'the open is missing')
    return done('failed')
  }
  const games = b.games.map((g) => gather(b, g))
  checkOrder(b, games, r)
  checkRefs(b, games, r)
  checkSecrets(b, games, r)
  checkLinks(b, games, r)
  checkBeacon(b, games, r)
  for (const g of games) {
    for (const d of g.deals) r.test(d.cut === cutOf(d), 'deal.cut', 'the cut is not the hash of its inputs', g.game)
    checkRolls(b, g, r)
    checkReceipts(b, g, r)
    checkRecord(b, g, r)
    checkLaw(b, g, r)
  }
  checkResult(b, games, r)
  checkRules(b, r, trust)
  const { level, note } = levelOf(b, games, r, trust, witnesses)
  Object.assign(out, { level, levelNote: note, match: b.open.match, variant: b.open.variant, mode: b.open.mode, says: saysOf(b.open) })
  out.games = games.map((g) => ({ game: g.game, rolls: g.receipts.length, result: g.close ? g.close.result.text : g.abort ? 'aborted' : 'in progress' }))
  if (r.failures().length > 0) return done('failed')
  const beacon = b.open.beacon !== 'none' // whose BLS signature this program cannot verify
  return done(!trust.key || beacon || r.incomplete || games.some((g) => !g.end) ? 'incomplete' : 'verified')
}

// checkLog: log.signature, log.inclusion, log.consistency, log.witness (§7).
function checkLog (b, r, trust, witnesses) {
  const { log } = b
  const all = [log, ...log.earlier].map((c) => c.checkpoint)
  const key = trust.key ? parseKey(trust.key, 1) : log.key
  const sign = (ok, detail) => { if (!ok) r.fail('log.signature', detail) }
  if (trust.key) r.pass('log.signature')
  else r.skip('log.signature', 'no key was pinned: the bundle is self-consistent only')
  sign(log.key.text === key.text, 'the bundle names another log key than the pinned one')
  sign(log.origin === key.name, 'the bundle names another log')
  for (const c of all) {
    c.good = c.origin === key.name && isSigned(c.note, key)
    sign(c.good, `the checkpoint of size ${c.size} is not of this log or not signed by its key`)
  }
  const own = log.checkpoint
  for (const s of b.statements) {
    r.test(included(s.leaf, s.index, own.size, s.path, own.root), 'log.inclusion', `statement ${s.index} is not in the log`)
  }
  for (const e of log.earlier) {
    const c = e.checkpoint
    const ok = consistent(c.size, c.root, own.size, own.root, e.consistency)
    r.test(ok, 'log.consistency', `the checkpoint of size ${c.size} is not of the same log`)
    c.good = c.good && ok
  }
  if (witnesses.length === 0) return r.skip('log.witness', 'no witness was named')
  for (const c of all) {
    c.times = witnesses.map((w) => cosigned(c.note, w))
    r.test(c.times.every(Boolean), 'log.witness', `a cosignature of the checkpoint of size ${c.size} is bad`)
  }
  r.test(own.times.every((t) => t?.length > 0), 'log.witness', 'a witness did not cosign the checkpoint')
}

// gather finds the statements of one game of the file.
function gather (b, g) {
  const of = (type) => b.statements.filter((s) => s.type === type && s.match === b.open.match && s.game === g.game)
  const [assigns, deals, closes, aborts] = ['assign', 'deal', 'close', 'abort'].map(of)
  const last = Math.max(0, ...[...assigns, ...deals].map((s) => s.segment))
  const segments = Array.from({ length: last }, (_, i) => {
    const here = (s) => s.segment === i + 1
    const assign = assigns.find(here)
    return { assign, deal: deals.find(here), commit: assign && b.statements.find((s) => s.type === 'commit' && s.sequence === assign.sequence) }
  })
  const [close, abort] = [closes[0], aborts[0]]
  return { ...g, segments, deals, close, abort, end: close ?? abort, ends: [...closes, ...aborts] }
}

const undealt = (g) => g.segments.length > 0 && !g.segments.at(-1).deal

// checkOrder: log.order. Statements are sorted by their index.
function checkOrder (b, games, r) {
  const bad = (ok, detail, game) => r.test(ok, 'log.order', detail, game)
  b.statements.forEach((s, i) => {
    const before = b.statements[i - 1]
    if (before) bad(s.time.at >= before.time.at, `statement ${s.index} is dated before statement ${before.index}`)
  })
  const commits = b.statements.filter((s) => s.type === 'commit')
  for (const c of commits) {
    const later = commits.find((d) => d.tenant === c.tenant && d.mode === c.mode && d.index > c.index && d.number <= c.number)
    bad(!later, `number ${c.number} was committed before number ${later?.number}`)
  }
  // assign.lowest: a bundle can only show that a number was passed over, by its being assigned later.
  const assigns = b.statements.filter((s) => s.type === 'assign')
  for (const a of assigns) {
    const c = commits.find((d) => d.sequence === a.sequence)
    const higher = assigns.find((o) => c && o.index > c.index && o.index < a.index && o.number > a.number)
    if (higher) r.fail('assign.lowest', `number ${a.number} was free when number ${higher.number} was assigned`, a.game)
  }
  const finish = b.statements.find((s) => s.type === 'finish')
  const before = (x, y, g) => { if (x && y) bad(x.index < y.index, `${x.type} comes after ${y.type}`, g.game) }
  for (const g of games) {
    bad(g.segments.length > 0, 'no sequence was assigned', g.game)
    before(games[g.game - 2]?.end, g.segments[0]?.assign, g)
    g.segments.forEach((s, i) => {
      before(g.segments[i - 1]?.deal, s.assign, g)
      bad(s.assign, `segment ${i + 1} was not assigned`, g.game)
      bad(s.commit || !s.assign, `the commit of segment ${i + 1} is missing`, g.game)
      before(s.commit, s.assign, g)
      before(b.open, s.assign, g)
      before(s.assign, s.deal, g)
      before(s.assign, g.end, g)
      before(s.deal, g.end, g)
      const timedOut = g.close && g.record.events.at(-2)?.kind === 'timeout'
      const may = i === g.segments.length - 1 && (g.abort || !g.end || timedOut)
      bad(s.deal || may, `the deal of segment ${i + 1} is missing`, g.game)
    })
    bad(g.end || (g.game === games.length && !finish), 'the game has no end', g.game)
    before(g.end, finish, g)
    for (const x of [...g.segments.map((s) => s.assign), ...g.deals]) before(x, finish, g)
  }
  before(b.open, finish, {})
}

// checkRefs: statements.refs.
function checkRefs (b, games, r) {
  const { open } = b
  const ok = (cond, detail, game) => r.test(cond, 'statements.refs', detail, game)
  const seen = new Set()
  const once = (...key) => {
    const k = key.join(' ')
    ok(!seen.has(k), `${clip(k)} is there twice`)
    seen.add(k)
  }
  const owners = new Map() // a value is anchor or link of one seat only; a link twice in one chain is deal.links' business
  const own = (value, seat) => {
    if (value) ok((owners.get(value) ?? seat) === seat, 'a value belongs to both seats')
    owners.set(value, seat)
  }
  const assigned = new Map()
  own(open['anchor-a']?.anchor, 'a')
  own(open['anchor-b']?.anchor, 'b')
  for (const s of b.statements) if (s.type === 'assign') assigned.set(s.sequence, s)
  for (const s of b.statements) {
    if ('log' in s) ok(s.log === b.log.origin, `the ${s.type} is made for log ${clip(s.log)}`)
    if ('match' in s) ok(s.match === open.match, `the ${s.type} at ${s.index} is of another match`)
    if ('game' in s) ok(s.game <= games.length, `game ${s.game} has statements, but is not in the file`)
    if (s.type === 'assign' || s.type === 'deal') once(s.type, 'of segment', s.game, s.segment)
    if (s.type === 'assign' || s.type === 'commit') once(s.type, s.sequence)
    if (s.type === 'close' || s.type === 'abort') once('end of game', s.game)
    if (s.type === 'finish') once('finish')
    if (s.type === 'deal' || s.type === 'abort') { own(s['link-a'], 'a'); own(s['link-b'], 'b') }
    if (s.type === 'retire') ok(false, 'a retired sequence has no place in a bundle')
    if (s.type === 'commit') {
      once('secret-hash', s['secret-hash'])
      if (s.archive) once('archive', s.archive)
      const a = assigned.get(s.sequence)
      ok(a, `sequence ${s.sequence} is not assigned here`)
      ok(s.tenant === open.tenant && s.mode === open.mode, `sequence ${s.sequence} is of another tenant or mode`)
      ok(!a || a.number === s.number, `sequence ${s.sequence} has another number in its assign`)
    }
  }
  for (const g of games) {
    for (const s of g.segments) ok(!s.deal || !s.assign || s.deal.sequence === s.assign.sequence, 'a deal names another sequence than the assign', g.game)
    for (const x of g.receipts) { own(x.links?.[0], 'a'); own(x.links?.[1], 'b') }
  }
}

// checkSecrets: sequence.secret, sequence.root, deal.root. It leaves the dealt sequence in segment.built.
function checkSecrets (b, games, r) {
  const archives = new Map((b.archives ?? []).map((a) => [sha256(a).toString('hex'), parseArchive(a)]))
  let budget = MAX_REBUILT
  for (const g of games) {
    if (!g.end) {
      for (const id of ['sequence.secret', 'sequence.root', 'deal.root']) r.skip(id, 'the game has not ended', g.game)
      continue
    }
    for (const e of g.ends) {
      const named = e.secret.map(([q]) => q).join(' ')
      r.test(named === g.segments.map((s) => s.assign?.sequence).join(' '), 'sequence.secret', 'the secrets are not those of the segments', g.game)
    }
    for (const s of g.segments) {
      const secret = g.end.secret.find(([q]) => q === s.assign?.sequence)?.[1]
      r.test(!secret || s.commit, 'sequence.secret', 'a secret has no commit to be compared with', g.game)
      if (!secret || !s.commit) {
        for (const id of ['sequence.root', 'deal.root']) r.skip(id, 'a secret or a commit is missing', g.game)
        continue
      }
      const c = s.commit
      const S = unhex(secret)
      r.test(sha256('fairdice/v1 secret\n', S).toString('hex') === c['secret-hash'], 'sequence.secret', 'the secret is not the committed one', g.game)
      const archive = c.mode === 'real' ? archives.get(c.archive) : undefined
      const n = c.rolls[0] + c.rolls[1] + c.rolls[2]
      if (c.mode === 'real' && archive?.length !== n) {
        r.test(false, 'sequence.root', 'the archive is missing, malformed, or of another length', g.game)
        r.skip('deal.root', 'the archive is missing', g.game)
        continue
      }
      if ((budget -= 2 * n) < 0) {
        for (const id of ['sequence.root', 'deal.root']) r.skip(id, 'the file asks for too many rolls to be rebuilt', g.game)
        r.incomplete = true
        continue
      }
      const sealed = build(S, c.sequence, c.mode, c.rolls, '-', archive)
      r.test(sealed.root.toString('hex') === c.root, 'sequence.root', 'the committed root does not follow from the secret', g.game)
      if (!s.deal) continue
      s.built = s.deal.cut === '-' ? sealed : build(S, c.sequence, c.mode, c.rolls, s.deal.cut, archive)
      r.test(s.built.root.toString('hex') === s.deal.root, 'deal.root', 'the dealt root does not follow from secret and cut', g.game)
    }
  }
}

// checkLinks: deal.links (§4). The links of a player form one chain; where a deal stands between the throws of a live game
// the chain itself shows, since only one link hashes to the one before.
function checkLinks (b, games, r) {
  const { open } = b
  const live = open.mode === 'live'
  const ok = (cond, detail, game) => r.test(cond, 'deal.links', detail, game)
  const orders = [0, 1].map((seat) => {
    const key = ['link-a', 'link-b'][seat]
    const player = open[['anchor-a', 'anchor-b'][seat]]
    let [last, missing] = [player?.anchor, 0]
    const order = []
    for (const g of games) {
      const deals = g.segments.map((s) => s.deal).filter(Boolean)
      const throws = g.receipts.filter((x) => x.links)
      const undealtLink = g.abort?.[key]
      ok(!undealtLink || undealt(g), 'an abort carries a link, but every segment was dealt', g.game)
      if (!player) {
        ok(!undealtLink && deals.every((d) => !d[key]), `${key} of a player without an anchor`, g.game)
        continue
      }
      const next = (link) => {
        let v = linkBefore(link)
        for (let spent = 0; ; spent++, v = linkBefore(v)) {
          if (v === last) break
          if (spent === missing) return false
        }
        [last, missing] = [link, 0]
        return true
      }
      let [d, t] = [0, 0]
      while (d < deals.length || t < throws.length) {
        const deal = deals[d]
        const roll = throws[t]
        if (deal && !deal[key]) { ok(false, `${key} is missing in a deal`, g.game); d++; continue }
        const dealDue = !roll || (deal && roll.segment >= deal.segment)
        if (deal && next(deal[key])) { order.push(`deal ${g.game} ${deal.segment}`); d++; continue }
        if (!dealDue && next(roll.links[seat])) { order.push(`roll ${g.game} ${place(roll)}`); t++; continue }
        ok(false, `${key}: a link does not follow from the one before`, g.game)
        break
      }
      if (undealtLink) ok(next(undealtLink), `${key} of the abort does not follow from the one before`, g.game)
      const mayMiss = (g.close && undealt(g)) || (live && g.end && !(g.abort && undealt(g)))
      if (mayMiss) missing++
    }
    return player ? order.join() : undefined
  })
  for (const g of games) ok(g.receipts.every((x) => Boolean(x.links) === live), 'receipts have links exactly in mode live', g.game)
  if (live && !r.failed('deal.links')) ok(orders[0] === orders[1], 'the links of the players were used in different orders')
  if (orders.every((o) => o === undefined) && !r.failed('deal.links')) {
    r.list.get('deal.links').passed = false
    r.skip('deal.links', 'no player has an anchor')
  }
}

// checkBeacon: of deal.beacon everything but the BLS signature itself.
function checkBeacon (b, games, r) {
  const declared = b.open.beacon === 'quicknet'
  const ok = (cond, detail, game) => { if (!cond) r.fail('deal.beacon', detail, game) }
  for (const g of games) {
    if (g.abort) ok(!g.abort.signature || (declared && undealt(g)), 'the abort carries a signature that was not due', g.game)
    for (const { assign, deal } of g.segments) {
      const round = assign?.round
      ok(!assign || (round !== undefined) === declared, 'a round is there exactly if the beacon is declared', g.game)
      ok(!deal || Boolean(deal.signature) === declared, 'a signature is there exactly if the beacon is declared', g.game)
      if (round === undefined) continue
      ok(round >= 1 && roundTime(round) >= assign.time.at + QUICKNET.lead, 'the round comes less than 15 s after the assign', g.game)
      const carrier = deal ?? (g.abort?.signature ? g.abort : undefined)
      ok(!carrier || carrier.time.at >= roundTime(round), `the ${carrier?.type} is dated before its round`, g.game)
    }
  }
  r.skip('deal.beacon', declared ? 'not checked here: the BLS signatures of quicknet' : 'the match has no beacon')
}

// checkRolls: rolls.opening and rolls.order.
function checkRolls (b, g, r) {
  const { game } = g
  const open = (cond, detail) => r.test(cond, 'rolls.opening', detail, game)
  const openings = new Map(g.openings.map((o) => [place(o), o]))
  for (const x of g.receipts) {
    const s = g.segments[x.segment - 1]
    const stream = STREAMS.indexOf(x.stream)
    const o = openings.get(place(x))
    if (!s?.commit || !s.deal) { r.skip('rolls.opening', `segment ${x.segment} was not dealt`, game); continue }
    if (!open(o, `no opening of ${place(x)}`)) continue
    const n = s.commit.rolls
    const leaf = x.index + n.slice(0, stream).reduce((p, q) => p + q, 0)
    const data = Buffer.concat([unhex(o.key), Buffer.from(b.open.mode === 'live' ? [0, 0] : x.dice)])
    open(o.key === x.key, `the key of ${place(x)} is not that of the receipt`)
    open(x.index < n[stream] && included(leafHash(data), leaf, n[0] + n[1] + n[2], o.path, unhex(s.deal.root)), `${place(x)} does not open the dealt root`)
    if (b.open.mode === 'live' && x.links) {
      open(String(liveDice(unhex(x.key), ...x.links)) === String(x.dice), `the dice of ${place(x)} do not follow from key and links`)
    }
  }
  const drawn = new Set(g.receipts.map(place))
  for (const o of g.openings) open(drawn.has(place(o)), `${place(o)} was opened, but never served`)

  const order = (cond, detail) => r.test(cond, 'rolls.order', detail, game)
  const due = Object.fromEntries(STREAMS.map((s) => [s, { segment: 1, index: 0, count: 0 }]))
  for (const x of g.receipts) {
    const d = due[x.stream]
    const length = g.segments[d.segment - 1]?.commit?.rolls[STREAMS.indexOf(x.stream)]
    if (d.index === length) Object.assign(d, { segment: d.segment + 1, index: 0 })
    order(x.segment === d.segment && x.index === d.index, `${place(x)} was drawn where ${d.segment} ${x.stream} ${d.index} was due`)
    Object.assign(d, { segment: x.segment, index: x.index + 1, count: d.count + 1 })
  }
  if (g.end) order(String(g.end.rolls) === String(STREAMS.map((s) => due[s].count)), 'the log counts other rolls than there are receipts')
  if (g.close) order(g.receipts.length > 0 || undealt(g), 'a closed game without a roll')
  order(b.games.some((x) => x.receipts.length > 0), 'the bundle has no roll at all')
}

// checkReceipts: receipts.signature and receipts.chain.
function checkReceipts (b, g, r) {
  const key = b.open['receipt-key']
  r.test(key.name === `${b.log.origin}/receipts`, 'receipts.signature', 'the receipt key is not named after the log', g.game)
  const chain = (cond, detail) => r.test(cond, 'receipts.chain', detail, g.game)
  let previous = '-'
  g.receipts.forEach((x, i) => {
    r.test(isSigned(x.note, key), 'receipts.signature', `receipt ${i + 1} is not signed with the receipt key`, g.game)
    chain(x.match === b.open.match && x.game === g.game, `receipt ${i + 1} is of another match or game`)
    const s = g.segments[x.segment - 1]
    if (chain(s?.commit && s.deal, `receipt ${i + 1} is of a segment that was not dealt`)) {
      chain(x.sequence === s.assign.sequence, `receipt ${i + 1} names another sequence than its segment`)
    }
    chain(x.previous === previous, `receipt ${i + 1} does not follow the one before`)
    previous = x.hash
  })
  if (g.end) chain(g.end.receipt === previous, 'the log names another last receipt')
}

// checkRecord: record.head and record.rolls.
function checkRecord (b, g, r) {
  const { open } = b
  const { record, game } = g
  const { events, heads } = record
  const head = (cond, detail, line) => r.test(cond, 'record.head', detail, game, line)
  head(record.match === open.match && record.game === game && record.variant === open.variant && record.options === open.options,
    'the header of the record is not that of this game')
  const scores = b.statements.filter((s) => s.type === 'close' && s.game < game).sort((x, y) => x.game - y.game)
  head(record.score === (scores.at(-1)?.score ?? [0, 0]).join(' '), 'the header names another score')
  if (g.end) head(g.end.record[0] === events.length && g.end.record[1] === heads.at(-1), 'the log names another record')

  const lines = events.map((e, i) => ({ ...e, place: i })).filter((e) => e.stream)
  const refereed = open.profile === 'refereed'
  g.receipts.forEach((x, i) => {
    const at = refereed ? lines[i]?.place : 0
    head(at !== undefined && x.record[0] === at && x.record[1] === heads[at], `receipt ${i + 1} names another place in the record`)
  })

  const same = (cond, detail, line) => r.test(cond, 'record.rolls', detail, game, line)
  if (!refereed && !g.close && events.length === 0) r.skip('record.rolls', 'the platform has not uploaded a record', game)
  else {
    same(lines.length === g.receipts.length, `${lines.length} rolls in the record, ${g.receipts.length} receipts`)
    lines.forEach((e, i) => {
      const x = g.receipts[i]
      same(x && x.stream === e.stream && String(x.dice) === String(e.dice), `"${e.line}" is not what receipt ${i + 1} says`, e.place + 1)
    })
  }
  g.receipts.forEach((x, i) => {
    const built = g.segments[x.segment - 1]?.built
    const stream = STREAMS.indexOf(x.stream)
    if (!built || x.index >= built.dice[stream].length) return
    const dice = open.mode === 'live' && x.links ? liveDice(built.keys[stream][x.index], ...x.links) : built.dice[stream][x.index]
    if (String(dice) !== String(x.dice)) r.fail('record.rolls', `receipt ${i + 1} has other dice than were dealt`, game)
  })
}

// checkLaw: mode.law, on the dice served.
function checkLaw (b, g, r) {
  const { mode } = b.open
  for (const s of g.segments) {
    if (!s.built) { if (s.deal) r.skip('mode.law', 'the dice could not be rebuilt', g.game); continue }
    const served = { a: [], b: [] }
    for (const x of g.receipts) if (x.stream in served && g.segments[x.segment - 1] === s) served[x.stream][x.index] = x.dice
    const ok = (cond, detail) => r.test(cond, 'mode.law', detail, g.game)
    r.pass('mode.law') // in random, real and live the law is recomputation: rolls.opening, deal.root
    if (mode in DECKS) {
      const N = 36 * DECKS[mode]
      for (const stream of ['a', 'b']) {
        const counts = new Map() // block and pair → times; a full block of N holds every pair as often as allowed iff none is too often
        served[stream].forEach((d, i) => {
          const k = `${half((i + s.built.deck[stream]) / (N / 2))} ${d}`
          counts.set(k, (counts.get(k) ?? 0) + 1)
        })
        ok([...counts.values()].every((n) => n <= DECKS[mode]), `stream ${stream}: a pair is there too often in a block`)
      }
    }
    const size = { equal: 12, levelled: 6 }[mode]
    if (!size) continue
    const full = (list) => Object.keys(list).length === size
    for (let at = 0; at < Math.max(served.a.length, served.b.length); at += size) {
      const [x, y] = [served.a, served.b].map((l) => l.slice(at, at + size))
      if (!full(x) || !full(y)) continue
      if (mode === 'equal') ok(x.map(String).sort().join() === y.map(String).sort().join(), `block ${at / size}: the players' throws differ`)
      else ok(level6(x, y), `block ${at / size}: pips or doubles differ too much`)
    }
  }
  if (!g.end) r.skip('mode.law', 'the game has not ended', g.game)
}

// checkResult: what of result needs no rules.
function checkResult (b, games, r) {
  const ok = (cond, detail, game) => r.test(cond, 'result', detail, game)
  let score = [0, 0]
  for (const g of games) {
    const last = g.record.events.at(-1)
    if (g.abort) ok(g.record.events.every((e) => e.kind !== 'end'), 'an aborted game has an end line', g.game)
    if (!g.close) { if (!g.end) r.skip('result', 'the game has not ended', g.game); continue }
    const { seat, points, text } = g.close.result
    ok(last?.kind === 'end' && last.line === `end ${text}`, 'the close and the end line of the record differ', g.game)
    score = [score[0] + (seat === 'A' ? points : 0), score[1] + (seat === 'B' ? points : 0)]
    ok(String(score) === String(g.close.score), 'the score is not the sum of the results', g.game)
    score = g.close.score
  }
  for (const f of b.statements.filter((s) => s.type === 'finish')) ok(String(f.score) === String(score), 'the finish has another score than the last game')
  r.skip('result', 'not checked here: whether the end lines follow from the games')
}

function checkRules (b, r, trust) {
  for (const id of ['rules.moves', 'rules.forced', 'cube']) r.skip(id, 'not checked here: needs the rules of the game')
  const [version, h] = b.open.rules
  const known = trust.rules?.get(version)
  if (known) r.test(known.has(h), 'rules.version', `rules version ${version} has another hash`)
  else r.skip('rules.version', `rules version ${version} is not known`)
}

// levelOf: the proof level (§4) and the check of that name.
function levelOf (b, games, r, trust, witnesses) {
  const { open } = b
  const anchors = [open['anchor-a'], open['anchor-b']]
  const self = anchors.every((a) => a?.self)
  const mine = trust.myAnchor && anchors.some((a) => a?.anchor === trust.myAnchor)
  let [level, note] = ['L0', null]
  if (self) [level, note] = [open.mode === 'live' ? 'L3' : 'L2', mine ? 'proved to you' : 'as declared']
  else if (open.beacon === 'quicknet') {
    const all = [b.log, ...b.log.earlier].map((c) => c.checkpoint)
    const inTime = ({ assign }) => assign?.round !== undefined && witnesses.length > 0 && all.some((c) => c.good && c.size > assign.index &&
      c.times.every((t) => t?.some((x) => x <= BigInt(roundTime(assign.round)))))
    const dealt = games.flatMap((g) => g.segments.filter((s) => s.deal))
    if (dealt.length > 0 && dealt.every(inTime)) level = 'L1'
    else note = 'beacon not witnessed'
  }
  if (trust.myAnchor) r.test(mine, 'level', 'neither anchor of the match is yours')
  const needed = r.failures().filter((id) => !JUDGED.includes(id) && id !== 'level')
  r.test(needed.length === 0, 'level', `the level rests on ${needed.join(', ')}`)
  return { level, note: r.failed('level') ? 'not proved' : note }
}

function saysOf (open) {
  const says = []
  for (const seat of ['a', 'b']) {
    const p = open[`anchor-${seat}`]
    if (!p) says.push(`anchor-${seat} missing`)
    else if (!p.self) says.push(`anchor-${seat} custodial`)
  }
  if (open.mode === 'real') says.push('real')
  if (BLOCKS.includes(open.mode)) says.push('blocks')
  if (open.profile === 'dice-only') says.push('dice-only')
  return says
}

// ---------------------------------------------------------------- command line

const EXIT = { verified: 0, failed: 1, incomplete: 2, malformed: 3 }
const SENTENCES = {
  real: 'The throws are the archive\'s word; only their order of use is proved.',
  blocks: 'In this mode the rest of a block can be counted.',
  'dice-only': 'The platform could look ahead, and legal moves could be rewritten by it.'
}

function readFile (path, limit) {
  const fd = openSync(path, 'r')
  try {
    const size = fstatSync(fd).size
    if (size > limit) return Buffer.alloc(limit + 1) // refused by its size
    const data = Buffer.alloc(size)
    let at = 0
    for (let n = 1; n > 0 && at < size; at += n) n = readSync(fd, data, at, size - at, null)
    return data.subarray(0, at)
  } finally {
    closeSync(fd)
  }
}

function parseArguments (args) {
  const out = { witnesses: [], json: false }
  const usage = (what) => refuse(`${what}\nusage: node verify.mjs bundle.json --key VKEY [--my-anchor HEX] [--witness VKEY]… [--rules FILE] [--json]`)
  for (let i = 0; i < args.length; i++) {
    const value = () => args[++i] || usage(`${args[i - 1]} needs a value`)
    switch (args[i]) {
      case '--key': out.key = parseKey(value(), 1).text; break
      case '--witness': out.witnesses.push(parseKey(value(), 4).text); break
      case '--my-anchor': out.myAnchor = hash(value()); break
      case '--rules': out.rules = parseRules(readFile(value(), 1 << 18).toString()); break
      case '--json': out.json = true; break
      default:
        if (args[i].startsWith('-') || out.file) usage(`unknown argument ${args[i]}`)
        out.file = args[i]
    }
  }
  return out.file ? out : usage('no bundle is named')
}

// A rules file has one VERSION HASH a line.
function parseRules (text) {
  const known = new Map()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [version, h] = fields(token, hash)(line)
    if (!known.has(version)) known.set(version, new Set())
    known.get(version).add(h)
  }
  return known
}

function print (report) {
  for (const c of report.checks) {
    const where = c.game ? `game ${c.game}${c.line ? `, line ${c.line}` : ''}: ` : ''
    console.log(`${{ pass: 'pass ', fail: 'FAIL ', unchecked: '-    ' }[c.status]} ${c.id.padEnd(18)} ${c.detail ? where + c.detail : ''}`.trimEnd())
  }
  for (const s of report.says) console.log(SENTENCES[s] ?? `${s}.`)
  const level = report.level ? `  ${report.level}${report.levelNote ? ', ' + report.levelNote : ''}` : ''
  console.log(report.verdict.toUpperCase() + level)
}

function main (args) {
  try {
    const { file, json, ...trust } = parseArguments(args)
    const report = verifyBundle(readFile(file, 64 << 20), trust)
    if (json) console.log(JSON.stringify(report))
    else print(report)
    return EXIT[report.verdict]
  } catch (e) {
    if (!(e instanceof Malformed) && !e.code) throw e
    console.error(`verify.mjs: ${e.message}`)
    return 3
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = main(process.argv.slice(2))

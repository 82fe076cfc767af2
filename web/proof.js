// What a player's program checks with: hashes, Merkle proofs, signed notes and the statements of fairdice, as
// docs/protocol.md §1–§7 has them. WebCrypto is all it needs, so it runs in browsers with Ed25519 (Chromium 137, Firefox
// 129, Safari 17 and later) and in Node 20. Whatever is not exactly as the protocol wants it throws Malformed.

const { subtle } = globalThis.crypto
const utf8 = new TextEncoder()

/** Text that is not what the protocol says it must be. */
export class Malformed extends Error {}
const refuse = (what) => { throw new Malformed(what) }
const clip = (s) => (s.length > 60 ? s.slice(0, 60) + '…' : s)

// ---------------------------------------------------------------- §1 bytes

const MAX = Number.MAX_SAFE_INTEGER // 2^53 − 1
const isInteger = (s) => /^(0|[1-9][0-9]{0,15})$/.test(s) && Number(s) <= MAX
const isHex = (s, size = 32) => typeof s === 'string' && s.length === 2 * size && /^[0-9a-f]*$/.test(s)

export const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')

/** 32 bytes of 64 lower-case hex digits. */
export function unhex (s) {
  if (!isHex(s)) refuse(`${clip(String(s))} is not 64 lower-case hex digits`)
  return Uint8Array.from(s.match(/../g), (b) => parseInt(b, 16))
}

const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i])

function concat (...parts) {
  const list = parts.map((p) => (typeof p === 'string' ? utf8.encode(p) : p))
  const all = new Uint8Array(list.reduce((n, p) => n + p.length, 0))
  let at = 0
  for (const p of list) { all.set(p, at); at += p.length }
  return all
}

export const sha256 = async (...parts) => new Uint8Array(await subtle.digest('SHA-256', concat(...parts)))

// atob forgives white space and loose bits; a signature must not have two spellings.
function base64 (s) {
  let binary
  try { binary = atob(s) } catch { refuse('not base64') }
  if (btoa(binary) !== s) refuse('not canonical base64')
  return Uint8Array.from(binary, (c) => c.charCodeAt(0))
}

/** Seconds since 1970 of a time in the protocol's only form. */
export function seconds (s) {
  const t = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(s) ? Date.parse(s) : NaN
  if (Number.isNaN(t) || new Date(t).toISOString() !== s.replace('Z', '.000Z')) refuse(`${clip(s)} is no time`)
  return t / 1000
}

// ---------------------------------------------------------------- §1 Merkle trees, RFC 9162 §2.1

export const leafHash = (data) => sha256(Uint8Array.of(0), data)
const nodeHash = (l, r) => sha256(Uint8Array.of(1), l, r)
// Sizes of a log pass 2^32, where the bit operators of JavaScript end.
const half = (n) => Math.floor(n / 2)
const odd = (n) => n % 2 === 1

/** Whether leaf index is in the tree of that size and root. The path must have exactly the length that both demand. */
export async function included (leaf, index, size, path, root) {
  if (!(index >= 0 && index < size)) return false
  let [hash, at, last] = [leaf, index, size - 1]
  for (const p of path) {
    if (last === 0) return false
    if (odd(at) || at === last) {
      hash = await nodeHash(p, hash)
      while (!odd(at) && at !== 0) { at = half(at); last = half(last) }
    } else hash = await nodeHash(hash, p)
    at = half(at)
    last = half(last)
  }
  return last === 0 && same(hash, root)
}

/** Whether the second tree begins with the first. From size 0 nothing is proved. */
export async function consistent (size1, root1, size2, root2, proof) {
  if (size1 === 0 || size1 > size2) return false
  if (size1 === size2) return proof.length === 0 && same(root1, root2)
  if (proof.length === 0) return false
  let power = size1
  while (!odd(power)) power = half(power)
  const list = power === 1 ? [root1, ...proof] : proof
  let [fn, sn] = [size1 - 1, size2 - 1]
  while (odd(fn)) { fn = half(fn); sn = half(sn) }
  let [fr, sr] = [list[0], list[0]]
  for (const c of list.slice(1)) {
    if (sn === 0) return false
    if (odd(fn) || fn === sn) {
      fr = await nodeHash(c, fr)
      sr = await nodeHash(c, sr)
      while (!odd(fn) && fn !== 0) { fn = half(fn); sn = half(sn) }
    } else sr = await nodeHash(sr, c)
    fn = half(fn)
    sn = half(sn)
  }
  return sn === 0 && same(fr, root1) && same(sr, root2)
}

// ---------------------------------------------------------------- §1 signed notes, §7 checkpoints

const isName = (s) => /^[!-*,-~]+$/.test(s) // printable, no space, no plus

function splitKey (vkey) {
  const m = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey)
  if (!m || !isName(m[1])) refuse('a verifier key is name+hash+base64')
  const raw = base64(m[3])
  if (raw.length !== 33 || raw[0] !== 1) refuse('the key is not Ed25519 with 32 bytes')
  return { name: m[1], hash: m[2], raw }
}

/** A verifier key of a log or of receipts. */
export async function parseKey (vkey) {
  const { name, hash, raw } = splitKey(vkey)
  if (hex((await sha256(name, '\n', raw)).subarray(0, 4)) !== hash) refuse('the key hash does not fit')
  const key = await subtle.importKey('raw', raw.subarray(1), { name: 'Ed25519' }, false, ['verify'])
  return { name, hash, text: vkey, key }
}

function parseNote (note) {
  if (typeof note !== 'string' || utf8.encode(note).length > 65536) refuse('not a text of at most 64 KiB')
  // eslint-disable-next-line no-control-regex
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
    return { name: m[1], hash: hex(raw.subarray(0, 4)), bytes: raw.subarray(4) }
  })
  return { text: note.slice(0, split + 1), signatures }
}

/** The text of a note, if every line of the key is good and one is there. */
async function openNote (note, key) {
  const { text, signatures } = parseNote(note)
  const lines = signatures.filter((s) => s.name === key.name && s.hash === key.hash)
  if (lines.length === 0) refuse(`not signed by ${key.name}`)
  for (const s of lines) {
    if (s.bytes.length !== 64 || !await subtle.verify('Ed25519', key.key, s.bytes, utf8.encode(text))) refuse(`a signature of ${key.name} is bad`)
  }
  return text
}

/** A checkpoint that the log's key has signed: { origin, size, root }. */
export async function openCheckpoint (note, key) {
  const text = await openNote(note, key)
  const lines = text.split('\n')
  if (lines.length !== 4 || !isName(lines[0]) || !isInteger(lines[1])) refuse('a checkpoint is origin, size, root')
  const root = base64(lines[2])
  if (root.length !== 32) refuse('the root is not 32 bytes')
  if (lines[0] !== key.name) refuse(`origin ${clip(lines[0])} under the key of ${key.name}`)
  return { origin: lines[0], size: Number(lines[1]), root }
}

// ---------------------------------------------------------------- §4, §6 links and what is made of them

/** The link released before this one, or the anchor. Takes and gives bytes. */
export const linkBefore = (link) => sha256('fairdice/v1 link\n', link)

/** The cut of a deal, in hex, "-" without any input. */
export async function cutOf (d) {
  if (!d['link-a'] && !d['link-b'] && !d.signature) return '-'
  const lines = [d.match, d.game, d.segment, d['link-a'] ?? '-', d['link-b'] ?? '-', d.signature ?? '-']
  return hex(await sha256('fairdice/v1 cut\n', lines.map((l) => l + '\n').join('')))
}

/** The dice of a live throw, from the roll key and the links of A and B, all in hex. */
export async function liveDice (key, linkA, linkB) {
  const mac = await subtle.importKey('raw', unhex(key), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  for (let j = 0; ; j++) {
    const block = new Uint8Array(await subtle.sign('HMAC', mac, utf8.encode(`fairdice/v1 live ${linkA} ${linkB} ${j}\n`)))
    const k = block.find((b) => b < 252) // the largest multiple of 36 up to 256
    if (k !== undefined) return [Math.floor((k % 36) / 6) + 1, (k % 6) + 1]
  }
}

// ---------------------------------------------------------------- §3 statements, §5 receipts

export const STREAMS = ['opening', 'a', 'b']
const MODES = ['random', 'balanced', 'twofold', 'triple', 'equal', 'levelled', 'real', 'live']
const LONG = ['long-classic', 'long-sport', 'long-crazy', 'gyulbar', 'crazy-gyulbar', 'khachapuri', 'tbilisi', 'fevga', 'crazy-fevga']
const VARIANTS = [...LONG, 'short', 'nackgammon', 'hyper', 'tavla', 'plakoto']
const OPTIONS = new RegExp('^raise=(none|mars|cube|beaver|jacoby|auto) stake=(win|unborne) ' +
  'series=(single|draw|reverse|(combined|points):([1-9]|1[0-9]|2[0-5])) crawford=(on|off)( head55=(general|off))?$')

// Readers of a line's value: they return what it means or refuse it.
const one = (ok, what) => (v) => (ok(v) ? v : refuse(`${clip(v)} is not ${what}`))
const hash = one((v) => isHex(v), '64 lower-case hex digits')
const id = one((v) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(v), 'a UUIDv7')
const token = one((v) => /^[A-Za-z0-9._-]{1,64}$/.test(v), 'a token')
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
const time = (v) => { seconds(v); return v }
const rolls = fields(number(), number(), number())
const record = fields(number(), hash)
const secret = fields(id, hash)
const inputs = ['link-a?', hash, 'link-b?', hash, 'signature?', one((v) => isHex(v, 48), '96 lower-case hex digits')]
const played = ['rolls', rolls, 'receipt', orDash(hash), 'record', record]
const lengths = (v) => {
  const n = rolls(v)
  if (n.some((x) => x < 1) || n[0] + n[1] + n[2] > 65536) refuse('a stream is empty, or more than 65,536 in all')
  return n
}
const result = (v) => {
  const m = /^(?:draw 0|[AB] ([0-9]+))$/.exec(v) ?? refuse(`${clip(v)} is no result`)
  if (m[1]) number(1)(m[1])
  return v
}
const anchor = (v) => {
  const [h, custody] = fields(hash, among('self', 'custodial'))(v)
  return { hash: h, self: custody === 'self' }
}
const receiptKey = (v) => { splitKey(v); return v }
const game = ['match', id, 'game', number(1)]
const segment = [...game, 'segment', number(1, 30), 'sequence', id]

// The lines of each text in order: ? may be absent, * may come several times.
const TEXTS = {
  commit: ['log', name, 'tenant', token, 'mode', among(...MODES), 'number', number(), 'sequence', id, 'rolls', lengths,
    'secret-hash', hash, 'root', hash, 'archive?', hash, 'time', time],
  open: ['log', name, 'match', id, 'tenant', token, 'variant', among(...VARIANTS), 'rules', fields(token, hash),
    'mode', among(...MODES), 'profile', among('refereed', 'dice-only'), 'options', one((v) => OPTIONS.test(v), 'a list of options'),
    'a', token, 'b', token, 'anchor-a?', anchor, 'anchor-b?', anchor, 'beacon', among('none', 'quicknet'), 'receipt-key', receiptKey, 'time', time],
  assign: [...segment, 'number', number(), 'round?', number(), 'time', time],
  deal: [...segment, ...inputs, 'cut', orDash(hash), 'root', hash, 'time', time],
  close: [...game, ...played, 'result', result, 'score', fields(number(), number()), 'secret*', secret, 'time', time],
  abort: [...game, 'by', among('platform', 'house'), 'reason', token, ...inputs, ...played, 'secret*', secret, 'time', time],
  retire: ['sequence', id, 'reason', token, 'secret', hash, 'time', time],
  finish: ['match', id, 'score', fields(number(), number()), 'reason', among('decided', 'abandoned'), 'time', time],
  roll: [...segment, 'stream', among(...STREAMS), 'index', number(), 'dice', fields(number(1, 6), number(1, 6)),
    'links?', fields(hash, hash), 'key', hash, 'previous', orDash(hash), 'record', record, 'time', time]
}
const STATEMENTS = Object.keys(TEXTS).filter((t) => t !== 'roll')

function parseText (text, types) {
  if (text.length > 4096) refuse('more than 4,096 bytes')
  if (!/^(?:[ -~]*\n)+$/.test(text)) refuse('not lines of printable ASCII, each ended by LF')
  const lines = text.slice(0, -1).split('\n')
  const type = types.find((t) => lines[0] === `fairdice/v1/${t}`) ?? refuse(`${clip(lines[0])} is no text that belongs here`)
  const out = { type }
  let at = 1
  const read = (key, reader, found) => {
    const line = lines[at] ?? ''
    if (!line.startsWith(key + ' ')) return false
    const value = line.slice(key.length + 1)
    if (/^ | $| {2}|^$/.test(value)) refuse(`${type}: ${key}: fields are separated by one space`)
    try { found(reader(value)) } catch (e) { throw e instanceof Malformed ? new Malformed(`${type}: ${key}: ${e.message}`) : e }
    at++
    return true
  }
  const schema = TEXTS[type]
  for (let i = 0; i < schema.length; i += 2) {
    const [key, how] = /^(.*?)([?*]?)$/.exec(schema[i]).slice(1)
    if (how === '*') {
      out[key] = []
      while (read(key, schema[i + 1], (v) => out[key].push(v)));
    } else if (!read(key, schema[i + 1], (v) => { out[key] = v }) && how === '') refuse(`${type}: line ${key} is missing`)
  }
  if (at !== lines.length) refuse(`${type}: ${clip(lines[at])} is a line too many`)
  return out
}

/** A statement of the log: its type and its lines by name. Numbers are numbers, several fields a list. */
export async function parseStatement (text) {
  const s = parseText(text, STATEMENTS)
  if (s.type === 'commit' && ('archive' in s) !== (s.mode === 'real')) refuse('commit: archive belongs to mode real')
  if (s.type !== 'open') return s
  const [a, b] = [s['anchor-a'], s['anchor-b']]
  if (/ head55=/.test(s.options) && !LONG.includes(s.variant)) refuse('open: head55 is an option of the long family')
  if (s.a === s.b) refuse('open: equal players')
  if (a && b && a.hash === b.hash) refuse('open: equal anchors')
  if (s.mode === 'live' && (!a || !b || s.profile !== 'refereed')) refuse('open: live needs both anchors and a referee')
  await parseKey(s['receipt-key'])
  return s
}

/** A receipt that the key, a verifier key, has signed. */
export async function openReceipt (note, vkey) {
  return parseText(await openNote(note, await parseKey(vkey)), ['roll'])
}

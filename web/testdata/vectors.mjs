// Runs proof.js over the known-answer vectors of the protocol and prints what does not come out.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { consistent, cutOf, hex, included, leafHash, linkBefore, liveDice, openCheckpoint, parseKey, parseStatement, unhex } from '../proof.js'

const read = (name) => {
  const data = readFileSync(new URL(`../../commitment/testdata/${name}`, import.meta.url))
  return JSON.parse(name.endsWith('.gz') ? gunzipSync(data) : data)
}
let checked = 0
const ok = (good, what) => { checked++; if (!good) console.log(what) }
const refused = async (f) => { try { await f() } catch (e) { return e.constructor.name === 'Malformed' } return false }

const statements = read('statements.json.gz')
for (const v of statements.valid) {
  const s = await parseStatement(v.text)
  ok(s.type === v.type && hex(await leafHash(v.text)) === v.leaf_hash, `statement ${v.name}`)
}
for (const v of statements.invalid) {
  const r = v.text_repeat
  const text = v.text ?? (r ? r.prefix + r.repeat.repeat(r.times) + r.suffix : Buffer.from(v.hex, 'hex').toString())
  ok(await refused(() => parseStatement(text)), `accepted statement ${v.name}: ${v.reason}`)
}

const log = read('checkpoint.json')
const key = await parseKey(log.keys[0].verifier_key)
const roots = new Map(log.checkpoints.map((c) => [c.size, unhex(c.root)]))
for (const c of log.checkpoints) {
  const got = await openCheckpoint(c.note, key)
  ok(got.size === c.size && hex(got.root) === c.root, `checkpoint of ${c.size}`)
}
for (const v of log.notes_valid) ok((await openCheckpoint(v.note, key)).size === 7, `note ${v.what}`)
for (const v of log.notes_invalid) ok(await refused(() => openCheckpoint(v.note, key)), `accepted note ${v.what}`)
for (const v of log.verifier_keys_invalid) ok(await refused(() => parseKey(v.key)), `accepted key ${v.what}`)
for (const v of log.inclusion) {
  ok(await included(unhex(log.leaf_hashes[v.index]), v.index, v.size, v.path.map(unhex), roots.get(v.size)), `inclusion of ${v.index} in ${v.size}`)
}
for (const v of log.inclusion_invalid) {
  const leaf = await leafHash(Uint8Array.from(Buffer.from(v.text_hex, 'hex')))
  ok(!await included(leaf, v.index, v.size, v.path.map(unhex), v.root ? unhex(v.root) : roots.get(v.size)), `accepted inclusion ${v.what}`)
}
for (const v of log.consistency) {
  ok(await consistent(v.size1, roots.get(v.size1), v.size2, roots.get(v.size2), v.proof.map(unhex)), `consistency of ${v.size1} and ${v.size2}`)
}
for (const v of log.consistency_invalid) {
  ok(!await consistent(v.size1, unhex(v.root1), v.size2, unhex(v.root2), v.proof.map(unhex)), `accepted consistency ${v.what}`)
}

const anchors = read('anchors.json')
for (const c of anchors.chains) {
  let v = unhex(c.last)
  for (let t = c.n; t > 0; t--) {
    if (c.links[t - 1]) ok(hex(v) === c.links[t - 1], `link ${t}`)
    v = await linkBefore(v)
  }
  ok(hex(v) === c.anchor, `anchor ${c.anchor}`)
}
for (const c of anchors.cuts) {
  ok(await cutOf({ ...c, 'link-a': c.link_a, 'link-b': c.link_b }) === c.cut, `cut ${c.cut}`)
}
for (const c of read('live.json').cases) ok(String(await liveDice(c.key, c.link_a, c.link_b)) === String(c.dice), c.what)

console.log(checked)

// Looks at the log for the pages of sequences and of the log: whose signature, whether the log has only grown since this
// browser saw it last, and whether a statement is in it. Everything is computed here from the log's own proofs (proof.js).

import { consistent, hex, included, leafHash, openCheckpoint, parseKey, unhex } from './proof.js'
import { pinned, see, seen } from './pinned.js'

const utf8 = new TextEncoder()

/** The parts of the list that a page has for the words: show(part, outcome) shows one of them. */
export const shower = (list) => (part, outcome) => {
  for (const e of list.querySelectorAll(`[data-part="${part}"]`)) e.hidden = (e.dataset.outcome ?? '') !== (outcome ?? '')
}

export async function ask (url) {
  const answer = await fetch(url, { headers: { Accept: 'application/json' }, cache: 'no-store' })
  if (answer.status >= 500 || answer.status === 429) throw new Unreachable()
  if (!answer.ok) return null
  const body = await answer.json()
  return body.published ?? body
}

class Unreachable extends Error {}

const trying = async (f) => { try { return await f() } catch (e) { if (e instanceof Unreachable) throw e; return null } }

/**
 * Fills the list of outcomes. `url(since)` is an address of the API whose answer has a checkpoint, its consistency with a log
 * of that size (0: none asked for), and, if `index` is given, the statement of that index, whose text must be `text`.
 * Resolves to { key, head } if the log is the one that the browser knows, else to null.
 */
export async function look (list, url, { index, text } = {}) {
  const show = shower(list)
  const done = () => { list.querySelector('[data-part="waiting"]').hidden = true }
  list.hidden = false
  let key
  try {
    const own = pinned()
    const vkey = own?.key ?? list.dataset.key
    key = await parseKey(vkey)
    const ownWord = !own || own.from === 'site'
    show('key', ownWord ? 'site' : 'pass')
  } catch {
    done()
    show('unable')
    return null
  }
  try {
    const before = await trying(() => openCheckpoint(seen(key.text), key))
    // A log that has shrunk refuses to prove that it extends what it was; it is asked again without.
    const answer = (before && await ask(url(before.size))) || await ask(url(0))
    if (!answer) throw new Unreachable()
    const head = await trying(() => openCheckpoint(answer.checkpoint, key))
    show('signature', head ? 'pass' : 'fail')
    if (!head) return null
    if (index !== undefined) {
      const s = answer.statements.find((s) => s.index === index)
      show('inclusion', await trying(async () => s.text === text &&
        await included(await leafHash(utf8.encode(s.text)), index, head.size, s.path.map(unhex), head.root)) ? 'pass' : 'fail')
    }
    if (!before) show('consistency', 'first')
    else {
      const grown = await trying(() => consistent(before.size, before.root, head.size, head.root, (answer.consistency ?? []).map(unhex)))
      show('consistency', grown ? 'pass' : 'fail')
      if (!grown) { // the older one stays: it is the evidence
        forked(list, { key: key.text, seen: seen(key.text), shown: answer.checkpoint, consistency: answer.consistency ?? [] })
        return null
      }
    }
    see(key.text, answer.checkpoint)
    return { key, head }
  } catch {
    show('failed')
    return null
  } finally {
    done()
  }
}

// Two signed checkpoints that do not fit together: whoever has both can show them to anybody.
function forked (list, evidence) {
  const e = list.querySelector('[data-part="fork"]')
  e.hidden = false
  e.querySelector('button').onclick = () => {
    const a = document.createElement('a')
    a.href = URL.createObjectURL(new Blob([JSON.stringify(evidence, null, 2) + '\n'], { type: 'application/json' }))
    a.download = 'two-histories.json'
    a.click()
    setTimeout(() => URL.revokeObjectURL(a.href), 60_000)
  }
}

/** Whether the log of this head contains the log of an older signed checkpoint, by a proof of its own. */
export async function extendsNote ({ key, head }, url, note) {
  const old = await trying(() => openCheckpoint(note, key))
  if (!old || old.size > head.size) return false
  for (let tries = 0; tries < 3; tries++) { // the log may have grown since the head was asked for
    const answer = await ask(url(old.size))
    if (!answer) return false
    const now = await trying(() => openCheckpoint(answer.checkpoint, key))
    if (!now || !await trying(() => consistent(old.size, old.root, now.size, now.root, (answer.consistency ?? []).map(unhex)))) return false
    if (now.size === head.size) return hex(now.root) === hex(head.root)
    const grown = await ask(url(head.size))
    const later = grown && await trying(() => openCheckpoint(grown.checkpoint, key))
    if (!later || !await trying(() => consistent(head.size, head.root, later.size, later.root, (grown.consistency ?? []).map(unhex)))) return false
    head = later
  }
  throw new Unreachable()
}

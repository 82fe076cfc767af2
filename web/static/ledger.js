// Looks at the log for the pages of sequences and of the log: whose signature, whether the log has only grown since this
// browser saw it last, and whether a statement is in it. Everything is computed here from the log's own proofs (proof.js).

import { consistent, included, leafHash, openCheckpoint, parseKey, unhex } from './proof.js'
import { pinned, see, seen } from './pinned.js'

const utf8 = new TextEncoder()

// The parts of the list that a page has for the words.
const shower = (list) => (part, outcome) => {
  for (const e of list.querySelectorAll(`[data-part="${part}"]`)) e.hidden = (e.dataset.outcome ?? '') !== (outcome ?? '')
}

async function ask (url) {
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
    return
  }
  try {
    const before = await trying(() => openCheckpoint(seen(key.text), key))
    // A log that has shrunk refuses to prove that it extends what it was; it is asked again without.
    const answer = (before && await ask(url(before.size))) || await ask(url(0))
    if (!answer) throw new Unreachable()
    const head = await trying(() => openCheckpoint(answer.checkpoint, key))
    show('signature', head ? 'pass' : 'fail')
    if (!head) return
    if (index !== undefined) {
      const s = answer.statements.find((s) => s.index === index)
      show('inclusion', await trying(async () => s.text === text &&
        await included(await leafHash(utf8.encode(s.text)), index, head.size, s.path.map(unhex), head.root)) ? 'pass' : 'fail')
    }
    if (!before) show('consistency', 'first')
    else {
      const grown = await trying(() => consistent(before.size, before.root, head.size, head.root, (answer.consistency ?? []).map(unhex)))
      show('consistency', grown ? 'pass' : 'fail')
      if (!grown) return // the older one is the evidence
    }
    see(key.text, answer.checkpoint)
  } catch {
    show('failed')
  } finally {
    done()
  }
}

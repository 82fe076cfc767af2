// Keeps players' chains in the browser, each under its anchor, as player.js asks of a store: a write is on disk when it is
// done, and fails if another window has changed the chain in between, so that two windows cannot spend one link twice.

const NAME = 'fairdice'
const CHAINS = 'chains'

const asked = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

let database
const opened = () => {
  database ??= (() => {
    const request = indexedDB.open(NAME, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(CHAINS)
    return asked(request)
  })()
  return database
}

const read = async (anchor) => await asked((await opened()).transaction(CHAINS).objectStore(CHAINS).get(anchor)) ?? null

const write = async (anchor, text, previous) => {
  const t = (await opened()).transaction(CHAINS, 'readwrite', { durability: 'strict' })
  const done = new Promise((resolve, reject) => {
    t.oncomplete = resolve
    t.onabort = t.onerror = () => reject(t.error ?? new Error('keep chain: another window has changed it; load the page again'))
  })
  const chains = t.objectStore(CHAINS)
  const found = chains.get(anchor)
  found.onsuccess = () => {
    if ((found.result ?? null) === previous) chains.put(text, anchor)
    else t.abort()
  }
  await done
}

// Whether a text has released what the other one has, and more: what is known to have left must not be forgotten.
const newer = (text, than) => {
  const [more, less] = [text, than].map((t) => JSON.parse(t).released.map((r) => JSON.stringify(r)))
  return more.length > less.length && less.every((r, i) => r === more[i])
}

// The text with the later of both last checkpoints: what was seen once is not forgotten, since a log that goes back is
// known by it.
function remembering (text, found) {
  const [state, old] = [text, found].map((t) => JSON.parse(t))
  const size = (s) => Number(s.checkpoint?.split('\n')[1] ?? 0)
  return size(old) > size(state) ? JSON.stringify({ ...state, checkpoint: old.checkpoint }, null, 2) + '\n' : text
}

export const kept = {
  /** What is kept: [{ anchor, match }]. */
  async list () {
    const chains = (await opened()).transaction(CHAINS).objectStore(CHAINS)
    const [anchors, texts] = await Promise.all([asked(chains.getAllKeys()), asked(chains.getAll())])
    return anchors.map((anchor, i) => ({ anchor, match: JSON.parse(texts[i]).terms.match }))
  },
  /** The store of a chain that is kept. */
  at: (anchor) => ({ get: () => read(anchor), set: (text, previous) => write(anchor, text, previous) }),
  /** Keeps the text of a chain that came from a file. One that is kept already stays, unless the file goes on from there. */
  async add (anchor, text) {
    const found = await read(anchor)
    if (found === null) await write(anchor, text, null)
    else if (newer(text, found)) await write(anchor, remembering(text, found), found)
  },
  /** A store for a chain that is made now and whose anchor is not known yet: what it was given is kept once it has the name. */
  fresh () {
    let first = null
    let store = null
    return {
      get: async () => store ? store.get() : first,
      set: async (text, previous) => { store ? await store.set(text, previous) : first = text },
      async name (anchor) {
        await write(anchor, first, null)
        store = kept.at(anchor)
      }
    }
  }
}

// What this browser remembers of logs: the key that its owner has pinned, the witnesses he trusts, and the last checkpoint that
// was seen of each key. They make a difference only if they outlive the page, so they are in localStorage; where that is
// forbidden or full, they are kept as long as the page is.

const PINNED = 'fairdice-key'
const WATCHERS = 'fairdice-watchers'
const SEEN = 'fairdice-seen '

const unkept = new Map() // what localStorage did not take

const read = (name) => { try { return unkept.get(name) ?? localStorage.getItem(name) } catch { return null } }
const write = (name, text) => {
  unkept.delete(name)
  try { localStorage.setItem(name, text) } catch { unkept.set(name, text) }
}
const remove = (name) => {
  unkept.delete(name)
  try { localStorage.removeItem(name) } catch {}
}

/** The pinned key with where it came from, { key, from }, or null. */
export function pinned () {
  try {
    const p = JSON.parse(read(PINNED))
    return typeof p?.key === 'string' && typeof p.from === 'string' ? p : null
  } catch { return null }
}

/** Pins a verifier key. `from` says where it came from: 'typed', 'policy' or 'site'. An empty key unpins. */
export function pin (key, from) {
  if (key) write(PINNED, JSON.stringify({ key, from }))
  else remove(PINNED)
}

/** The witnesses that the owner trusts, as he wrote them: a policy or keys, one a line; "" if none. */
export const watchers = () => read(WATCHERS) ?? ''

/** Keeps the witnesses that the owner trusts. An empty text forgets them. */
export function watch (text) {
  if (text) write(WATCHERS, text)
  else remove(WATCHERS)
}

/** The last checkpoint seen under a key, a signed note, or null. */
export const seen = (key) => read(SEEN + key)

/** Remembers a checkpoint, which the caller has verified. */
export const see = (key, note) => write(SEEN + key, note)

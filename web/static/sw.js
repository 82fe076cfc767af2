// Keeps the pages that work without a connection, and everything they load. KEPT, one line before this, names them. What the
// API answers is never kept: an old answer would be taken for the state of the log.

const CACHE = 'fairdice-' + KEPT.version

const fill = async () => {
  const cache = await caches.open(CACHE)
  await cache.addAll(KEPT.files)
  await refresh(cache)
}

// The pages in the language that the visitor has now.
const refresh = async (cache) => {
  await Promise.all(KEPT.pages.map(async (page) => {
    const answer = await fetch(page, { credentials: 'same-origin', cache: 'no-cache' })
    if (answer.ok) await cache.put(page, answer)
  }))
}

self.addEventListener('install', (event) => event.waitUntil(fill().then(() => self.skipWaiting())))

self.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith('fairdice-') && name !== CACHE) await caches.delete(name)
  await self.clients.claim()
})()))

self.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== self.location.origin) return
  if (KEPT.files.includes(url.pathname)) event.respondWith(kept(request, url))
  else if (request.mode === 'navigate' && KEPT.pages.includes(url.pathname)) event.respondWith(fresh(event, url))
})

// A file never changes under its address.
const kept = async (request, url) => await (await caches.open(CACHE)).match(url.pathname) ?? fetch(request)

// A page is the newest there is, or the last one that was seen.
const fresh = async (event, url) => {
  const cache = await caches.open(CACHE)
  try {
    const answer = await fetch(event.request)
    if (answer.ok) {
      await cache.put(url.pathname, answer.clone())
      if (url.searchParams.has('lang')) event.waitUntil(refresh(cache))
    }
    return answer
  } catch (failure) {
    const page = await cache.match(url.pathname)
    if (page) return page
    throw failure
  }
}

// A player's duty on a page (docs/protocol.md §4): his chain of links is made and kept here, and a link leaves only after
// player.js has checked what the service says. What is shown stands in the page already; this script says what of it is so.

import { Distrust, NotDue, Outdated, Player, Spent } from './player.js'
import { kept } from './chains.js'
import { pinned } from './pinned.js'

const $ = (id) => document.getElementById(id)
const duty = $('duty')
const show = (e, visible = true) => { e.hidden = !visible }
const parts = [...duty.querySelectorAll('[data-part]')]
const part = (name) => parts.forEach((e) => show(e, e.dataset.part === name))

let player = null
let answers = [] // of the release that goes on: what the service has said, as evidence

const complain = (e, failure) => {
  e.textContent = failure.message
  show(e)
}

const json = async (url) => {
  const answer = await fetch(url, { headers: { Accept: 'application/json' }, cache: 'no-store' })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.detail ?? body.title ?? `${answer.status}`)
  answers.push({ url, answer: body })
  return body
}

const view = (match) => `/v1/matches/${encodeURIComponent(match)}`
// The service is not trusted: what it answers here is checked by the player.
const source = {
  statements: (match, seen) => json(`${view(match)}/statements${seen ? `?since=${seen}` : ''}`),
  match: (match) => json(view(match))
}

// The chain

const passed = (step) => {
  const e = $('steps').querySelector(`[data-step="${step}"]`)
  e.dataset.outcome = 'pass'
  show(e)
}

const use = async (p) => {
  player = p
  $('anchor').textContent = p.anchor
  $('own-key').textContent = p.logKey
  count()
  show($('own-failed'), false)
  show($('own'))
  show($('new'), false)
  show($('match-step'))
  await list()
  $('chains').value = p.anchor
  if (p.match) joined()
  else {
    fillIn()
    show($('terms'))
    show($('joined'), false)
    show($('release-step'), false)
  }
}

const count = () => {
  const { links, of } = player.spent
  const number = new Intl.NumberFormat(document.documentElement.lang)
  $('links').textContent = number.format(links)
  $('of').textContent = number.format(of)
}

const list = async () => {
  const chains = await kept.list()
  for (const o of [...$('chains').options].slice(1)) o.remove()
  for (const { anchor, match } of chains) $('chains').add(new Option(match ? `${match} · ${anchor.slice(0, 12)}…` : `${anchor.slice(0, 12)}…`, anchor))
  show($('kept'), chains.length > 0)
}

const busily = (button, f) => async () => {
  button.disabled = true
  duty.setAttribute('aria-busy', 'true')
  show($('own-failed'), false)
  try {
    await f()
  } catch (failure) {
    complain($('own-failed'), failure)
  } finally {
    duty.removeAttribute('aria-busy')
    button.disabled = false
  }
}

$('make').addEventListener('click', busily($('make'), async () => {
  const store = kept.fresh()
  const p = await Player.create({ store, logKey: $('key').value.trim(), passed })
  navigator.storage?.persist?.().catch(() => {}) // what a browser keeps it may also clear
  await store.name(p.anchor)
  await use(p)
}))

$('restore').addEventListener('change', busily($('restore'), async () => {
  const [file] = $('restore').files
  if (!file) return
  const text = await file.text()
  // The file is read by a player of its own, so that what is no state is never kept.
  const p = await Player.load({ store: { get: async () => text, set: async () => {} } })
  await kept.add(p.anchor, text)
  await use(await Player.load({ store: kept.at(p.anchor), passed }))
}))

const fresh = () => {
  player = null
  $('follow').checked = false
  show($('own'), false)
  show($('match-step'), false)
  show($('release-step'), false)
  show($('new'))
}

$('chains').addEventListener('change', busily($('chains'), async () => {
  const anchor = $('chains').value
  if (anchor) return use(await Player.load({ store: kept.at(anchor), passed }))
  fresh()
}))

$('renew').addEventListener('click', () => {
  $('chains').value = ''
  fresh()
  $('make').focus()
})

$('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(player.anchor).then(() => show($('copied')), () => getSelection().selectAllChildren($('anchor')))
})

const save = (name, text) => {
  const a = document.createElement('a')
  a.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  a.download = name
  a.click()
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000)
}

$('download').addEventListener('click', () => save(`chain-${player.anchor.slice(0, 12)}.json`, player.file))

$('key').addEventListener('input', () => keyIs(false))

const keyIs = (site) => {
  for (const e of $('new').querySelectorAll('[data-key]')) show(e, e.dataset.key === (site ? 'site' : 'pinned'))
}

// The match

// A platform links to this page with the terms in the part of the address that is sent to nobody: #match=…&token=…
const fillIn = () => {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const field = $('terms').elements.namedItem(name)
    if (field && !field.value) field.value = value
  }
}

$('terms').addEventListener('submit', async (event) => {
  event.preventDefault()
  show($('join-failed'), false)
  const terms = Object.fromEntries([...new FormData($('terms'))].map(([name, value]) => [name, value.trim()]))
  try {
    await player.join(terms)
    await list()
    $('chains').value = player.anchor
    joined()
  } catch (failure) {
    complain($('join-failed'), failure)
  }
})

const joined = () => {
  $('match-link').textContent = player.match
  $('match-link').href = `/match/${encodeURIComponent(player.match)}`
  show($('joined'))
  show($('terms'), false)
  show($('release-step'))
  $('follow').checked = false
  part('')
  show($('steps'), false)
}

// The link

// What the service waits for, by its own word: { game, segment } or, for a throw, { game, segment, turn }.
const due = async (match) => {
  const { state, games } = await source.match(match)
  const g = games?.at(-1)
  if (state !== 'open' || !g) return { over: state !== 'open' }
  if (g.state === 'awaiting-links') return { game: g.game, segment: g.segments }
  // Only in mode live does the service say whose links of a throw are here.
  if (g.state === 'playing' && g.links && g.draw) return { game: g.game, segment: g.draw.segment, turn: g.draw.throw }
  return {}
}

const put = async (url, link) => {
  const answer = await fetch(url, { method: 'PUT', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify({ link }) })
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}))
    throw new Error(problem.detail ?? problem.title ?? `${answer.status}`)
  }
}

const turnOf = ({ game, segment, turn }) => [game, segment, turn].filter(Boolean).join(' · ')

let last = '' // what was released last, so that one who follows does not repeat it

const release = async (again) => {
  answers = []
  const p = player // another chain may be chosen meanwhile
  const next = await due(p.match)
  if (next.over) return part('over')
  if (!next.game) return part('waiting')
  const { game, segment, turn } = next
  const now = `${p.match} ${turnOf(next)}`
  if (p !== player || (!again && now === last)) return
  for (const e of $('steps').children) {
    show(e, false)
    delete e.dataset.outcome
    show(e.querySelector('[data-state=pass]'))
    show(e.querySelector('[data-state=fail]'), false)
  }
  part('')
  show($('steps'))
  $('due-game').textContent = turnOf(next)
  show($('due'))
  const { seat, link } = turn ? await p.releaseThrow(source, game, segment, turn) : await p.release(source, game, segment)
  await put(`${view(p.match)}/games/${game}/segments/${segment}/links/${seat}${turn ? `/${turn}` : ''}`, link)
  last = now
  if (p !== player) return
  count()
  $('link').textContent = link
  part('released')
}

// The step at which it was refused: the first one that was not passed.
const refused = (turn) => {
  for (const e of $('steps').children) {
    const { step } = e.dataset
    if (!e.hidden || step === 'first' || step === (turn ? 'assign' : 'deal')) continue
    if (step === 'consistency' && !$('steps').querySelector('[data-step=first]').hidden) continue
    e.dataset.outcome = 'fail'
    show(e.querySelector('[data-state=pass]'), false)
    show(e.querySelector('[data-state=fail]'))
    return show(e)
  }
}

let failure = null

const told = (e) => {
  failure = e
  show($('why'), false)
  if (e instanceof Distrust) {
    refused(answers.some(({ answer }) => answer.games?.at(-1)?.state === 'playing'))
    for (const p of duty.querySelectorAll('[data-check]')) show(p, p.dataset.check === e.check)
    $('reason').textContent = e.message
    part('refused')
    $('follow').checked = false
  } else if (e instanceof NotDue) part('waiting')
  else if (e instanceof Spent) part('spent')
  else {
    part(e instanceof Outdated ? 'outdated' : 'failed')
    if (e instanceof Outdated) $('follow').checked = false
    $('why').textContent = e.message
    show($('why'))
  }
}

const tried = async (again) => {
  $('release').disabled = true
  duty.setAttribute('aria-busy', 'true')
  try {
    await release(again)
    show($('why'), false)
  } catch (e) {
    told(e)
  } finally {
    duty.removeAttribute('aria-busy')
    $('release').disabled = false
  }
}

$('release').addEventListener('click', () => tried(true))

const EVERY = 2000 // milliseconds between two looks at what is due

let following = false
$('follow').addEventListener('change', async () => {
  if (following) return
  following = true
  while ($('follow').checked) {
    await tried(false)
    await new Promise((resolve) => setTimeout(resolve, EVERY))
  }
  following = false
})

$('evidence').addEventListener('click', () => save(`refused-${player.match}.json`, JSON.stringify({
  match: player.match, check: failure.check, reason: failure.message, key: player.logKey, anchor: player.anchor, seen: player.checkpoint, answers
}, null, 2) + '\n'))

// The beginning

const own = pinned()
$('key').value = own?.key ?? duty.dataset.key
keyIs(!own || own.from === 'site')
try {
  await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify'])
  await list()
  show(duty)
  fillIn()
} catch {
  show($('unable'))
}

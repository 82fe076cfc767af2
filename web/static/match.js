// The page of a match. Once a game has ended its file is checked here and played back; while the match is played, whoever has
// the view token follows the service's feed, which proves nothing until then.

import { open } from './verifier.js'
import { pinned } from './pinned.js'
import { proofs, Replay } from './replay.js'

const root = document.getElementById('match')
const $ = (selector) => root.querySelector(selector)
const data = root.dataset
const lang = document.documentElement.lang
const replay = new Replay($('.replay'))
const show = (part, shown = true) => { $(`[data-part="${part}"]`).hidden = !shown }

function unable (error) {
  $('[data-part="why"]').textContent = error.message
  show('unable')
}

let loading = null
function load () {
  if (!data.module) return Promise.reject(new Error('the service was built without the verifier'))
  return loading ??= open({ module: data.module, size: Number(data.size), sha256: data.sha256 })
}

let watched = null // the feed that is followed

async function check () {
  const section = $('#checked')
  section.hidden = false
  try {
    const [v, answer] = await Promise.all([load(), fetch(data.bundle, { headers: { Accept: 'application/json' } })])
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const own = pinned()
    const key = own?.key ?? data.key
    await v.bundle(bytes, { key })
    const words = await v.words(lang)
    const report = $('.report')
    report.classList.add({ verified: 'good', failed: 'bad', malformed: 'bad' }[words.verdict] ?? 'warning')
    report.querySelector('.verdict').textContent = words.title
    report.querySelector('.sentences').replaceChildren(...words.sentences.map((s) => Object.assign(document.createElement('p'), { textContent: s })))
    report.querySelector('.trust').hidden = false
    report.querySelector(`[data-from="${own?.from ?? 'site'}"]`).hidden = false
    report.querySelector('[data-part="key"]').textContent = key
    report.querySelector('.checks').hidden = false
    report.querySelector('.outcomes').replaceChildren(...words.checks.map((c) => {
      const item = Object.assign(document.createElement('li'), { textContent: c.words })
      item.dataset.outcome = c.status
      return item
    }))
    if (watched) return // the game that is played now is what the visitor looks at
    const games = await v.games(bytes, { lang })
    if (!watched) replay.games(v, games, proofs(JSON.parse(new TextDecoder().decode(bytes)), words))
  } catch (error) {
    section.hidden = true
    unable(error)
  }
}

const tell = (score) => { document.getElementById('score').textContent = score.join(' : ') }

// A Live is what the feed has told so far: for every game its lines, as a record without header, and which were aborted. What
// a game starts from follows from how those before it ended.
class Live {
  #games = new Map()
  #aborted = new Set()
  #receipts = new Map()
  #drawing = null
  #again = false
  #source

  constructor (token) {
    const source = this.#source = new EventSource(`${data.feed}?view=${encodeURIComponent(token)}`)
    const on = (name, f) => source.addEventListener(name, (e) => f(JSON.parse(e.data)))
    source.addEventListener('open', () => {
      $('#watch').hidden = true
      $('#live').hidden = false
      show('lost', false)
      show('refused', false)
    })
    source.addEventListener('error', () => {
      // A refusal ends the source; a connection that broke is made again by the browser.
      const refused = source.readyState === EventSource.CLOSED
      show('refused', refused)
      show('lost', !refused)
      if (refused) $('#watch').hidden = false
    })
    on('match', (m) => tell(m.score))
    on('statement', (s) => { if (s.type === 'abort') this.#aborted.add(Number(s.text.match(/^game (\d+)$/m)[1])) })
    on('line', (l) => {
      if (!this.#games.has(l.game)) this.#games.set(l.game, [])
      this.#games.get(l.game)[l.line - 1] = l.text
      if (l.receipt) this.#receipts.set(`${l.game} ${l.line}`, l.receipt)
      this.#draw()
    })
    on('end', (e) => {
      source.close()
      tell(e.score)
      $('#live').hidden = true
      show('over')
    })
  }

  close () {
    this.#source.close()
  }

  // One drawing at a time; what comes meanwhile is in the next.
  async #draw () {
    this.#again = true
    if (this.#drawing) return
    this.#drawing = true
    try {
      const v = await load()
      while (this.#again) {
        this.#again = false
        const number = Math.max(...this.#games.keys())
        const record = new TextEncoder().encode(this.#games.get(number).join('\n') + '\n')
        const before = Array.from({ length: number - 1 }, (_, i) => this.#aborted.has(i + 1) ? '' : this.#games.get(i + 1)?.at(-1) ?? '')
        const { games } = await v.games(record, { lang, variant: data.variant, options: data.options, before })
        for (const g of games) if (g.after && !this.#aborted.has(number)) tell(g.after)
        replay.games(v, { games }, (g, s) => {
          const receipt = this.#receipts.get(`${g.game} ${s.line}`)
          return receipt ? { checks: [], receipt, opening: '' } : null
        }, true)
      }
    } catch (error) {
      unable(error)
    } finally {
      this.#drawing = null
    }
  }
}

function watch (token) {
  watched?.close()
  watched = new Live(token)
}

if (data.bundle) check()
if (data.feed) {
  // The token stands behind the # of a link, which no browser sends to a server on its own.
  const token = new URLSearchParams(location.hash.slice(1)).get('view')
  const form = $('#watch')
  form.hidden = false
  form.addEventListener('submit', (e) => {
    e.preventDefault()
    watch($('#token').value.trim())
  })
  if (token) watch(token)
}

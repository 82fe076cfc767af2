// The page on which a visitor checks files: the verifier runs here, in a worker, and no file leaves the browser, unless the
// verifier is missing and the visitor asks for the server's answer.

import { limits, open } from './verifier.js'
import { pin, pinned } from './pinned.js'
import { fill, picture, proofs, Replay } from './replay.js'

const $ = (id) => document.getElementById(id)
const lang = document.documentElement.lang
const form = $('check')
const words = $('words')
const word = (id) => words.content.getElementById(id)
const copy = (id) => $(id).content.firstElementChild.cloneNode(true)
const element = (name, textContent, attributes = {}) => Object.assign(document.createElement(name), { textContent }, attributes)
const PICTURED = 20 // faults of a file that are shown with their boards; the others stand folded
// Where something is: what is 0 is not known.
const place = (game, line) => game && line ? fill(words.dataset.place, game, line) : game ? fill(words.dataset.game, game) : line ? fill(words.dataset.line, line) : ''
const serverLimit = 8 << 20 // of POST /v1/verify

let verifier = null
let loading = null
let files = []
let round = 0 // a newer one ends the older
let policy = null

// The module is loaded when the first file is there, or when the page has nothing else to do.
function load () {
  const { module, size, sha256 } = form.dataset
  if (!module) return Promise.resolve(null)
  const progress = (done, total) => { $('work').querySelector('progress').value = done / total }
  loading ??= open({ module, size: Number(size), sha256, progress, checking: progress })
    .then((v) => {
      $('seen').textContent = v.sha256 || sha256
      $('missing').hidden = true
      return v
    }, (error) => {
      loading = null
      $('missing').hidden = false
      $('missing').querySelector('[data-part="why"]').textContent = error.message
      return null
    })
  return loading
}

// Whom the visitor trusts.

function showTrust () {
  const own = pinned()
  $('origin').textContent = own ? $('origin').dataset[own.from] ?? '' : ''
  $('key').value = own?.key ?? ''
  $('forget').hidden = !own
  form.elements.trust.value = own ? 'pinned' : 'site'
}

function trust () {
  const anchor = $('anchor').value.trim() || undefined
  const own = pinned()
  switch (form.elements.trust.value) {
    case 'pinned': return { options: { key: $('key').value.trim(), myAnchor: anchor }, from: own?.key === $('key').value.trim() ? own.from : 'typed', key: $('key').value.trim() }
    case 'policy':
      if (!policy) throw new Error(words.dataset.policy)
      return { options: { policy, myAnchor: anchor }, from: 'policy', key: logOf(policy) }
    case 'site': return { options: { key: form.dataset.key, myAnchor: anchor }, from: 'site', key: form.dataset.key }
  }
  return { options: { myAnchor: anchor }, from: 'none', key: '' }
}

// The key that a C2SP tlog-policy names in its line "log".
const logOf = (text) => text.match(/^log[ \t]+(\S+)/m)?.[1] ?? ''

$('key').addEventListener('change', () => {
  const key = $('key').value.trim()
  pin(key, 'typed')
  showTrust()
})
$('key').addEventListener('focus', () => { form.elements.trust.value = 'pinned' })
$('forget').addEventListener('click', () => {
  pin('')
  showTrust()
})
$('policy').addEventListener('change', async () => {
  const file = $('policy').files[0]
  policy = file && file.size <= 1 << 20 ? await file.text() : null
  if (!policy) return
  if (logOf(policy)) pin(logOf(policy), 'policy')
  showTrust()
  form.elements.trust.value = 'policy'
})

// Files come by the field or by being dropped anywhere on the page.

$('files').addEventListener('change', () => take($('files').files))
for (const kind of ['dragenter', 'dragover']) {
  document.addEventListener(kind, (e) => {
    if (!e.dataTransfer?.types.includes('Files')) return
    e.preventDefault()
    document.body.classList.add('dropping')
  })
}
for (const kind of ['dragleave', 'drop']) document.addEventListener(kind, (e) => { if (kind === 'drop' || !e.relatedTarget) document.body.classList.remove('dropping') })
document.addEventListener('drop', (e) => {
  if (!e.dataTransfer?.files.length) return
  e.preventDefault()
  take(e.dataTransfer.files)
})
form.addEventListener('submit', (e) => {
  e.preventDefault()
  run()
})
$('server').addEventListener('change', () => run())
$('stop').addEventListener('click', () => {
  round++
  verifier?.stop()
  $('work').hidden = true
})

function take (list) {
  files = Array.from(list)
  $('again').disabled = files.length === 0
  run()
}

function busy (part, name) {
  $('work').hidden = false
  const bar = $('work').querySelector('progress')
  if (part === 'checking') bar.removeAttribute('value')
  for (const p of ['loading', 'checking']) $('work').querySelector(`[data-part="${p}"]`).hidden = p !== part
  $('work').querySelector('[data-part="file"]').textContent = name
}

async function run () {
  if (!files.length) return
  const mine = ++round
  verifier?.stop()
  $('reports').replaceChildren()
  busy('loading', '')
  const v = await load()
  if (mine !== round) return
  verifier = v
  if (!v && !$('server').checked) {
    $('work').hidden = true
    $('missing').scrollIntoView({ block: 'nearest' })
    return
  }
  for (const file of files) {
    busy('checking', file.name)
    const report = new Report(file, copy('report'))
    $('reports').append(report.root)
    try {
      report.trust = trust()
      if (v) await report.check(v)
      else await report.ask()
    } catch (error) {
      report.fail(error)
    }
    if (mine !== round) return
  }
  $('work').hidden = true
  $('reports').firstElementChild?.querySelector('h2').focus()
}

// A Report is what is shown of one file.
class Report {
  #part = (selector) => this.root.querySelector(selector)
  #words = null
  #json = ''
  #bundle = false

  constructor (file, root) {
    this.file = file
    this.root = root
    this.#part('.file').textContent = file.name
    this.#part('.file').tabIndex = -1
    for (const [name, f] of [['json', () => this.#save('.report.json', 'application/json', this.#json)], ['html', () => this.#page()], ['replay', () => this.#replay()]]) {
      this.#part(`[data-do="${name}"]`).addEventListener('click', f)
    }
  }

  // bytes reads the file. Reading takes its time: what was stopped or replaced meanwhile must not reach the verifier, whose last
  // report is that of another file by then.
  async #bytes () {
    const mine = round
    const bytes = new Uint8Array(await this.file.arrayBuffer())
    if (mine !== round) throw new Error('stopped')
    return bytes
  }

  // read answers the bytes, if they are not too many for the verifier.
  async #read (limit) {
    if (this.file.size === 0) throw new Error(words.dataset.empty)
    const megabytes = (n) => Math.ceil(n / (1 << 20))
    if (this.file.size > limit) throw new Error(fill(words.dataset.tooLarge, megabytes(this.file.size), megabytes(limit)))
    const bytes = await this.#bytes()
    this.#bundle = /^[ \t\r\n]*\{/.test(new TextDecoder().decode(bytes.subarray(0, 1024)))
    return bytes
  }

  #terms () {
    return { variant: $('variant').value || undefined, options: $('options').value.trim() || undefined }
  }

  async check (v) {
    const bytes = await this.#read(Math.max(limits.bundle, limits.record))
    this.#part('.trust').hidden = !this.#bundle
    if (this.#bundle) await v.bundle(bytes, this.trust.options)
    else await v.record(this.file.name, bytes, this.#terms())
    this.#json = v.last
    this.#words = await v.words(lang)
    this.#show(this.#words)
    for (const name of ['json', 'html']) this.#part(`[data-do="${name}"]`).hidden = false
    this.#part('[data-do="replay"]').hidden = !this.#words.replay
    for (const [i, f] of this.#places(this.#words).slice(0, PICTURED).entries()) {
      try {
        this.#part('.faults').children[i].querySelector('.board').replaceChildren(picture(await v.line(f.game, f.line, lang)))
      } catch (error) {
        if (error.message === 'stopped') throw error
      } // no game was running there
    }
  }

  // places are where something is wrong: lines that the rules refuse, and those that a check of something else names.
  #places (w) {
    const refused = new Set(w.faults.map((f) => `${f.game} ${f.line}`))
    const others = w.checks.filter((c) => c.status === 'fail' && c.line && !refused.has(`${c.game} ${c.line}`))
      .map((c) => ({ game: c.game, line: c.line, text: '', check: c.id, words: c.words, alternatives: [] }))
    return [...w.faults, ...others].sort((a, b) => a.game - b.game || a.line - b.line)
  }

  #show (w) {
    this.root.dataset.verdict = w.verdict
    this.root.classList.add({ verified: 'good', failed: 'bad', malformed: 'bad' }[w.verdict] ?? 'warning')
    this.#part('.verdict').textContent = w.title
    this.#part('.sentences').replaceChildren(...w.sentences.map((s) => element('p', s)))
    this.#part(`[data-from="${this.trust.from}"]`).hidden = false
    this.#part('[data-part="key"]').textContent = this.trust.key
    this.#part('.games').replaceChildren(...w.games.map((g) => element('li', g)))
    this.#part('.notes').replaceChildren(...(w.notes ?? []).map((n) => element('li', n)))
    const faults = this.#places(w).map((f) => {
      const e = copy('fault')
      e.querySelector('h3').textContent = place(f.game, f.line)
      e.querySelector('h3').hidden = !f.game && !f.line
      e.querySelector('.text').textContent = f.text
      e.querySelector('.words').append(f.words, ' ', element('code', f.check))
      e.querySelector('.legal').hidden = !f.alternatives.length
      e.querySelector('.legal ul').replaceChildren(...f.alternatives.map((a) => element('li', a)))
      return e
    })
    this.#part('.faults').replaceChildren(...faults.slice(0, PICTURED))
    if (faults.length > PICTURED) {
      const more = element('details', '')
      more.append(element('summary', fill(words.dataset.more, faults.length - PICTURED)), ...faults.slice(PICTURED))
      this.#part('.faults').append(more)
    }
    if (!w.checks.length) return
    this.#part('.checks').hidden = false
    const order = { fail: 0, unchecked: 1, pass: 2 }
    const rows = [...w.checks].sort((a, b) => order[a.status] - order[b.status])
    this.#part('tbody').replaceChildren(...rows.map((c) => {
      const row = copy('row')
      const [id, answer, where, means] = row.children
      id.textContent = c.id
      answer.firstElementChild.textContent = `${{ pass: '✓', fail: '✕', unchecked: '–' }[c.status]} ${c.state}`
      answer.firstElementChild.classList.add({ pass: 'is-good', fail: 'is-bad' }[c.status] ?? 'is-warning')
      where.textContent = place(c.game, c.line)
      means.firstElementChild.textContent = c.words
      means.lastElementChild.textContent = c.status === 'pass' ? '' : c.detail
      return row
    }))
    const seen = new Map() // the worst answer to each check: one may be asked at every roll
    for (const c of rows) if (!seen.has(c.id)) seen.set(c.id, c.status)
    const count = (s) => [...seen.values()].filter((status) => status === s).length
    this.#part('[data-part="counts"]').textContent = `✓ ${count('pass')} · ✕ ${count('fail')} · – ${count('unchecked')}`
  }

  // ask shows the server's answer, which is its word alone.
  async ask () {
    const bytes = await this.#read(serverLimit)
    const q = new URLSearchParams()
    if (this.#bundle && this.trust.key) q.set('key', this.trust.key)
    for (const [k, v] of Object.entries(this.#bundle ? {} : this.#terms())) if (v) q.set(k, v)
    const answer = await fetch(`/v1/verify?${q}`, { method: 'POST', headers: { Accept: 'application/json' }, body: bytes })
    const body = await answer.json().catch(() => null)
    if (!answer.ok || !body?.verdict) throw new Error(body?.detail ?? words.dataset.unanswered)
    this.#json = JSON.stringify(body, null, 2) + '\n'
    this.#part('.server').hidden = false
    this.#part('.trust').hidden = !this.#bundle
    const of = (id, status) => word(`word-${id}`)?.dataset[status] ?? id
    this.#show({
      verdict: body.verdict,
      title: word(`verdict-${body.verdict}`)?.textContent ?? body.verdict,
      sentences: [],
      games: [],
      checks: (body.checks ?? []).map((c) => ({ game: 0, line: 0, detail: '', ...c, words: of(c.id, c.status), state: word(`status-${c.status}`)?.textContent })),
      faults: (body.faults ?? body.findings ?? []).map((f) => ({ game: f.game, line: f.line, text: f.text ?? f.message ?? '', check: f.check, words: of(f.check, 'fail'), alternatives: f.alternatives ?? f.legal ?? [] })),
    })
    this.#part('[data-do="json"]').hidden = false
  }

  #say (error) {
    const e = this.#part('.error')
    e.hidden = !error
    e.textContent = error?.message === 'stopped' ? words.dataset.stopped : error?.message ?? ''
  }

  fail (error) {
    this.#say(error)
    this.root.classList.add('bad')
    this.#part('.trust').hidden = true
  }

  async #replay () {
    const button = this.#part('[data-do="replay"]')
    button.disabled = true
    this.#say(null)
    const mine = round
    busy('checking', this.file.name)
    try {
      const bytes = await this.#bytes()
      const games = await verifier.games(bytes, this.#bundle ? { lang } : { lang, ...this.#terms() })
      // The verifier holds the games of one file: another replay on the page closes.
      for (const s of $('reports').querySelectorAll('.screen')) s.replaceChildren()
      const root = copy('screen')
      this.#part('.screen').append(root)
      if (games.more) this.#part('.screen').append(element('p', words.dataset.cut, { className: 'small muted' }))
      const replay = new Replay(root)
      replay.games(verifier, games, this.#bundle ? proofs(JSON.parse(new TextDecoder().decode(bytes)), this.#words) : undefined)
      if (this.#words.faults.length) replay.toFault()
      root.focus()
      root.scrollIntoView({ block: 'start' })
    } catch (error) {
      this.#say(error)
    } finally {
      if (mine === round) $('work').hidden = true
      button.disabled = false
    }
  }

  #save (suffix, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }))
    const link = element('a', '', { href: url, download: this.file.name.replace(/\.[a-z]+$/i, '') + suffix })
    link.click()
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  }

  // page makes one file of the report that needs nothing else.
  #page () {
    const report = this.root.cloneNode(true)
    for (const e of report.querySelectorAll('.actions, .screen, [hidden]')) e.remove()
    for (const e of report.querySelectorAll('details')) e.open = true
    // The style is put in as text: made as an element here it would stand under this page's own policy, which refuses it.
    const title = element('title', `fairdice: ${this.file.name}`).outerHTML
    this.#save('.report.html', 'text/html', `<!doctype html>\n<html lang="${lang}">\n<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">${title}<style>${printed}</style></head>\n` +
      `<body>${report.outerHTML}</body>\n</html>\n`)
  }
}

// The style of a report that was saved.
const printed = 'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1b18;background:#fff}' +
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ccc}' +
  '.mono,code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}.verdict{font-size:1.6rem;font-weight:700}' +
  '.is-bad,.fault h3{color:#a3280a}.is-good{color:#00614a}.is-warning{color:#7a4f00}.board svg{max-width:36rem}.muted{color:#56534b}'

showTrust()
form.hidden = false
if (form.dataset.module) {
  if ('requestIdleCallback' in window) requestIdleCallback(() => load())
  else setTimeout(load, 500)
}

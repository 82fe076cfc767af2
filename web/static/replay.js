// Shows the games of a file step by step, in the elements of templates/replay.html. What a step is comes from the verifier
// (verifier.js): the states that its replay went through. A board is drawn once and kept; a step only puts into the page what
// has changed on it (drawing.js).

import { Drawing } from './drawing.js'

export { picture } from './drawing.js'

const SVG = 'http://www.w3.org/2000/svg'
const KEPT = 600 // boards
const LISTED = 400 // lines in the list at a time
const AHEAD = 6 // boards that are drawn before they are needed

/** fill puts arguments into a text of the catalogue. */
export const fill = (text, ...args) => text.replace(/\{(\d)\}/g, (all, n) => args[n] ?? all)

const pips = { 1: [[1, 1]], 2: [[0, 0], [2, 2]], 3: [[0, 0], [1, 1], [2, 2]], 4: [[0, 0], [2, 0], [0, 2], [2, 2]], 5: [[0, 0], [2, 0], [1, 1], [0, 2], [2, 2]], 6: [[0, 0], [2, 0], [0, 1], [2, 1], [0, 2], [2, 2]] }

/** die draws a die with its pips. */
export function die (n) {
  const make = (name, attributes) => {
    const e = document.createElementNS(SVG, name)
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v)
    return e
  }
  const svg = make('svg', { viewBox: '0 0 40 40', class: 'die', role: 'img', 'aria-label': n })
  svg.append(make('rect', { x: 2, y: 2, width: 36, height: 36, rx: 8 }))
  for (const [x, y] of pips[n] ?? []) svg.append(make('circle', { cx: 10 + 10 * x, cy: 10 + 10 * y, r: 3.8 }))
  return svg
}

/**
 * Replay plays games in an element. `verifier` draws the boards of `games`, which it has just opened; `proof(game, step)`
 * answers { checks: [{status, words}], receipt, opening } for a throw, or null.
 */
export class Replay {
  #root
  #parts = {}
  #verifier
  #games = []
  #proof = () => null
  #game = 0
  #step = 0
  #boards = new Map()
  #drawing
  #asked = 0
  #timer = 0
  #first = -1 // of the listed lines

  constructor (root) {
    this.#root = root
    for (const e of root.querySelectorAll('[data-part]')) this.#parts[e.dataset.part] = e
    this.#names = new Map(Array.from(root.querySelectorAll('dl.names dt'), (e) => [e.textContent, e.nextElementSibling.textContent]))
    const p = this.#parts
    this.#drawing = new Drawing(p.board)
    root.addEventListener('click', (e) => {
      const button = e.target.closest('button')
      if (button?.dataset.do) this.#does[button.dataset.do]()
      else if (button?.dataset.step) this.go(Number(button.dataset.step))
    })
    root.addEventListener('keydown', (e) => this.#key(e))
    p.seek.addEventListener('input', () => this.go(p.seek.valueAsNumber))
    p.view.addEventListener('change', () => this.#show())
    p.names.addEventListener('change', () => this.#show())
    p.game.addEventListener('change', () => this.open(Number(p.game.value)))
    p.throw.addEventListener('click', () => {
      this.#prove(p.proof.hidden)
      if (!p.proof.hidden) p.proof.scrollIntoView({ block: 'nearest' })
    })
  }

  #names

  #does = {
    first: () => this.go(0),
    back: () => this.go(this.#step - 1),
    next: () => this.go(this.#step + 1),
    last: () => this.go(this.#steps.length - 1),
    fault: () => this.toFault(),
    play: () => this.#timer ? this.pause() : this.play(),
  }

  // The step whose dice lie on the table: they stay there while they are played.
  get #thrown () {
    const at = this.#steps[this.#step]
    if (!at || at.dice || !/^move /.test(at.text)) return at
    for (let i = this.#step - 1; i >= 0; i--) if (this.#steps[i].dice) return this.#steps[i]
    return at
  }

  get #steps () { return this.#games[this.#game]?.steps ?? [] }

  /** games replaces what is shown; a replay that stood at the end of the same game stays at its end. */
  games (verifier, { games }, proof = () => null, follow = false) {
    const end = this.#step >= this.#steps.length - 1
    const [game, step] = [this.#game, this.#step]
    this.#verifier = verifier
    this.#games = games
    this.#proof = proof
    this.#boards.clear()
    const select = this.#parts.game
    select.replaceChildren(...games.map((g, i) => new Option(fill(select.dataset.text, g.game), i)))
    select.closest('.games').hidden = games.length < 2
    this.#root.hidden = !games.some((g) => g.steps.length)
    if (follow && games[game]) this.open(game, end ? games[game].steps.length - 1 : step)
    else this.open(0)
  }

  /** open shows a game, counted from 0, at a step. */
  open (game, step = 0) {
    this.#game = game
    this.#first = -1
    this.#parts.game.value = game
    this.#parts.seek.max = Math.max(0, this.#steps.length - 1)
    this.#root.querySelector('[data-do="fault"]').hidden = !this.#games.some((g) => g.steps.some((s) => s.fault))
    this.#prove(false)
    this.go(step, true)
  }

  /** go shows a step of the game. */
  go (step, always = false) {
    const to = Math.max(0, Math.min(step, this.#steps.length - 1))
    if (to === this.#step && !always) return
    this.#step = to
    if (to === this.#steps.length - 1) this.pause()
    this.#show()
  }

  /** toFault shows the first step at which the replay refused a line, in this game or else in the others. */
  toFault () {
    this.pause()
    for (const i of [this.#game, ...this.#games.keys()]) {
      const at = this.#games[i].steps.findIndex((s) => s.fault)
      if (at >= 0) return i === this.#game ? this.go(at) : this.open(i, at)
    }
  }

  play () {
    if (this.#step >= this.#steps.length - 1) this.go(0)
    this.#label('pause', true)
    const tick = () => {
      if (!this.#root.isConnected) return this.pause() // the page shows something else
      this.#timer = setTimeout(tick, Number(this.#parts.speed.value))
      this.go(this.#step + 1)
    }
    this.#timer = setTimeout(tick, Number(this.#parts.speed.value))
  }

  pause () {
    if (!this.#timer) return
    clearTimeout(this.#timer)
    this.#timer = 0
    this.#label('play', false)
  }

  #label (_, playing) {
    const b = this.#root.querySelector('[data-do="play"]')
    b.dataset.play ??= b.title
    b.title = playing ? b.dataset.pause : b.dataset.play
    b.setAttribute('aria-label', b.title)
    b.classList.toggle('playing', playing)
  }

  #key (e) {
    if (e.altKey || e.ctrlKey || e.metaKey || e.target.matches('select, input:not([type="range"]), textarea')) return
    const range = e.target.matches('input')
    const does = { ArrowLeft: 'back', ArrowRight: 'next', Home: 'first', End: 'last', ' ': 'play' }[e.key]
    if (!does || (range && does !== 'play') || (does === 'play' && e.target.matches('button'))) return
    e.preventDefault()
    this.#does[does]()
  }

  #show () {
    const [p, game] = [this.#parts, this.#games[this.#game]]
    const s = game?.steps[this.#step]
    if (!s) return
    this.#list() // first: it measures, which is free while nothing else has changed
    p.seek.value = this.#step
    p.seek.setAttribute('aria-valuetext', s.event)
    p.place.textContent = fill(p.place.dataset.text, this.#step + 1, game.steps.length)
    p.event.textContent = s.event
    const dice = this.#thrown.dice
    p.dice.replaceChildren(...(dice ?? []).map(die))
    p.throw.hidden = !dice
    p.name.textContent = dice && p.names.checked ? this.#names.get([...dice].sort((a, b) => b - a).join('-')) ?? '' : ''
    p.handed.hidden = !s.handed
    const series = / series=(points|combined):/.test(game.options ?? '')
    p.score.hidden = !series
    if (series) p.score.textContent = fill(p.score.dataset.text, ...game.score)
    p.crawford.hidden = !game.crawford
    const cube = s.cube && (s.cube.value > 1 || s.cube.owner)
    p.cube.hidden = !cube
    if (cube) p.cube.textContent = fill(p.cube.dataset.text, s.cube.value, s.cube.owner ?? p.cube.dataset.middle)
    p.colours.hidden = !s.white
    if (s.white) p.colours.textContent = fill(p.colours.dataset.text, s.white, s.white === 'A' ? 'B' : 'A')
    p.prime.hidden = !s.primes?.length
    if (s.primes?.length) p.prime.textContent = s.primes.map((r) => fill(p.prime.dataset.text, r.seat, r.from, r.to)).join(' ')
    p.fault.hidden = !s.fault
    if (s.fault) {
      p['fault-words'].textContent = s.fault.message
      p['fault-check'].textContent = s.fault.check
      p['fault-detail'].textContent = s.fault.detail === s.fault.message ? '' : s.fault.detail
      p.legal.hidden = !s.fault.alternatives.length
      p.alternatives.replaceChildren(...s.fault.alternatives.map((text) => Object.assign(document.createElement('li'), { textContent: text })))
    }
    this.#prove(!p.proof.hidden && dice)
    this.#draw()
  }

  // The list holds some lines around the step: a file may have a hundred thousand.
  #list () {
    const steps = this.#steps
    const first = Math.floor(this.#step / LISTED) * LISTED
    const list = this.#parts.lines
    if (first !== this.#first) {
      this.#first = first
      list.start = first + 1
      list.replaceChildren(...steps.slice(first, first + LISTED).map((s, i) => {
        const button = Object.assign(document.createElement('button'), { type: 'button', textContent: s.text || s.event })
        button.dataset.step = first + i
        if (s.fault) button.classList.add('broken')
        const item = document.createElement('li')
        item.append(button)
        return item
      }))
    }
    list.querySelector('[aria-current]')?.removeAttribute('aria-current')
    const at = list.children[this.#step - first]?.firstChild
    at?.setAttribute('aria-current', 'step')
    if (at) list.scrollTop = Math.max(0, at.offsetTop - list.clientHeight / 2)
  }

  async #draw () {
    const asked = ++this.#asked
    const seat = this.#parts.view.value
    const step = this.#step
    try {
      const board = await this.#board(this.#game, step, seat)
      if (asked !== this.#asked) return
      this.#drawing.show(board)
      this.#parts.board.dataset.step = step
    } catch {
      if (asked === this.#asked) this.#drawing.clear() // no game was running there
      return
    }
    const ahead = Math.min(step + (this.#timer ? AHEAD : 1), this.#steps.length - 1)
    for (let next = step + 1; next <= ahead && asked === this.#asked; next++) await this.#board(this.#game, next, seat).catch(() => {})
  }

  async #board (game, step, seat) {
    const [boards, name] = [this.#boards, `${game} ${step} ${seat}`]
    if (!boards.has(name)) {
      if (boards.size >= KEPT) boards.delete(boards.keys().next().value)
      const board = this.#verifier.board(game, step, seat)
      boards.set(name, board)
      board.catch(() => boards.delete(name)) // what was stopped is asked for again
    }
    return boards.get(name)
  }

  #prove (open) {
    const p = this.#parts
    const s = this.#thrown
    p.proof.hidden = !open
    p.throw.setAttribute('aria-expanded', String(Boolean(open)))
    if (!open) return
    const proof = this.#proof(this.#games[this.#game], s)
    p['proof-none'].hidden = Boolean(proof)
    p['proof-checks'].replaceChildren(...(proof?.checks ?? []).map((c) => {
      const item = Object.assign(document.createElement('li'), { textContent: c.words })
      item.dataset.outcome = c.status
      return item
    }))
    p['proof-receipt'].hidden = !proof?.receipt
    p.receipt.textContent = proof?.receipt ?? ''
    p['proof-opening'].hidden = !proof?.opening
    p.opening.textContent = proof?.opening ?? ''
  }
}

/**
 * proofs answers the proof of a throw from a bundle and the verifier's words on it: the receipt that was given with the
 * throw, its opening, and what the checks on them found. The nth throw of a record has the nth receipt (PROTOCOL.md §5).
 */
export function proofs (bundle, words) {
  const about = ['rolls.opening', 'rolls.order', 'record.rolls', 'receipts.signature', 'receipts.chain', 'deal.root', 'mode.law']
  const games = new Map()
  for (const g of bundle.games ?? []) {
    const lines = new Map()
    let line = 0
    let nth = 0
    for (const text of g.record.slice(g.record.indexOf('\n\n') + 2).split('\n')) {
      line++
      if (/^(opening|roll) /.test(text)) lines.set(line, nth++)
    }
    games.set(g.game, { g, lines })
  }
  return (game, step) => {
    const found = games.get(game.game)
    const nth = found?.lines.get(step.line)
    if (nth === undefined) return null
    const receipt = found.g.receipts?.[nth] ?? ''
    const field = (name) => receipt.match(new RegExp(`^${name} (.*)$`, 'm'))?.[1]
    const opening = found.g.openings?.find((o) => String(o.segment) === field('segment') && o.stream === field('stream') && String(o.index) === field('index'))
    return {
      checks: words.checks.filter((c) => about.includes(c.id) && (!c.game || c.game === game.game)),
      receipt,
      opening: opening ? [`segment ${opening.segment}`, `stream ${opening.stream}`, `index ${opening.index}`, `key ${opening.key}`, ...(opening.path ?? [])].join('\n') : '',
    }
  }
}

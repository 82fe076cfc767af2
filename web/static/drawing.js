// Puts into the page what the verifier has drawn.

/** picture makes elements of a drawing; text that is none is refused. */
export function picture (text) {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement
  if (root.nodeName !== 'svg') throw new Error('the board is no picture')
  return document.importNode(root, true)
}

/**
 * Drawing shows one board after the other in a place. Two that follow each other differ in a few checkers, so what is the same
 * stays where it is: a replay at full speed would else have the browser build, style and paint two hundred elements a step.
 */
export class Drawing {
  #place
  #root = null
  #head = '' // how the drawing opens
  #shown = new Map() // its elements by their text

  constructor (place) {
    this.#place = place
  }

  clear () {
    this.#place.replaceChildren()
    this.#root = null
  }

  /** show replaces what is shown. Each element of a drawing begins a line (internal/board/svg.go). */
  show (text) {
    const [head, ...parts] = text.trim().replace(/\s*<\/svg>$/, '').split(/(?<=>)\n(?=<)/)
    if (!this.#root || head !== this.#head) {
      this.#root = picture(`${head}</svg>`)
      this.#head = head
      this.#shown = new Map()
      this.#place.replaceChildren(this.#root)
    }
    const wanted = new Set(parts)
    const fresh = parts.filter((part) => !this.#shown.has(part))
    const made = picture([head, ...fresh, '</svg>'].join('\n')).children
    if (made.length !== fresh.length) throw new Error('the board is drawn in another way than expected')
    const next = new Map(fresh.map((part, i) => [part, made[i]]))
    const order = parts.map((part) => next.get(part) ?? this.#shown.get(part))
    for (const [part, element] of this.#shown) if (!wanted.has(part)) element.remove()
    let at = this.#root.firstElementChild
    for (const element of order) {
      if (element === at) at = at.nextElementSibling
      else this.#root.insertBefore(element, at)
    }
    this.#shown = new Map(parts.map((part, i) => [part, order[i]]))
  }
}

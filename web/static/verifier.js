// The verifier of the page. It runs in a worker, so that a large file does not
// freeze the page, and asks no server: what it needs is the file.
//
//   import { open } from './verifier.js'
//   const v = await open({ progress(done, total) {} })
//   const report = await v.bundle(bytes, { key })
//
// Every method rejects with an Error whose message is meant for people.

const here = import.meta.url

/** Beyond these sizes, in bytes, a file is not even read. */
export const limits = Object.freeze({ bundle: 64 << 20, record: 64 << 20 })

/**
 * open loads the module and answers the verifier. progress(done, total) is told
 * how many of its bytes have arrived, checking(done, total) how many of a record
 * or match file have been checked.
 *
 * module is the module's address; size its length once unpacked, for progress;
 * sha256 what the caller expects it to be: another module is refused before it
 * runs. details is the address of the texts of what is wrong in other languages
 * than English; the module takes those only that it was built with, and without
 * them it says what is wrong in English.
 */
export async function open({ module = new URL('verify.wasm', here).href, size = 0, sha256 = '', details = new URL('details.txt', here).href, progress = () => {}, checking = () => {} } = {}) {
  const v = new Verifier({ module: new URL(module, here).href, size, sha256 }, details, progress, checking)
  await v.ready()
  return v
}

class Verifier {
  /** SHA-256 of the module as it arrived, 64 hex digits; '' where the browser has no WebCrypto. */
  sha256 = ''
  /** The program's version and rules. */
  version = ''
  /** The text of the last report, byte for byte what the command line prints with --json. */
  last = ''

  #source
  #details
  #progress
  #checking
  #worker = null
  #started = null
  #refuse = () => {} // ends the waiting for the module
  #calls = new Map()
  #waiting = 0 // calls, those that wait for the module too
  #next = 1
  #speaks = null // the worker that has the details
  #shown = null // what games() opened, to be opened again in a new worker

  constructor(source, details, progress, checking) {
    this.#source = source
    this.#details = details
    this.#progress = progress
    this.#checking = checking
  }

  /** ready resolves once the module runs. A worker that has died is replaced. */
  ready() {
    this.#started ??= new Promise((resolve, reject) => {
      this.#refuse = reject
      const worker = new Worker(new URL('worker.js', here), { type: 'module' })
      this.#worker = worker
      worker.onmessage = ({ data }) => {
        if (this.#worker !== worker) return
        if (data.progress) return this.#progress(...data.progress)
        if (data.checked) return this.#checking(...data.checked)
        if (data.ready) {
          Object.assign(this, data.ready)
          return resolve()
        }
        if (data.fatal !== undefined) return this.#die(data.fatal)
        const call = this.#calls.get(data.id)
        this.#calls.delete(data.id)
        if (data.error !== undefined) call?.reject(new Error(data.error))
        else call?.resolve(data.value)
      }
      worker.onerror = (event) => {
        if (this.#worker === worker) this.#die(event.message || 'the verifier could not be loaded')
      }
      worker.postMessage(this.#source)
    })
    return this.#started
  }

  #die(message) {
    const error = new Error(message)
    this.#worker?.terminate()
    this.#worker = this.#started = null
    this.#refuse(error)
    for (const call of this.#calls.values()) call.reject(error)
    this.#calls.clear()
  }

  async #call(method, ...args) {
    this.#waiting++
    try {
      await this.ready()
      const id = this.#next++
      return await new Promise((resolve, reject) => {
        this.#calls.set(id, { resolve, reject })
        this.#worker.postMessage({ id, method, args })
      })
    } finally {
      this.#waiting--
    }
  }

  async #speak(lang = 'en') {
    await this.ready()
    if (lang === 'en' || this.#speaks === this.#worker) return
    const worker = this.#worker
    try {
      const answer = await fetch(this.#details)
      if (!answer.ok) return
      await this.#call('details', await answer.text())
      this.#speaks = worker
    } catch {
      // The verdict and the checks are said in the language; what is wrong stays English.
    }
  }

  /** bundle verifies a bundle: options are key or policy (texts), rules, myAnchor, witnesses. */
  async bundle(bytes, options = {}) {
    this.last = await this.#call('bundle', bytes, options)
    return JSON.parse(this.last)
  }

  /** record checks a native record, a .mat or an .sgf file: options are variant, options, rules. */
  async record(name, bytes, options = {}) {
    this.last = await this.#call('record', name, bytes, options)
    return JSON.parse(this.last)
  }

  /** words tells the last report in a language. */
  async words(lang) {
    await this.#speak(lang)
    return JSON.parse(await this.#call('text', lang))
  }

  /** line draws the board at a line of a game of the last report's file, as SVG described in a language; games count from 1. */
  async line(game, line, lang) {
    return this.#call('line', game, line, lang)
  }

  /**
   * cosigned says who has signed a checkpoint, a signed note, under options.key: of the witnesses in options.policy (a text)
   * and options.witnesses (keys). quorum and the status of each line are pass, fail or unchecked.
   */
  async cosigned(note, options) {
    return JSON.parse(await this.#call('cosigned', note, options))
  }

  /**
   * games follows the games of any of these files step by step, the events told in options.lang. A record without header that
   * is not the first game of its match needs options.before: for each game before it the end line, '' if it was aborted.
   */
  async games(bytes, options = {}) {
    await this.#speak(options.lang)
    const text = await this.#call('games', bytes, options)
    this.#shown = { bytes, options, worker: this.#worker }
    return JSON.parse(text)
  }

  /** board draws a step of the games as SVG, seen by seat 'A' or 'B'; game and step count from 0. */
  async board(game, step, seat = 'A') {
    await this.#reopen()
    return this.#call('board', game, step, seat)
  }

  /** describe tells the board of a step in words. */
  async describe(game, step, seat = 'A') {
    await this.#reopen()
    return this.#call('describe', game, step, seat)
  }

  async #reopen() {
    await this.ready()
    if (this.#shown && this.#shown.worker !== this.#worker) await this.games(this.#shown.bytes, this.#shown.options)
  }

  /** stop ends whatever is being computed; the next call begins anew. A verifier that has nothing to do is kept. */
  stop() {
    if (this.#worker && this.#waiting) this.#die('stopped')
  }
}

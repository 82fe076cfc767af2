import { follow } from './feed.js'
import type { FeedEvent, FeedInit, LogEvent } from './feed.js'
import { pauseOf, refusalOf, sleep } from './refusal.js'
import type { components, paths } from './types.gen.js'

/** The shapes of openapi.yaml: `Schemas['Match']`, `Schemas['Roll']` and so on. */
export type Schemas = components['schemas']

type Method = 'get' | 'put' | 'post'

/** The addresses of openapi.yaml that know a method. */
export type Address<M extends Method> = { [P in keyof paths]: paths[P] extends { [m in M]: object } ? P : never }[keyof paths]

type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>
type Part<O, K extends string> = O extends { parameters: { [k in K]: infer X } } ? { [k in K]: X } : O extends { parameters: { [k in K]?: infer X } } ? { [k in K]?: X } : unknown
type Body<O> = O extends { requestBody: { content: infer C } } ? { body: C[keyof C] }
  : O extends { requestBody?: { content: infer C } } ? { body?: C[keyof C] } : unknown

/** What a request needs besides its address: `path`, `query` and `body` as the operation has them. */
export type Init<P extends keyof paths, M extends Method> = Part<Operation<P, M>, 'path'> & Part<Operation<P, M>, 'query'> & Body<Operation<P, M>> & { signal?: AbortSignal }

/** The JSON of the answer, or its text where the answer is no JSON. */
export type Answer<P extends keyof paths, M extends Method> = Operation<P, M> extends { responses: { 200: { content: infer C } } }
  ? C extends { 'application/json': infer J } ? J : string : never

type Loose = { path?: Record<string, unknown>, query?: Record<string, unknown>, body?: unknown, signal?: AbortSignal }

export interface ClientOptions {
  /** API key, which speaks for a tenant. A page has none. */
  key?: string
  /** How often a request is sent in all; 1 never repeats. 8 outlast a restart of the service. */
  attempts?: number
  /** Milliseconds for one attempt; 30,000 if absent. */
  timeout?: number
  /** In place of the global fetch. */
  fetch?: typeof fetch
}

const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2000

/**
 * A client of one service. Every effect is a PUT that may be repeated for ever and gets the same bytes, so a lost answer, a
 * 503 and whatever carries Retry-After is repeated here; every other refusal is thrown as a Refusal.
 */
export class Client {
  readonly base: string
  readonly #options: Required<Omit<ClientOptions, 'key'>> & { key: string }

  /** @param base an http or https URL without query, for example `https://dice.example` */
  constructor (base: string, options: ClientOptions = {}) {
    const url = new URL(base)
    if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) throw new TypeError(`${base} is not of the form http://HOST[:PORT][/PATH]`)
    this.base = url.href.replace(/\/$/, '')
    this.#options = { key: '', attempts: 8, timeout: 30_000, fetch: (...a) => globalThis.fetch(...a), ...options }
  }

  get<P extends Address<'get'>> (address: P, init: Init<P, 'get'>): Promise<Answer<P, 'get'>> { return this.#call('get', address, init) }
  put<P extends Address<'put'>> (address: P, init: Init<P, 'put'>): Promise<Answer<P, 'put'>> { return this.#call('put', address, init) }
  post<P extends Address<'post'>> (address: P, init: Init<P, 'post'>): Promise<Answer<P, 'post'>> { return this.#call('post', address, init) }

  /** The answer of a GET as it came: a bundle to keep, a file of recorded throws. */
  async bytes<P extends Address<'get'>> (address: P, init: Init<P, 'get'>): Promise<Uint8Array> {
    return new Uint8Array((await this.#send('get', address, init)).body)
  }

  /**
   * A match as it is played: its statements, record lines and receipts, from the event behind `last` on. A connection that breaks is
   * made again and goes on without a gap; an event of type match follows each time. Ends after the event of type end.
   */
  watch (match: string, init: FeedInit = {}): AsyncGenerator<FeedEvent, void, undefined> {
    return this.#follow<FeedEvent>(`/v1/matches/${encodeURIComponent(match)}/feed`, init)
  }

  /** The log as it grows: checkpoints, each with the statements it adds. `last` "0.0" begins with the first, none with the newest. */
  watchLog (init: FeedInit = {}): AsyncGenerator<LogEvent, void, undefined> { return this.#follow<LogEvent>('/v1/feed', init) }

  #follow<E> (path: string, init: FeedInit): AsyncGenerator<E, void, undefined> {
    const { fetch, attempts } = this.#options
    return follow<E>({ address: this.base + path, headers: this.#headers(), fetch, attempts, ...init })
  }

  #headers (): Record<string, string> {
    return this.#options.key ? { authorization: `Bearer ${this.#options.key}` } : {}
  }

  async #call<P extends keyof paths, M extends Method> (method: M, address: P, init: Loose): Promise<Answer<P, M>> {
    const { body, type } = await this.#send(method, address, init)
    const text = new TextDecoder().decode(body)
    return (type.startsWith('application/json') ? JSON.parse(text) : text) as Answer<P, M>
  }

  async #send (method: Method, address: string, init: Loose): Promise<{ body: ArrayBuffer, type: string }> {
    const url = this.base + address.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = init.path?.[name]
      if (value === undefined) throw new TypeError(`${address}: ${name} is missing`)
      return encodeURIComponent(String(value))
    }) + queryOf(init.query)
    const request: RequestInit = { method: method.toUpperCase(), headers: this.#headers() }
    if (init.body !== undefined) {
      request.body = JSON.stringify(init.body)
      request.headers = { ...request.headers, 'content-type': 'application/json' }
    }
    for (let attempt = 1, pause = FIRST_PAUSE; ; attempt++, pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      init.signal?.throwIfAborted()
      let wait = 0
      let failure: unknown
      try {
        const deadline = AbortSignal.timeout(this.#options.timeout)
        const response = await this.#options.fetch(url, { ...request, signal: init.signal ? AbortSignal.any([init.signal, deadline]) : deadline })
        const body = await response.arrayBuffer()
        if (response.status === 200) return { body, type: response.headers.get('content-type') ?? '' }
        failure = refusalOf(response, new TextDecoder().decode(body))
        wait = pauseOf(response)
      } catch (e) { // no answer, or half of one
        failure = e
      }
      if (wait < 0 || attempt >= this.#options.attempts) throw failure
      // Full jitter, so that the clients of a service that was away do not all come back at once.
      await sleep(Math.max(wait, Math.random() * pause), init.signal)
    }
  }
}

function queryOf (query: Record<string, unknown> = {}): string {
  const q = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) q.set(name, String(value))
  return q.size > 0 ? `?${q}` : ''
}



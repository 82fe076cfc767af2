import { pauseOf, refusalOf, sleep } from './refusal.js'
import type { components } from './types.gen.js'

type Schemas = components['schemas']

/** One event of a match. `id` goes on behind it, with `last`; an event of type match has none. */
export type FeedEvent = { id: string } & (
  | { type: 'match', data: Schemas['Match'] } // as it was when the stream was opened
  | { type: 'statement', data: Schemas['StatementEvent'] }
  | { type: 'line', data: Schemas['LineEvent'] }
  | { type: 'end', data: Schemas['EndEvent'] })

/** One event of the log. */
export type LogEvent = { id: string } & (
  | { type: 'checkpoint', data: Schemas['CheckpointEvent'] }
  | { type: 'statement', data: Schemas['StatementEvent'] })

export interface FeedInit {
  /** View token of an unfinished match, for a client without a key. */
  view?: string
  /** The id of the last event the caller has got. */
  last?: string
  signal?: AbortSignal
}

interface Feed extends FeedInit {
  address: string
  headers: Record<string, string>
  fetch: typeof fetch
  attempts: number
}

const KINDS = ['match', 'statement', 'line', 'checkpoint', 'end']
const MAX_EVENT = 1 << 20
// The service says something, if only a comment, every 15 seconds.
const SILENCE = 45_000
const FIRST_PAUSE = 50
const LONGEST_PAUSE = 2000

/** The events of a stream, over as many connections as it takes. */
export async function * follow<E> (feed: Feed): AsyncGenerator<E, void, undefined> {
  let last = feed.last ?? ''
  let pause = FIRST_PAUSE
  for (let failed = 0; ;) {
    feed.signal?.throwIfAborted()
    let wait = 0
    let failure: unknown
    const silent = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const heard = (): void => { clearTimeout(timer); timer = setTimeout(() => silent.abort(), SILENCE) }
    try {
      heard()
      const headers: Record<string, string> = { ...feed.headers, accept: 'text/event-stream' }
      if (last) headers['last-event-id'] = last
      if (feed.view) headers['x-view-token'] = feed.view
      const response = await feed.fetch(feed.address, { headers, signal: feed.signal ? AbortSignal.any([feed.signal, silent.signal]) : silent.signal })
      if (response.status === 204) return // the end was seen already
      if (response.status !== 200 || !response.body) {
        failure = refusalOf(response, await response.text())
        wait = pauseOf(response)
      } else {
        for await (const e of eventsOf(response.body, heard)) {
          failed = 0
          pause = FIRST_PAUSE
          if (e.retry !== undefined) { wait = e.retry; continue }
          if (e.id) last = e.id
          if (!KINDS.includes(e.type)) continue // a later service may send more
          yield { id: e.id, type: e.type, data: JSON.parse(e.data) } as E
          if (e.type === 'end') return
        }
      }
    } catch (e) {
      if (e instanceof TooLarge || e instanceof SyntaxError) throw e
      failure = e
    } finally {
      clearTimeout(timer)
      silent.abort()
    }
    // A stream that the service has ended is no failure, one that never brings anything is.
    failed++
    if (wait < 0 || (failure !== undefined && failed >= feed.attempts)) throw failure
    feed.signal?.throwIfAborted()
    await sleep(Math.max(wait, Math.random() * pause), feed.signal)
    pause = Math.min(2 * pause, LONGEST_PAUSE)
  }
}

class TooLarge extends Error {}

interface Raw { id: string, type: string, data: string, retry?: number }

async function * eventsOf (body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<Raw, void, undefined> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  let e: Raw = { id: '', type: '', data: '' }
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return // an event that is not ended by an empty line is not whole
      heard()
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (e.data) yield e
          e = { id: '', type: '', data: '' }
          continue
        }
        const colon = line.indexOf(':')
        const name = colon < 0 ? line : line.slice(0, colon)
        const text = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
        if (name === 'event') e.type = text
        else if (name === 'id') e.id = text
        else if (name === 'data') e.data += (e.data ? '\n' : '') + text
        else if (name === 'retry' && /^[0-9]{1,9}$/.test(text)) yield { ...e, retry: Number(text) }
        if (e.data.length > MAX_EVENT) throw new TooLarge(`an event is larger than ${MAX_EVENT} characters`)
      }
      if (rest.length > MAX_EVENT) throw new TooLarge(`an event is larger than ${MAX_EVENT} characters`)
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

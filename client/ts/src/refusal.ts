import type { components } from './types.gen.js'

/** A problem the service answered (RFC 9457); it has changed nothing. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** The stable code of the problem, as openapi.yaml lists them, for example `illegal-event`. */
  readonly code: string

  constructor (
    readonly problem: components['schemas']['Problem'],
    /** Seconds after which the same request may succeed; undefined: do not repeat. */
    readonly retryAfter: number | undefined
  ) {
    super(problem.detail)
    this.code = problem.type.replace('urn:fairdice:problem:', '')
  }
}

/** The code of a refusal, "" for any other error. */
export const codeOf = (e: unknown): string => (e instanceof Refusal ? e.code : '')

/** Milliseconds to wait before the same request may be sent again, negative for never. */
export function pauseOf (response: Response): number {
  const after = response.headers.get('retry-after')
  if (after !== null && /^[0-9]{1,9}$/.test(after)) return 1000 * Number(after)
  return [502, 503, 504].includes(response.status) ? 0 : -1
}

export function refusalOf (response: Response, text: string): Error {
  try {
    const problem = JSON.parse(text)
    if (typeof problem?.type === 'string') {
      const pause = pauseOf(response)
      return new Refusal(problem, pause < 0 ? undefined : pause / 1000)
    }
  } catch { /* whoever stands in between answers in HTML */ }
  return new Error(`the service answered ${response.status} ${response.statusText}`)
}

/** Resolves after some milliseconds, rejects at once when the signal says so. */
export function sleep (ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => { clearTimeout(timer); reject(signal?.reason) }
    const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve() }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

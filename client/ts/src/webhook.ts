/** A webhook that must not be believed. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

export interface WebhookOptions {
  /** Seconds by which the sender's clock may differ; 300 if absent. */
  tolerance?: number
  /** Milliseconds since 1970, in place of Date.now. */
  now?: () => number
}

/**
 * Checks a webhook as Standard Webhooks has it and resolves to its payload.
 *
 * @param body the body of the request exactly as it came: parse nothing before
 * @param headers those of the request, in a form that knows `get`, or as Node.js has them
 * @param keys what the service was told or has shown: `whsec_…` (HMAC-SHA256, v1) or `whpk_…` (Ed25519, v1a); while a key is
 *   being changed, the old and the new one
 *
 * The same message may come twice: remember `webhook-id`.
 */
export async function verifyWebhook (
  body: string | Uint8Array,
  headers: { get (name: string): string | null } | Record<string, string | string[] | undefined>,
  keys: string | string[],
  { tolerance = 300, now = Date.now }: WebhookOptions = {}
): Promise<unknown> {
  const id = header(headers, 'webhook-id')
  const time = header(headers, 'webhook-timestamp')
  if (!/^[0-9]{1,15}$/.test(time)) throw new WebhookError('the timestamp is no number')
  if (Math.abs(now() / 1000 - Number(time)) > tolerance) throw new WebhookError('the timestamp is too far from now')
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  const payload = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const head = new TextEncoder().encode(`${id}.${time}.`)
  const signed = new Uint8Array(head.length + payload.length)
  signed.set(head)
  signed.set(payload, head.length)

  const signatures = header(headers, 'webhook-signature').split(' ').map((s) => s.split(','))
  for (const key of [keys].flat()) {
    const { version, verify } = await checker(key)
    for (const [v, signature] of signatures) {
      if (v === version && signature && await verify(base64(signature), signed)) return JSON.parse(text)
    }
  }
  throw new WebhookError('no signature fits')
}

type Verify = (signature: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>) => Promise<boolean>

// subtle.verify compares in constant time.
async function checker (key: string): Promise<{ version: string, verify: Verify }> {
  const { subtle } = globalThis.crypto
  const hmac = /^whsec_(.+)$/.exec(key)?.[1]
  if (hmac) {
    const k = await subtle.importKey('raw', base64(hmac), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    return { version: 'v1', verify: async (s, m) => await subtle.verify('HMAC', k, s, m) }
  }
  const ed25519 = /^whpk_(.+)$/.exec(key)?.[1]
  if (ed25519) {
    const k = await subtle.importKey('raw', base64(ed25519), { name: 'Ed25519' }, false, ['verify'])
    return { version: 'v1a', verify: async (s, m) => await subtle.verify('Ed25519', k, s, m) }
  }
  throw new TypeError('a key begins with whsec_ or whpk_')
}

function base64 (s: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(s), (c) => c.charCodeAt(0))
  } catch {
    return new Uint8Array() // fits nothing
  }
}

function header (headers: { get (name: string): string | null } | Record<string, string | string[] | undefined>, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, string | string[] | undefined>)[name]
  if (typeof value !== 'string' || value === '') throw new WebhookError(`the header ${name} is missing`)
  return value
}

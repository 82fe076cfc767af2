import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { Client, Refusal, WebhookError, codeOf, verifyWebhook } from '../dist/index.js'

const match = '01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c11'

// A service that answers request after request, each in its own way, and remembers what it was asked.
async function script (t, ...acts) {
  const seen = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (d) => { body += d })
    request.on('end', () => {
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
      acts[Math.min(seen.length, acts.length) - 1](response)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.closeAllConnections() ?? server.close())
  return { seen, base: `http://127.0.0.1:${server.address().port}` }
}

const json = (body) => (r) => r.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const problem = (status, code, after) => (r) => r.writeHead(status, { 'content-type': 'application/problem+json', ...(after && { 'retry-after': after }) })
  .end(JSON.stringify({ type: `urn:fairdice:problem:${code}`, title: 't', status, detail: 'why', alternatives: ['move A 24/18'] }))
const cut = (part) => (r) => { if (part) { r.writeHead(200, { 'content-length': 1000 }); r.write(part) } setTimeout(() => r.destroy(), 20) }
const stream = (text, end = true) => (r) => { r.writeHead(200, { 'content-type': 'text/event-stream' }); r.write(text); if (end) setTimeout(() => r.end(), 20) }

const taken = json({ match, game: 1, line: 1, lines: 1, head: '00', due: 'end' })
const append = (c, init) => c.put('/v1/matches/{match}/games/{game}/events/{line}', { path: { match, game: 1, line: 1 }, body: { lines: ['end A 1'] }, ...init })

for (const [name, acts, sent, code] of [
  ['at once', [taken], 1],
  ['after a lost answer', [cut(), taken], 2],
  ['after half an answer', [cut('{"match":'), taken], 2],
  ['after a restart', [problem(503, 'unavailable', '0'), (r) => r.writeHead(502).end('<html>'), taken], 3],
  ['not public yet', [problem(409, 'not-yet-public', '0'), taken], 2],
  ['too many', [problem(429, 'rate-limited', '0'), taken], 2],
  ['refused for good', [problem(422, 'illegal-event')], 1, 'illegal-event'],
  ['down for good', [problem(503, 'unavailable', '0')], 4, 'unavailable']
]) {
  test(`repeats: ${name}`, async (t) => {
    const s = await script(t, ...acts)
    const answer = await append(new Client(s.base, { key: 'k', attempts: 4 })).catch((e) => e)
    assert.equal(codeOf(answer), code ?? '')
    if (code) assert.deepEqual([answer instanceof Refusal, answer.problem.alternatives], [true, ['move A 24/18']])
    else assert.equal(answer.lines, 1)
    assert.equal(s.seen.length, sent)
    for (const x of s.seen) { // the same bytes every time
      assert.deepEqual([x.line, x.body, x.headers.authorization], [`PUT /v1/matches/${match}/games/1/events/1`, '{"lines":["end A 1"]}', 'Bearer k'])
    }
  })
}

test('a timeout is repeated, an abort is not', async (t) => {
  const s = await script(t, () => {}, taken)
  assert.equal((await append(new Client(s.base, { timeout: 100 }))).lines, 1)
  const silent = await script(t, () => {})
  await assert.rejects(append(new Client(silent.base), { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
  const busy = await script(t, problem(503, 'unavailable', '100'))
  await assert.rejects(append(new Client(busy.base), { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
  assert.deepEqual([silent.seen.length, busy.seen.length], [1, 1])
})

test('addresses and answers', async (t) => {
  const s = await script(t, json({ statements: [], checkpoint: 'c' }), (r) => r.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end('a note\n'))
  const c = new Client(s.base + '/')
  await c.get('/v1/matches/{match}/statements', { path: { match: 'a/b' }, query: { since: 7 } })
  assert.equal(await c.get('/checkpoint', {}), 'a note\n')
  assert.deepEqual(Buffer.from(await c.bytes('/checkpoint', {})).toString(), 'a note\n')
  assert.deepEqual(s.seen.map((x) => x.line), ['GET /v1/matches/a%2Fb/statements?since=7', 'GET /checkpoint', 'GET /checkpoint'])
  await assert.rejects(c.get('/v1/matches/{match}', { path: {} }), TypeError)
  for (const base of ['ftp://x', 'http://x/?y', 'http://x/#y', 'http://u@x/', 'x']) assert.throws(() => new Client(base), TypeError)
})

test('a feed goes on without a gap', async (t) => {
  const line = (id, n) => `id: ${id}\nevent: line\ndata: {"game":1,"line":${n},"text":"x"}\n\n`
  const s = await script(t,
    stream(`retry: 1\n\nevent: match\ndata: {"match":"${match}"}\n\n${line('1.1.1', 1)}: nothing new\n\n${line('1.1.2', 2)}id: 9\nevent: line\ndata: {"half":`),
    problem(503, 'unavailable', '0'),
    stream(line('1.1.3', 3) + 'event: news\ndata: {}\n\n'),
    stream('id: e\nevent: end\ndata: {}\n\n', false))
  const got = []
  for await (const e of new Client(s.base).watch(match, { view: 'v' })) got.push(e.data.line ?? e.type)
  assert.deepEqual(got, ['match', 1, 2, 3, 'end'])
  assert.deepEqual(s.seen.map((x) => x.headers['last-event-id']), [undefined, '1.1.2', '1.1.2', '1.1.3'])
  assert.deepEqual(new Set(s.seen.map((x) => x.headers['x-view-token'])), new Set(['v']))
})

test('a feed that ends, is refused, too large, or left', async (t) => {
  const all = async (...acts) => {
    const s = await script(t, ...acts)
    const got = []
    for await (const e of new Client(s.base, { attempts: 3 }).watchLog({ last: '0.0' })) got.push(e.type)
    return [got, s.seen.length]
  }
  assert.deepEqual(await all((r) => r.writeHead(204).end()), [[], 1])
  await assert.rejects(all(problem(404, 'not-found')), { code: 'not-found' })
  await assert.rejects(all(problem(503, 'unavailable', '0')), { code: 'unavailable' })
  await assert.rejects(all(stream('data: ' + 'x'.repeat(2 << 20))), /larger/)
  await assert.rejects(all(stream('event: line\ndata: {\n\n')), SyntaxError)
  const s = await script(t, stream('event: match\ndata: {}\n\n', false))
  for await (const e of new Client(s.base).watch(match)) { assert.equal(e.type, 'match'); break }
})

test('webhooks', async () => {
  // The published example of Standard Webhooks.
  const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = '{"test": 2432232314}'
  const headers = { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': '1614265330', 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' }
  const now = { now: () => 1614265330_000 }
  assert.deepEqual(await verifyWebhook(body, headers, key, now), { test: 2432232314 })
  assert.deepEqual(await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), ['whsec_AAAA', key], now), { test: 2432232314 })
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const whpk = 'whpk_' + publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('base64')
  const v1a = 'v1a,' + sign(null, Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`), privateKey).toString('base64')
  assert.deepEqual(await verifyWebhook(body, { ...headers, 'webhook-signature': `v1,AAAA v2,x ${v1a}` }, whpk, now), { test: 2432232314 })

  const refused = (b, h, k = key, o = now) => assert.rejects(verifyWebhook(b, { ...headers, ...h }, k, o), WebhookError)
  await refused(body + ' ', {})
  await refused(body, { 'webhook-id': 'msg_other' })
  await refused(body, { 'webhook-timestamp': '1614265331' })
  await refused(body, { 'webhook-timestamp': 'now' })
  await refused(body, { 'webhook-signature': undefined })
  await refused(body, { 'webhook-signature': headers['webhook-signature'].replace('v1', 'v1a') })
  await refused(body, { 'webhook-signature': v1a.replace('v1a', 'v1') }, whpk)
  await refused(body, { 'webhook-signature': 'v1,%' })
  await refused(body, {}, 'whsec_AAAA')
  await refused(body, {}, key, { now: () => 1614265330_000 + 301_000 })
  await refused(body, {}, key, {})
  await assert.rejects(verifyWebhook(body, headers, 'secret', now), TypeError)
})

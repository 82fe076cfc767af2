// Runs the verifier of the page outside of a browser: the page's own modules,
// with a Worker and a fetch made of what Node has. Every line of the input is
// a request {op, name, path, options, lang}; every line of the output its answer
// {value} or {error}, with how long it took.
//
//   node page.mjs STATIC-DIRECTORY MODULE-FILE DETAILS-FILE
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { isMainThread, parentPort, Worker as Thread, workerData } from 'node:worker_threads'

const checked = [] // what has been told of the last file

if (isMainThread) {
  await main(...process.argv.slice(2))
  process.exit(0)
} else {
  await inside(workerData)
}

// inside makes of a thread what a browser's worker is.
async function inside(script) {
  globalThis.onmessage = null
  globalThis.postMessage = (value) => parentPort.postMessage(value)
  globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)), { headers: { 'Content-Type': 'application/wasm' } })
  await import(script)
  parentPort.on('message', (data) => globalThis.onmessage({ data }))
}

async function main(directory, module, details) {
  globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)))
  globalThis.Worker = class {
    constructor(url) {
      this.thread = new Thread(new URL(import.meta.url), { workerData: url.href })
      this.thread.on('message', (data) => this.onmessage({ data }))
      this.thread.on('error', (error) => this.onerror(error))
    }
    postMessage(value) {
      this.thread.postMessage(value)
    }
    terminate() {
      this.thread.terminate()
    }
  }
  const { open } = await import(pathToFileURL(directory + '/verifier.js'))
  const begin = performance.now()
  const v = await open({ module: pathToFileURL(module).href, details: pathToFileURL(details).href, checking: (done, total) => checked.push(done / total) })
  say({ value: v.sha256, version: v.version, ms: performance.now() - begin })
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    const start = performance.now()
    try {
      const value = await answer(v, request)
      say({ value, ms: performance.now() - start })
    } catch (error) {
      say({ error: error.message, ms: performance.now() - start })
    }
  }
}

async function answer(v, { op, name, path, options, lang, game, step, seat, line }) {
  const bytes = path === undefined ? undefined : new Uint8Array(readFileSync(path))
  switch (op) {
    case 'bundle':
      await v.bundle(bytes, options)
      return v.last
    case 'record':
      await v.record(name, bytes, options)
      return v.last
    case 'words':
      return JSON.stringify(await v.words(lang))
    case 'games':
      return JSON.stringify(await v.games(bytes, options))
    case 'checked':
      return JSON.stringify(checked.splice(0))
    case 'line':
      return v.line(game, line, lang)
    case 'board':
      return v.board(game, step, seat)
    case 'describe':
      return v.describe(game, step, seat)
    case 'raw':
      return v.bundle(name, options) // no bytes at all
    case 'stop': {
      const lost = v.bundle(bytes, options).then(() => 'it went on', (error) => error.message)
      await new Promise((done) => setTimeout(done))
      v.stop()
      return lost
    }
  }
  throw new Error(`there is no operation ${op}`)
}

function say(value) {
  process.stdout.write(JSON.stringify(value) + '\n')
}

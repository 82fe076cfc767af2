// The worker that runs the verifier (verifier.js is its other end). It answers
//
//   { progress: [done, total] }    while the module is being fetched
//   { ready: { sha256, version } } once
//   { checked: [done, total] }     while a record or match file is being checked
//   { id, value } or { id, error } for every call { id, method, args }
//   { fatal }                      when the module cannot run or has died
import './wasm_exec.js'

onmessage = async ({ data }) => {
  try {
    await start(data)
  } catch (error) {
    postMessage({ fatal: error.message })
  }
}

async function start({ module, size, sha256 }) {
  const response = await fetch(module)
  if (!response.ok) throw new Error(`the verifier could not be loaded: ${response.status} ${module}`)
  // Compiled while it arrives, from a copy: what runs is what was hashed. The browser keeps what it has compiled.
  const compiled = WebAssembly.compileStreaming(response.clone())
  compiled.catch(() => {}) // told below, once the hash is known
  const sum = await hash(await read(response, size))
  if (sha256 && sum && sum !== sha256) throw new Error(`the verifier is not the expected one: its SHA-256 is ${sum}`)
  const go = new Go()
  const instance = await WebAssembly.instantiate(await compiled, go.importObject)
  const end = go.run(instance)
  const fatal = (why) => postMessage({ fatal: why })
  end.then(() => fatal('the verifier has stopped: the file may need more memory than the browser gives'), (error) => fatal(error.message))
  let asked = false
  onmessage = ({ data: { id, method, args } }) => {
    asked = true
    let answer
    try {
      answer = globalThis.fairdice[method](...args)
    } catch (error) {
      return fatal(`the verifier has stopped: ${error.message}`)
    }
    if (go.exited) return
    postMessage(answer instanceof Error ? { id, error: answer.message } : { id, value: answer })
  }
  globalThis.fairdice.progress = (done, total) => postMessage({ checked: [done, total] })
  postMessage({ ready: { sha256: sum, version: globalThis.fairdice.version } })
  await exercise(() => asked || go.exited)
}

// exercise has the module do in its idle time what takes it longest, one bit after the other, until somebody asks for
// something: an engine makes fast code only of what has run for a while, and the first file is not to wait for that.
async function exercise(busy) {
  for (let i = 0; i < 120; i++) {
    await new Promise((done) => setTimeout(done))
    if (busy()) return
    const answer = globalThis.fairdice.exercise()
    if (answer instanceof Error) throw answer
  }
}

// read reads a response and reports how far it is. The length that a server
// names is that of the packed module, so the caller says how long it will be.
async function read(response, size) {
  const parts = []
  let done = 0
  for (let reader = response.body.getReader(); ; ) {
    const part = await reader.read()
    if (part.done) break
    parts.push(part.value)
    done += part.value.length
    postMessage({ progress: [done, Math.max(size, done)] })
  }
  const bytes = new Uint8Array(done)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

// hash is the SHA-256 in hex, '' where the page is no secure context and has
// no WebCrypto.
async function hash(bytes) {
  if (!globalThis.crypto?.subtle) return ''
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(sum, (b) => b.toString(16).padStart(2, '0')).join('')
}

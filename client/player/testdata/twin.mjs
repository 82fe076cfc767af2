// The player of web/player.js, driven line by line: each line of the input is a question in JSON, each line of the output
// its answer. The state travels with the question; what the service answers is in it too.
import { createInterface } from 'node:readline'
import { Distrust, NotDue, Outdated, Player, Spent } from '../../../web/player.js'

class Store {
  constructor (text) { this.text = text }
  async get () { return this.text }
  async set (text, previous) {
    await new Promise((resolve) => setImmediate(resolve)) // a disk takes its time
    if (previous !== this.text) throw new Error('somebody else has written')
    this.text = text
  }
}

const kind = (e) => (e instanceof Distrust ? e.check : e instanceof NotDue ? 'not due' : e instanceof Spent ? 'spent' : e instanceof Outdated ? 'outdated' : 'error')

async function answer ({ state, act, terms, game, segment, throw: turn, statements, match, roll }) {
  const store = new Store(state)
  const source = {
    async statements (id, seen) {
      if (!statements) throw new Error('the service is not asked by the other player')
      return statements[String(seen)] ?? Promise.reject(new Error(`the other player has not seen ${seen}`))
    },
    async match () { return match }
  }
  let out
  try {
    const p = await Player.load({ store })
    out = await {
      load: async () => ({ anchor: p.anchor, spent: p.spent }),
      join: () => p.join(terms),
      release: () => p.release(source, game, segment),
      throw: () => p.releaseThrow(source, game, segment, turn),
      roll: () => p.checkRoll(roll)
    }[act]()
  } catch (e) {
    out = { refusal: kind(e), reason: e.message }
  }
  return { ...out, state: store.text } // at the moment the answer is there
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await answer(JSON.parse(line))))

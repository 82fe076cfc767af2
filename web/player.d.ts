// Types of player.js.

/** Keeps one text. `set` resolves once it is durable, and throws if what is kept is not `previous` (null: nothing). */
export interface Store {
  get (): Promise<string | null>
  set (text: string, previous: string | null): Promise<void>
}

export interface Statement { index: number, text: string, path: string[] }

/** The service: where statements come from, and how many links of each seat it has and what is due. It is not trusted. */
export interface Source {
  statements (match: string, seen: number): Promise<{ statements: Statement[], checkpoint: string, consistency?: string[] }>
  match (match: string): Promise<{
    links: number[]
    games: Array<{ due?: string, links?: boolean[], draw?: { segment: number, stream: string, throw: number } }>
  }>
}

/** What a draw answers. */
export interface Roll {
  dice: number[]
  receipt: string
  opening: { segment: number, stream: string, index: number, key: string, path: string[] }
  commit: Statement
  open: Statement
  assign: Statement
  deal: Statement
  checkpoint: string
}

/** What a player agreed to. What is absent is not compared with the open. */
export interface Terms {
  match: string
  token?: string
  opponent?: string
  tenant?: string
  variant?: string
  rules?: string
  mode?: string
  profile?: string
  options?: string
  beacon?: 'none' | 'quicknet'
}

/** Whether a signature (hex) is the beacon's of the round. */
export type Beacon = (round: number, signature: string) => Promise<boolean>

/** What a release has passed, in this order; `first` comes where no checkpoint was seen before, `deal` for a throw. */
export type Step = 'signature' | 'first' | 'consistency' | 'inclusion' | 'open' | 'assign' | 'deal' | 'kept'

export interface Link { seat: 'a' | 'b', link: string }

export const LINKS: number

export class Distrust extends Error {
  check: string
  constructor (check: string, reason: string)
}
export class NotDue extends Error {
  constructor (what: string)
}
export class Spent extends Error {}
export class Outdated extends Error {
  released: number
  known: number
  constructor (released: number, known: number)
}

export class Player {
  private constructor ()
  static create (o: { store: Store, logKey: string, links?: number, beacon?: Beacon, passed?: (step: Step) => void }): Promise<Player>
  static load (o: { store: Store, beacon?: Beacon, passed?: (step: Step) => void }): Promise<Player>
  get anchor (): string
  get logKey (): string
  get match (): string
  get spent (): { links: number, of: number }
  get checkpoint (): string
  get file (): string
  join (terms: Terms): Promise<void>
  release (source: Source, game: number, segment: number): Promise<Link>
  releaseThrow (source: Source, game: number, segment: number, turn: number): Promise<Link>
  checkRoll (roll: Roll): Promise<{ unchecked: string[] }>
}

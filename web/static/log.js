// The page of the log: is it still the log that this browser knows?

import { look } from './ledger.js'

const END = Number.MAX_SAFE_INTEGER // no statement is asked for, only the checkpoint
look(document.querySelector('.proof'), (since) => `/v1/statements?cursor=${END}&limit=1${since ? `&since=${since}` : ''}`)

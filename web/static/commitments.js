// The page of one sealed sequence: is its statement in the log?

import { look } from './ledger.js'

const statement = document.getElementById('statement')
const { sequence, index } = statement.dataset
look(document.querySelector('.proof'), (since) => `/v1/sequences/${sequence}${since ? `?since=${since}` : ''}`,
  { index: Number(index), text: statement.textContent })

// The page of the log: is it still the log that this browser knows, and who else has signed it?

import { extendsNote, look, shower } from './ledger.js'
import { pinned, watch, watchers } from './pinned.js'
import { open } from './verifier.js'

const $ = (id) => document.getElementById(id)
const END = Number.MAX_SAFE_INTEGER // no statement is asked for, only the checkpoint
const url = (since) => `/v1/statements?cursor=${END}&limit=1${since ? `&since=${since}` : ''}`
const list = document.querySelector('.proof')
const lang = document.documentElement.lang

// The witnesses. Their signatures are checked by the verifier, which the command line is too.

const show = $('watch') && shower($('watch'))
let verifier = null
const unchecked = $('watch') ? [...$('cosigned').tBodies[0].rows] : [] // as the service has written them

const verify = async (text) => {
  const { module, size, sha256 } = $('watch').dataset
  verifier ??= await open({ module, size: Number(size), sha256 })
  return verifier.cosigned($('note').textContent, { key: pinned()?.key ?? list.dataset.key, ...text })
}

// A policy says in a line what its quorum is; without one it is a list of keys.
const trusted = (text) => /^[ \t]*quorum[ \t]/m.test(text)
  ? { policy: text }
  : { witnesses: text.split('\n').map((line) => line.trim()).filter((line) => line && !line.startsWith('#')) }

const date = (seconds) => {
  const d = new Date(seconds * 1000)
  if (Number.isNaN(d.getTime())) return document.createTextNode('–')
  const e = document.createElement('time')
  e.dateTime = d.toISOString()
  e.textContent = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }).format(d) + ' UTC'
  return e
}

function rows ({ lines, absent }) {
  const missing = absent.sort((a, b) => (a.name < b.name ? -1 : 1)).map((w) => ({ ...w, status: 'absent' }))
  $('cosigned').tBodies[0].replaceChildren(...[...lines, ...missing].map(({ name, hash, status, time }) => {
    const row = $('cosigner').content.firstElementChild.cloneNode(true)
    const [who, key, answer, when] = row.cells
    row.dataset.status = status
    who.textContent = name
    key.textContent = hash
    for (const e of [...answer.children]) if (e.dataset.status !== status) e.remove()
    if (status === 'pass') when.replaceChildren(date(time ?? 0))
    return row
  }))
  $('cosigned').hidden = lines.length + absent.length === 0
}

async function cosigned (found) {
  const own = watchers()
  const site = $('policy')?.textContent ?? ''
  if (!own && !$('cosigned').tBodies[0].rows.length && !site) return // there is nobody to check
  for (const part of ['missing', 'failed', 'from', 'quorum', 'extends']) show(part, 'none')
  show('waiting')
  $('watch').setAttribute('aria-busy', 'true')
  try {
    if (!$('watch').dataset.module) return show('missing')
    const c = await verify(own ? trusted(own) : site ? { policy: site } : {}).catch(() => null)
    if (!verifier) return show('missing')
    if (c) rows(c)
    else {
      $('cosigned').tBodies[0].replaceChildren(...unchecked)
      $('cosigned').hidden = !unchecked.length
    }
    show('from', own ? 'pass' : 'site')
    show('quorum', c?.quorum ?? 'fail') // what is no checkpoint under the key is none that anybody has to believe
    if (found) show('extends', await extendsNote(found, url, $('note').textContent) ? 'pass' : 'fail')
  } catch {
    show('failed')
  } finally {
    $('watch').querySelector('[data-part="waiting"]').hidden = true
    $('watch').removeAttribute('aria-busy')
  }
}

if (list) {
  const found = await look(list, url)
  if ($('watch')) {
    $('watch').hidden = false
    const form = $('trust')
    if (form) {
      const filled = () => {
        $('keys').value = watchers()
        $('forget').hidden = !watchers()
      }
      filled()
      form.addEventListener('submit', async (event) => {
        event.preventDefault()
        $('trust-failed').hidden = true
        try {
          await verify(trusted($('keys').value)) // what it cannot read is not kept
          watch($('keys').value)
          filled()
          await cosigned(found)
        } catch (failure) {
          $('trust-failed').textContent = failure.message
          $('trust-failed').hidden = false
        }
      })
      $('forget').addEventListener('click', async () => {
        watch('')
        filled()
        $('keys').focus() // the button is gone
        await cosigned(found)
      })
    }
    await cosigned(found)
  }
}

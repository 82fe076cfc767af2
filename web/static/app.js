// What every page does: the choice of colours, and on pages that work without a connection the service worker that keeps them.

const select = document.getElementById('theme')
select.closest('.theme').hidden = false
select.value = document.documentElement.dataset.theme ?? ''
select.addEventListener('change', () => {
  const theme = select.value
  if (theme) document.documentElement.dataset.theme = theme
  else delete document.documentElement.dataset.theme
  try {
    if (theme) localStorage.setItem('theme', theme)
    else localStorage.removeItem('theme')
  } catch {} // for this page alone, then
})

if (document.body.dataset.offline !== undefined && 'serviceWorker' in navigator) navigator.serviceWorker.register('/sw.js').catch(() => {}) // private windows refuse

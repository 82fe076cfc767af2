// Runs before the first paint, so that a page never flashes in the other colours.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {} // no storage is allowed: the system's colours then

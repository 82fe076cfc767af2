// Package web holds what browsers load, as it is served: no build step, no
// dependency. player.js, with evidence.js and proof.js, is the player of
// PROTOCOL.md §4 in plain JavaScript; README.md here says how a platform embeds it.
//
//	http.Handle("/", http.FileServerFS(web.Player))
package web

import "embed"

// Player is player.js and the two modules it imports.
//
//go:embed player.js evidence.js proof.js
var Player embed.FS

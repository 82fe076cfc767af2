// Package web is the service's page: what players see of it in a browser, and
// the modules that work there. It renders HTML on the server, so that every page
// can be read without JavaScript; small ES modules, served as they are written,
// do the rest. There is no build step, no framework, and nothing comes from
// another host.
//
//	site, err := web.New(web.Config{Key: house.VerifierKey(), Version: "v1.2.3"})
//	mux.Handle("/static/", site.Static())
//	mux.Handle("/sw.js", site.Static())
//	site.Render(w, r, web.How{})
//
// Whoever serves the page could serve a false one. What a player is shown is
// therefore worth what the operator's word is worth, until he pins the log's key
// and checks with a copy of the verifier whose hash he knows (PROTOCOL.md §9).
//
// player.js, with evidence.js and proof.js, is the player of PROTOCOL.md §4 in
// plain JavaScript; README.md here says how a platform embeds it.
//
//	http.Handle("/", http.FileServerFS(web.Player))
package web

import "embed"

// Player is player.js and the two modules it imports.
//
//go:embed player.js evidence.js proof.js
var Player embed.FS

// static is what the page loads besides: styles, modules, fonts.
//
//go:embed static
var static embed.FS

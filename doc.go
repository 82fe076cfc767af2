// Package fairdice is a provably fair dice and match audit service for nardi
// and backgammon. This page is the tour; each package says the rest.
//
// # What is promised
//
// The house seals a sequence of dice and publishes its hash. The players cut
// it with values fixed before they could know anything. The house deals: it
// publishes the hash of the resulting dice before the first roll. It opens
// each roll with a proof as it is drawn, and reveals the secret when the game
// ends. Every statement is a text in an append-only signed log, so that a
// verifier who holds nothing but public files can redo all of it, replay the
// game by its rules, and say what was proved and what was not.
//
// # What is not
//
// A house that drops unwelcome games cannot be stopped, only counted. Dice cut
// by no player (level L0) were fixed before the game but may have been chosen.
// Modes that deal dice in blocks let the rest of a block be counted. A claim
// of the platform that a player resigned, doubled or ran out of time is its
// word alone. Every report says which of these applies.
//
// # The rooms
//
//   - [fairdice/rules]: the board and the fourteen variants, as data
//   - [fairdice/replay]: records, and the one transition of a game
//   - [fairdice/commitment]: secrets, roll trees, statements, receipts
//   - [fairdice/translog]: the log, its checkpoints and proofs; its server, and
//     the witness who watches it
//   - [fairdice/audit]: what a verifier checks, and its report
//   - [fairdice/store]: what is remembered, durably
//   - [fairdice/house] and [fairdice/house/export]: the life of a match, and the
//     archive of everything that was published
//   - [fairdice/api]: the same over HTTP, as openapi.yaml writes it
//   - [fairdice/client] and [fairdice/client/player]: for platforms, and for
//     a player who believes nobody
//   - fairdice/cmd/fairdice and fairdice/cmd/verify: the service and the verifier
package fairdice

import _ "embed"

// OpenAPI is the document of the HTTP API.
//
//go:embed openapi.yaml
var OpenAPI []byte

// Package client calls the HTTP API of a fairdice service.
//
// Every effect of the API has a natural key, so every call may be repeated
// for ever and gets the same answer: a call that loses its answer, or meets a
// service that is busy or restarting, is repeated with the same bytes until
// its context ends or its attempts are used up.
//
//	c, err := client.New("http://127.0.0.1:8080", client.WithKey(key))
//	opened, err := c.OpenMatch(ctx, id, client.OpenRequest{Variant: "short", Mode: client.ModeRandom, A: a, B: b}, 0)
//	game, err := c.NextGame(ctx, id, 1, 0)
//	roll, err := c.Draw(ctx, id, 1, 1, client.StreamOpening, 0)
//
// What a player must check for himself before he releases a link is in
// [fairdice/client/player]. The types are generated from openapi.yaml.
package client

// Package api speaks HTTP for a house and does nothing else: it decodes and
// authenticates a request, calls one method of [fairdice/house], and encodes
// the answer or the refusal.
//
// The routes, types and the server interface are generated from openapi.yaml,
// the single source of the API. The tests hold every request and answer
// against that document.
//
//	handler, err := api.New(api.Config{House: h, Log: server.New(store), Version: "v1.2.3"})
//	http.ListenAndServe("127.0.0.1:8080", handler)
//
// Specification: openapi.yaml; PROTOCOL.md §4–§8; RFC 9457 for refusals.
package api

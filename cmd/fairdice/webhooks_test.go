package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"fairdice/client/webhook"
)

// receive is a platform that takes events: its arguments are a directory, for the
// address, the key and a file for each message, and the status it answers. It ends after a minute.
func receive() {
	dir := os.Args[1]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "address"), []byte("http://"+l.Addr().String()+"/"), 0o600)
	}
	if err != nil {
		panic(err) // of a script's own line
	}
	time.AfterFunc(time.Minute, func() { os.Exit(1) })
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err == nil && string(status) == "gone\n" {
			w.WriteHeader(http.StatusGone)
			return
		}
		key, err := os.ReadFile(filepath.Join(dir, "key"))
		var v *webhook.Verifier
		if err == nil {
			v, err = webhook.New(string(key[:len(key)-1]))
		}
		var body []byte
		if err == nil {
			body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, webhook.MaxBody))
		}
		if err == nil {
			err = v.Verify(r.Header, body, time.Now())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		e, err := webhook.Parse(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		name := filepath.Join(dir, r.Header.Get(webhook.IDHeader)+"."+e.Type)
		if err := os.WriteFile(name, body, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			w.WriteHeader(http.StatusInternalServerError)
		}
	})))
}

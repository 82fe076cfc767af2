// Package wasm holds the verifier that runs in the page: cmd/verify built for
// js/wasm, pressed, with the hash of what it is once unpacked.
//
//	if m := wasm.Built(); m != nil {
//		fmt.Println(m.SHA256, m.Size, len(m.Brotli))
//	}
//
// `make build` makes it. A program that was built without is complete but for
// the page's own verdict.
package wasm

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Module is the built module.
type Module struct {
	SHA256 string // of the unpacked module, 64 hex digits
	Size   int    // unpacked, in bytes
	Brotli []byte
	Gzip   []byte
}

//go:embed built
var built embed.FS

// The hash alone, in a variable of its own, so that a program that only names
// it does not carry the module: all of built that ends in neither .br nor .gz.
//
//go:embed built/*[^rz]
var sums embed.FS

const name = "built/verify.wasm"

// Built returns the module, or nil if the program was built without.
func Built() *Module {
	m := &Module{SHA256: Sum()}
	var err error
	if m.Brotli, err = built.ReadFile(name + ".br"); err != nil {
		return nil
	}
	if m.Gzip, err = built.ReadFile(name + ".gz"); err != nil || len(m.Gzip) < 4 || m.SHA256 == "" {
		return nil
	}
	// A gzip file ends with the length of what is in it (RFC 1952 §2.3.1).
	m.Size = int(binary.LittleEndian.Uint32(m.Gzip[len(m.Gzip)-4:]))
	return m
}

// Sum returns the SHA-256 of the unpacked module in hex, "" if the program was
// built without.
func Sum() string {
	text, err := sums.ReadFile(name + ".sha256")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Line is a line below a program's version that names the module.
func Line() string {
	if sum := Sum(); sum != "" {
		return "\nverifier of the page: SHA-256 " + sum
	}
	return "\nverifier of the page: not built in"
}

// Bytes returns the unpacked module, for browsers that take it in no other way.
func (m *Module) Bytes() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(m.Gzip))
	if err != nil {
		return nil, fmt.Errorf("unpack module: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, int64(m.Size)+1))
	if err != nil {
		return nil, fmt.Errorf("unpack module: %w", err)
	}
	return out, nil
}

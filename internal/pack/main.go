// Pack presses the page's module for the wire: next to FILE.wasm in DIR it
// leaves FILE.wasm.br, FILE.wasm.gz and FILE.wasm.sha256, and removes FILE.wasm
// itself. What is there already and comes from the same bytes is kept, since
// pressing takes half a minute.
//
//	go run ./internal/pack DIR/FILE.wasm
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"

	"github.com/andybalholm/brotli"
)

// window is log2 of how far back brotli looks: all of the module.
const window = 24

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "pack: give one FILE")
		os.Exit(3)
	}
	if err := pack(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "pack: %v\n", err)
		os.Exit(1)
	}
}

func pack(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if data, err = join(data); err != nil {
		return fmt.Errorf("%w: %s", err, path)
	}
	// The hash is written last: a run that was cut short begins again.
	sum := fmt.Sprintf("%x\n", sha256.Sum256(data))
	before, err := os.ReadFile(path + ".sha256")
	if err != nil || string(before) != sum || !exists(path+".br") || !exists(path+".gz") {
		os.Remove(path + ".sha256")
		if err := press(path+".br", data, func(w io.Writer) (io.WriteCloser, error) {
			return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: window}), nil
		}); err != nil {
			return err
		}
		if err := press(path+".gz", data, func(w io.Writer) (io.WriteCloser, error) {
			return gzip.NewWriterLevel(w, gzip.BestCompression)
		}); err != nil {
			return err
		}
		if err := os.WriteFile(path+".sha256", []byte(sum), 0o644); err != nil {
			return err
		}
	}
	return os.Remove(path)
}

func press(path string, data []byte, open func(io.Writer) (io.WriteCloser, error)) error {
	var out bytes.Buffer
	w, err := open(&out)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("%w: %s", err, path)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("%w: %s", err, path)
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// check builds one program here, and again from a copy of the source in another
// directory, with a cache of its own that is empty: the cache that knows the
// program already would compare it with itself.
func (r *release) check(program string, targets ...target) (err error) {
	work, err := os.MkdirTemp("", "fairdice-twice-*")
	if err != nil {
		return fmt.Errorf("make work directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	copied := filepath.Join(work, "another place", "src")
	if err := r.copyTo(copied); err != nil {
		return err
	}
	for _, t := range targets {
		if err := r.twice(program, t, copied, work); err != nil {
			return err
		}
	}
	return nil
}

// twice builds a program for one system in both places.
func (r *release) twice(program string, t target, copied, work string) error {
	elsewhere := *r
	elsewhere.source = copied
	var built [2][]byte
	for i, from := range []*release{r, &elsewhere} {
		cache := ""
		if from == &elsewhere {
			cache = filepath.Join(work, "cache")
		}
		path, err := from.compile(t, program, filepath.Join(work, fmt.Sprint(t.system, i)), cache)
		if err != nil {
			return err
		}
		if built[i], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		return fmt.Errorf("%s for %s/%s is not the same when it is built twice", program, t.system, t.machine)
	}
	fmt.Printf("%s for %s/%s, %d bytes, is the same from two directories, once with an empty cache\n", program, t.system, t.machine, len(built[0]))
	return nil
}

// copyTo copies what git has of the source, as it lies here, and the page's
// verifier, which the programs embed if it is there.
func (r *release) copyTo(dir string) error {
	names, err := r.git("ls-files", "-z")
	if err != nil {
		return fmt.Errorf("copy source: %w", err)
	}
	modules, err := r.git("ls-files", "-z", "--others", "web/wasm/built")
	if err != nil {
		return fmt.Errorf("copy source: %w", err)
	}
	for name := range strings.FieldsFuncSeq(names+modules, func(r rune) bool { return r == 0 }) {
		data, err := os.ReadFile(filepath.Join(r.source, name))
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue // removed, and not committed yet
			}
			return fmt.Errorf("copy source: %w", err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("copy source: %w", err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return fmt.Errorf("copy source: %w", err)
		}
	}
	return nil
}

//go:build !js

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"fairdice/replay/files"
	"fairdice/replay/mat"
	"fairdice/replay/sgf"
	"fairdice/replay/sheet"
)

// exportFormat returns the format that a name asks for, or "".
func exportFormat(name string) files.Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".mat", ".txt":
		return files.Mat
	case ".sgf":
		return files.SGF
	case ".record":
		return files.Record
	}
	return ""
}

// keep remembers the games of one file for the export.
func (r *recordRun) keep(m sheet.Match) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept += len(m.Games); r.kept <= files.MaxKept {
		r.matches = append(r.matches, m)
	}
}

// export writes what --export asks for. Only games without a finding are written, and all of them: a match with a hole would be another
// match.
func (r *recordRun) export() error {
	name := r.flags.export
	switch {
	case name == "":
		return nil
	case r.counts[files.Failed]+r.counts[files.Malformed] > 0:
		return r.refuseExport("not all games are legal")
	case r.kept > files.MaxKept:
		return r.refuseExport(fmt.Sprintf("there are more than %d games", files.MaxKept))
	}
	m, err := files.Join(r.matches)
	if err != nil {
		return fmt.Errorf("%w: --export %s", err, name)
	}
	var write func(io.Writer) error
	switch exportFormat(name) {
	case files.Mat:
		write = func(w io.Writer) error { return mat.Write(w, m) }
	case files.SGF:
		if err := sgf.Writable(m); err != nil {
			return fmt.Errorf("%w: --export %s", err, name)
		}
		write = func(w io.Writer) error { return sgf.Write(w, m) }
	default:
		if len(m.Games) != 1 {
			return r.refuseExport("a record holds one game")
		}
		record, err := files.Native(m, m.Games[0])
		if err != nil {
			return fmt.Errorf("%w: --export %s", err, name)
		}
		write = func(w io.Writer) error {
			_, err := w.Write(record.Text())
			return err
		}
	}
	if err := createFile(name, write); err != nil {
		return fmt.Errorf("export games: %w", err)
	}
	return nil
}

// refuseExport says why nothing is written, unless a verdict says it already.
func (r *recordRun) refuseExport(why string) error {
	if err := r.status(); err != nil && r.counts[files.Failed]+r.counts[files.Malformed] > 0 {
		fmt.Fprintf(r.errors, "verify: nothing is exported, %s: --export %s\n", why, r.flags.export)
		return err
	}
	return errors.New("nothing is exported, " + why + ": --export " + r.flags.export)
}

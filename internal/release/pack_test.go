package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The archives have every file, its bytes and its mode, and nothing of when,
// where and by whom they were made: twice the same bytes from other folders.
func TestArchives(t *testing.T) {
	type file struct {
		Name, Data string
		Mode       int64
	}
	made := time.Date(2026, 11, 30, 6, 46, 2, 0, time.UTC)
	want := []file{{"a/fairdice", "\x7fELF", 0o755}, {"a/man/man1/fairdice.1", ".TH\n", 0o644}, {"a/empty", "", 0o644}}
	members := func() (list []member) {
		dir := t.TempDir()
		for i, f := range want {
			path := filepath.Join(dir, string(rune('a'+i)))
			if err := os.WriteFile(path, []byte(f.Data), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, made, made.Add(time.Duration(i)*time.Hour)); err != nil {
				t.Fatal(err)
			}
			list = append(list, member{f.Name, path, f.Mode})
		}
		return list
	}
	read := func(r io.Reader, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, c := range map[string]struct {
		write func(io.Writer, []member, time.Time) error
		read  func([]byte) []file
	}{
		"tar": {writeTar, func(data []byte) (got []file) {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			r := tar.NewReader(z)
			for {
				h, err := r.Next()
				if err == io.EOF {
					return got
				}
				if err != nil {
					t.Fatal(err)
				}
				if !h.ModTime.Equal(made) || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" {
					t.Errorf("%s is of %v, by %d:%d %q %q", h.Name, h.ModTime, h.Uid, h.Gid, h.Uname, h.Gname)
				}
				got = append(got, file{h.Name, read(r, nil), h.Mode})
			}
		}},
		"zip": {writeZip, func(data []byte) (got []file) {
			r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range r.File {
				if !f.Modified.Equal(made) {
					t.Errorf("%s is of %v", f.Name, f.Modified)
				}
				got = append(got, file{f.Name, read(f.Open()), want[i].Mode}) // Windows has no modes
			}
			return got
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var twice [2]bytes.Buffer
			for i := range twice {
				if err := c.write(&twice[i], members(), made); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(twice[0].Bytes(), twice[1].Bytes()) {
				t.Error("the same files give two different archives")
			}
			if d := cmp.Diff(want, c.read(twice[0].Bytes())); d != "" {
				t.Error(d)
			}
		})
	}
}

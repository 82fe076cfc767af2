package unpack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"fairdice/internal/unpack"
)

// member is one member of an archive that a test makes.
type member struct{ name, text string }

func zipOf(t testing.TB, members ...member) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, err := w.Create(m.name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, m.text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t testing.TB, members ...member) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.text)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(m.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, m.text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zstdOf(t testing.TB, data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func wanted(name string) bool { return strings.HasSuffix(name, ".mat") }

// walk returns what a walk visits, one line each: name and text, "skipped", or the error.
func walk(t testing.TB, path string) []string {
	t.Helper()
	var got []string
	err := unpack.Walk(path, wanted, func(e unpack.Entry) error {
		name, err := filepath.Rel(filepath.Dir(path), e.Name)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Skip:
			got = append(got, name+": skipped")
		case e.Err != nil:
			got = append(got, name+": "+e.Err.Error())
		default:
			in, err := e.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			data, err := io.ReadAll(in)
			if err != nil {
				got = append(got, name+": "+err.Error())
				return nil
			}
			got = append(got, name+": "+string(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWalk(t *testing.T) {
	members := []member{{"a.mat", "one"}, {"deep/b.mat", "two"}, {"notes.md", "no"}, {"more.zip", "PK\x03\x04"}, {"liar.mat", "PK\x03\x04xx"}}
	inside := []string{"X/a.mat: one", "X/deep/b.mat: two", "X/notes.md: skipped", "X/more.zip: " + unpack.ErrNested.Error(), "X/liar.mat: " + unpack.ErrNested.Error()}
	in := func(name string) []string {
		var lines []string
		for _, line := range inside {
			lines = append(lines, strings.Replace(line, "X", name, 1))
		}
		return lines
	}
	dirs := append([]member{{"deep/", ""}}, members...)
	for name, c := range map[string]struct {
		data []byte
		want []string
	}{
		"m.zip":     {zipOf(t, dirs...), in("m.zip")},
		"m.tar":     {tarOf(t, dirs...), in("m.tar")},
		"m.tar.gz":  {gzipOf(tarOf(t, dirs...)), in("m.tar.gz")},
		"m.tgz":     {gzipOf(tarOf(t, dirs...)), in("m.tgz")},
		"m.tar.zst": {zstdOf(t, tarOf(t, dirs...)), in("m.tar.zst")},
		"m":         {zipOf(t, members...), in("m")}, // told by its first bytes, not by its name
		"a.mat.gz":  {gzipOf([]byte("text")), []string{"a.mat.gz: text"}},
		"a.mat.zst": {zstdOf(t, []byte("text")), []string{"a.mat.zst: text"}},
		"a.zip.gz":  {gzipOf(zipOf(t, members...)), []string{"a.zip.gz: " + unpack.ErrNested.Error()}},
		"a.gz.gz":   {gzipOf(gzipOf([]byte("text"))), []string{"a.gz.gz: " + unpack.ErrNested.Error()}},
		"plain":     {[]byte("text"), []string{"plain: text"}},
		"empty":     {nil, []string{"empty: "}},
		"cut.gz":    {gzipOf(bytes.Repeat([]byte("text"), 1000))[:20], nil},
		"cut.zip":   {zipOf(t, members...)[:40], nil},
		"cut.tar":   {tarOf(t, member{"a.mat", strings.Repeat("x", 2000)})[:1024], nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			got := walk(t, path)
			if c.want == nil { // broken: the last entry says so
				last := got[len(got)-1]
				if !strings.Contains(last, "unexpected EOF") && !strings.Contains(last, "not a valid") {
					t.Errorf("%q", got)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWalkDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	for name, data := range map[string][]byte{"b.mat": []byte("b"), "a/c.mat": []byte("c"), "z.txt": []byte("z"), "k.zip": zipOf(t, member{"x.mat", "x"})} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("b.mat", filepath.Join(dir, "link.mat")); err != nil {
		t.Fatal(err)
	}
	want := []string{"d/a/c.mat: c", "d/b.mat: b", "d/k.zip/x.mat: x", "d/link.mat: skipped", "d/z.txt: skipped"}
	if diff := cmp.Diff(want, walk(t, dir)); diff != "" {
		t.Error(diff)
	}
	if n, err := unpack.Count(dir); err != nil || n != 5 {
		t.Errorf("%d files, %v", n, err)
	}
}

// zeros is a text of so many zero bytes without holding them.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	clear(p[:n])
	z.left -= int64(n)
	return n, nil
}

// TestBombs unpacks far more than an archive may hold: the walk ends with an error that names the limit, and without the memory.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 4 GiB")
	}
	path := filepath.Join(t.TempDir(), "bomb.zst")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, &zeros{unpack.MaxUnpacked + 1<<20}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	var ended error
	err = unpack.Walk(path, wanted, func(e unpack.Entry) error {
		in, err := e.Open()
		if err != nil {
			return err
		}
		_, ended = io.Copy(io.Discard, in)
		return nil
	})
	if err != nil || !errors.Is(ended, unpack.ErrTotal) {
		t.Errorf("walk %v, read %v, want %v", err, ended, unpack.ErrTotal)
	}
}

func TestDeclaredSize(t *testing.T) {
	// A tar header that promises more than a member may hold is refused before anything is unpacked.
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "a.mat", Size: unpack.MaxMember + 1, Typeflag: tar.TypeReg, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "big.tar")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := walk(t, path); len(got) == 0 || !strings.Contains(got[0], unpack.ErrMember.Error()) {
		t.Errorf("%q", got)
	}
}

func TestVisitStopsTheWalk(t *testing.T) {
	stop := errors.New("stop")
	path := filepath.Join(t.TempDir(), "m.zip")
	if err := os.WriteFile(path, zipOf(t, member{"a.mat", "1"}, member{"b.mat", "2"}), 0o644); err != nil {
		t.Fatal(err)
	}
	visits := 0
	err := unpack.Walk(path, wanted, func(unpack.Entry) error { visits++; return stop })
	if !errors.Is(err, stop) || visits != 1 {
		t.Errorf("%v after %d visits", err, visits)
	}
}

func FuzzWalk(f *testing.F) {
	f.Add(zipOf(f, member{"a.mat", "one"}))
	f.Add(tarOf(f, member{"a.mat", "one"}))
	f.Add(gzipOf([]byte("text")))
	f.Add(zstdOf(f, []byte("text")))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		err := unpack.Walk(path, wanted, func(e unpack.Entry) error {
			if e.Skip || e.Err != nil {
				return nil
			}
			in, err := e.Open()
			if err != nil {
				return err
			}
			io.Copy(io.Discard, in)
			return in.Close()
		})
		if err != nil {
			t.Error(err)
		}
	})
}

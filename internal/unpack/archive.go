package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// archive is an archive being read.
type archive struct {
	name    string
	wanted  func(string) bool
	visit   func(Entry) error
	left    int64 // bytes that may still be unpacked
	outer   bool  // they are counted around the archive, not member by member
	members int
}

// broken reports an archive that cannot be read any further. What was read before stands.
func (a *archive) broken(what string, err error) error {
	return a.visit(Entry{Name: a.name, Err: fmt.Errorf("%s: %w", what, err)})
}

func (a *archive) zip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := zip.NewReader(f, info.Size())
	if err != nil {
		return a.broken("read zip archive", err)
	}
	if len(r.File) > MaxMembers {
		return a.broken("read zip archive", ErrMembers)
	}
	for _, member := range r.File {
		if a.left <= 0 {
			return a.broken("read zip archive", ErrTotal)
		}
		if member.FileInfo().IsDir() {
			continue
		}
		m := Entry{Name: a.name + "/" + member.Name, Skip: !member.Mode().IsRegular()}
		switch {
		case m.Skip:
		case member.UncompressedSize64 > MaxMember:
			m.Err = ErrMember
		default:
			in, err := member.Open()
			if err != nil {
				m.Err = err
				break
			}
			err = a.member(m, member.Name, in)
			in.Close()
			if err != nil {
				return err
			}
			continue
		}
		if err := a.visit(m); err != nil {
			return err
		}
	}
	return nil
}

// compressed reads gzip or zstandard data: a tar archive or one text.
func (a *archive) compressed(k kind, in io.Reader) error {
	var out io.Reader
	switch k {
	case gzipped:
		z, err := gzip.NewReader(in)
		if err != nil {
			return a.broken("read gzip data", err)
		}
		defer z.Close()
		out = z
	default:
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return a.broken("read zstandard data", err)
		}
		defer z.Close()
		out = z
	}
	a.outer = true
	b := bufio.NewReaderSize(&limited{archive: a, in: out, left: MaxUnpacked, total: true, beyond: ErrTotal}, window)
	start, err := b.Peek(window)
	if err != nil && err != io.EOF {
		return a.broken("unpack", err)
	}
	switch recognise(start) {
	case tarred:
		return a.tar(b)
	case text:
		return a.visit(Entry{Name: a.name, Stream: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(b), nil }})
	}
	return a.visit(Entry{Name: a.name, Err: ErrNested})
}

func (a *archive) tar(in io.Reader) error {
	r := tar.NewReader(in)
	for {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return a.broken("read tar archive", err)
		}
		if a.members++; a.members > MaxMembers {
			return a.broken("read tar archive", ErrMembers)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		m := Entry{Name: a.name + "/" + h.Name, Skip: h.Typeflag != tar.TypeReg}
		if h.Size > MaxMember {
			m.Err = ErrMember
		}
		if m.Skip || m.Err != nil {
			err = a.visit(m)
		} else {
			err = a.member(m, h.Name, r)
		}
		if err != nil {
			return err
		}
	}
}

// member visits one member of an archive: in memory if it is small enough.
func (a *archive) member(m Entry, name string, in io.Reader) error {
	switch {
	case packed(name):
		m.Err = ErrNested
	case !a.wanted(name):
		m.Skip = true
	default:
		limited := &limited{archive: a, in: in, left: MaxMember, total: !a.outer, beyond: ErrMember}
		data, err := io.ReadAll(io.LimitReader(limited, MaxBuffered))
		switch {
		case err != nil:
			m.Err = err
		case recognise(data) != text:
			m.Err = ErrNested
		case len(data) < MaxBuffered:
			m.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		default:
			m.Stream = true
			m.Open = func() (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(bytes.NewReader(data), limited)), nil
			}
		}
	}
	return a.visit(m)
}

// limited counts what is unpacked and ends it with an error beyond a limit.
type limited struct {
	archive *archive
	in      io.Reader
	left    int64
	total   bool // it counts for the whole archive
	beyond  error
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	l.left -= int64(n)
	if l.total {
		l.archive.left -= int64(n)
	}
	switch {
	case l.left < 0:
		return 0, l.beyond
	case l.archive.left < 0:
		return 0, ErrTotal
	}
	return n, err
}

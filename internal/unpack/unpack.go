// Package unpack opens files, directories and archives as one sequence of named texts, so that a program that reads single files can be
// given a whole collection.
//
//	err := unpack.Walk("matches.tar.zst", wanted, func(e unpack.Entry) error { … })
//
// Archives are told by their first bytes: zip, tar, gzip, zstandard, and tar inside of the last two. Nothing is ever written to disk, so
// names inside of archives mean nothing but themselves. What comes from strangers may be hostile: the members of an archive, the bytes of
// each and of all together are limited (a few kilobytes can unpack to petabytes), and an archive in an archive is not opened.
package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits of one archive.
const (
	MaxMembers  = 1 << 20
	MaxMember   = 2 << 30 // bytes of one member, unpacked
	MaxUnpacked = 4 << 30 // bytes of all members together
	MaxBuffered = 4 << 20 // members up to this size are held in memory
)

// Errors that name a limit.
var (
	ErrMembers = fmt.Errorf("the archive has more than %d members", MaxMembers)
	ErrMember  = fmt.Errorf("it unpacks to more than %d bytes", MaxMember)
	ErrTotal   = fmt.Errorf("the archive unpacks to more than %d bytes", MaxUnpacked)
	ErrNested  = errors.New("an archive inside of an archive is not opened")
)

// Entry is one text.
type Entry struct {
	Name string
	Skip bool  // not a wanted name, or no regular file
	Err  error // it cannot be read
	// Open opens it. The entry of an archive that is too large to be held must be read before the visit ends.
	Open   func() (io.ReadCloser, error)
	Stream bool // the visit must read it
}

// Walk visits what is at path: a file, everything in a directory and below in the order of names, or the members of an archive in their
// order. Wanted says which names below a directory or in an archive are read.
func Walk(path string, wanted func(name string) bool, visit func(Entry) error) error {
	return filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return nil
		case name == path:
			return file(name, wanted, visit)
		case !entry.Type().IsRegular():
			return visit(Entry{Name: name, Skip: true})
		case packed(name):
			return file(name, wanted, visit)
		case !wanted(name):
			return visit(Entry{Name: name, Skip: true})
		}
		return visit(plain(name))
	})
}

// packed reports whether a name is one of an archive.
func packed(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".zip", ".tar", ".gz", ".tgz", ".zst", ".tzst":
		return true
	}
	return false
}

func plain(name string) Entry {
	return Entry{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

// kind is what the first bytes of a file say it is.
type kind uint8

const (
	text kind = iota
	zipped
	tarred
	gzipped
	zstandard
)

// window is how many bytes must be seen: the mark of a tar archive stands at 257.
const window = 512

func recognise(start []byte) kind {
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return zipped
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return gzipped
	case bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")):
		return zstandard
	case len(start) >= 262 && string(start[257:262]) == "ustar":
		return tarred
	}
	return text
}

// file visits one file of the disk.
func file(name string, wanted func(string) bool, visit func(Entry) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, window)
	start, err := in.Peek(window)
	if err != nil && err != io.EOF {
		return err
	}
	a := archive{name: name, wanted: wanted, visit: visit, left: MaxUnpacked}
	switch k := recognise(start); k {
	case text:
		return visit(plain(name))
	case zipped:
		return a.zip(f)
	case tarred:
		return a.tar(in)
	default:
		return a.compressed(k, in)
	}
}

// Count returns how many files a walk will open or skip; an archive is one.
func Count(path string) (n int64, err error) {
	err = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			n++
		}
		return err
	})
	return n, err
}

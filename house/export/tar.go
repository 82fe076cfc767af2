package export

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// File exports the whole archive to one file, a tar packed with Zstandard. It
// gets its name last and replaces what had it; an export that is interrupted
// leaves nothing. What goes on for years is better exported to a directory.
func File(ctx context.Context, s Source, path string) (sum Summary, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("export archive to %s: %w", path, err)
		}
	}()
	x, err := newExporter(ctx, s)
	if err != nil {
		return Summary{}, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return Summary{}, err
	}
	defer os.Remove(f.Name()) // it has another name by then, or is of no use
	defer f.Close()
	if err := x.pack(ctx, f); err != nil {
		return x.sum, err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return x.sum, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return x.sum, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return x.sum, err
	}
	return x.sum, errors.Join(dir.Sync(), dir.Close())
}

// pack writes the archive. The checkpoint comes first, so that a reader who
// takes the files as they come knows what they belong to.
func (x *exporter) pack(ctx context.Context, w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	p := &packed{tar: tar.NewWriter(z), at: x.last, seen: map[string]bool{}}
	x.out, x.ordered = p, true
	err = p.put("checkpoint", []byte(x.note))
	if err == nil {
		err = x.run(ctx)
	}
	if err == nil {
		err = p.tar.Close()
	}
	return errors.Join(err, z.Close())
}

// packed is a tar file.
type packed struct {
	at   time.Time // of every file: the same log gives the same bytes
	mu   sync.Mutex
	tar  *tar.Writer
	seen map[string]bool // small files that several statements call for
}

func (p *packed) put(name string, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if filepath.Dir(name) == "checkpoints" {
		if p.seen[name] {
			return nil
		}
		p.seen[name] = true
	}
	err := p.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: p.at, Format: tar.FormatPAX})
	if err == nil {
		_, err = p.tar.Write(data)
	}
	return err
}

func (p *packed) mark(int64, string) error { return nil }

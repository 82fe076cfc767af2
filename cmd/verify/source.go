//go:build !js

package main

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"fairdice/audit/archive"
)

// isAddress tells an address from the name of a file or a directory.
func isAddress(where string) bool {
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
}

// openFiles opens an archive: a directory, an address, or one .tar.zst file.
func openFiles(ctx context.Context, where string) (archive.Files, func() error, error) {
	if isAddress(where) {
		w, err := newWeb(where)
		return w, func() error { return nil }, err
	}
	if scheme, _, ok := strings.Cut(where, "://"); ok {
		return nil, nil, fmt.Errorf("read address: %q is neither http nor https: %s", scheme, where)
	}
	info, err := os.Stat(where)
	if err != nil {
		return nil, nil, describe(err)
	}
	if info.IsDir() {
		f, err := openFolder(where)
		if err != nil {
			return nil, nil, err
		}
		return f, f.root.Close, nil
	}
	p, err := openPacked(ctx, where, info.Size())
	if err != nil {
		return nil, nil, err
	}
	return p, p.close, nil
}

// directory is an archive in a directory. Names cannot lead out of it.
type directory struct{ root *os.Root }

func openFolder(dir string) (*directory, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, describe(err)
	}
	return &directory{root}, nil
}

func (d *directory) Read(_ context.Context, name string, limit int64) ([]byte, error) {
	f, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, archive.ErrMissing
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %d bytes are more than %d", errTooLarge, info.Size(), limit)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

func (d *directory) List(_ context.Context, dir string) ([]string, error) {
	f, err := d.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, archive.ErrMissing
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d *directory) Each(ctx context.Context, names iter.Seq[string], limit int64, visit func(string, []byte, error) error) error {
	for name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := d.Read(ctx, name, limit)
		if err := visit(name, data, err); err != nil {
			return err
		}
	}
	return nil
}

// web is an archive, or a log, behind an address.
type web struct {
	base   *url.URL
	client http.Client
}

// Requests at a time, and how often one is repeated when the server is busy.
const (
	webRequests = 8
	webTries    = 4
)

func newWeb(where string) (*web, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("an address without ? and # is needed: %s", where)
	}
	return &web{base: u, client: http.Client{Timeout: 2 * time.Minute}}, nil
}

func (w *web) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	for try := 1; ; try++ {
		data, again, err := w.get(ctx, name, limit)
		if err == nil || !again || try == webTries {
			return data, err
		}
		select {
		case <-time.After(time.Duration(try*try) * 250 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// get makes one request; again says that it may be worth repeating.
func (w *web) get(ctx context.Context, name string, limit int64) (data []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base.JoinPath(name).String(), nil)
	if err != nil {
		return nil, false, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, ctx.Err() == nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return nil, false, archive.ErrMissing
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return nil, true, fmt.Errorf("the server answers %s", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, false, fmt.Errorf("the server answers %s", resp.Status)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, false, fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
	}
	return data, err != nil, err
}

func (w *web) List(context.Context, string) ([]string, error) { return nil, errors.ErrUnsupported }

func (w *web) Each(ctx context.Context, names iter.Seq[string], limit int64, visit func(string, []byte, error) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan string)
	var all sync.WaitGroup
	for range webRequests {
		all.Go(func() {
			for name := range work {
				data, err := w.Read(ctx, name, limit)
				if err := visit(name, data, err); err != nil {
					cancel(err)
				}
			}
		})
	}
	for name := range names {
		select {
		case work <- name:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	all.Wait()
	return context.Cause(ctx)
}

// packed is an archive in one .tar.zst file. The log is unpacked beside it for
// the time of the audit; the matches, which are most of it, are read as they
// come.
type packed struct {
	*directory
	file string
	temp string
}

// mostUnpacked bounds how much larger than the file the log inside it may be:
// a small file can be packed so that it fills a disk.
const mostUnpacked = 200

// maxWindow bounds what the unpacker keeps in memory.
const maxWindow = 64 << 20

func openPacked(ctx context.Context, file string, size int64) (*packed, error) {
	temp, err := os.MkdirTemp("", "verify-archive-")
	if err != nil {
		return nil, describe(err)
	}
	p := &packed{file: file, temp: temp}
	left := size*mostUnpacked + 1<<20
	err = p.unpack(ctx, func(name string) bool { return !strings.HasPrefix(name, "matches/") }, func(name string, r io.Reader, n int64) error {
		if left -= n; left < 0 {
			return fmt.Errorf("the log is more than %d times as large as the file", mostUnpacked)
		}
		return p.store(name, r)
	})
	if err == nil {
		p.directory, err = openFolder(temp)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	return p, nil
}

func (p *packed) close() error { return errors.Join(p.root.Close(), os.RemoveAll(p.temp)) }

func (p *packed) store(name string, r io.Reader) error {
	if !fs.ValidPath(name) {
		return fmt.Errorf("the file has a name that leads elsewhere: %q", name)
	}
	to := path.Join(p.temp, name)
	if err := os.MkdirAll(path.Dir(to), 0o700); err != nil {
		return describe(err)
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return describe(err)
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// unpack goes through the file once and calls take for the files that are
// wanted.
func (p *packed) unpack(ctx context.Context, wanted func(string) bool, take func(string, io.Reader, int64) error) error {
	f, err := os.Open(p.file)
	if err != nil {
		return describe(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(bufio.NewReaderSize(f, 1<<20), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(2))
	if err != nil {
		return fmt.Errorf("%w: %s", err, p.file)
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if errors.Is(err, zstd.ErrMagicMismatch) {
				return fmt.Errorf("neither a directory nor a .tar.zst file: %s", p.file)
			}
			return fmt.Errorf("read archive: %w: %s", err, p.file)
		}
		name := strings.TrimPrefix(h.Name, "./")
		if h.Typeflag != tar.TypeReg || !wanted(name) {
			continue
		}
		if err := take(name, t, h.Size); err != nil {
			return fmt.Errorf("read archive: %w: %s in %s", err, name, p.file)
		}
	}
}

func (p *packed) Each(ctx context.Context, names iter.Seq[string], limit int64, visit func(string, []byte, error) error) error {
	left := map[string]bool{}
	for name := range names {
		left[name] = true
	}
	err := p.unpack(ctx, func(name string) bool { return left[name] }, func(name string, r io.Reader, size int64) error {
		delete(left, name)
		if size > limit {
			return visit(name, nil, fmt.Errorf("%w: %d bytes are more than %d", errTooLarge, size, limit))
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		return visit(name, data, nil)
	})
	if err != nil {
		return err
	}
	for name := range left {
		if err := visit(name, nil, archive.ErrMissing); err != nil {
			return err
		}
	}
	return nil
}

// Read finds matches too, by going through the whole file.
func (p *packed) Read(ctx context.Context, name string, limit int64) (data []byte, err error) {
	if !strings.HasPrefix(name, "matches/") {
		return p.directory.Read(ctx, name, limit)
	}
	one := func(yield func(string) bool) { yield(name) }
	eachErr := p.Each(ctx, one, limit, func(_ string, found []byte, foundErr error) error {
		data, err = found, foundErr
		return nil
	})
	return data, errors.Join(err, eachErr)
}

// scratch keeps the log's texts in a file that has no name any more.
type scratch struct {
	file *os.File
	lock sync.Mutex
	w    *bufio.Writer
}

func newScratch() (*scratch, error) {
	f, err := os.CreateTemp("", "verify-log-")
	if err != nil {
		return nil, describe(err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(describe(err), f.Close())
	}
	return &scratch{file: f, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (s *scratch) Write(p []byte) (int, error) { return s.w.Write(p) }

func (s *scratch) ReadAt(p []byte, off int64) (int, error) {
	s.lock.Lock()
	err := s.w.Flush()
	s.lock.Unlock()
	if err != nil {
		return 0, err
	}
	return s.file.ReadAt(p, off)
}

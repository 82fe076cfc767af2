package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// sink is where the files go.
type sink interface {
	// put writes a file. It is called by several goroutines.
	put(name string, data []byte) error
	// mark says that everything up to that many statements was put, on the way
	// to a signed checkpoint.
	mark(done int64, target string) error
}

// markFile remembers how far an export has come.
const markFile = ".export"

// markFormat is its first line: so many statements are worked off and on the
// disk. The checkpoint to which that export was to lead follows.
const markFormat = "fairdice/v1/export %d\n"

// Directory exports to a directory: a new one, or one with an earlier state of
// the same archive, which is continued. If the export is interrupted the
// directory is still the archive it was before, and the next export goes on
// where this one was.
func Directory(ctx context.Context, s Source, dir string) (Summary, error) {
	x, err := newExporter(ctx, s)
	if err != nil {
		return Summary{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Summary{}, fmt.Errorf("export archive: %w", err)
	}
	d := &directory{root: dir, made: map[string]bool{}}
	unlock, err := lockDir(dir)
	if err != nil {
		return Summary{}, fmt.Errorf("export archive: %w", err)
	}
	defer unlock()
	x.out = d
	if err := x.resume(ctx, d); err != nil {
		return Summary{}, fmt.Errorf("export archive to %s: %w", dir, err)
	}
	if err := x.run(ctx); err != nil {
		return x.sum, fmt.Errorf("export archive to %s: %w", dir, err)
	}
	if err := d.finish(x); err != nil {
		return x.sum, fmt.Errorf("export archive to %s: %w", dir, err)
	}
	return x.sum, nil
}

// resume finds out what is there.
func (x *exporter) resume(ctx context.Context, d *directory) error {
	key, err := d.read("log.key")
	if errors.Is(err, fs.ErrNotExist) {
		list, err := os.ReadDir(d.root)
		if err != nil {
			return err
		}
		for _, e := range list {
			if !strings.HasPrefix(e.Name(), ".") && e.Name() != "README.txt" {
				return fmt.Errorf("%w: %s is there, and no log.key", ErrOther, e.Name())
			}
		}
		return nil
	} else if err != nil {
		return err
	}
	if key != x.Key+"\n" {
		return fmt.Errorf("%w: its key is %s", ErrOther, strings.TrimSpace(key))
	}
	switch signed, err := d.read("checkpoint"); {
	case err == nil:
		if err := x.extends(ctx, signed); err != nil {
			return err
		}
		// A crash may have come between the checkpoint and what waited for it.
		if marked, err := d.read(markFile); err == nil && strings.HasSuffix(marked, "\n"+signed) {
			if err := d.settle(); err != nil {
				return err
			}
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	switch text, err := d.read(markFile); {
	case err == nil:
		line, target, _ := strings.Cut(text, "\n")
		if _, err := fmt.Sscanf(line+"\n", markFormat, &x.done); err != nil || x.done < 0 || x.done > x.target.Size {
			return fmt.Errorf("%w: %s does not say how far the last export came", ErrOther, markFile)
		}
		if err := x.extends(ctx, target); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// directory is a tree of files.
type directory struct {
	root string
	mu   sync.Mutex
	made map[string]bool // folders
}

func (d *directory) read(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(d.root, filepath.FromSlash(name)))
	return string(b), err
}

// waiting is the folder of files that would contradict the checkpoint of the
// archive as it is.
const waiting = ".next"

// put gives the file its name when it is whole. It is on the disk for good only
// after the next mark.
func (d *directory) put(name string, data []byte) error {
	path := filepath.Join(d.root, filepath.FromSlash(name))
	switch folder, _, _ := strings.Cut(name, "/"); folder {
	case "checkpoints":
		path = d.aside(name)
	case "matches":
		if _, err := os.Lstat(path); err == nil {
			path = d.aside(name) // the match has gone on
		}
	}
	if err := d.folder(filepath.Dir(path)); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".partial")
	if err := writeFile(temp, data); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func (d *directory) aside(name string) string {
	return filepath.Join(d.root, waiting, filepath.FromSlash(name))
}

// settle gives the files that waited their places.
func (d *directory) settle() error {
	root := filepath.Join(d.root, waiting)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		to := filepath.Join(d.root, name)
		if err := d.folder(filepath.Dir(to)); err != nil {
			return err
		}
		return os.Rename(path, to)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = syncAll(d.root)
	}
	if err == nil {
		err = os.RemoveAll(root)
	}
	d.made = map[string]bool{}
	return err
}

func (d *directory) folder(path string) error {
	d.mu.Lock()
	made := d.made[path]
	d.mu.Unlock()
	if made {
		return nil
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	d.mu.Lock()
	d.made[path] = true
	d.mu.Unlock()
	return nil
}

func (d *directory) mark(done int64, target string) error {
	if err := syncAll(d.root); err != nil {
		return err
	}
	// The mark itself may be lost in a crash: then this stretch is done again.
	return d.put(markFile, append(fmt.Appendf(nil, markFormat, done), target...))
}

// finish makes the new checkpoint that of the archive, and then takes away the
// partial tiles that only the old one needed.
func (d *directory) finish(x *exporter) error {
	if err := syncAll(d.root); err != nil {
		return err
	}
	if err := d.put("checkpoint", []byte(x.note)); err != nil {
		return err
	}
	if err := syncAll(d.root); err != nil {
		return err
	}
	if err := d.settle(); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, name := range partials(x.target.Size) {
		keep[name] = true
	}
	for _, size := range x.earlier {
		for _, name := range partials(size) {
			if keep[name] {
				continue
			}
			path := filepath.Join(d.root, filepath.FromSlash(name))
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			os.Remove(filepath.Dir(path)) // the folder, if nothing is left in it
		}
	}
	return nil
}

//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// disk is what a directory looks like after a power cut, on the least helpful
// disk that keeps its promises: a file has the bytes of its last sync, none
// without one, and a name is there, or gone, only after a sync of the directory.
// (A kill alone does not show this: the system keeps what the process has
// written.)
type disk struct {
	dir     string
	content map[uint64]content // by inode
	names   map[string]uint64
}

type content struct {
	data []byte
	mode fs.FileMode
}

// newDisk takes what is in the directory for durable.
func newDisk(dir string) (*disk, error) {
	d := &disk{dir: dir, content: map[uint64]content{}}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if e.Type().IsRegular() {
			if err := d.sync(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return d, d.sync(dir)
}

// sync makes a file, or the names in the directory, durable. The path may be
// that of a descriptor in /proc.
func (d *disk) sync(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(path)
		d.content[info.Sys().(*syscall.Stat_t).Ino] = content{data, info.Mode()}
		return err
	}
	list, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	names := map[string]uint64{}
	for _, e := range list {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		} else if err != nil {
			return err
		}
		names[e.Name()] = info.Sys().(*syscall.Stat_t).Ino
	}
	d.names = names
	return nil
}

// cut leaves in the directory what is durable.
func (d *disk) cut() error {
	list, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := os.Remove(filepath.Join(d.dir, e.Name())); err != nil {
			return err
		}
	}
	for name, inode := range d.names {
		c, ok := d.content[inode]
		if !ok {
			c.mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(d.dir, name), c.data, c.mode); err != nil {
			return fmt.Errorf("cut power: %w", err)
		}
	}
	return nil
}

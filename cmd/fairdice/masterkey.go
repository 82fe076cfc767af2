package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairdice/house"
	"fairdice/store"
	"fairdice/store/sqlite"
)

// movedFile says where the master key went: the path that the settings name,
// below it the path that counts, and, until it is removed, the file that held
// the key before. It is replaced in one step, so at every instant one place
// counts, and the key is there.
func (c config) movedFile() string { return filepath.Join(c.data, "master.moved") }

// followMaster goes from where the settings have the master key to where it was moved.
func (c *config) followMaster() error {
	c.masterNamed = c.master
	text, err := os.ReadFile(c.movedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("look for the master key: %w", err)
	}
	paths := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(paths) < 2 || len(paths) > 3 || slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsAbs(p) }) {
		return fmt.Errorf("look for the master key: %s is not two or three lines with a path each; remove it, and name the key's file with master-key", c.movedFile())
	}
	named, err := filepath.Abs(c.master)
	if err != nil {
		return fmt.Errorf("look for the master key: %w", err)
	}
	if named == paths[0] {
		c.master = paths[1]
		if len(paths) == 3 {
			c.masterOld = paths[2]
		}
	}
	return nil
}

// note makes to the place of the master key. If the settings name it anyway,
// and no old file is left, no note is needed.
func (c config) note(named, to, old string) error {
	if named == to && old == "" {
		if err := os.Remove(c.movedFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("note move: %w", err)
		}
		return syncDir(c.data)
	}
	next := c.movedFile() + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note move: %w", err)
	}
	text := named + "\n" + to + "\n"
	if old != "" {
		text += old + "\n"
	}
	if err := writeSecret(next, text); err != nil {
		return err
	}
	if err := os.Rename(next, c.movedFile()); err != nil {
		return fmt.Errorf("note move: %w", err)
	}
	return syncDir(c.data)
}

// hold keeps every service away from the database until release. Instances
// that share a PostgreSQL database have data directories and master keys of
// their own, so there only the one of this directory matters.
func (c config) hold() (release func() error, err error) {
	if running(c) {
		return nil, errors.New("a service runs in this directory; stop it first")
	}
	if there, err := present(c.database()); isShared(c.database()) || !there {
		return func() error { return nil }, err
	}
	lock, err := sqlite.Lock(c.database())
	if err != nil {
		return nil, err
	}
	return lock.Close, nil
}

// running reports whether a service takes orders in the data directory.
func running(c config) bool {
	probe, err := net.Dial("unix", c.socket())
	if err != nil {
		return false
	}
	return probe.Close() == nil
}

func readMaster(path string) (m house.MasterKey, err error) {
	text, err := readSecret(path)
	if err != nil {
		return m, err
	}
	if m, err = house.ParseMasterKey(text); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// fits demands a master key that opens what the database has sealed.
func (c config) fits(ctx context.Context, path string) (m house.MasterKey, err error) {
	if m, err = readMaster(path); err != nil {
		return m, err
	}
	if there, err := present(c.database()); !isShared(c.database()) && !there {
		return m, err // nothing is sealed yet
	}
	db, err := openToRead(ctx, c.database(), 1)
	if err != nil {
		return m, err
	}
	return m, errors.Join(db.View(ctx, func(r store.Reader) error { return m.Check(r) }), db.Close())
}

// moveMaster moves the master key. The crash story:
//
//  1. the key is copied under its new name, whole and synced; it is read
//     again, and proved to be the key that opens the database. A crash leaves two copies; the old one counts.
//  2. the note in the data directory makes the new one count, in one step.
//  3. the old one is removed, and so is its line in the note. A crash before
//     that leaves two copies; the new one counts.
//
// Whenever it was cut off the same command again goes on.
func (c config) moveMaster(ctx context.Context, to string) (err error) {
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	named, err := filepath.Abs(c.masterNamed)
	if err != nil {
		return err
	}
	from, err := filepath.Abs(c.master)
	if err != nil {
		return err
	}
	if strings.ContainsAny(named+to, "\n\r") {
		return errors.New("a path with a line break cannot be noted")
	}
	release, err := c.hold()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	key, err := c.fits(ctx, from)
	if err != nil {
		return err
	}
	if c.masterOld != "" && c.masterOld != to { // cut off after step 2
		if err := c.removeMaster(named, from, c.masterOld, key); err != nil {
			return err
		}
	}
	if from == to {
		return c.removeMaster(named, to, c.masterOld, key)
	}
	if there, err := present(to); err != nil {
		return err
	} else if !there {
		if err := writeSecret(to, key.Text()); err != nil {
			return err
		}
	}
	switch copied, err := readMaster(to); {
	case err != nil:
		return err
	case copied != key:
		return fmt.Errorf("%s is there already, and it is another key", to)
	}
	if same, err := sameFile(from, to); err != nil {
		return err
	} else if same {
		return fmt.Errorf("%s and %s are one file", from, to)
	}
	if err := c.note(named, to, from); err != nil {
		return err
	}
	return c.removeMaster(named, to, from, key)
}

// removeMaster removes the file of a key that is safe in another place, and
// then the line that says it must be removed.
func (c config) removeMaster(named, kept, old string, key house.MasterKey) error {
	if old == "" {
		return nil
	}
	there, err := present(old)
	if err != nil {
		return err
	}
	if there {
		if left, err := readMaster(old); err != nil || left != key {
			return fmt.Errorf("%s is not the key that was moved; it stays there", old)
		}
		if err := os.Remove(old); err != nil {
			return fmt.Errorf("remove old master key: %w", err)
		}
		if err := syncDir(filepath.Dir(old)); err != nil {
			return err
		}
	}
	return c.note(named, kept, "")
}

func sameFile(a, b string) (bool, error) {
	first, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second), err
}

func newMoveMaster(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "move-master FILE",
		Short: "Move the master key to another file, on another mount for instance",
		Long: `Move the master key to another file, on another mount for instance. No service
may run. The copy is synced and proved to open what the database has sealed before
it counts; a note in the data directory says where it is, so no setting has to
change; then the old file is removed. Cut off at any instant, the key is in a
place that counts, and the same command again goes on.

What the old file held may stay on its disk until that is written over: on a disk
that goes out of your hands, destroy it.`,
		Example: `  fairdice keys move-master /run/keys/fairdice-master.key`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			if err := cfg.errNoDirectory(); err != nil {
				return err
			}
			if err := cfg.moveMaster(c.Context(), args[0]); err != nil {
				return fmt.Errorf("move master key: %w", err)
			}
			fmt.Fprintf(c.OutOrStdout(), "master key\t%s\n", args[0])
			return nil
		},
	}
	s.flags(c, "data", "database", "database-file", "master-key")
	return c
}

func newKeysCreate(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "create",
		Short: "Make all keys of a new service before its first start, and print the public ones",
		Long: `Make all keys of a new service before its first start, on this machine or on one
without a network, and print the public ones: publish the log's key before there
is a log. Then bring the data directory and the file of the master key to the
service, each on its own way. Keys that are there are never replaced.`,
		Example: `  fairdice keys create --data ./ceremony --master-key /media/usb/master.key --origin dice.example`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			if there, err := present(cfg.logKey()); err != nil {
				return err
			} else if there {
				return fmt.Errorf("create keys: %s is there already; \"fairdice keys show\" prints the public keys", cfg.logKey())
			}
			if fresh, err := cfg.fresh(); err != nil {
				return fmt.Errorf("create keys: %w", err)
			} else if !fresh {
				return fmt.Errorf("create keys: there is a database in %s, and new keys cannot continue its log", cfg.data)
			}
			if err := makeKeys(cfg); err != nil {
				return err
			}
			return showKeys(c, cfg)
		},
	}
	s.flags(c, "data", "master-key", "origin")
	return c
}

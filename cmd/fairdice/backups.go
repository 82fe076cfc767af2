package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairdice/internal/metrics"
)

// backups copies the database every so often to a directory, each copy read
// back and compared with the head before it counts, and keeps the newest. A
// service without them is none the worse: a failure is logged and counted, and
// tried again when the next one is due or a minute later, whichever is first.
type backups struct {
	config  config
	metrics *metrics.Metrics
	log     *slog.Logger
	cancel  context.CancelFunc
	done    chan struct{}
}

const (
	backupPrefix = "fairdice-"
	backupSuffix = ".db"
	backupTime   = "20060102T150405Z"
	backupRetry  = time.Minute
)

// startBackups begins with the first one at once unless there is one that is
// young enough. It answers nil if the settings name no directory.
func startBackups(c config, m *metrics.Metrics, log *slog.Logger) (*backups, error) {
	if c.backupDir == "" {
		return nil, nil
	}
	there, err := backupsIn(c.backupDir)
	if err != nil {
		return nil, err
	}
	b := &backups{config: c, metrics: m, log: log, done: make(chan struct{})}
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(context.Background())
	var last time.Time
	if len(there) > 0 {
		last = there[len(there)-1].begun
		m.BackupFound(last)
	}
	go func() {
		defer close(b.done)
		for wait := time.Until(last.Add(c.backupEvery)); ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			begun := time.Now()
			err := b.once(ctx, begun)
			if ctx.Err() != nil {
				return
			}
			m.BackedUp(begun, err)
			if wait = time.Until(begun.Add(c.backupEvery)); err != nil {
				log.Error("backup failed", "dir", c.backupDir, "error", err)
				wait = min(c.backupEvery, backupRetry)
			}
		}
	}()
	return b, nil
}

// stop waits a moment for a copy that is being made. One that takes longer is
// broken off by the end of the process, and what is left of it removed by the
// next.
func (b *backups) stop() {
	if b == nil {
		return
	}
	b.cancel()
	select {
	case <-b.done:
	case <-time.After(Grace):
	}
}

// once makes a backup, and only then removes what is too much.
func (b *backups) once(ctx context.Context, begun time.Time) error {
	dir := b.config.backupDir
	// What a crash has left of an earlier one has a name that never comes again.
	left, err := filepath.Glob(filepath.Join(dir, backupPrefix+"*"+backupSuffix+".partial"))
	if err != nil {
		return fmt.Errorf("look for broken backups: %w", err)
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove broken backup: %w", err)
		}
	}
	file := filepath.Join(dir, backupPrefix+begun.UTC().Format(backupTime)+backupSuffix)
	if err := b.config.backUp(ctx, file); err != nil {
		return err
	}
	b.log.Info("database backed up", "file", file, "took", time.Since(begun).Round(time.Millisecond))
	there, err := backupsIn(dir)
	if err != nil {
		return err
	}
	for _, old := range there[:max(0, len(there)-b.config.backupKeep)] {
		if err := os.Remove(old.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove old backup: %w", err)
		}
	}
	return nil
}

// backup is a file that once has made.
type backup struct {
	file  string
	begun time.Time
}

// backupsIn are the backups in a directory, oldest first. Files of other names
// are nobody's business here and are never removed.
func backupsIn(dir string) (list []backup, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for backups: %w", err)
	}
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), backupPrefix)
		name, named := strings.CutSuffix(name, backupSuffix)
		begun, err := time.Parse(backupTime, name)
		if ours && named && err == nil {
			list = append(list, backup{filepath.Join(dir, e.Name()), begun})
		}
	}
	slices.SortFunc(list, func(a, b backup) int { return a.begun.Compare(b.begun) })
	return list, nil
}

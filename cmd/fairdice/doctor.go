package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fairdice/house"
	"fairdice/store"
	"fairdice/store/postgres"
	"fairdice/store/sqlite"
	"fairdice/translog"
)

// finding is what the doctor says of one thing.
type finding struct {
	Check   string `json:"check"`
	Status  string `json:"status"` // ok, warning, failure or skipped
	Message string `json:"message"`
	Do      string `json:"do,omitempty"` // one sentence
}

const (
	fine    = "ok"
	unwise  = "warning"
	failure = "failure"
	skipped = "skipped"
)

// doctor looks at a service from outside, whether it runs or not. It reads; the
// one thing it writes is a file to measure the disk with.
type doctor struct {
	config
	deep    bool
	backups string
	clock   func() time.Time
	http    *http.Client

	found []finding
}

func (d *doctor) say(status, check, do, format string, args ...any) {
	d.found = append(d.found, finding{check, status, fmt.Sprintf(format, args...), do})
}

// examine looks at everything, in the order in which one thing needs the other.
func (d *doctor) examine(ctx context.Context, problems problems) {
	for _, p := range problems {
		status := unwise
		if p.Severity == severe {
			status = failure
		}
		d.say(status, "settings", "Mend the setting or the file; \"fairdice config check\" says the same without the rest.", "%v", p)
	}
	if len(problems) == 0 {
		d.say(fine, "settings", "", "every setting and file can be used")
	}
	if d.data == "" {
		return
	}
	if err := d.errNoDirectory(); err != nil {
		d.say(failure, "data", "Name the right directory with --data, or start the service once.", "%v", err)
		return
	}
	d.disk()
	if running(d.config) {
		d.say(fine, "service", "", "it runs")
	} else {
		d.say(skipped, "service", "", "none runs in %s", d.data)
	}
	log, err := readSigningKey(d.logKey())
	if err != nil { // said under settings too, if a service has begun there
		d.say(failure, "keys", "Put back your copies of the keys.", "%v", err)
		return
	}
	d.database(ctx, log)
	d.beacon(ctx)
	d.backup()
}

// database looks at the database and at what must fit to it.
func (d *doctor) database(ctx context.Context, log signingKey) {
	address := d.config.database()
	if !isShared(address) {
		if there, err := present(address); err != nil || !there {
			d.say(skipped, "database", "", "there is none yet; the first start makes it")
			return
		}
		if d.deep {
			if err := sqlite.Check(address); err != nil {
				d.say(failure, "integrity", "Stop the service, keep the file, and restore the newest backup.", "%v", err)
			} else {
				d.say(fine, "integrity", "", "the whole file was read and is sound")
			}
		}
	} else {
		d.serverClock(ctx, address)
	}
	db, err := openToRead(ctx, address, 1)
	if err != nil {
		d.say(failure, "database", "Start its server, mend the address or the permissions, or use the version of fairdice that the service runs.", "%v", err)
		return
	}
	err = db.View(ctx, func(r store.Reader) error {
		head, err := r.LogHead()
		if err != nil {
			return err
		}
		d.say(fine, "database", "", "it opens, its schema is that of this program, and its log has %d statements", head.Size)
		if ahead := head.Time.Sub(d.clock()); ahead > time.Minute {
			d.say(failure, "clock", "Set this machine's clock, with NTP.", "the last statement is of %s, %s after this machine's clock", head.Time.Format(time.RFC3339), ahead.Round(time.Second))
		} else {
			d.say(fine, "clock", "", "it is not behind the last statement")
		}
		for _, look := range []func(store.Reader, signingKey, store.LogHead) error{d.keys, d.head, d.pools, d.overdue} {
			if err := look(r, log, head); err != nil {
				return err
			}
		}
		return d.witnessed(ctx, r, log, head)
	})
	if err = errors.Join(err, db.Close()); err != nil {
		d.say(failure, "database", "Look at the disk and the database server; with SQLite, run fairdice doctor --deep.", "read it: %v", err)
	}
}

// clockTolerance is how far clocks may be apart: receipts and statements name
// whole seconds, and a deadline an hour before.
const clockTolerance = 5 * time.Second

func (d *doctor) compareClock(check, with string, theirs time.Time) {
	if off := theirs.Sub(d.clock()); off.Abs() > clockTolerance {
		d.say(unwise, check, "Set this machine's clock, with NTP, or that one.", "%s is %s off this machine's clock", with, off.Round(time.Second))
	} else {
		d.say(fine, check, "", "%s agrees with this machine's clock", with)
	}
}

func (d *doctor) serverClock(ctx context.Context, address string) {
	now, err := postgres.Clock(ctx, address)
	if err == nil { // opening says what is wrong otherwise
		d.compareClock("clock", "the database server", now)
	}
}

// keys must be those of the log in the database.
func (d *doctor) keys(r store.Reader, log signingKey, _ store.LogHead) error {
	origin, err := originOf(r)
	if err != nil {
		return err
	}
	if origin != "" && origin != log.signer.Name() {
		d.say(failure, "keys", "Put together the keys and the database that belong together.", "the database has the log %q, the key is that of %q", origin, log.signer.Name())
		return nil
	}
	m, err := readMaster(d.master)
	if err == nil {
		err = m.Check(r)
	}
	if err == nil {
		_, err = readSigningKeys(d.receiptKey())
	}
	if err != nil {
		d.say(failure, "keys", "Put back your copy of the key, readable by its owner alone.", "%v", err)
		return nil
	}
	d.say(fine, "keys", "", "log, receipts and master key are there, and the master key opens what the database has sealed")
	return nil
}

// head compares what was signed with the database.
func (d *doctor) head(r store.Reader, log signingKey, head store.LogHead) error {
	const restore = "Restore a newer copy of the database; docs/operating.md, \"Never two heads\", says how to go on."
	last, err := r.LatestCheckpoint()
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	text, err := os.ReadFile(d.headFile())
	switch {
	case errors.Is(err, fs.ErrNotExist) && last.Size > 0:
		d.say(unwise, "head", "Put the file back if you have it; the next start makes it again from the database.", "%s is missing, so an old database would not be noticed", d.headFile())
	case errors.Is(err, fs.ErrNotExist):
		d.say(fine, "head", "", "nothing was signed yet")
		return nil
	case err != nil:
		d.say(failure, "head", "Give the service's user the right to read it.", "%v", err)
		return nil
	default:
		cp, err := translog.OpenCheckpoint(string(text), log.verifier)
		if err != nil {
			d.say(failure, "head", "Put back the log key that signed it.", "%s: %v", d.headFile(), err)
			return nil
		}
		if cp.Size > head.Size {
			d.say(failure, "head", restore, "a checkpoint of %d statements was signed, and the database has %d", cp.Size, head.Size)
			return nil
		}
		root, err := translog.Root(cp.Size, translog.Stored(r))
		if err != nil {
			return err
		}
		if root != cp.Root {
			d.say(failure, "head", restore, "the first %d statements of the database are not those that were signed", cp.Size)
			return nil
		}
		d.say(fine, "head", "", "the database goes on from the last checkpoint that was signed, of %d statements", cp.Size)
	}
	if lag := head.Size - last.Size; lag > 0 {
		d.say(unwise, "signing", "If it stays so while the service runs, look into its log for \"refuse to sign\".", "%d statements are not in a signed checkpoint yet", lag)
	}
	return nil
}

func (d *doctor) pools(r store.Reader, _ signingKey, _ store.LogHead) error {
	tenants, err := r.Tenants()
	if err != nil {
		return err
	}
	low := 0
	for _, t := range tenants {
		for _, mode := range house.Sealable() {
			pool, err := r.Pool(t.Name, mode)
			if err != nil {
				return err
			}
			if pool.Free < max(1, d.sealed/4) {
				low++
				d.say(unwise, "pool", "It fills while the service runs; if it does not, look into its log, and raise sealed if games begin faster.", "tenant %s has %d free sequences of mode %s", t.Name, pool.Free, mode)
			}
		}
	}
	if low == 0 {
		d.say(fine, "pool", "", "tenants with enough sequences of every mode: %d", len(tenants))
	}
	return nil
}

func (d *doctor) overdue(r store.Reader, _ signingKey, _ store.LogHead) error {
	now := d.clock().UTC()
	games, err := r.Unended(now.Add(-house.AssignedLimit), 0, house.MaxPage)
	if err != nil {
		return err
	}
	sequences, err := r.Unused(now.Add(-house.FreeLimit), 0, house.MaxPage)
	if err != nil {
		return err
	}
	if len(games)+len(sequences) > 0 {
		d.say(failure, "overdue", "Start the service, which ends them within a minute, and read in its log why it did not.", "past their deadline: games %d, sequences %d; every audit will show them", len(games), len(sequences))
		return nil
	}
	d.say(fine, "overdue", "", "no game and no sequence is past its deadline")
	return nil
}

// backupAge is how old the newest backup may be.
const backupAge = 26 * time.Hour

func (d *doctor) backup() {
	if d.backups == "" {
		d.say(skipped, "backups", "", "--backups names no directory of them")
		return
	}
	files, err := os.ReadDir(d.backups)
	if err != nil {
		d.say(failure, "backups", "Name the directory of the backups, and let the service's user read it.", "%v", err)
		return
	}
	var newest time.Time
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() && filepath.Ext(f.Name()) != ".partial" && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	switch age := d.clock().Sub(newest); {
	case newest.IsZero():
		d.say(failure, "backups", "Run fairdice backup every night.", "%s has none", d.backups)
	case age > backupAge:
		d.say(failure, "backups", "See why the last backup was not made.", "the newest is of %s", newest.UTC().Format(time.RFC3339))
	default:
		d.say(fine, "backups", "", "the newest is %s old", age.Round(time.Minute))
	}
}

func newDoctor(s *settings) *cobra.Command {
	var d doctor
	var machine bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Examine a service and everything it needs, whether it runs or not",
		Long: `Examine a service and everything it needs, whether it runs or not: settings,
clock, disk, database, keys, the last signed head, pools, deadlines, witnesses,
beacon relays and backups. Each line says what was found and each trouble in one
sentence what to do. Nothing is changed; one file is written and removed to measure
the disk. Give the same flags, environment and settings file as to serve.

The exit code is 1 if anything has failed, 0 with warnings alone.`,
		Example: `  fairdice doctor --config /etc/fairdice/fairdice.yaml --deep`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, problems := s.gather(c)
			s.inspect(cfg, &problems)
			d.config, d.clock, d.http = cfg, time.Now, &http.Client{Timeout: 6 * time.Second}
			d.examine(c.Context(), problems)
			failed := 0
			for _, f := range d.found {
				if f.Status == failure {
					failed++
				}
			}
			if machine {
				if err := writeJSON(c, struct {
					OK       bool      `json:"ok"`
					Findings []finding `json:"findings"`
				}{failed == 0, d.found}); err != nil {
					return err
				}
			} else {
				for _, f := range d.found {
					fmt.Fprintf(c.OutOrStdout(), "%-8s %-10s %s\n", f.Status, f.Check, f.Message)
					if f.Do != "" {
						fmt.Fprintf(c.OutOrStdout(), "%20s%s\n", "", f.Do)
					}
				}
			}
			if failed > 0 {
				return fmt.Errorf("examine service: failures: %d", failed)
			}
			return nil
		},
	}
	keys := make([]string, len(list))
	for i, l := range list {
		keys[i] = l.key
	}
	s.flags(c, keys...)
	c.Flags().BoolVar(&machine, "json", false, "print JSON")
	c.Flags().BoolVar(&d.deep, "deep", false, "read the whole SQLite database and check it; takes as long as it is large")
	c.Flags().StringVar(&d.backups, "backups", "", "directory of backups, whose newest must be younger than 26 hours")
	return c
}

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/translog"
	"fairdice/translog/witness"
)

// watch is what a witness is started with.
type watch struct {
	data, listen, name string
	logs               []string
}

func (w watch) key() string      { return filepath.Join(w.data, "witness.key") }
func (w watch) database() string { return filepath.Join(w.data, "witness.db") }

func newWitness() *cobra.Command {
	var w watch
	c := &cobra.Command{
		Use:   "witness --log VKEY",
		Short: "Run a witness of somebody else's log",
		Long: `Run a witness (C2SP tlog-witness): it cosigns checkpoints of the logs it watches,
each only if it continues the last one it has cosigned. Whoever demands its
cosignature cannot be shown another history than it was. Its key is made on the
first start; give the line "witness" to the log, with the address under which
the log reaches it, and to everybody who verifies.

What it remembers is its promise: its directory must not be restored from a
backup or copied to a second machine, and a lost one means a new key.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return w.serve(c) },
	}
	c.PersistentFlags().StringVar(&w.data, "data", "./fairdice-witness", "directory of the key and of what was cosigned")
	f := c.Flags()
	f.StringVar(&w.listen, "listen", "127.0.0.1:8090", "address to serve on")
	f.StringVar(&w.name, "name", "", "name in the key, chosen once when it is made; default: witness/ and eight random digits")
	f.StringArrayVar(&w.logs, "log", nil, "verifier `KEY` of a log to watch; may be repeated")
	status := &cobra.Command{
		Use:     "status",
		Example: `  fairdice witness status --data /srv/witness`,
		Short:   "Show what was cosigned and refused, and prove split views; exit status 1 if there are any",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return w.status(c) },
	}
	c.AddCommand(status)
	return c
}

// cosigner reads the key, or makes it where neither key nor memory is: a new
// key over an old memory would be another witness than people trust.
func (w watch) cosigner() (*translog.Cosigner, error) {
	if err := os.MkdirAll(w.data, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	_, keyErr := os.Stat(w.key())
	_, dbErr := os.Stat(w.database())
	if errors.Is(keyErr, fs.ErrNotExist) && errors.Is(dbErr, fs.ErrNotExist) {
		name := w.name
		if name == "" {
			var id [4]byte
			if _, err := rand.Read(id[:]); err != nil {
				return nil, fmt.Errorf("make witness name: %w", err)
			}
			name = "witness/" + hex.EncodeToString(id[:])
		}
		skey, _, err := translog.NewWitnessKey(name, rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("make witness key: %w", err)
		}
		if err := writeSecret(w.key(), skey+"\n"); err != nil {
			return nil, err
		}
	} else if errors.Is(keyErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("open witness: %s is lost but %s is there: put the key back, or begin in a new directory as a new witness", w.key(), w.database())
	} else if errors.Is(dbErr, fs.ErrNotExist) {
		// The key is written first, so this may be a start that was cut short; but
		// a witness that forgot what it cosigned must not go on by itself.
		if _, err := os.Stat(w.started()); err == nil {
			return nil, fmt.Errorf("open witness: %s is lost: what was cosigned with this key is forgotten, so it must not be used again; begin in a new directory as a new witness", w.database())
		}
	}
	text, err := readSecret(w.key())
	if err != nil {
		return nil, err
	}
	c, err := translog.NewCosigner(strings.TrimSpace(text), time.Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.key(), err)
	}
	if w.name != "" && w.name != c.Witness().Name() {
		return nil, fmt.Errorf("open witness: the key in %s is named %q for ever, not %q", w.key(), c.Witness().Name(), w.name)
	}
	return c, nil
}

// started is there once the memory has been; without it a lost memory would
// look like a first start.
func (w watch) started() string { return filepath.Join(w.data, "started") }

func (w watch) memory() (store.Memory, error) {
	m, err := sqlite.OpenMemory(w.database())
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(w.started(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), syncDir(w.data))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open witness: %w", err), m.Close())
	}
	return m, nil
}

func (w watch) verifiers() ([]note.Verifier, error) {
	if len(w.logs) == 0 {
		return nil, errors.New("open witness: name at least one log to watch, --log VKEY")
	}
	var vs []note.Verifier
	for _, l := range w.logs {
		v, err := commitment.ParseVerifier(l)
		if err != nil {
			return nil, fmt.Errorf("open witness: log %q: %w", l, err)
		}
		vs = append(vs, v)
	}
	return vs, nil
}

func (w watch) serve(c *cobra.Command) (err error) {
	ctx := c.Context()
	log := config{}.logger(c.ErrOrStderr())
	slog.SetDefault(log)
	logs, err := w.verifiers()
	if err != nil {
		return err
	}
	cosigner, err := w.cosigner()
	if err != nil {
		return err
	}
	m, err := w.memory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	handler, err := witness.New(cosigner, logs, m)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", w.listen)
	if err != nil {
		return fmt.Errorf("listen: %w; --listen chooses another address", err)
	}
	server := &http.Server{
		Handler:           http.TimeoutHandler(handler, 10*time.Second, "too late\n"),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "witness   %s\n", cosigner.Witness())
	fmt.Fprintf(out, "serving   http://%s\n", l.Addr())
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case <-ctx.Done():
		stopping, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		return server.Shutdown(stopping)
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	}
}

func (w watch) status(c *cobra.Command) (err error) {
	if there, err := present(w.database()); err != nil {
		return err
	} else if !there {
		return fmt.Errorf("read memory: no witness there: %s does not exist; --data names its directory", w.database())
	}
	m, err := sqlite.ReadMemory(w.database())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	ctx, out := c.Context(), c.OutOrStdout()
	if text, err := readSecret(w.key()); err == nil {
		if k, err := commitment.ParseSignerKey(strings.TrimSpace(text)); err == nil {
			fmt.Fprintf(out, "witness   %s\n", k.Verifier())
		}
	}
	logs, err := m.Watched(ctx)
	if err != nil {
		return err
	}
	for _, l := range logs {
		fmt.Fprintf(out, "log       %s: cosigned %d, refused %d; the last has %d statements, %s\n",
			l.Last.Origin, l.Cosigned, l.Refused, l.Last.Size, l.Last.Time.Format(time.RFC3339))
	}
	refused, err := m.Refused(ctx)
	if err != nil {
		return err
	}
	splits, err := m.Splits(ctx)
	if err != nil {
		return err
	}
	proved := map[[32]byte]bool{}
	for _, s := range splits {
		proved[s[0].Root], proved[s[1].Root] = true, true
	}
	for _, r := range refused {
		if !proved[r.Root] {
			fmt.Fprintf(out, "refused   %s size %d at %s: it came with a proof that does not fit; it proves nothing yet\n",
				r.Origin, r.Size, r.Time.Format(time.RFC3339))
		}
	}
	for _, s := range splits {
		fmt.Fprintf(out, "\nSPLIT VIEW: %s has signed two histories of %d statements. These two notes prove it:\n\n%s\n%s",
			s[0].Origin, s[0].Size, s[0].Note, s[1].Note)
	}
	if len(splits) > 0 {
		return fmt.Errorf("%d split views are proved", len(splits))
	}
	return nil
}

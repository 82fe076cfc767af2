package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/house"
)

// keys are the secrets of a service. Whoever has the log key can sign another
// history; whoever has the master key and the database knows the dice.
type keys struct {
	log      signingKey
	receipts []signingKey // the last one is of new matches
	master   house.MasterKey
}

// receipt is the key of new matches.
func (k keys) receipt() signingKey { return k.receipts[len(k.receipts)-1] }

// oldReceipts are those that matches may still go on with.
func (k keys) oldReceipts() (old []house.ReceiptKey) {
	for _, r := range k.receipts[:len(k.receipts)-1] {
		old = append(old, house.ReceiptKey{Signer: r.signer, Public: r.public})
	}
	return old
}

type signingKey struct {
	signer   note.Signer
	verifier note.Verifier
	public   string // verifier key as text
}

// openKeys reads the key files. They are made only where a service may begin
// (config.fresh): a service whose log key was lost must not start a new
// history over the old one.
func openKeys(c config) (keys, error) {
	var k keys
	fresh, err := c.fresh()
	if err != nil {
		return k, fmt.Errorf("open keys: %w", err)
	}
	if fresh {
		if err := makeKeys(c); err != nil {
			return k, err
		}
	}
	if k.log, err = readSigningKey(c.logKey()); err != nil {
		return k, err
	}
	if k.receipts, err = readSigningKeys(c.receiptKey()); err != nil {
		return k, err
	}
	if c.origin != "" && c.origin != k.log.signer.Name() {
		return k, fmt.Errorf("open keys: the log of %s is named %q for ever, not %q", c.logKey(), k.log.signer.Name(), c.origin)
	}
	k.master, err = readMaster(c.master)
	return k, err
}

// makeKeys makes the keys that are missing. The log key comes last: a crash in
// between leaves none, and the next start makes what was not made.
func makeKeys(c config) error {
	if err := os.MkdirAll(c.data, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if begun, err := present(c.beginning()); err != nil {
		return err
	} else if !begun {
		if err := writeSecret(c.beginning(), "This service has not come to the end of its first start.\n"); err != nil {
			return err
		}
	}
	if done, err := present(c.logKey()); done || err != nil {
		return err
	}
	// It has signed nothing, and bears the name of a log that never was.
	if err := os.Remove(c.receiptKey()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make receipt key: %w", err)
	}
	origin := c.origin
	if origin == "" {
		var id [4]byte
		if _, err := rand.Read(id[:]); err != nil {
			return fmt.Errorf("make log name: %w", err)
		}
		origin = "fairdice/" + hex.EncodeToString(id[:])
	}
	master, err := house.NewMasterKey(rand.Reader)
	if err != nil {
		return err
	}
	receipts, _, err := commitment.NewKey(origin+"/receipts", rand.Reader)
	if err != nil {
		return fmt.Errorf("make receipt key: %w", err)
	}
	log, _, err := commitment.NewKey(origin, rand.Reader)
	if err != nil {
		return fmt.Errorf("make log key: %w", err)
	}
	for _, f := range []struct{ path, text string }{
		{c.master, master.Text()}, {c.receiptKey(), receipts + "\n"}, {c.logKey(), log + "\n"},
	} {
		if made, err := present(f.path); err != nil {
			return err
		} else if made {
			continue // the master key of the start before
		}
		if err := writeSecret(f.path, f.text); err != nil {
			return err
		}
	}
	return nil
}

// writeSecret makes a file that only its owner can read and that survives a
// power cut: it has its name when it is whole. It never overwrites.
func writeSecret(path, text string) error {
	if there, err := present(path); err != nil {
		return err
	} else if there {
		return fmt.Errorf("write key: %s is there already", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// readSecret refuses a key file that others can read, like ssh does.
func readSecret(path string) (string, error) {
	text, err := readPrivate(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read key: %w (restore the key file; a new one cannot continue this log)", err)
	case err != nil:
		return "", fmt.Errorf("read key: %w", err)
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("read key: %s is empty: restore it from your copy; a new key cannot continue what this one has begun", path)
	}
	return text, nil
}

// readSigningKey reads a file with exactly one key.
func readSigningKey(path string) (signingKey, error) {
	keys, err := readSigningKeys(path)
	if err == nil && len(keys) != 1 {
		err = fmt.Errorf("%s: it has %d keys, want one", path, len(keys))
	}
	if err != nil {
		return signingKey{}, err
	}
	return keys[0], nil
}

// readSigningKeys reads a file with a key on each line, oldest first.
func readSigningKeys(path string) ([]signingKey, error) {
	text, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	var keys []signingKey
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		k, err := parseSigningKey(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n+1, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func parseSigningKey(text string) (signingKey, error) {
	key, err := commitment.ParseSignerKey(text)
	if err != nil {
		return signingKey{}, err
	}
	signer, err := commitment.NewSigner(text)
	if err != nil {
		return signingKey{}, err
	}
	public := key.Verifier().String()
	verifier, err := commitment.ParseVerifier(public)
	if err != nil {
		return signingKey{}, err
	}
	return signingKey{signer: signer, verifier: verifier, public: public}, nil
}

// rotate adds a receipt key. The file is replaced in one step: the keys that
// running matches need are in it.
func rotate(c config) (public string, err error) {
	old, err := readSigningKeys(c.receiptKey())
	if err != nil {
		return "", err
	}
	text, err := readSecret(c.receiptKey())
	if err != nil {
		return "", err
	}
	skey, public, err := commitment.NewKey(old[0].signer.Name(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make receipt key: %w", err)
	}
	next := c.receiptKey() + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("make receipt key: %w", err)
	}
	if err := writeSecret(next, strings.TrimSpace(text)+"\n"+skey+"\n"); err != nil {
		return "", err
	}
	if err := os.Rename(next, c.receiptKey()); err != nil {
		return "", fmt.Errorf("make receipt key: %w", err)
	}
	return public, syncDir(c.data)
}

// showKeys prints the public keys.
func showKeys(c *cobra.Command, cfg config) error {
	log, err := readSigningKey(cfg.logKey())
	if err != nil {
		return err
	}
	receipts, err := readSigningKeys(cfg.receiptKey())
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "log\t%s\n", log.public)
	for n, k := range receipts {
		name := "receipts"
		if n < len(receipts)-1 {
			name = "receipts (old)"
		}
		fmt.Fprintf(out, "%s\t%s\n", name, k.public)
	}
	return nil
}

func newKeys(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "keys", Short: "Make, look at, replace and move the keys of the service", Args: cobra.NoArgs}
	show := &cobra.Command{
		Use:   "show",
		Short: "Print the public keys: give the log's key to everybody who verifies",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			if err := cfg.errNoDirectory(); err != nil {
				return err
			}
			return showKeys(c, cfg)
		},
	}
	s.flags(show, "data")
	rotate := &cobra.Command{
		Use:   "rotate",
		Short: "Make a new receipt key for matches that are opened from the next start on",
		Long: `Make a new receipt key. The next start of the service opens new matches with it;
matches that are open go on with the key their open names, so the old keys stay
in the file, one a line, until the last such match has ended.

The key of the log cannot be replaced: a new key is a new log, with a new origin,
in a new data directory. docs/operating.md says how the old one ends.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			if err := cfg.errNoDirectory(); err != nil {
				return err
			}
			public, err := rotate(cfg)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "receipts\t%s\n", public)
			return nil
		},
	}
	s.flags(rotate, "data")
	c.AddCommand(newKeysCreate(s), show, rotate, newMoveMaster(s))
	return c
}

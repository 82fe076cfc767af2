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
	log, receipts signingKey
	master        house.MasterKey
}

type signingKey struct {
	signer   note.Signer
	verifier note.Verifier
	public   string // verifier key as text
}

// openKeys reads the key files, and makes those that are missing only when
// none of them and no database is there: a service whose log key was lost
// must not start a new history over the old one.
func openKeys(c config) (keys, error) {
	var k keys
	fresh := true
	for _, file := range []string{c.database(), c.logKey(), c.receiptKey(), c.master} {
		if _, err := os.Stat(file); err == nil {
			fresh = false
		} else if !errors.Is(err, fs.ErrNotExist) {
			return k, fmt.Errorf("look for keys: %w", err)
		}
	}
	if fresh {
		if err := makeKeys(c); err != nil {
			return k, err
		}
	}
	var err error
	if k.log, err = readSigningKey(c.logKey()); err != nil {
		return k, err
	}
	if k.receipts, err = readSigningKey(c.receiptKey()); err != nil {
		return k, err
	}
	if c.origin != "" && c.origin != k.log.signer.Name() {
		return k, fmt.Errorf("open keys: the log of %s is named %q for ever, not %q", c.logKey(), k.log.signer.Name(), c.origin)
	}
	text, err := readSecret(c.master)
	if err != nil {
		return k, err
	}
	if k.master, err = house.ParseMasterKey(text); err != nil {
		return k, fmt.Errorf("%s: %w", c.master, err)
	}
	return k, nil
}

// makeKeys writes the log key last: a crash in between leaves no log key, and
// the files that are there have signed and sealed nothing.
func makeKeys(c config) error {
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
		if err := writeSecret(f.path, f.text); err != nil {
			return err
		}
	}
	return nil
}

// writeSecret makes a file that only its owner can read and that survives a
// power cut. It never overwrites.
func writeSecret(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// readSecret refuses a key file that others can read, like ssh does.
func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read key: %w (restore the key file; a new one cannot continue this log)", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("read key: %s can be read by others (mode %04o); chmod 600 it", path, mode)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	return string(data), nil
}

func readSigningKey(path string) (signingKey, error) {
	text, err := readSecret(path)
	if err != nil {
		return signingKey{}, err
	}
	key, err := commitment.ParseSignerKey(strings.TrimSpace(text))
	if err != nil {
		return signingKey{}, fmt.Errorf("%s: %w", path, err)
	}
	signer, err := commitment.NewSigner(strings.TrimSpace(text))
	if err != nil {
		return signingKey{}, fmt.Errorf("%s: %w", path, err)
	}
	public := key.Verifier().String()
	verifier, err := commitment.ParseVerifier(public)
	if err != nil {
		return signingKey{}, fmt.Errorf("%s: %w", path, err)
	}
	return signingKey{signer: signer, verifier: verifier, public: public}, nil
}

func newKeys(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "keys", Short: "Look at the keys of the service", Args: cobra.NoArgs}
	show := &cobra.Command{
		Use:   "show",
		Short: "Print the public keys: give the log's key to everybody who verifies",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			for _, k := range []struct{ name, file string }{{"log", cfg.logKey()}, {"receipts", cfg.receiptKey()}} {
				key, err := readSigningKey(k.file)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "%s\t%s\n", k.name, key.public)
			}
			return nil
		},
	}
	s.flags(show, "data")
	c.AddCommand(show)
	return c
}

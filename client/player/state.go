package player

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"fairdice/commitment"
)

const stateFormat = "fairdice/v1/player"

// state is what the file holds. Last is as secret as all links not yet
// released together.
type state struct {
	Format     string     `json:"format"`
	Key        string     `json:"key"` // pinned verifier key of the log
	Last       string     `json:"last"`
	Length     int        `json:"length"`
	Terms      Terms      `json:"terms"`
	Open       string     `json:"open,omitempty"`       // hash of the open's text, once seen
	Checkpoint string     `json:"checkpoint,omitempty"` // last one seen, a signed note
	Released   []released `json:"released"`
}

// released is one link that has left, or was about to when the process died.
type released struct {
	Game     int    `json:"game"`
	Segment  int    `json:"segment"`
	Throw    int    `json:"throw,omitempty"` // mode live; 0: for the cut
	Sequence string `json:"sequence"`
	Assign   string `json:"assign"` // hash of its text

	Rolls commitment.Lengths `json:"rolls"` // of the sequence, as its commit says
}

// slot is what a link is released for: the cut of a segment, or with throw > 0
// one throw.
type slot struct{ game, segment, throw int }

// find is the number of links released before that of this slot, or -1.
func (s state) find(at slot) int {
	for i, r := range s.Released {
		if (slot{r.Game, r.Segment, r.Throw}) == at {
			return i
		}
	}
	return -1
}

// lastThrow is the highest throw of a game that has got a link, 0 for none.
func (s state) lastThrow(game int) int {
	last := 0
	for _, r := range s.Released {
		if r.Game == game {
			last = max(last, r.Throw)
		}
	}
	return last
}

// create writes a file that was not there.
func (s state) create(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create player's file: %w", err)
	}
	if err := s.writeTo(f); err != nil {
		os.Remove(file)
		return err
	}
	return syncDir(file)
}

// save replaces the file durably: a crash leaves the old one or the new one.
func (s state) save(file string) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("save player's file: %w", err)
	}
	if err := s.writeTo(f); err != nil {
		os.Remove(f.Name())
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("save player's file: %w", err)
	}
	return syncDir(file)
}

func (s state) writeTo(f *os.File) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		_, err = f.Write(append(data, '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("save player's file: %w", err)
	}
	return nil
}

func syncDir(file string) error {
	if runtime.GOOS == "windows" { // NTFS keeps its names in a journal, and refuses to sync a directory
		return nil
	}
	d, err := os.Open(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("save player's file: %w", err)
	}
	defer d.Close()
	// Not every file system lets a directory be synced; those that do not
	// have renamed durably already or never will.
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("save player's file: %w", err)
	}
	return nil
}

// maxFile bounds what is read as a state: a few hundred bytes per segment.
const maxFile = 8 << 20

func load(file string) (state, *commitment.Chain, error) {
	var s state
	info, err := os.Stat(file)
	if err != nil {
		return s, nil, fmt.Errorf("load player's file: %w", err)
	}
	if info.Size() > maxFile {
		return s, nil, fmt.Errorf("load player's file: %s is larger than %d bytes", file, maxFile)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return s, nil, fmt.Errorf("load player's file: %w", err)
	}
	return parseState(data)
}

func parseState(data []byte) (state, *commitment.Chain, error) {
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return s, nil, fmt.Errorf("load player's file: %w", err)
	}
	if s.Format != stateFormat {
		return s, nil, fmt.Errorf("load player's file: format %q is not %q", s.Format, stateFormat)
	}
	last, err := commitment.ParseHash(s.Last)
	if err != nil {
		return s, nil, errors.New("load player's file: last is not 64 hex digits")
	}
	chain, err := commitment.RestoreChain(last, s.Length)
	if err != nil {
		return s, nil, fmt.Errorf("load player's file: %w", err)
	}
	if len(s.Released) > s.Length {
		return s, nil, fmt.Errorf("load player's file: %d links released of %d", len(s.Released), s.Length)
	}
	return s, chain, nil
}

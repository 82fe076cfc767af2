package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
)

// Files is where an archive is: a directory, a web server or a file that holds
// all of it. Names are those of the archive's layout, with slashes.
type Files interface {
	// Read returns a whole file. Without it the error wraps ErrMissing; a file of
	// more than limit bytes is an error too.
	Read(ctx context.Context, name string, limit int64) ([]byte, error)
	// List returns the names of the files in a folder, without the folder. Where
	// that cannot be found out the error wraps errors.ErrUnsupported.
	List(ctx context.Context, folder string) ([]string, error)
	// Each reads the named files in whatever order is cheapest and calls visit
	// once for each, with the error that Read would have given. The names can
	// be gone through more than once. visit may be called by several goroutines;
	// its first error ends it.
	Each(ctx context.Context, names iter.Seq[string], limit int64, visit func(name string, data []byte, err error) error) error
}

// ErrMissing says that the archive has no file of that name.
var ErrMissing = errors.New("the file is missing")

// Scratch keeps the texts of the statements between the two passes. It is
// written from start to end and then read anywhere.
type Scratch interface {
	io.Writer
	io.ReaderAt
}

// memory is the scratch of a small log.
type memory struct{ bytes.Buffer }

// ReadAt implements io.ReaderAt.
func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.Bytes()).ReadAt(p, off)
}

// Names of an archive's files.
const (
	KeyFile          = "log.key"
	PolicyFile       = "policy"
	CheckpointFile   = "checkpoint"
	CheckpointFolder = "checkpoints"
)

// Limits of files in bytes.
const (
	maxKey        = 4 << 10
	maxCheckpoint = 64 << 10
	maxTile       = 256 * 32
	maxEntries    = 256 * (2 + 4096)
	maxThrows     = 1 << 20
)

// MatchName returns the name of a match's file. Folders are named after hashes
// because ids begin with a time: matches of one day would all share one.
func MatchName(match string) string {
	sum := sha256.Sum256([]byte(match))
	return path.Join("matches", hex.EncodeToString(sum[:1]), match+".json")
}

// matchOf is the inverse of MatchName.
func matchOf(name string) string { return strings.TrimSuffix(path.Base(name), ".json") }

// ThrowsName returns the name of an archive of throws.
func ThrowsName(hash fmt.Stringer) string { return "throws/" + hash.String() }

// TileName returns the name of a tile of the C2SP tlog-tiles layout, level -1
// being the bundles of entries. width is 256 for a full tile.
func TileName(level int, number int64, width int) string {
	name := fmt.Sprintf("%03d", number%1000)
	for number >= 1000 {
		number /= 1000
		name = fmt.Sprintf("x%03d/%s", number%1000, name)
	}
	kind := "entries"
	if level >= 0 {
		kind = fmt.Sprint(level)
	}
	name = "tile/" + kind + "/" + name
	if width < tileWidth {
		name += fmt.Sprintf(".p/%d", width)
	}
	return name
}

// tileWidth is how many hashes, or entries, a full tile holds.
const tileWidth = 256

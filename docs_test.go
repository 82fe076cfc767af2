package fairdice_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairdice/store/postgres/pgtest"
)

// Every block of every document says what it is, and what says console is
// true: it is typed into a shell, and has to show what it shows.
//
// The console blocks of one document are one session of bash, in the order of
// the document and in one empty directory, with what the document has started
// still running and its variables still set. In a block
//
//   - a line that begins with "$ " is a command, "> " continues it;
//   - it must succeed, or end with what its comment "# exit N" says;
//   - the lines below are its output, stdout and stderr. Without any it is
//     not compared. "…" stands for anything in a line, a line of its own for any
//     lines.
//
// In the directory are ./bin with both programs, so "make build" is not run,
// and the files of the repository. Each port of 127.0.0.1 is replaced by a free
// one, and the address sharedDatabase by that of a database that is empty. What
// still runs at the end is asked to stop, and must do so well.
//
// Blocks of go and json are parsed. "text" is what nobody runs: formats,
// drawings, and commands that need another machine or a year.

// sharedDatabase stands in the documents for PostgreSQL.
const sharedDatabase = "postgres://fairdice@db.example/fairdice"

// kinds of blocks, with what the language is for.
var kinds = map[string]func(block) error{
	"console": func(b block) error { _, err := b.commands(); return err },
	"go": func(b block) error {
		_, err := format.Source([]byte(b.text))
		return err
	},
	"json": func(b block) error {
		if !json.Valid([]byte(b.text)) {
			return fmt.Errorf("not JSON")
		}
		return nil
	},
	"text": nil, "html": nil, "js": nil, "ts": nil, "promql": nil, "yaml": nil, "sql": nil, "ini": nil,
}

// again has the documents that promise that everything can be repeated: their
// session runs once more over what it has left.
var again = []string{"README.md"}

// block is one fenced block; line is that of its first line of text.
type block struct {
	file, kind, text string
	line             int
}

// command is what is typed, what has to be shown and how it ends.
type command struct {
	text, output string
	line, exit   int
}

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// The documents are those of whoever reads the tree; what is below testdata
// describes test files.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func blocks(t *testing.T, file string) []block {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	inside, number := false, 0
	for line := range strings.Lines(string(text)) {
		number++
		fence, fenced := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case fenced && inside:
			inside = false
		case fenced:
			inside = true
			kind, _, _ := strings.Cut(fence, " ")
			found = append(found, block{file: file, kind: kind, line: number + 1})
		case inside:
			found[len(found)-1].text += line
		}
	}
	if inside {
		t.Errorf("%s: the last block does not end", file)
	}
	return found
}

var exitComment = regexp.MustCompile(`\s# exit ([0-9]+)$`)

func (b block) commands() ([]command, error) {
	var found []command
	number := b.line - 1
	for line := range strings.Lines(b.text) {
		number++
		typed, isCommand := strings.CutPrefix(line, "$ ")
		more, continues := strings.CutPrefix(line, "> ")
		if line == ">\n" {
			more, continues = "\n", true
		}
		last := len(found) - 1
		switch {
		case isCommand:
			c := command{text: typed, line: number}
			if m := exitComment.FindStringSubmatch(strings.TrimRight(typed, "\n")); m != nil {
				c.exit, _ = strconv.Atoi(m[1])
			}
			found = append(found, c)
		case last < 0:
			return nil, fmt.Errorf("line %d: output before the first command", number)
		case continues && found[last].output == "":
			found[last].text += more
		default:
			found[last].output += line
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no command")
	}
	return found, nil
}

// What a reader could copy is a console block, and whatever is not says what it is.
func TestBlocks(t *testing.T) {
	for _, file := range documents(t) {
		for _, b := range blocks(t, file) {
			check, known := kinds[b.kind]
			if !known {
				t.Errorf("%s:%d: a block of kind %q; say console, or text if it cannot be run", file, b.line-1, b.kind)
			} else if check != nil {
				if err := check(b); err != nil {
					t.Errorf("%s:%d: %v", file, b.line, err)
				}
			}
		}
	}
}

// The documents do what they say.
func TestSessions(t *testing.T) {
	bin := sync.OnceValues(func() (string, error) {
		bin := t.TempDir()
		out, err := exec.Command("go", "build", "-o", bin+"/", "./cmd/...").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("build: %w\n%s", err, out)
		}
		return bin, nil
	})
	for _, file := range documents(t) {
		var commands []command
		for _, b := range blocks(t, file) {
			if b.kind == "console" {
				more, err := b.commands()
				if err != nil {
					t.Fatalf("%s:%d: %v", file, b.line, err)
				}
				commands = append(commands, more...)
			}
		}
		if len(commands) == 0 {
			continue
		}
		bin, err := bin()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(file, ".md"), func(t *testing.T) {
			t.Parallel()
			needTools(t, commands)
			dir := workplace(t, bin)
			address := elsewhere(t, commands)
			play(t, file, dir, address, commands)
			if slices.Contains(again, file) && !t.Failed() {
				play(t, file, dir, address, commands)
			}
		})
	}
}

// needTools skips a document whose commands need a program that is not here;
// under CI they all are.
func needTools(t *testing.T, commands []command) {
	t.Helper()
	for _, tool := range []string{"curl", "node", "jq", "openssl", "promtool"} {
		word := regexp.MustCompile(`\b` + tool + ` `)
		for _, c := range commands {
			if !word.MatchString(c.text) {
				continue
			}
			if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") != "true" {
				t.Skipf("line %d needs %s", c.line, tool)
			}
		}
	}
}

// workplace is a directory that looks like the repository after make build.
func workplace(t *testing.T, bin string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(bin, filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("git", "ls-files").Output()
	if err != nil { // a checkout without git: everything that is here
		entries, err := os.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		out = nil
		for _, e := range entries {
			out = append(out, e.Name()+"\n"...)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "/")
		if strings.HasPrefix(name, ".") || name == "bin" {
			continue
		}
		if err := os.Symlink(filepath.Join(here, name), filepath.Join(dir, name)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	return dir
}

var localAddress = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)

// elsewhere gives each address of the commands one that nobody else uses.
func elsewhere(t *testing.T, commands []command) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, c := range commands {
		for _, a := range localAddress.FindAllString(c.text, -1) {
			if found[a] == "" {
				found[a] = freeAddress(t)
			}
		}
		if strings.Contains(c.text, sharedDatabase) && found[sharedDatabase] == "" {
			found[sharedDatabase] = pgtest.Database(t)
		}
	}
	return found
}

// mark ends the output of a command; it is none that a program would print.
const mark = "\x1e"

// play types the commands into one shell and compares what it shows.
func play(t *testing.T, file, dir string, address map[string]string, commands []command) {
	t.Helper()
	var there, back []string
	for doc, real := range address {
		there, back = append(there, doc, real), append(back, real, doc)
	}
	var script strings.Builder
	script.WriteString("set -o pipefail\n")
	for i, c := range commands {
		if strings.TrimSpace(c.text) == "make build" {
			c.text = "true\n"
		}
		fmt.Fprintf(&script, "%sstatus=$?; printf '%s%d %%d\\n' $status; [ $status = %d ] || exit 99\n",
			strings.NewReplacer(there...).Replace(c.text), mark, i, c.exit)
	}
	script.WriteString("for job in $(jobs -rp); do kill -TERM $job && wait $job || { echo \"job $job ended with $?\"; exit 98; }; done\n")

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	// What a document leaves running must not outlive a test that failed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stop := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.Dir, cmd.WaitDelay = stop, dir, time.Minute
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANG=C.UTF-8", "TZ=UTC")
	var shown bytes.Buffer
	cmd.Stdout, cmd.Stderr = &shown, &shown
	err := cmd.Run()
	if cmd.Process != nil {
		_ = stop()
	}

	rest := strings.NewReplacer(back...).Replace(shown.String())
	for i, c := range commands {
		output, after, ended := strings.Cut(rest, fmt.Sprintf("%s%d ", mark, i))
		if !ended {
			t.Fatalf("%s:%d: the session ended in %s(%v)\n%s", file, c.line, c.text, err, output)
		}
		var status string
		status, rest, _ = strings.Cut(after, "\n")
		if status != strconv.Itoa(c.exit) {
			t.Fatalf("%s:%d: exit %s, want %d: %s%s", file, c.line, status, c.exit, c.text, output)
		}
		if c.output != "" && !shows(c.output, output) {
			t.Errorf("%s:%d: %s--- shows\n%s--- the document has\n%s", file, c.line, c.text, output, c.output)
		}
	}
	if err != nil {
		t.Errorf("%s: after the last command: %v\n%s", file, err, rest)
	}
}

// shows says whether the output is the one of the document.
func shows(document, output string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(strings.TrimRight(document, "\n") + "\n") {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		parts := strings.Split(strings.TrimRight(line, " \n"), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, ".*") + ` *\n`)
	}
	return regexp.MustCompile(`^` + pattern.String() + `\n*$`).MatchString(strings.TrimRight(output, "\n") + "\n")
}

func TestShows(t *testing.T) {
	for _, c := range []struct {
		document, output string
		want             bool
	}{
		{"6 1\n", "6 1\n", true},
		{"6 1\n\n", "6 1", true},
		{"6 1\n", "6 1\n6 2\n", false},
		{"rolled … of 36\n", "rolled 6 1 of 36\n", true},
		{"rolled … of 36\n", "rolled 6\n1 of 36\n", false},
		{"first\n…\nlast\n", "first\nlast\n", true},
		{"first\n…\nlast\n", "first\n1\n\n2\nlast\n", true},
		{"first\n…\n", "last\n", false},
		{"a.b\n", "axb\n", false},
	} {
		if got := shows(c.document, c.output); got != c.want {
			t.Errorf("%q shows %q: %v", c.output, c.document, got)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

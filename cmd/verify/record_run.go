//go:build !js

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"fairdice/internal/phrase"
	"fairdice/internal/unpack"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/replay/sheet"
)

// recordRun checks files: the walk finds them, workers check them, and their reports are printed in the order of the walk. Memory is
// bounded by what is in flight, whatever the number and size of the files.
type recordRun struct {
	flags   recordFlags
	options files.Options
	out     io.Writer
	errors  io.Writer
	stepper *stepper
	counts  map[files.Verdict]int

	mu      sync.Mutex
	matches []sheet.Match // for --export
	kept    int
}

// checkRecords checks every file and returns the status of the worst: failed before malformed before incomplete.
func checkRecords(cmd *cobra.Command, paths []string, flags recordFlags, o files.Options) error {
	r := &recordRun{flags: flags, options: o, out: cmd.OutOrStdout(), errors: cmd.ErrOrStderr(), counts: map[files.Verdict]int{}}
	workers := flags.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if flags.step && !flags.json {
		r.stepper = newStepper(cmd.InOrStdin(), r.out, flags.board)
		r.stepper.speech = flags.speech
	}
	show, done := r.progress(cmd.ErrOrStderr(), paths)
	run := func() error { return r.run(paths, workers, show) }
	if flags.step {
		run = func() error { return r.walk(paths, func(e unpack.Entry) error { return r.take(r.check(e)) }) }
	}
	err := run()
	done()
	switch {
	case errors.Is(err, errLeft):
		return status(2) // not everything was looked at
	case err != nil:
		return fmt.Errorf("check records: %w", err)
	}
	if err := r.export(); err != nil {
		return err
	}
	return r.status()
}

// progress shows how many files are done, on a terminal and if there are many. Counting them beforehand costs one more walk, without
// opening anything; what is inside of an archive counts as one.
func (r *recordRun) progress(w io.Writer, paths []string) (show func(), done func()) {
	nothing := func() {}
	if r.flags.step {
		return nothing, nothing
	}
	draw, end := progress(w)
	if draw == nil {
		return nothing, nothing
	}
	total, at := int64(0), int64(0)
	for _, path := range paths {
		n, err := unpack.Count(path)
		if err != nil {
			return nothing, end
		}
		total += n
	}
	if total < 2 {
		return nothing, end
	}
	return func() {
		at = min(at+1, total)
		draw("files", at, total)
	}, end
}

// checked is the report of one file, printed.
type checked struct {
	text    []byte
	verdict files.Verdict
	err     error
}

// errLeft ends a run that the user has left.
var errLeft = errors.New("left")

func (r *recordRun) run(paths []string, workers int, show func()) error {
	type job struct {
		entry  unpack.Entry
		answer chan checked
	}
	jobs, order := make(chan job, workers), make(chan chan checked, 2*workers)
	stop := make(chan struct{}) // closed when nothing more can be printed
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				j.answer <- r.check(j.entry)
			}
		})
	}
	walked := make(chan error, 1)
	go func() {
		err := r.walk(paths, func(e unpack.Entry) error {
			answer := make(chan checked, 1)
			if e.Stream {
				answer <- r.check(e) // it must be read before the walk goes on
			} else {
				jobs <- job{e, answer}
			}
			select {
			case order <- answer:
				return nil
			case <-stop:
				return errLeft
			}
		})
		close(jobs)
		close(order)
		walked <- err
	}()
	var failed error
	for answer := range order {
		c := <-answer
		if failed != nil {
			continue
		}
		if failed = r.take(c); failed != nil {
			close(stop)
		}
		show()
	}
	wg.Wait()
	err := <-walked
	if failed != nil {
		return failed
	}
	return err
}

// take prints a report and counts it.
func (r *recordRun) take(c checked) error {
	if c.err != nil {
		return c.err
	}
	r.counts[c.verdict]++
	_, err := r.out.Write(c.text)
	return err
}

func (r *recordRun) walk(paths []string, visit func(unpack.Entry) error) error {
	for _, path := range paths {
		if err := unpack.Walk(path, recordName, visit); err != nil {
			return err
		}
	}
	return nil
}

// maxSteps bounds the steps that --json lists of one file.
const maxSteps = 100_000

// check checks one file and words its report.
func (r *recordRun) check(e unpack.Entry) checked {
	report, last := files.Report{File: e.Name, Verdict: files.Skipped, Findings: []files.Finding{}}, (*replay.State)(nil)
	switch {
	case e.Skip:
	case e.Err != nil:
		report = files.Unreadable(e.Name, e.Err)
	default:
		in, err := e.Open()
		if err != nil {
			report = files.Unreadable(e.Name, err)
			break
		}
		report, last, err = r.judge(e.Name, in)
		in.Close()
		if err != nil {
			return checked{err: err}
		}
	}
	text, err := r.print(report, last)
	return checked{text: text, verdict: report.Verdict, err: err}
}

func (r *recordRun) judge(name string, in io.Reader) (files.Report, *replay.State, error) {
	o := r.options
	var last *replay.State
	var steps []files.Step
	var left error
	more := false
	if r.flags.board || r.flags.step {
		o.Observe = func(game, line int, what string, st replay.State) {
			last = &st
			switch {
			case !r.flags.step || left != nil:
			case !r.flags.json:
				left = r.stepper.step(name, game, line, what, st)
			case len(steps) < maxSteps:
				steps = append(steps, files.Step{Game: game, Line: line, What: what, Position: st.Position().String()})
			default:
				more = true
			}
		}
	}
	if r.flags.export != "" {
		o.Match = r.keep
	}
	report := files.Check(name, in, o)
	report.Steps = steps
	if more {
		why := phrase.Errorf("only the first %d steps are listed", maxSteps)
		report.Notes = append(report.Notes, files.Note{Text: why.Error(), Why: why})
	}
	if left == nil && r.stepper != nil {
		left = r.stepper.end(report)
	}
	return report, last, left
}

func (r *recordRun) status() error {
	switch {
	case r.counts[files.Failed] > 0:
		return status(1)
	case r.counts[files.Malformed] > 0:
		return status(3)
	case r.counts[files.Incomplete] > 0:
		return status(2)
	case r.counts[files.Verified] > 0:
		return nil
	}
	return errors.New("check records: no record among the files given")
}

// createFile creates a file, or says why it cannot.
func createFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

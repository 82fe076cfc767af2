//go:build !js

package main

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progress draws how far an audit is, with the time that is left, if w is a
// terminal. The second function takes the bars away.
func progress(w io.Writer) (func(stage string, done, total int64), func()) {
	file, ok := w.(*os.File)
	if !ok || dumb() || !term.IsTerminal(int(file.Fd())) {
		return nil, func() {}
	}
	bars := map[string]*mpb.Bar{}
	area := mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))
	show := func(stage string, done, total int64) {
		bar := bars[stage]
		if bar == nil {
			bar = area.AddBar(total,
				mpb.BarRemoveOnComplete(),
				mpb.PrependDecorators(decor.Name(stage, decor.WC{W: 8}), decor.CountersNoUnit("%d / %d", decor.WC{W: 22})),
				mpb.AppendDecorators(decor.Percentage(decor.WC{W: 6}), decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 10})))
			bars[stage] = bar
		}
		bar.SetCurrent(done)
	}
	return show, func() {
		for _, bar := range bars {
			bar.Abort(true)
		}
		area.Wait()
	}
}

package browsertest

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"fairdice/internal/browser"
)

var update = flag.Bool("update", false, "write the golden images anew")

// Pictures are compared at half their size, where the edges of letters, which
// every version of Chromium and of the font library draws a little differently,
// are grey: a pixel differs if a channel is off by more than channelOff of 255,
// and a picture if more than differing of its pixels do. A missing button, other
// colours or a text that runs into another one are far above that.
const (
	channelOff = 48
	differing  = 0.01
)

// golden compares the page with testdata/golden/NAME.png. What is different in
// every run or on every machine is not drawn: ids, hashes, whatever is in the
// fixed-width font, which the page does not bring.
func golden(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	browser.Eval[bool](p, `(() => {
		const sheet = new CSSStyleSheet()
		sheet.replaceSync('.mono, code, pre, .mono *, code *, #chains { color: transparent !important } * { caret-color: transparent !important }')
		document.adoptedStyleSheets = [sheet]
		scrollTo(0, 0)
		document.activeElement?.blur()
		return true
	})()`)
	browser.Eval[bool](p, `document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
	got := halved(decoded(t, p.Picture()))
	file := filepath.Join("testdata", "golden", name+".png")
	if *update {
		var out bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		must(t, encoder.Encode(&out, got))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, out.Bytes(), 0o644))
		return
	}
	data, err := os.ReadFile(file)
	must(t, err)
	want := decoded(t, data)
	if d := difference(got, want); d > differing {
		var out bytes.Buffer
		must(t, png.Encode(&out, got))
		seen := filepath.Join(os.TempDir(), "fairdice-golden-"+filepath.Base(name)+".png")
		must(t, os.WriteFile(seen, out.Bytes(), 0o644))
		t.Errorf("%s looks otherwise than %s: %.1f %% of the pixels differ, %v and %v; it is %s. If that is right: go test ./web/browsertest -run Golden -update",
			name, file, 100*d, got.Bounds().Max, want.Bounds().Max, seen)
	}
}

func decoded(t *testing.T, data []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	must(t, err)
	return m
}

// halved has one pixel, their mean in sixteen levels, for four: small as a file.
func halved(m image.Image) *image.RGBA {
	b := m.Bounds()
	full := image.NewRGBA(b)
	draw.Draw(full, b, m, b.Min, draw.Src)
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	for y := range b.Dy() / 2 {
		for x := range b.Dx() / 2 {
			var sum [3]int
			for _, q := range [4]color.RGBA{full.RGBAAt(2*x, 2*y), full.RGBAAt(2*x+1, 2*y), full.RGBAAt(2*x, 2*y+1), full.RGBAAt(2*x+1, 2*y+1)} {
				sum[0], sum[1], sum[2] = sum[0]+int(q.R), sum[1]+int(q.G), sum[2]+int(q.B)
			}
			out.SetRGBA(x, y, color.RGBA{uint8(sum[0]/4) &^ 15, uint8(sum[1]/4) &^ 15, uint8(sum[2]/4) &^ 15, 255})
		}
	}
	return out
}

// difference is the share of pixels that differ, 1 if the widths do. A page that
// is a line longer or shorter differs there.
func difference(a *image.RGBA, b image.Image) float64 {
	if a.Bounds().Dx() != b.Bounds().Dx() {
		return 1
	}
	rows := min(a.Bounds().Dy(), b.Bounds().Dy())
	most := max(a.Bounds().Dy(), b.Bounds().Dy())
	n := (most - rows) * a.Bounds().Dx()
	for y := range rows {
		for x := range a.Bounds().Dx() {
			p := a.RGBAAt(x, y)
			r, g, bl, _ := b.At(x, y).RGBA()
			if off(p.R, r) || off(p.G, g) || off(p.B, bl) {
				n++
			}
		}
	}
	return float64(n) / float64(most*a.Bounds().Dx())
}

func off(a uint8, b uint32) bool {
	d := int(a) - int(b>>8)
	return d > channelOff || d < -channelOff
}

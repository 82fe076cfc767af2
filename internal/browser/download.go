package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// Download is the file, with its name, that the browser saves when something is done.
func (p *Page) Download(do func()) (name string, data []byte) {
	p.t.Helper()
	dir := p.t.TempDir()
	p.call("choose folder", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, cdp.SetDownloadBehavior, cdp.SetDownloadBehaviorParams{Behavior: cdp.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir})
		return err
	})
	do()
	p.call("save", func(ctx context.Context) error {
		for {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return err
			}
			for _, e := range entries {
				// What is not whole yet has a name of the browser's own.
				if name = e.Name(); strings.HasSuffix(name, ".crdownload") || strings.HasPrefix(name, ".") {
					continue
				}
				data, err = os.ReadFile(filepath.Join(dir, name))
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return name, data
}

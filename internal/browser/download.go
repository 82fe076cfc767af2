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
			// The browser writes into a file with a name of its own, and holds the place of the file with an empty one meanwhile.
			if len(entries) == 1 && !strings.HasSuffix(entries[0].Name(), ".crdownload") && !strings.HasPrefix(entries[0].Name(), ".") {
				name = entries[0].Name()
				if data, err = os.ReadFile(filepath.Join(dir, name)); err != nil || len(data) > 0 {
					return err
				}
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

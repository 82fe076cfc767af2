package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func sample() *cobra.Command {
	none := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "dice", Version: "v1", Short: "Throw", Run: none}
	throw := &cobra.Command{Use: "throw N", Short: `Throw "two" dice`, Run: none, Long: "Throw C:\\dice.\n.TH is no request\n'nor this\n\n  dice throw 2\n", Example: "  dice throw 2"}
	throw.Flags().StringP("out", "o", "x", "write to `FILE`")
	throw.Flags().Bool("hidden", false, "never seen")
	throw.Flags().MarkHidden("hidden")
	root.PersistentFlags().String("config", "", "settings")
	secret := &cobra.Command{Use: "secret", Hidden: true, Run: none}
	root.AddCommand(throw, secret)
	return root
}

// Each command that is shown has one page; nothing in its texts is taken for a
// request of troff, and every flag is in it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := Write(sample(), dir, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	if want := []string{"dice-throw.1", "dice.1"}; !slices.Equal(files, want) {
		t.Fatalf("pages %v, want %v", files, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "dice-throw.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".TH \"DICE\\-THROW\" 1 \"1970\\-01\\-01\" \"dice v1\"\n", "\n\\&.TH is no request\n\\&'nor this\n", `C:\edice.`,
		"\n.B \\-o, \\-\\-out FILE\nwrite to FILE (default x)\n", "\n.B \\-\\-config string\n", "\n.SH SEE ALSO\ndice(1)\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "hidden") {
		t.Error("what is hidden is in it")
	}
	if _, err := exec.LookPath("groff"); err != nil {
		return
	}
	for _, f := range files {
		if out, err := exec.Command("groff", "-man", "-ww", "-z", "-Tutf8", filepath.Join(dir, f)).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff reads %s: %v\n%s", f, err, out)
		}
	}
}

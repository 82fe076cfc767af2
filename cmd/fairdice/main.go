// Command fairdice runs the service of provably fair dice: `fairdice serve`,
// and around it a demonstration, its keys and its tenants.
//
// Data goes to stdout, errors and the service's log to stderr. Flags come
// before the environment (FAIRDICE_…), which comes before the file given with
// --config; `fairdice config print` lists every setting with its value.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"fairdice/internal/manual"
	"fairdice/web/wasm"
)

func main() {
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it stays ignored
		stops = append(stops, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	root, out := newRoot(), &told{out: os.Stdout}
	root.SetOut(out)
	err := cmp.Or(root.ExecuteContext(ctx), out.err)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "fairdice: %v\n", err)
		os.Exit(1)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "fairdice",
		Short:         "Provably fair dice and match audit for nardi and backgammon",
		Version:       version() + wasm.Line(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			return errSystem(runtime.GOOS, c)
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	s := newSettings()
	root.PersistentFlags().StringVar(&s.file, "config", "", "read settings from this file (YAML, TOML or JSON)")
	root.AddCommand(newServe(s), newDemo(), newConfig(s), newTenants(s), newWebhooks(s), newKeys(s), newBackup(s), newRestore(s), newMigrate(),
		newLoad(s), newThrows(s), newWitness(), newArchive(s), newEnd(s), newDoctor(s), newHealthcheck(s), manual.Command())
	return root
}

// elsewhere are the commands that work on every system.
var elsewhere = []string{"load", "healthcheck", "config", "completion", "manual", "help", "__complete", "__completeNoDesc"}

// errSystem refuses what would seem to work on a system where it cannot keep
// its promises: two services on one database are kept apart by a lock that ends
// with its process, a key is its owner's by its mode, a name is durable when its
// directory is synced.
func errSystem(system string, c *cobra.Command) error {
	if system != "windows" {
		return nil
	}
	for top := c; top.HasParent(); top = top.Parent() {
		if !top.Parent().HasParent() && !slices.Contains(elsewhere, top.Name()) {
			return fmt.Errorf("\"%s\" does not work on Windows, which has no file locks, modes and synced directories as the service needs them: run it on Linux or macOS, or in a container or WSL; \"verify\" and \"fairdice load\" work here", c.CommandPath())
		}
	}
	return nil
}

// release is the version of a build by "make release".
var release string

// version is that of the release, of the module, or the commit of a build from a work tree.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				v += "-" + s.Value[:12]
			}
		}
	}
	return v
}

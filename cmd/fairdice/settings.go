package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"fairdice/api"
	"fairdice/house"
	"fairdice/internal/relay"
	"fairdice/translog"
)

// settings are read by viper here and nowhere else.
type settings struct {
	v    *viper.Viper
	file string // --config
}

// setting is one line of `config print`.
type setting struct {
	key     string
	initial any
	help    string
}

// env is the variable that gives a setting.
func (s setting) env() string {
	return "FAIRDICE_" + strings.ToUpper(strings.ReplaceAll(s.key, "-", "_"))
}

// list is every setting there is.
var list = []setting{
	{"data", "./fairdice-data", "directory of the database, the keys and the last signed checkpoint"},
	{"database", "", "postgres:// address of a database that several instances may share; default: the SQLite file fairdice.db in the data directory"},
	{"listen", "127.0.0.1:8080", "address to serve on"},
	{"master-key", "", "file of the key that seals the dice; default: master.key in the data directory. Keep it out of backups of the database"},
	{"origin", "", "name of the log, chosen once when its key is made; default: fairdice/ and eight random digits"},
	{"tenant", "default", "tenant made on the first start"},
	{"sealed", house.DefaultPool.Full, "sequences kept sealed ahead for every tenant and mode"},
	{"link-rate", api.DefaultLinkRate, "links a minute taken from one address"},
	{"read-rate", api.DefaultReadRate, "reads without a key a minute from one address"},
	{"key-rate", 0, "requests a minute with one API key; 0: no limit"},
	{"proxy-header", "", "header to which your own proxy appends the address it was called from, X-Forwarded-For for instance"},
	{"beacon-relays", joined(relay.Public), "relays of the drand quicknet beacon, with commas between; none: no matches with a beacon"},
	{"policy", "", "C2SP tlog-policy file; every witness in it that has an address is asked to cosign the log"},
	{"metrics-listen", "", "address to serve metrics for Prometheus on, 127.0.0.1:9090 for instance; empty: nowhere. Whoever reaches it needs no key"},
	{"log-level", "info", "debug, info, warn or error"},
}

func newSettings() *settings {
	v := viper.New()
	v.SetEnvPrefix("FAIRDICE")
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	v.AutomaticEnv()
	for _, s := range list {
		v.SetDefault(s.key, s.initial)
	}
	return &settings{v: v}
}

// flags adds the named settings to a command.
func (s *settings) flags(c *cobra.Command, keys ...string) {
	for _, l := range list {
		for _, key := range keys {
			if key != l.key {
				continue
			}
			switch d := l.initial.(type) {
			case string:
				c.Flags().String(key, d, l.help)
			case int:
				c.Flags().Int(key, d, l.help)
			}
		}
	}
}

// read makes the flags of a command and the file count. It comes at the start
// of a command: two commands have flags of one name.
func (s *settings) read(c *cobra.Command) (config, error) {
	var err error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if s.isSetting(f.Name) && err == nil {
			err = s.v.BindPFlag(f.Name, f)
		}
	})
	if err != nil {
		return config{}, fmt.Errorf("read settings: %w", err)
	}
	if err := checkEnvironment(os.Environ()); err != nil {
		return config{}, fmt.Errorf("read settings: %w", err)
	}
	if s.file != "" {
		if err := s.readFile(); err != nil {
			return config{}, fmt.Errorf("read settings: %w", err)
		}
		// A misspelt setting that is passed over is a service that runs
		// otherwise than its owner believes.
		for _, key := range s.v.AllKeys() {
			if !s.isSetting(key) {
				return config{}, fmt.Errorf("read settings: %s: there is no setting %q", s.file, key)
			}
		}
	}
	cfg := config{
		data: s.v.GetString("data"), db: s.v.GetString("database"), listen: s.v.GetString("listen"), master: s.v.GetString("master-key"),
		origin: s.v.GetString("origin"), tenant: s.v.GetString("tenant"), proxy: s.v.GetString("proxy-header"),
		relays: s.v.GetString("beacon-relays"), policy: s.v.GetString("policy"), metricsListen: s.v.GetString("metrics-listen"),
	}
	for key, into := range map[string]*int{"sealed": &cfg.sealed, "link-rate": &cfg.linkRate, "read-rate": &cfg.readRate, "key-rate": &cfg.keyRate} {
		if *into, err = whole(s.v.Get(key)); err != nil {
			return config{}, fmt.Errorf("read settings: %s: %w", key, err)
		}
	}
	for _, l := range list {
		switch s.v.Get(l.key).(type) {
		case []any, map[string]any:
			return config{}, fmt.Errorf("read settings: %s has more than one value", l.key)
		}
	}
	if err := cfg.level.UnmarshalText([]byte(s.v.GetString("log-level"))); err != nil {
		return config{}, fmt.Errorf("read settings: log-level: %w", err)
	}
	switch {
	case cfg.data == "":
		return config{}, fmt.Errorf("read settings: data names no directory")
	case cfg.sealed < 4 || cfg.sealed > 1_000_000:
		return config{}, fmt.Errorf("read settings: sealed %d is not 4 to 1000000", cfg.sealed)
	case cfg.linkRate < 1:
		return config{}, fmt.Errorf("read settings: link-rate %d is less than 1", cfg.linkRate)
	case cfg.readRate < 1:
		return config{}, fmt.Errorf("read settings: read-rate %d is less than 1", cfg.readRate)
	case cfg.keyRate < 0:
		return config{}, fmt.Errorf("read settings: key-rate %d is less than 0", cfg.keyRate)
	}
	if cfg.master == "" {
		cfg.master = filepath.Join(cfg.data, "master.key")
	}
	return cfg, nil
}

// readFile reads the file given with --config.
func (s *settings) readFile() error {
	switch kind := filepath.Ext(s.file); kind {
	case ".yaml", ".yml", ".toml", ".json":
	default:
		return fmt.Errorf("the form of the settings file %s is not known by its ending %q: .yaml, .yml, .toml or .json is", s.file, kind)
	}
	if _, err := os.Stat(s.file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the settings file %s does not exist", s.file)
	}
	s.v.SetConfigFile(s.file)
	if err := s.v.ReadInConfig(); err != nil {
		return fmt.Errorf("settings file %s: %w", s.file, err)
	}
	return nil
}

// whole is a number as a flag, a variable or a file gives it; viper itself
// makes 0 of a word and 2 of 2.5.
func whole(v any) (int, error) {
	switch n := v.(type) {
	case int:
		return n, nil
	case int64:
		return int(n), nil
	case float64: // all numbers of JSON
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int(n), nil
		}
	case string:
		if i, err := strconv.Atoi(n); err == nil {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%#v is not a whole number", v)
}

// others are the variables of this name that are no settings: the key of
// `fairdice load`, and what the tests of the project read.
var others = []string{
	"FAIRDICE_API_KEY",
	"FAIRDICE_AUDIT_GAMES", "FAIRDICE_CALIBRATE", "FAIRDICE_CORPUS", "FAIRDICE_HOSTILE_MB", "FAIRDICE_KILLS",
	"FAIRDICE_REQUIRE_CORPUS", "FAIRDICE_SCALE",
}

// checkEnvironment refuses variables that would be settings if they were spelt right.
func checkEnvironment(environment []string) error {
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "FAIRDICE_") || strings.HasPrefix(name, "FAIRDICE_TEST_") || slices.Contains(others, name) ||
			slices.ContainsFunc(list, func(l setting) bool { return l.env() == name }) {
			continue
		}
		return fmt.Errorf("the environment has %s, and there is no such setting", name)
	}
	return nil
}

// tenant is the tenant a command is for.
func (s *settings) tenant(c *cobra.Command) (string, error) {
	cfg, err := s.read(c)
	return cfg.tenant, err
}

// joined is a list in the form of a setting.
func joined(list []string) string { return strings.Join(list, ",") }

func (s *settings) isSetting(key string) bool {
	for _, l := range list {
		if l.key == key {
			return true
		}
	}
	return false
}

// config is what the settings say.
type config struct {
	data, db          string
	listen, master    string
	origin, tenant    string
	proxy             string
	relays, policy    string
	sealed, linkRate  int
	readRate, keyRate int
	level             slog.Level
	metricsListen     string
	pprof             bool // beside the metrics

	// Without a policy file: witnesses in this process, and whom they satisfy.
	witnesses []house.Witness
	trusted   *translog.Policy
	now       func() time.Time // nil: the system's clock
}

func newConfig(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Look at the settings", Args: cobra.NoArgs}
	print := &cobra.Command{
		Use:   "print",
		Short: "Print every setting with its value, in the form of a settings file",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := s.read(c); err != nil {
				return err
			}
			out := c.OutOrStdout()
			for _, l := range list {
				fmt.Fprintf(out, "# %s (%s)\n", l.help, l.env())
				switch v := s.v.Get(l.key); l.initial.(type) {
				case string:
					if l.key == "database" {
						v = withoutPassword(s.v.GetString(l.key))
					}
					fmt.Fprintf(out, "%s: %q\n", l.key, v)
				default:
					fmt.Fprintf(out, "%s: %v\n", l.key, v)
				}
			}
			return nil
		},
	}
	keys := make([]string, len(list))
	for i, l := range list {
		keys[i] = l.key
	}
	s.flags(print, keys...)
	c.AddCommand(print)
	return c
}

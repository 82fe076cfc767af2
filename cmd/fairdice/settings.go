package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net/netip"
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
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/relay"
	"fairdice/internal/webhook"
	"fairdice/translog"
)

// settings are read by viper here and nowhere else.
type settings struct {
	v     *viper.Viper
	file  string         // --config
	given *pflag.FlagSet // of the command that runs
}

// setting is one line of `config print`.
type setting struct {
	key     string
	initial any
	help    string
}

// list is every setting there is. A secret X may also be given as X-file.
var list = []setting{
	{"data", "./fairdice-data", "directory of the database, the keys and the last signed checkpoint"},
	{"database", "", "postgres:// address of a database that several instances may share; default: the SQLite file fairdice.db in the data directory"},
	{"database-file", "", "file with the database address, which has a password in it, in the place of database"},
	{"listen", "127.0.0.1:8080", "address to serve on"},
	{"master-key", "", "file of the key that seals the dice; default: master.key in the data directory. Keep it out of backups of the database"},
	{"origin", "", "name of the log, chosen once when its key is made; default: fairdice/ and eight random digits"},
	{"tenant", "default", "tenant made on the first start"},
	{"sealed", house.DefaultPool.Full, "sequences kept sealed ahead for every tenant and mode"},
	{"link-rate", api.DefaultLinkRate, "links a minute taken from one address"},
	{"read-rate", api.DefaultReadRate, "reads without a key a minute from one address"},
	{"work-rate", api.DefaultWorkRate, "checks of files, lists of plays and statistics a minute for one address"},
	{"key-rate", 0, "requests a minute with one API key; 0: no limit"},
	{"tls-cert", "", "file of the certificate to serve HTTPS with, followed by those that sign it (PEM); it is read anew when it changes"},
	{"tls-key", "", "file of the certificate's key (PEM)"},
	{"proxy-header", "", "header to which your own proxy appends the address it was called from, X-Forwarded-For for instance"},
	{"trusted-proxies", joined(privateNetworks), "addresses and networks of your own proxies, with commas between; from anybody else proxy-header does not count"},
	{"beacon-relays", joined(relay.Public), "relays of the drand quicknet beacon, with commas between; none: no matches with a beacon"},
	{"policy", "", "C2SP tlog-policy file; every witness in it that has an address is asked to cosign the log"},
	{"metrics-listen", "", "address to serve metrics for Prometheus on, 127.0.0.1:9090 for instance; empty: nowhere. Whoever reaches it needs no key"},
	{"backup-dir", "", "directory for backups of the SQLite database, on another disk; empty: none are made"},
	{"backup-every", "1h", "time from one backup to the next"},
	{"backup-keep", 24, "backups that are kept; older ones are removed when a new one is there"},
	{"webhook-private", "", "networks in which webhooks may be sent although they are not public, 10.1.0.0/16 for instance, with commas between"},
	{"log-level", "info", "debug, info, warn or error"},
	{"log-format", formatText, "text or json: one record a line"},
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
// of a command: two commands have flags of one name. Everything that is wrong
// is in the error.
func (s *settings) read(c *cobra.Command) (config, error) {
	cfg, found := s.gather(c)
	return cfg, found.err()
}

// gather reads the settings and says all that is wrong with them.
func (s *settings) gather(c *cobra.Command) (cfg config, found problems) {
	s.given = c.Flags()
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if s.isSetting(f.Name) {
			if err := s.v.BindPFlag(f.Name, f); err != nil {
				panic(err) // of a flag that is nil
			}
		}
	})
	for _, name := range strangers(os.Environ()) {
		s.add(&found, severe, "", "the environment has %s, and there is no such setting", name)
	}
	if s.file != "" {
		if err := s.readFile(); err != nil {
			s.add(&found, severe, "", "%v", err)
		}
		// A misspelt setting that is passed over is a service that runs
		// otherwise than its owner believes.
		keys := s.v.AllKeys()
		slices.Sort(keys)
		for _, key := range keys {
			if top, _, _ := strings.Cut(key, "."); !s.isSetting(top) {
				s.add(&found, severe, "", "%s: there is no setting %q", s.file, key)
			}
		}
	}
	for _, l := range list {
		switch s.v.Get(l.key).(type) {
		case []any, map[string]any:
			s.add(&found, severe, l.key, "it has more than one value")
		}
	}
	cfg = config{
		data: s.v.GetString("data"), listen: s.v.GetString("listen"), master: s.v.GetString("master-key"),
		origin: s.v.GetString("origin"), tenant: s.v.GetString("tenant"), proxy: s.v.GetString("proxy-header"),
		relays: s.v.GetString("beacon-relays"), policy: s.v.GetString("policy"), format: s.v.GetString("log-format"),
		metricsListen: s.v.GetString("metrics-listen"), tlsCert: s.v.GetString("tls-cert"), tlsKey: s.v.GetString("tls-key"),
		backupDir: s.v.GetString("backup-dir"),
	}
	var err error
	if cfg.proxies, err = parseNetworks(s.v.GetString("trusted-proxies")); err != nil {
		s.add(&found, severe, "trusted-proxies", "%v", err)
	}
	if (cfg.tlsCert == "") != (cfg.tlsKey == "") {
		s.add(&found, severe, "tls-cert", "a certificate needs its key and the key its certificate: set tls-cert and tls-key, or neither")
	}
	cfg.db = s.secret(&found, "database")
	cfg.sealed = s.number(&found, "sealed", 4, 1_000_000)
	cfg.linkRate = s.number(&found, "link-rate", 1, math.MaxInt32)
	cfg.readRate = s.number(&found, "read-rate", 1, math.MaxInt32)
	cfg.keyRate = s.number(&found, "key-rate", 0, math.MaxInt32)
	cfg.backupKeep = s.number(&found, "backup-keep", 1, 1_000_000)
	if cfg.backupEvery, err = time.ParseDuration(s.v.GetString("backup-every")); err != nil || cfg.backupEvery < time.Second {
		s.add(&found, severe, "backup-every", "%q is no time of at least a second, 1h or 30m for instance", s.v.GetString("backup-every"))
	}
	if cfg.backupDir != "" && isShared(cfg.db) {
		s.add(&found, severe, "backup-dir", "a PostgreSQL database is backed up with PostgreSQL's own tools")
	}
	cfg.workRate = s.number(&found, "work-rate", 1, math.MaxInt32)
	if err := cfg.level.UnmarshalText([]byte(s.v.GetString("log-level"))); err != nil {
		s.add(&found, severe, "log-level", "%q is not debug, info, warn or error", s.v.GetString("log-level"))
	}
	if cfg.format != formatText && cfg.format != formatJSON {
		s.add(&found, severe, "log-format", "%q is not text or json", cfg.format)
	}
	if cfg.hooksTo, err = webhook.ParsePrivate(s.v.GetString("webhook-private")); err != nil {
		s.add(&found, severe, "webhook-private", "%v", err)
	}
	if cfg.data == "" {
		s.add(&found, severe, "data", "it names no directory")
	}
	if cfg.master == "" {
		cfg.master = filepath.Join(cfg.data, "master.key")
	}
	if cfg.data != "" {
		if err := cfg.followMaster(); err != nil {
			s.add(&found, severe, "master-key", "%v", err)
		}
	}
	return cfg, found
}

// secret is the value of a setting that may also come from a file, named by
// the setting with -file behind its name. Of the two the one from the higher
// origin counts, as everywhere.
func (s *settings) secret(found *problems, key string) string {
	file := key + "-file"
	value, path := s.v.GetString(key), s.v.GetString(file)
	switch {
	case path == "" || value != "" && s.origin(key) > s.origin(file):
		return value
	case value != "" && s.origin(key) == s.origin(file):
		s.add(found, severe, file, "%s is given as well; one of them is meant", key)
		return value
	}
	value, err := readValue(path)
	if err != nil {
		s.add(found, severe, file, "%v", err)
	}
	return value
}

// number is a setting that is a whole number.
func (s *settings) number(found *problems, key string, low, high int) int {
	v := s.v.Get(key)
	switch v.(type) {
	case []any, map[string]any:
		return low // it was said what is wrong
	}
	n, err := whole(v)
	switch {
	case err != nil:
		s.add(found, severe, key, "%v", err)
	case n < low || n > high:
		s.add(found, severe, key, "%d is not %d to %d", n, low, high)
	}
	return n
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
	"FAIRDICE_API_KEY", "FAIRDICE_API_KEY_FILE",
	"FAIRDICE_AUDIT_GAMES", "FAIRDICE_CALIBRATE", "FAIRDICE_CORPUS", "FAIRDICE_HOSTILE_MB", "FAIRDICE_KILLS",
	"FAIRDICE_REQUIRE_CORPUS", "FAIRDICE_SCALE", "FAIRDICE_SOAK",
}

// strangers are variables that would be settings if they were spelt right.
func strangers(environment []string) (names []string) {
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "FAIRDICE_") || strings.HasPrefix(name, "FAIRDICE_TEST_") || slices.Contains(others, name) ||
			slices.ContainsFunc(list, func(l setting) bool { return envOf(l.key) == name }) {
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
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
	data, db                    string
	listen, master              string
	masterNamed                 string // by the setting; master is where that has moved to
	masterOld                   string // file of the key before it moved, to be removed
	origin, tenant              string
	proxy                       string
	proxies                     []netip.Prefix // from which the header counts
	tlsCert, tlsKey             string
	relays, policy              string
	sealed, linkRate            int
	readRate, keyRate, workRate int
	level                       slog.Level
	format                      string         // of the log
	deliver                     bool           // send webhooks: only serve does
	hooksTo                     []netip.Prefix // private networks that webhooks may reach
	metricsListen               string
	backupDir                   string
	backupEvery                 time.Duration
	backupKeep                  int
	pprof                       bool // beside the metrics

	// Without a policy file: witnesses in this process, and whom they satisfy.
	witnesses []house.Witness
	trusted   *translog.Policy
	now       func() time.Time   // nil: the system's clock
	rolls     commitment.Lengths // of new sequences; zero: those of PROTOCOL.md §2
}

package main

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairdice/commitment"
	"fairdice/store/postgres"
)

// inspect looks at everything that the settings name, in the order in which
// serve opens it, and opens nothing to write.
func (s *settings) inspect(cfg config, found *problems) {
	if err := commitment.CheckToken(cfg.tenant); err != nil {
		s.add(found, severe, "tenant", "%v", err)
	}
	if _, err := net.ResolveTCPAddr("tcp", cfg.listen); err != nil {
		s.add(found, severe, "listen", "%v", err)
	}
	if cfg.metricsListen != "" {
		if _, err := net.ResolveTCPAddr("tcp", cfg.metricsListen); err != nil {
			s.add(found, severe, "metrics-listen", "%v", err)
		}
	}
	s.inspectFront(cfg, found)
	if _, err := cfg.beacon(); err != nil {
		s.add(found, severe, "beacon-relays", "%v", err)
	}
	if cfg.backupDir != "" {
		if info, err := os.Stat(cfg.backupDir); err != nil {
			s.add(found, severe, "backup-dir", "%v", err)
		} else if !info.IsDir() {
			s.add(found, severe, "backup-dir", "%s is not a directory", cfg.backupDir)
		}
	}
	s.inspectDatabase(cfg, found)
	if cfg.data == "" {
		return // said already, and every file that follows is in it
	}
	if s.inspectData(cfg, found) {
		s.inspectKeys(cfg, found)
	} else if cfg.policy != "" { // there is no key yet that it could name
		if _, err := os.Stat(cfg.policy); err != nil {
			s.add(found, severe, "policy", "%v", err)
		}
	}
}

// inspectFront looks at what stands between the service and its callers.
func (s *settings) inspectFront(cfg config, found *problems) {
	if strings.ContainsFunc(cfg.proxy, func(r rune) bool { return r != '-' && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a') }) {
		s.add(found, severe, "proxy-header", "%q is not the name of a header", cfg.proxy)
	}
	for _, n := range cfg.proxies {
		if cfg.proxy != "" && n.Bits() == 0 {
			s.add(found, warning, "trusted-proxies", "%s is everybody: whoever calls can choose the address he is counted for, and no limit holds him", n)
		}
	}
	if cfg.proxy == "" && s.origin("trusted-proxies") != byDefault {
		s.add(found, warning, "trusted-proxies", "without proxy-header it means nothing")
	}
	if cfg.tlsCert == "" || cfg.tlsKey == "" {
		return
	}
	pair, err := readPair(cfg.tlsCert, cfg.tlsKey)
	if err != nil {
		s.add(found, severe, "tls-cert", "%v", err)
		return
	}
	if left := time.Until(pair.Leaf.NotAfter); left < 0 {
		s.add(found, severe, "tls-cert", "the certificate in %s ended %s: renew it", cfg.tlsCert, pair.Leaf.NotAfter.UTC().Format(time.DateTime))
	} else if left < renewBefore {
		s.add(found, warning, "tls-cert", "the certificate in %s ends %s: renew it", cfg.tlsCert, pair.Leaf.NotAfter.UTC().Format(time.DateTime))
	}
}

func (s *settings) inspectDatabase(cfg config, found *problems) {
	if cfg.db == "" {
		return
	}
	if !isShared(cfg.db) {
		if strings.Contains(cfg.db, "password") {
			s.add(found, severe, s.databaseSetting(), "it is no postgres:// address, and no path that a file should have")
			return
		}
		if dir := filepath.Dir(cfg.db); dir != filepath.Clean(cfg.data) {
			if _, err := os.Stat(dir); err != nil {
				s.add(found, severe, "database", "%v", err)
			}
		}
		return
	}
	if err := postgres.CheckAddress(cfg.db); err != nil {
		s.add(found, severe, s.databaseSetting(), "%v", err)
		return
	}
	if !hasPassword(cfg.db) || s.databaseSetting() != "database" {
		return
	}
	switch s.origin("database") {
	case fromFlag:
		s.add(found, warning, "database", "everybody on this machine can see the password on the command line; use database-file")
	case fromFile:
		if mode, open := openToOthers(s.file); open {
			s.add(found, warning, "database", "the settings file has a password in it and can be read by others (mode %04o); chmod 600 it, or use database-file", mode)
		}
	}
}

// databaseSetting is the setting that the address came from.
func (s *settings) databaseSetting() string {
	if s.v.GetString("database-file") != "" && (s.v.GetString("database") == "" || s.origin("database-file") > s.origin("database")) {
		return "database-file"
	}
	return "database"
}

func hasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password")
}

func openToOthers(path string) (fs.FileMode, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().Perm()&0o077 != 0
}

// inspectData looks at the data directory. It reports whether a service has
// begun there, so that there must be keys.
func (s *settings) inspectData(cfg config, found *problems) (begun bool) {
	if _, err := os.Stat(cfg.data); errors.Is(err, fs.ErrNotExist) {
		s.inspectNewMaster(cfg, found)
		return false // the first start makes it
	}
	if err := cfg.errNoDirectory(); err != nil {
		s.add(found, severe, "data", "%v", err)
		return false
	}
	if mode, open := openToOthers(cfg.data); open {
		s.add(found, warning, "data", "others can look into %s (mode %04o); chmod 700 it", cfg.data, mode)
	}
	if err := cfg.errEnded(); err != nil {
		s.add(found, severe, "data", "%v", err)
	}
	fresh, err := cfg.fresh()
	if err != nil {
		s.add(found, severe, "data", "%v", err)
	}
	if fresh {
		s.inspectNewMaster(cfg, found)
	}
	return !fresh && err == nil
}

// inspectNewMaster looks at where a first start will put the master key.
func (s *settings) inspectNewMaster(cfg config, found *problems) {
	s.inspectMasterPlace(cfg, found)
	if dir := filepath.Dir(cfg.master); dir != filepath.Clean(cfg.data) {
		if _, err := os.Stat(dir); err != nil {
			s.add(found, severe, "master-key", "%v", err)
		}
	}
}

// inspectMasterPlace warns of a master key that goes wherever the database
// goes: who copies both knows the dice to come.
func (s *settings) inspectMasterPlace(cfg config, found *problems) {
	data, err1 := filepath.Abs(cfg.data)
	master, err2 := filepath.Abs(cfg.master)
	if err1 != nil || err2 != nil {
		return
	}
	if in, err := filepath.Rel(data, master); err == nil && filepath.IsLocal(in) {
		s.add(found, warning, "master-key", "%s is in the data directory: a copy or backup of that directory has the dice to come; put the key on another mount", cfg.master)
	}
}

func (s *settings) inspectKeys(cfg config, found *problems) {
	if cfg.master != cfg.masterNamed && s.origin("master-key") != byDefault {
		s.add(found, warning, "master-key", "%s was moved to %s: say so in the setting too", cfg.masterNamed, cfg.master)
	}
	s.inspectMasterPlace(cfg, found)
	log, err := readSigningKey(cfg.logKey())
	if err != nil {
		s.add(found, severe, "data", "%v", err)
	}
	if _, err := readSigningKeys(cfg.receiptKey()); err != nil {
		s.add(found, severe, "data", "%v", err)
	}
	if _, err := readMaster(cfg.master); err != nil {
		s.add(found, severe, "master-key", "%v", err)
	}
	if log.signer == nil {
		return
	}
	if cfg.origin != "" && cfg.origin != log.signer.Name() {
		s.add(found, severe, "origin", "the log of %s is named %q for ever, not %q", cfg.logKey(), log.signer.Name(), cfg.origin)
	}
	if _, _, err := cfg.watched(log.public); err != nil {
		s.add(found, severe, "policy", "%v", err)
	}
}

package main

import (
	"fmt"
	"os"
	"strings"
)

// origin is where the value of a setting comes from. A higher one wins.
type origin uint8

const (
	byDefault origin = iota
	fromFile
	fromEnvironment
	fromFlag
)

// origin is where the setting's value comes from: viper's own order.
func (s *settings) origin(key string) origin {
	switch {
	case s.given != nil && s.given.Changed(key):
		return fromFlag
	case os.Getenv(envOf(key)) != "":
		return fromEnvironment
	case s.v.InConfig(key):
		return fromFile
	}
	return byDefault
}

// from names the origin as its owner knows it.
func (s *settings) from(key string) string {
	switch s.origin(key) {
	case fromFlag:
		return "flag --" + key
	case fromEnvironment:
		return "environment " + envOf(key)
	case fromFile:
		return "file " + s.file
	}
	return "default"
}

// envOf is the variable that gives a setting.
func envOf(key string) string {
	return "FAIRDICE_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// problem is something that is wrong with the settings, or unwise.
type problem struct {
	Severity string `json:"severity"` // error or warning
	Setting  string `json:"setting,omitempty"`
	Origin   string `json:"origin,omitempty"`
	Message  string `json:"message"`
}

const (
	severe  = "error"
	warning = "warning"
)

func (p problem) String() string {
	text := p.Message
	if p.Setting != "" {
		text = p.Setting + ": " + text
	}
	if p.Origin != "" {
		text += " (" + p.Origin + ")"
	}
	return text
}

// problems are all of them: who runs a service wants to mend his settings once.
type problems []problem

// add says what is wrong with a setting, and where its value came from.
func (s *settings) add(ps *problems, severity, key, format string, args ...any) {
	p := problem{Severity: severity, Setting: key, Message: fmt.Sprintf(format, args...)}
	if key != "" {
		p.Origin = s.from(key)
	}
	*ps = append(*ps, p)
}

// count is how many there are of a severity.
func (ps problems) count(severity string) (n int) {
	for _, p := range ps {
		if p.Severity == severity {
			n++
		}
	}
	return n
}

// err is what keeps a command from starting, all of it, or nil.
func (ps problems) err() error {
	var texts []string
	for _, p := range ps {
		if p.Severity == severe {
			texts = append(texts, p.String())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return fmt.Errorf("read settings: %s", strings.Join(texts, "; "))
}

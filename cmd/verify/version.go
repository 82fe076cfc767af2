package main

import (
	"runtime/debug"

	"fairdice/rules"
)

// version names the build and the rules it implements.
func version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return v + ", protocol 1, rules " + rules.Version
}

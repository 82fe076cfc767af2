package main

import (
	"runtime/debug"

	"fairdice/rules"
)

// release is the version of a build by "make release".
var release string

// version names the build and the rules it implements.
func version() string {
	v := "(unknown)"
	if release != "" {
		v = release
	} else if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return v + ", protocol 1, rules " + rules.Version
}

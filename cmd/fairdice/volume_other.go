//go:build !linux

package main

import (
	"fmt"
	"runtime"
)

func volumeOf(string) (volume, error) {
	return volume{}, fmt.Errorf("what kind of file system it is, and its room, is not looked at on %s", runtime.GOOS)
}

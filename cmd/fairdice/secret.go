package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// maxSecret bounds what is read of a file with a secret, in bytes.
const maxSecret = 64 << 10

// readPrivate reads a file that others must not be able to read.
func readPrivate(path string) (text string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat() // of what was opened, whatever has the name by now
	if err != nil {
		return "", err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !isCredential(path, mode) {
		return "", fmt.Errorf("%s can be read by others (mode %04o); chmod 600 it", path, mode)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxSecret {
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxSecret)
	}
	return string(data), nil
}

// isCredential reports whether systemd hands the file to this service alone
// (LoadCredential=): it is root's and shows a group that may read it, because
// the right of the service's user is in an access list.
func isCredential(path string, mode fs.FileMode) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	return dir != "" && filepath.Dir(filepath.Clean(path)) == filepath.Clean(dir) && mode&0o037 == 0
}

// readValue reads a file whose one line is a secret setting. The newline that
// editors leave at the end is no part of it. No error shows what is in it.
func readValue(path string) (string, error) {
	text, err := readPrivate(path)
	if err != nil {
		return "", err
	}
	value := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	switch {
	case strings.TrimSpace(value) == "":
		return "", fmt.Errorf("%s is empty", path)
	case strings.ContainsFunc(value, unicode.IsControl):
		return "", fmt.Errorf("%s has more than one line, or control characters", path)
	}
	return value, nil
}

// secretVariable is a secret that comes in the environment: the value itself
// in the variable NAME, or the path of a file with it in NAME_FILE; "" if neither is set.
func secretVariable(name string) (string, error) {
	value, path := os.Getenv(name), os.Getenv(name+"_FILE")
	switch {
	case value != "" && path != "":
		return "", fmt.Errorf("%s and %s_FILE are both set; one of them is meant", name, name)
	case path == "":
		return value, nil
	}
	value, err := readValue(path)
	if err != nil {
		return "", fmt.Errorf("read %s_FILE: %w", name, err)
	}
	return value, nil
}

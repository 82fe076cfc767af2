// Command release builds what is published of a version: both programs for
// every system, their manuals and completions, in archives, the verifier of the
// page, and the sums of all.
//
//	go run ./internal/release -out dist -version v1.4.0
//
// Whoever builds the same commit with the same Go gets the same bytes, wherever
// and whenever: nothing in an archive depends on the machine, the directory, the
// user or the clock. So nobody has to believe that the published programs
// were made from the published source.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is a system that programs are built for.
type target struct{ system, machine string }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

var programs = []string{"fairdice", "verify"}

// papers go into every archive beside the programs.
var papers = []string{"LICENSE", "README.md", "docs/operating.md", "docs/verifying.md"}

func main() {
	var r release
	flag.StringVar(&r.source, "source", ".", "directory of the source")
	flag.StringVar(&r.out, "out", "dist", "directory for the archives")
	flag.StringVar(&r.version, "version", "", "version to build; default: what git describe says")
	check := flag.Bool("check", false, "build one program twice, in two directories with two caches, compare, and write nothing")
	flag.Parse()
	err := r.date()
	if err == nil && *check {
		err = r.check("verify", target{runtime.GOOS, runtime.GOARCH}, target{"js", "wasm"})
	} else if err == nil {
		err = r.build()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// release is one version.
type release struct {
	source, out, version string
	made                 time.Time // of every file in the archives
}

// date takes time and version from the commit, so that they are the same for
// everybody: SOURCE_DATE_EPOCH says so where there is no git.
func (r *release) date() error {
	if r.version == "" {
		v, err := r.git("describe", "--tags", "--always", "--dirty")
		if err != nil {
			return fmt.Errorf("name the version: %w; give it with -version", err)
		}
		r.version = v
	}
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.git("log", "-1", "--format=%ct"); err != nil {
			return fmt.Errorf("date the version: %w; give the time of the commit in SOURCE_DATE_EPOCH", err)
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("date the version: SOURCE_DATE_EPOCH %q is not a number of seconds", text)
	}
	r.made = time.Unix(seconds, 0).UTC()
	return nil
}

func (r *release) git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", r.source}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// compile builds one program and returns its path.
func (r *release) compile(t target, program, dir, cache string) (string, error) {
	out := filepath.Join(dir, program)
	if t.system == "windows" {
		out += ".exe"
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", "-s -w -buildid= -X main.release="+r.version, "-o", out, "./cmd/"+program)
	c.Dir = r.source
	// What a user has set for himself must not get into what others download.
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "GOFLAGS" || name == "GOEXPERIMENT" || name == "GODEBUG" || name == "GOCACHE" && cache != ""
	}), "CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.machine, "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GOFLAGS=", "GOWORK=off", "GOENV=off", "GOPROXY="+goEnv("GOPROXY"), "GONOSUMDB="+goEnv("GONOSUMDB"))
	if cache != "" {
		c.Env = append(c.Env, "GOCACHE="+cache)
	}
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("build %s for %s/%s: %w\n%s", program, t.system, t.machine, err, &said)
	}
	return out, nil
}

// goEnv is where modules come from on this machine; their sums are in go.sum.
func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (r *release) build() (err error) {
	work, err := os.MkdirTemp("", "fairdice-release-*")
	if err != nil {
		return fmt.Errorf("make work directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	manuals, err := r.manuals(work)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	var sums strings.Builder
	sum, err := r.module()
	if err != nil {
		return err
	}
	fmt.Fprintf(&sums, "%s  %s\n", sum, moduleFile)
	for _, t := range targets {
		name := fmt.Sprintf("fairdice-%s-%s-%s", r.version, t.system, t.machine)
		dir := filepath.Join(work, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("make work directory: %w", err)
		}
		var list []member
		for _, p := range programs {
			path, err := r.compile(t, p, dir, "")
			if err != nil {
				return err
			}
			list = append(list, member{name + "/" + filepath.Base(path), path, 0o755})
		}
		for _, p := range papers {
			list = append(list, member{name + "/" + filepath.Base(p), filepath.Join(r.source, p), 0o644})
		}
		for _, m := range manuals {
			list = append(list, member{name + "/" + m.name, m.path, m.mode})
		}
		if t.system == "linux" {
			list = append(list, member{name + "/fairdice.service", filepath.Join(r.source, "deploy", "fairdice.service"), 0o644})
		}
		file, write := name+".tar.gz", writeTar
		if t.system == "windows" {
			file, write = name+".zip", writeZip
		}
		var b bytes.Buffer
		if err := write(&b, list, r.made); err != nil {
			return fmt.Errorf("pack %s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join(r.out, file), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("pack %s: %w", file, err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(b.Bytes()), file)
	}
	if err := os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return fmt.Errorf("write sums: %w", err)
	}
	fmt.Printf("%s (%s, %s)\n%s", r.version, runtime.Version(), r.made.Format(time.RFC3339), &sums)
	return nil
}

// manuals are the pages of man and the completions of shells, which the
// programs themselves write.
func (r *release) manuals(work string) (list []member, err error) {
	for _, p := range programs {
		path, err := r.compile(target{runtime.GOOS, runtime.GOARCH}, p, work, "")
		if err != nil {
			return nil, err
		}
		man := filepath.Join(work, "man-"+p)
		write := exec.Command(path, "manual", man)
		write.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.made.Unix()))
		if out, err := write.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("write manual of %s: %w\n%s", p, err, out)
		}
		pages, err := filepath.Glob(filepath.Join(man, "*.1"))
		if err != nil {
			return nil, err
		}
		for _, page := range pages { // in the order of their names
			list = append(list, member{"man/man1/" + filepath.Base(page), page, 0o644})
		}
		for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
			text, err := exec.Command(path, "completion", shell).Output()
			if err != nil {
				return nil, fmt.Errorf("write completion of %s for %s: %w", p, shell, err)
			}
			file := filepath.Join(work, p+"."+shell)
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return nil, err
			}
			list = append(list, member{"completions/" + filepath.Base(file), file, 0o644})
		}
	}
	return list, nil
}

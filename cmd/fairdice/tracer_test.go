//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tracer runs a program and sees each of its system calls that changes a file
// below one directory, in the order in which they begin, whichever thread makes
// them. It can have one of them fail, or kill the program instead of letting it
// be carried out. (strace cannot do this for a Go program: it counts calls for
// each thread alone, and picks files by their whole names, which temporary
// files do not have before they are made.)
type tracer struct {
	dir   string
	fault fault

	pid    int
	calls  []change              // seen so far
	struck *change               // the one that failed, nil if none did
	inside map[int]syscall.Errno // the answers of calls that were not carried out
	syncs  map[int]string        // by threads that are inside one
	disk   *disk                 // if the fault is a power cut
	status syscall.WaitStatus
	err    error
	done   chan struct{}
}

// change is a system call that changes a file.
type change struct {
	call string
	file string // below the directory
}

func (c change) String() string { return c.call + " " + c.file }

// fault strikes at the nth call, from 1, among those it fits.
type fault struct {
	call, file string // "": any; a * at the end of a file's name is the rest of it
	nth        int    // 0: never
	errno      syscall.Errno
	kill       bool // in place of the call
	power      bool // and what was not synced is lost
}

func (f fault) fits(c change) bool {
	if f.nth == 0 || f.call != "" && f.call != c.call {
		return false
	}
	begin, open := strings.CutSuffix(f.file, "*")
	return f.file == "" || c.file == f.file || open && strings.HasPrefix(c.file, begin)
}

// way is how it strikes.
func (f fault) way() string {
	switch {
	case f.power:
		return "power cut"
	case f.kill:
		return "SIGKILL"
	}
	return unix.ErrnoName(f.errno)
}

func (f fault) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s at %d %s %s", f.way(), f.nth, f.call, f.file))
}

// start starts the program under the tracer. The error is EPERM where tracing
// is not allowed.
func (tr *tracer) start(cmd *exec.Cmd) error {
	tr.done, tr.inside, tr.syncs = make(chan struct{}), map[int]syscall.Errno{}, map[int]string{}
	if tr.fault.power {
		var err error
		if tr.disk, err = newDisk(tr.dir); err != nil {
			return err
		}
	}
	started := make(chan error)
	go func() {
		// Only the thread that has started the program may trace it. It ends
		// with this goroutine, because it is never unlocked.
		runtime.LockOSThread()
		defer close(tr.done)
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		tr.pid = cmd.Process.Pid
		err := tr.attach()
		started <- err
		if err == nil {
			tr.err = tr.follow()
		}
	}()
	return <-started
}

// Of linux/ptrace.h, where package syscall has them not.
const (
	ptraceGetSyscallInfo = 0x420e
	ptraceExitKill       = 1 << 20
	sysgood              = 0x80
)

func (tr *tracer) attach() error {
	var ws syscall.WaitStatus
	if _, err := wait(tr.pid, &ws); err != nil {
		return err
	}
	if !ws.Stopped() {
		return fmt.Errorf("the program did not stop for its tracer: %#x", ws)
	}
	if err := syscall.PtraceSetOptions(tr.pid, syscall.PTRACE_O_TRACECLONE|syscall.PTRACE_O_TRACESYSGOOD|ptraceExitKill); err != nil {
		return err
	}
	return syscall.PtraceSyscall(tr.pid, 0)
}

func wait(pid int, ws *syscall.WaitStatus) (int, error) {
	for {
		got, err := syscall.Wait4(pid, ws, syscall.WALL, nil)
		if !errors.Is(err, syscall.EINTR) {
			return got, err
		}
	}
}

// follow lets the threads run from one system call to the next until the
// program ends.
func (tr *tracer) follow() error {
	known := map[int]bool{tr.pid: true}
	for {
		var ws syscall.WaitStatus
		thread, err := wait(-tr.pid, &ws) // its group: this thread may have started processes of other tests
		if err != nil {
			return fmt.Errorf("wait for traced program: %w", err)
		}
		if !ws.Stopped() {
			if thread == tr.pid {
				tr.status = ws
				return nil
			}
			continue
		}
		pass := 0 // the signal that is passed on
		switch signal := ws.StopSignal(); {
		case signal == syscall.SIGTRAP|sysgood:
			err = tr.stopped(thread)
		case signal == syscall.SIGTRAP: // a thread was made
		case signal == syscall.SIGSTOP && !known[thread]:
			known[thread] = true
		default:
			pass = int(signal)
		}
		if err == nil {
			err = syscall.PtraceSyscall(thread, pass)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) { // killed meanwhile
			return fmt.Errorf("trace program: %w", err)
		}
	}
}

// info is struct ptrace_syscall_info.
type info struct {
	op     uint8
	_      [3]byte
	_      uint32
	_, _   uint64
	number uint64
	args   [6]uint64
}

const (
	opEntry = 1
	opExit  = 2
)

// stopped looks at a thread that stands before or behind a system call.
func (tr *tracer) stopped(thread int) error {
	var in info
	_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceGetSyscallInfo, uintptr(thread), unsafe.Sizeof(in), uintptr(unsafe.Pointer(&in)), 0, 0)
	if e != 0 {
		return e
	}
	switch in.op {
	case opEntry:
		c, ok := tr.change(thread, in)
		if !ok {
			return nil
		}
		tr.calls = append(tr.calls, c)
		if c.call == "fsync" || c.call == "fdatasync" {
			tr.syncs[thread] = fmt.Sprintf("/proc/%d/fd/%d", tr.pid, in.args[0])
		}
		if !tr.fault.fits(c) {
			return nil
		}
		if tr.fault.nth--; tr.fault.nth > 0 {
			return nil
		}
		tr.struck = &c
		if tr.fault.kill {
			return syscall.Kill(tr.pid, syscall.SIGKILL)
		}
		tr.inside[thread] = tr.fault.errno
		return setRegisters(thread, func(r *syscall.PtraceRegs) { r.Orig_rax = ^uint64(0) }) // no such call
	case opExit:
		sync, synced := tr.syncs[thread]
		delete(tr.syncs, thread)
		if synced && in.number == 0 && tr.disk != nil { // the answer stands where the number stood
			return tr.disk.sync(sync)
		}
		errno, ok := tr.inside[thread]
		if !ok {
			return nil
		}
		delete(tr.inside, thread)
		return setRegisters(thread, func(r *syscall.PtraceRegs) { r.Rax = -uint64(errno) })
	}
	return nil
}

func setRegisters(thread int, change func(*syscall.PtraceRegs)) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &r); err != nil {
		return err
	}
	change(&r)
	return syscall.PtraceSetRegs(thread, &r)
}

// change says which file below the directory a call changes, if any.
func (tr *tracer) change(thread int, in info) (c change, ok bool) {
	var path string
	switch in.number {
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FSYNC, syscall.SYS_FDATASYNC, syscall.SYS_FTRUNCATE:
		path, _ = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tr.pid, in.args[0]))
	case syscall.SYS_OPENAT:
		if in.args[2]&syscall.O_CREAT == 0 {
			return c, false
		}
		path = text(thread, in.args[1])
	case syscall.SYS_UNLINKAT, syscall.SYS_MKDIRAT:
		path = text(thread, in.args[1])
	case syscall.SYS_OPEN:
		if in.args[1]&syscall.O_CREAT == 0 {
			return c, false
		}
		path = text(thread, in.args[0])
	case syscall.SYS_UNLINK, syscall.SYS_MKDIR:
		path = text(thread, in.args[0])
	case syscall.SYS_RENAMEAT:
		path = text(thread, in.args[3])
	case syscall.SYS_RENAME:
		path = text(thread, in.args[1])
	default:
		return c, false
	}
	file, err := filepath.Rel(tr.dir, path)
	if err != nil || path == "" || file == ".." || strings.HasPrefix(file, "../") {
		return c, false
	}
	return change{names[in.number], file}, true
}

var names = map[uint64]string{
	syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "pwrite", syscall.SYS_FSYNC: "fsync", syscall.SYS_FDATASYNC: "fdatasync",
	syscall.SYS_FTRUNCATE: "ftruncate", syscall.SYS_OPENAT: "create", syscall.SYS_OPEN: "create", syscall.SYS_UNLINKAT: "unlink",
	syscall.SYS_UNLINK: "unlink", syscall.SYS_MKDIRAT: "mkdir", syscall.SYS_MKDIR: "mkdir", syscall.SYS_RENAMEAT: "rename", syscall.SYS_RENAME: "rename",
}

// text reads a path from the memory of the program.
func text(thread int, address uint64) string {
	var b []byte
	for len(b) < 4096 {
		var word [8]byte
		n, err := syscall.PtracePeekData(thread, uintptr(address)+uintptr(len(b)), word[:])
		if err != nil {
			return ""
		}
		for _, c := range word[:n] {
			if c == 0 {
				return string(b)
			}
			b = append(b, c)
		}
	}
	return ""
}

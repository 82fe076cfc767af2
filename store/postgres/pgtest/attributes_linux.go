package pgtest

import "syscall"

// attributes end the server when the test's process ends without cleaning up,
// by its timeout for example.
func attributes(owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: owner, Pdeathsig: syscall.SIGQUIT}
}

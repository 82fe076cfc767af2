package main

import (
	"fmt"
	"syscall"
)

// networks are the file systems of statfs(2) that are not on this machine.
var networks = map[uint32]string{0x6969: "NFS", 0x517b: "SMB", 0xfe534d42: "SMB", 0xff534d42: "CIFS", 0x00c36400: "Ceph", 0x01021997: "9P", 0x5346414f: "AFS"}

func volumeOf(path string) (volume, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return volume{}, fmt.Errorf("look at the file system: %w", err)
	}
	return volume{s.Bavail * uint64(s.Bsize), networks[uint32(s.Type)]}, nil
}

package main

import (
	"errors"
	"os"
	"slices"
	"time"
)

const (
	// roomWanted is the free space below which the doctor warns, in bytes.
	roomWanted = 1 << 30
	// syncSlow is when the sync of a few kilobytes makes rolls slow.
	syncSlow = 20 * time.Millisecond
	syncs    = 15 // measured
)

// volume is what a system says of the file system of a path.
type volume struct {
	free   uint64 // bytes for this user
	remote string // its kind, if it is a network's
}

// disk looks at where the data are: space, kind, and how fast a sync is, which
// is how fast the service can be.
func (d *doctor) disk() {
	if v, err := volumeOf(d.data); err != nil {
		d.say(skipped, "disk", "", "%v", err)
	} else {
		if v.free < roomWanted {
			d.say(unwise, "disk", "Make room: without any nothing is drawn.", "%d MiB are free for %s", v.free>>20, d.data)
		} else {
			d.say(fine, "disk", "", "%d MiB are free", v.free>>20)
		}
		if v.remote != "" && !isShared(d.config.database()) {
			d.say(failure, "disk", "Move the data to a local disk, or the database to PostgreSQL.", "%s is on %s: neither its locks nor its sync can be relied on", d.data, v.remote)
		}
	}
	took, err := syncTime(d.data)
	switch {
	case err != nil:
		d.say(failure, "sync", "Run the doctor as the service's user, and look at the disk.", "%v", err)
	case took > syncSlow:
		d.say(unwise, "sync", "Use a faster disk, with a cache that survives a power cut.", "a sync takes %s, and every answer waits for one", took.Round(time.Microsecond))
	default:
		d.say(fine, "sync", "", "a sync takes %s", took.Round(time.Microsecond))
	}
}

// syncTime is the median of a few.
func syncTime(dir string) (took time.Duration, err error) {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	var all []time.Duration
	block := make([]byte, 4096)
	for range syncs {
		begun := time.Now()
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(begun))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

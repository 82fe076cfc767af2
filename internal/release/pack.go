package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"time"
)

// member is one file of an archive.
type member struct {
	name string // in the archive
	path string // of its content
	mode int64
}

// writeTar writes files as they would be everywhere: no owner, one time.
func writeTar(w io.Writer, list []member, made time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, m := range list {
		data, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: m.name, Mode: m.mode, Size: int64(len(data)), ModTime: made, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// writeZip is writeTar for Windows.
func writeZip(w io.Writer, list []member, made time.Time) error {
	z := zip.NewWriter(w)
	for _, m := range list {
		data, err := os.ReadFile(m.path)
		if err != nil {
			return err
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: made})
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}

package main

import "github.com/spf13/cobra"

func newArchive(s *settings) *cobra.Command { return &cobra.Command{Use: "archive"} }

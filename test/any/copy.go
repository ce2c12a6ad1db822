// SPDX-License-Identifier: LGPL-2.1-or-later

// Copies a file as Go programs do.
//
//	copy FROM TO
package main

import (
	"fmt"
	"io"
	"os"
)

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err = io.Copy(target, source); err != nil {
		return err
	}
	return target.Close()
}

func main() {
	if err := copyFile(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// becomeContainer runs as the first process of a container, and becomes its program. Its arguments are the root folder,
// the host name, the numbers of user, group and second group, and the program with its arguments.
func becomeContainer(arguments []string) error {
	if len(arguments) < 6 {
		return errors.New("usage: process-kubelet container ROOT HOSTNAME UID GID GROUP PROGRAM [ARGUMENT...]")
	}
	var ids [3]int
	for index := range ids {
		id, err := strconv.Atoi(arguments[2+index])
		if err != nil {
			return err
		}
		ids[index] = id
	}
	root, program := arguments[0], arguments[5:]
	// What follows belongs to one thread, which then is the program.
	runtime.LockOSThread()
	if err := unix.Sethostname([]byte(arguments[1])); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if err := unix.Mount("proc", filepath.Join(root, "proc"), "proc", flags, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := unix.Chroot(root); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := syscall.Setgroups([]int{ids[2]}); err != nil {
		return err
	}
	if err := syscall.Setgid(ids[1]); err != nil {
		return err
	}
	if err := syscall.Setuid(ids[0]); err != nil {
		return err
	}
	if err := syscall.Exec(program[0], program, os.Environ()); err != nil {
		return fmt.Errorf("%s: %w", program[0], err)
	}
	return nil
}

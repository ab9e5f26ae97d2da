package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	core "k8s.io/api/core/v1"
)

// libraries are folders of this machine that programs with shared libraries need. An image from scratch has none, but
// the program of a developer's build is not static.
var libraries = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64"}

var devices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}

// mountList has mount points in the order in which they were made.
type mountList []string

// undo leaves plain folders. Nothing is deleted here: a mount that stays must never lose its files.
func (m *mountList) undo() {
	for index := len(*m) - 1; index >= 0; index-- {
		_ = unix.Unmount((*m)[index], unix.MNT_DETACH)
	}
	*m = nil
}

// makeRoot makes the root folder of a pod: the image, volumes, devices and libraries, all read-only but for volumes that
// may be written. /proc comes later, from inside of the container.
func (k *kubelet) makeRoot(pod *runningPod, container *core.Container, image string, volumes map[string]volume) error {
	root := pod.root()
	for _, folder := range []string{"proc", "sys", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(image)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(image, entry.Name())
		if err := pod.mounts.bind(path, filepath.Join(root, entry.Name()), true); err != nil {
			return err
		}
	}
	for _, path := range append(append([]string{}, libraries...), devices...) {
		err := pod.mounts.bind(path, filepath.Join(root, path), true)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	sys := filepath.Join(root, "sys")
	flags := uintptr(unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if err := unix.Mount("sysfs", sys, "sysfs", flags, ""); err != nil {
		return fmt.Errorf("mount %s: %w", sys, err)
	}
	// The container mounts the second.
	pod.mounts = append(pod.mounts, sys, filepath.Join(root, "proc"))
	for _, mount := range container.VolumeMounts {
		source, isThere := volumes[mount.Name]
		if !isThere || mount.SubPath != "" {
			return fmt.Errorf("volume mount %s is not supported", mount.MountPath)
		}
		place := filepath.Join(root, filepath.Clean(mount.MountPath))
		if err := pod.mounts.bind(source.path, place, mount.ReadOnly || source.isReadOnly); err != nil {
			return err
		}
	}
	return k.writeHosts(pod)
}

// bind mounts a file or a folder at a place that it makes.
func (m *mountList) bind(source, place string, isReadOnly bool) error {
	facts, err := os.Stat(source)
	if err != nil {
		return err
	}
	if err := makePlace(place, facts.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(source, place, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", place, err)
	}
	*m = append(*m, place)
	if !isReadOnly {
		return nil
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY)
	if err := unix.Mount("", place, "", flags, ""); err != nil {
		return fmt.Errorf("mount %s read-only: %w", place, err)
	}
	return nil
}

func makePlace(place string, isFolder bool) error {
	if isFolder {
		return os.MkdirAll(place, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(place, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volume is a folder of this machine that a container may mount.
type volume struct {
	path       string
	isReadOnly bool
}

// makeVolumes writes all volumes of a pod.
func (k *kubelet) makeVolumes(ctx context.Context, pod *runningPod) (map[string]volume, error) {
	volumes := map[string]volume{}
	for _, source := range pod.object.Spec.Volumes {
		made := volume{path: filepath.Join(pod.dir, "volumes", source.Name)}
		files, mode, err := k.filesOf(ctx, pod.object.Namespace, source)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", source.Name, err)
		}
		if err := os.MkdirAll(made.path, 0o755); err != nil {
			return nil, err
		}
		group := podGroup(pod.object)
		if files == nil {
			err = ownFolder(made.path, group)
		} else {
			made.isReadOnly = true
			err = writeFiles(made.path, files, mode, group)
		}
		if err != nil {
			return nil, err
		}
		volumes[source.Name] = made
	}
	return volumes, nil
}

// filesOf returns the files of a volume with their mode; no map for an empty folder.
func (k *kubelet) filesOf(ctx context.Context, namespace string, source core.Volume) (map[string][]byte, os.FileMode, error) {
	switch {
	case source.EmptyDir != nil:
		return nil, 0, nil
	case source.Secret != nil:
		secrets := k.client.CoreV1().Secrets(namespace)
		secret, err := secrets.Get(ctx, source.Secret.SecretName, meta.GetOptions{})
		if err != nil {
			return nil, 0, err
		}
		files, err := chosen(secret.Data, source.Secret.Items)
		return files, modeOf(source.Secret.DefaultMode), err
	case source.ConfigMap != nil:
		maps := k.client.CoreV1().ConfigMaps(namespace)
		config, err := maps.Get(ctx, source.ConfigMap.Name, meta.GetOptions{})
		if err != nil {
			return nil, 0, err
		}
		all := map[string][]byte{}
		for key, text := range config.Data {
			all[key] = []byte(text)
		}
		for key, bytes := range config.BinaryData {
			all[key] = bytes
		}
		files, err := chosen(all, source.ConfigMap.Items)
		return files, modeOf(source.ConfigMap.DefaultMode), err
	default:
		return nil, 0, errors.New("only secret, configMap and emptyDir are supported")
	}
}

// chosen returns the named keys under their paths, or all.
func chosen(all map[string][]byte, items []core.KeyToPath) (map[string][]byte, error) {
	files := map[string][]byte{}
	if len(items) == 0 {
		for key, bytes := range all {
			files[key] = bytes
		}
		return files, nil
	}
	for _, item := range items {
		bytes, isThere := all[item.Key]
		if !isThere {
			return nil, fmt.Errorf("there is no key %s", item.Key)
		}
		files[item.Path] = bytes
	}
	return files, nil
}

func modeOf(mode *int32) os.FileMode {
	if mode == nil {
		return 0o644
	}
	return os.FileMode(*mode)
}

// writeFiles writes files that the pod's group owns.
func writeFiles(folder string, files map[string][]byte, mode os.FileMode, group int) error {
	for name, bytes := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		// An earlier attempt may have written it, and then it is read-only.
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			return err
		}
		if err := os.Chown(path, 0, group); err != nil {
			return err
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
	}
	return nil
}

// ownFolder lets every user write, as kubelets do with empty folders.
func ownFolder(path string, group int) error {
	if err := os.Chown(path, 0, group); err != nil {
		return err
	}
	return os.Chmod(path, 0o777)
}

// podGroup is the group of a pod's files.
func podGroup(pod *core.Pod) int {
	if security := pod.Spec.SecurityContext; security != nil && security.FSGroup != nil {
		return int(*security.FSGroup)
	}
	return 0
}

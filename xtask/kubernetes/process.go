package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/fieldpath"
)

const (
	// messageBytesMax and messageLinesMax limit the termination message, as the API reference says.
	messageBytesMax = 2048
	messageLinesMax = 80
)

// process is a container that runs.
type process struct {
	command *exec.Cmd
	started time.Time
	// code receives the exit code once.
	code chan int
}

func (p *process) id() int { return p.command.Process.Pid }

// start makes the container and its process.
func (k *kubelet) start(
	pod *runningPod, container *core.Container, image string, volumes map[string]volume,
) (*process, error) {
	if len(pod.object.Spec.Containers) != 1 || len(pod.object.Spec.InitContainers) != 0 {
		return nil, errors.New("only pods with one container are supported")
	}
	if len(container.Command) == 0 {
		return nil, errors.New("a command is needed: images are folders")
	}
	if err := k.makeRoot(pod, container, image, volumes); err != nil {
		return nil, err
	}
	environment, err := environmentOf(pod, container)
	if err != nil {
		return nil, err
	}
	output, err := os.OpenFile(pod.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	user := userOf(pod.object, container)
	arguments := []string{
		"container", pod.root(), hostname(pod.object), strconv.Itoa(user.uid), strconv.Itoa(user.gid),
		strconv.Itoa(podGroup(pod.object)),
	}
	arguments = append(arguments, container.Command...)
	arguments = append(arguments, container.Args...)
	command := exec.Command(k.self, arguments...)
	command.Env = environment
	command.Stdout, command.Stderr = output, output
	command.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	started := &process{command: command, started: time.Now(), code: make(chan int, 1)}
	go func() {
		// The status follows from the process state, also after an error.
		_ = command.Wait()
		started.code <- exitCode(command.ProcessState)
	}()
	return started, nil
}

// await waits for the end of the process. If somebody deletes the pod, the process gets a signal and its grace period,
// which ends early if the pod's object is removed by force.
func (p *process) await(pod *runningPod) containerEnd {
	var code int
	select {
	case code = <-p.code:
	case <-pod.removed:
		p.signal(syscall.SIGTERM)
		select {
		case code = <-p.code:
		case <-time.After(pod.grace):
			code = p.kill()
		case <-pod.gone:
			code = p.kill()
		}
	}
	end := containerEnd{code: code, started: p.started, finished: time.Now()}
	policy := pod.object.Spec.Containers[0].TerminationMessagePolicy
	if code != 0 && policy == core.TerminationMessageFallbackToLogsOnError {
		end.message = lastLines(pod.logPath())
	}
	log.Printf("%s/%s: exit code %d", pod.object.Namespace, pod.object.Name, code)
	return end
}

// kill ends the process at once and returns its exit code.
func (p *process) kill() int {
	p.signal(syscall.SIGKILL)
	return <-p.code
}

func (p *process) signal(signal syscall.Signal) {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		log.Printf("signal %v: %v", signal, err)
	}
}

// exitCode is that of a shell: 128 and the number of the signal.
func exitCode(state *os.ProcessState) int {
	status, isKnown := state.Sys().(syscall.WaitStatus)
	if isKnown && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

func lastLines(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if facts, err := file.Stat(); err == nil && facts.Size() > messageBytesMax {
		_, _ = file.Seek(-messageBytesMax, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(file, messageBytesMax))
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines) > messageLinesMax {
		lines = lines[len(lines)-messageLinesMax:]
	}
	return strings.ToValidUTF8(string(bytes.Join(lines, nil)), "?")
}

// environmentOf returns the variables of the container: values, and fields of the pod.
func environmentOf(pod *runningPod, container *core.Container) ([]string, error) {
	environment := baseEnvironment(pod.object)
	for _, variable := range container.Env {
		value := variable.Value
		if source := variable.ValueFrom; source != nil {
			if source.FieldRef == nil {
				return nil, fmt.Errorf("variable %s: only values and fields are supported", variable.Name)
			}
			field, err := fieldOf(pod, source.FieldRef.FieldPath)
			if err != nil {
				return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
			}
			value = field
		}
		environment = append(environment, variable.Name+"="+value)
	}
	return environment, nil
}

// baseEnvironment has what container runtimes set themselves.
func baseEnvironment(pod *core.Pod) []string {
	return []string{"PATH=/", "HOME=/", "HOSTNAME=" + hostname(pod)}
}

func fieldOf(pod *runningPod, path string) (string, error) {
	if path == "status.podIP" {
		return pod.ip, nil
	}
	return fieldpath.ExtractFieldPathAsString(pod.object, path)
}

func hostname(pod *core.Pod) string {
	if pod.Spec.Hostname != "" {
		return pod.Spec.Hostname
	}
	return pod.Name
}

// containerUser is who runs a container.
type containerUser struct {
	uid int
	gid int
}

// userOf returns root if nobody is named: images have no user here.
func userOf(pod *core.Pod, container *core.Container) containerUser {
	var user containerUser
	if security := pod.Spec.SecurityContext; security != nil {
		set(&user.uid, security.RunAsUser)
		set(&user.gid, security.RunAsGroup)
	}
	if security := container.SecurityContext; security != nil {
		set(&user.uid, security.RunAsUser)
		set(&user.gid, security.RunAsGroup)
	}
	return user
}

func set(number *int, value *int64) {
	if value != nil {
		*number = int(*value)
	}
}

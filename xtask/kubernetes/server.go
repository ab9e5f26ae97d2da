package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	// logPause is the time between two looks at a log that grows.
	logPause = 100 * time.Millisecond
	// execIdleMax is that of kubelets.
	execIdleMax = 4 * time.Hour
	// execDrain is the time for output that is still in pipes after the end of a command.
	execDrain = 5 * time.Second
)

// listen serves the API server's requests for logs and exec. The API server does not check the certificate without
// --kubelet-certificate-authority.
func (k *kubelet) listen(ctx context.Context, port int) error {
	certificate, key, err := cert.GenerateSelfSignedCertKey(k.address, []net.IP{net.ParseIP(k.address)}, nil)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", k.serveLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.serveExec)
	server := &http.Server{
		Handler:   mux,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		// Streams take over their connections, which HTTP/2 does not allow.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", k.address, port))
	if err != nil {
		return err
	}
	go func() {
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("server: %v", err)
		}
	}()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}

// find returns the pod of a request. A pod that was deleted may have a successor of the same name.
func (k *kubelet) find(request *http.Request) *runningPod {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	var found *runningPod
	for _, pod := range k.pods {
		isNamed := pod.object.Namespace == request.PathValue("namespace") &&
			pod.object.Name == request.PathValue("pod")
		if isNamed && (found == nil || found.hasEnded()) {
			found = pod
		}
	}
	return found
}

// serveLogs sends what a container printed, and what it will print if the request says follow=true.
func (k *kubelet) serveLogs(writer http.ResponseWriter, request *http.Request) {
	pod := k.find(request)
	if pod == nil {
		http.Error(writer, "there is no such pod", http.StatusNotFound)
		return
	}
	file, err := os.Open(pod.logPath())
	if err != nil {
		message := fmt.Sprintf("container %q in pod %q is waiting to start", request.PathValue("container"), pod.object.Name)
		http.Error(writer, message, http.StatusBadRequest)
		return
	}
	defer file.Close()
	isFollowed := request.URL.Query().Get("follow") == "true"
	control := http.NewResponseController(writer)
	for {
		// Before the copy: then it has everything.
		isLast := pod.hasEnded() || !isFollowed
		if _, err := io.Copy(writer, file); err != nil {
			return
		}
		if err := control.Flush(); err != nil || isLast {
			return
		}
		select {
		case <-request.Context().Done():
			return
		case <-pod.ended:
		case <-time.After(logPause):
		}
	}
}

// serveExec runs a command in a container.
func (k *kubelet) serveExec(writer http.ResponseWriter, request *http.Request) {
	pod := k.find(request)
	if pod == nil {
		http.Error(writer, "there is no such pod", http.StatusNotFound)
		return
	}
	options, err := remotecommand.NewOptions(request)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	command := request.URL.Query()["command"]
	if len(command) == 0 {
		http.Error(writer, "there is no command", http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(
		writer, request, executor{pod}, pod.object.Name, string(pod.object.UID), request.PathValue("container"), command,
		options, execIdleMax, remotecommand.DefaultStreamCreationTimeout, remotecommand.SupportedStreamingProtocols,
	)
}

// executor runs commands in one pod, with its root folder and its user, but without its table of processes.
type executor struct {
	pod *runningPod
}

// ExecInContainer implements remotecommand.Executor.
func (e executor) ExecInContainer(
	ctx context.Context, name string, _ string, container string, words []string, stdin io.Reader,
	stdout, stderr io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	if e.pod.hasEnded() {
		return fmt.Errorf("container %s of pod %s does not run", container, name)
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Env = baseEnvironment(e.pod.object)
	command.Dir = "/"
	command.WaitDelay = execDrain
	if stdin != nil {
		command.Stdin = stdin
	}
	if stdout != nil {
		command.Stdout = stdout
	}
	if stderr != nil {
		command.Stderr = stderr
	}
	user := userOf(e.pod.object, &e.pod.object.Spec.Containers[0])
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot: e.pod.root(),
		Credential: &syscall.Credential{
			Uid:    uint32(user.uid),
			Gid:    uint32(user.gid),
			Groups: []uint32{uint32(podGroup(e.pod.object))},
		},
	}
	err := command.Run()
	if command.ProcessState != nil && !command.ProcessState.Success() {
		return utilexec.CodeExitError{Err: err, Code: exitCode(command.ProcessState)}
	}
	return err
}

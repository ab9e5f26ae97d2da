//! The controller's thread: messages of nodes in, messages to nodes out, timers between.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::clock::NodeClock;
use super::commands::{NodeCommand, ToControllerThread};
use super::{PeerChannels, ServerEvent};
use crate::controller::{Controller, ControllerOutput};

/// Everything the thread works with.
#[derive(Debug)]
pub(crate) struct ControllerThread {
    pub(crate) controller: Controller,
    pub(crate) messages: Receiver<ToControllerThread>,
    pub(crate) peers: Arc<PeerChannels>,
    /// How many nodes the cluster is made of.
    pub(crate) nodes: usize,
    pub(crate) events: Sender<ServerEvent>,
}

impl ControllerThread {
    /// Works until a message stops it, or until the disk fails.
    pub(crate) fn run(mut self) {
        let clock = NodeClock::new();
        let mut announced = false;
        loop {
            let now = clock.now();
            let message = match self.controller.next_timer() {
                None => self
                    .messages
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
                Some(at_ns) => {
                    let wait = Duration::from_nanos(at_ns.saturating_sub(now.mono_ns));
                    self.messages.recv_timeout(wait)
                }
            };
            let now = clock.now();
            match message {
                Ok(ToControllerThread::Message(node, message)) => {
                    self.controller.handle(now, node, message);
                }
                Ok(ToControllerThread::Image(to)) => {
                    // Who asked may have given up.
                    let _ = to.send(Arc::clone(self.controller.image()));
                }
                Err(RecvTimeoutError::Timeout) => self.controller.tick(now),
                Ok(ToControllerThread::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
            if !self.carry_out() {
                return;
            }
            if !announced && self.controller.is_followed_by(self.nodes) {
                announced = true;
                // An owner that is gone does not want to know.
                let _ = self.events.send(ServerEvent::Ready);
            }
        }
    }

    /// Sends what is to be sent. False when the controller must stop.
    fn carry_out(&mut self) -> bool {
        for output in self.controller.outputs() {
            match output {
                ControllerOutput::Send(node, message) => {
                    self.peers
                        .send(None, node, NodeCommand::Controller(message));
                }
                ControllerOutput::Fatal(error) => {
                    let words = error.to_string();
                    let _ = self.events.send(ServerEvent::Failed {
                        node: None,
                        words,
                        disk_full: false,
                    });
                    // Without it the nodes could answer no admin request.
                    self.peers.notify_all(|| NodeCommand::Stop);
                    return false;
                }
            }
        }
        true
    }
}

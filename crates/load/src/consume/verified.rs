//! The end of a verified consumer.

use super::consumer::Consumer;
use crate::worker_context::WorkerContext;

impl Consumer {
    /// Nothing more comes: the log of polls is complete.
    pub(crate) fn close_polls(&mut self, around: &WorkerContext<'_>) {
        if let Some(mut polls) = self.polls.take()
            && let Err(error) = polls.close()
        {
            let at_ns = around.clock.now_ns();
            around.broken(at_ns, &self.flow.name, || {
                format!("cannot write the log of polls: {error}; free space in the run folder")
            });
        }
    }
}

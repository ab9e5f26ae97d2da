//! Does something for each agent at the same time.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use kgauge_client::Interrupt;

use super::error::AgentsError;

/// How often the caller checks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// Runs all tasks at the same time, each in its own thread. Returns their results in order, or the first error once
/// every task has ended.
///
/// # Errors
/// Also [`AgentsError::Interrupted`], at once: nobody waits for tasks that go on.
pub(super) fn in_parallel<T: Send + 'static>(
    tasks: impl Iterator<Item = impl FnOnce() -> Result<T, AgentsError> + Send + 'static>,
    interrupt: &Interrupt,
) -> Result<Vec<T>, AgentsError> {
    let (results, ended) = channel();
    let mut count = 0;
    for task in tasks {
        let (results, position) = (results.clone(), count);
        let thread = std::thread::Builder::new().name("agent-start".to_owned());
        let spawned = thread.spawn(move || {
            // The caller may have stopped waiting: what the task made is dropped then.
            let _ = results.send((position, task()));
        });
        spawned.map_err(AgentsError::Thread)?;
        count += 1;
    }
    drop(results);
    let mut found = BTreeMap::new();
    while found.len() < count {
        if interrupt.is_raised() {
            return Err(AgentsError::Interrupted);
        }
        match ended.recv_timeout(POLL) {
            Ok((position, result)) => {
                found.insert(position, result);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(AgentsError::Thread(io::Error::other("a thread crashed")));
            }
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn failed(host: u32) -> AgentsError {
        AgentsError::Ssh {
            host: host.to_string(),
            why: String::new(),
        }
    }

    #[test]
    fn results_have_the_order_of_the_tasks() {
        let tasks = (0_u32..20).map(|number| move || Ok(number));
        let results = in_parallel(tasks, &Interrupt::new()).unwrap();
        assert_eq!(results, (0..20).collect::<Vec<u32>>());
    }

    #[test]
    fn the_first_task_that_failed_is_named() {
        let tasks = (0_u32..4).map(|number| {
            move || match number {
                0 | 2 => Ok(number),
                _ => Err(failed(number)),
            }
        });
        let error = in_parallel(tasks, &Interrupt::new()).unwrap_err();
        assert!(matches!(error, AgentsError::Ssh { host, .. } if host == "1"));
    }

    #[test]
    fn an_interrupt_waits_for_no_task() {
        let interrupt = Interrupt::new();
        let (release, released) = channel::<()>();
        interrupt.raise();
        let task = move || {
            // Ends with the sender.
            let _ = released.recv();
            Ok(())
        };
        let ended = in_parallel(std::iter::once(task), &interrupt);
        assert!(matches!(ended, Err(AgentsError::Interrupted)));
        drop(release);
    }
}

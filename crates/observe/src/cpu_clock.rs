//! CPU time of the calling thread, from POSIX clocks.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the calling thread, user and kernel mode together, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process, including those that ended, in nanoseconds.
#[cfg(test)]
pub(crate) fn process_cpu_ns() -> u64 {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_for_its_own_thread_and_for_the_process() {
        let (thread, process) = (thread_cpu_ns(), process_cpu_ns());
        std::thread::spawn(|| {
            while thread_cpu_ns() < 5_000_000 {
                std::hint::spin_loop();
            }
        })
        .join()
        .unwrap();
        assert!(process_cpu_ns() - process >= 5_000_000);
        assert!(thread_cpu_ns() - thread < process_cpu_ns() - process);
    }
}

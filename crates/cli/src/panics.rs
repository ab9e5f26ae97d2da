//! A panic is a defect of kgauge. The user gets one plain message and a separate status, and never a
//! result: guards still delete topics, end processes and close the run folder while the stack unwinds.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

use crate::exit::ExitStatus;
use crate::print;

/// Runs the program; a panic that nothing catches becomes a message and an exit status.
pub(crate) fn caught(program: impl FnOnce() -> ExitStatus) -> ExitStatus {
    set_hook(Box::new(|panic| print::message(&words(panic))));
    // Nothing that the program used is used after it.
    catch_unwind(AssertUnwindSafe(program)).unwrap_or(ExitStatus::Defect)
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or_else(
        || "an unknown place".to_owned(),
        |at| format!("{}:{}", at.file(), at.line()),
    );
    let mut words = format!(
        "kgauge: internal error in version {} at {place}: {}\n  this is a bug in kgauge; please \
         report it with this message and the command line",
        env!("CARGO_PKG_VERSION"),
        payload(panic.payload())
    );
    // Only with RUST_BACKTRACE=1.
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        words.push_str(&format!("\n{trace}"));
    }
    words
}

fn payload(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let fixed = payload.downcast_ref::<&'static str>().copied();
    owned.or(fixed).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_of_its_own() {
        assert_eq!(caught(|| panic!("on purpose")), ExitStatus::Defect);
        assert_eq!(caught(|| ExitStatus::Failed), ExitStatus::Failed);
    }
}

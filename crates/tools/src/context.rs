//! What the program around a tool provides: output, the stop signal, the environment.

use std::cell::Cell;

use kgauge_client::Interrupt;

/// The two streams of a tool.
pub trait ToolOutput {
    /// Writes a line to stdout without control characters: it may contain text from a broker.
    fn line(&self, text: &str);
    /// Writes a line to stdout unchanged.
    fn unchanged_line(&self, text: &str);
    /// Writes a line to stderr.
    fn message(&self, text: &str);
    /// Whether stdout still accepts lines.
    fn is_open(&self) -> bool;
}

/// The user's requests to stop.
#[derive(Debug, Clone, Default)]
pub struct ToolStop {
    pub(crate) first: Interrupt,
    pub(crate) second: Interrupt,
    /// Set if the tool itself raised `first` to end its load.
    own: Cell<bool>,
}

impl ToolStop {
    /// `first` ends the tool, which prints the results so far. `second` ends the wait for responses.
    pub fn new(first: Interrupt, second: Interrupt) -> ToolStop {
        ToolStop {
            first,
            second,
            own: Cell::new(false),
        }
    }

    /// Whether the user wants the tool to end.
    pub(crate) fn is_wanted(&self) -> bool {
        self.first.is_raised() && !self.own.get() || self.second.is_raised()
    }

    /// Ends the load as a user would, for another reason.
    pub(crate) fn end_load(&self) {
        self.own.set(self.own.get() || !self.first.is_raised());
        self.first.raise();
    }
}

/// Everything that a tool takes from the program around it.
pub struct ToolContext<'a> {
    /// Receives all output.
    pub output: &'a dyn ToolOutput,
    /// The user's requests to stop.
    pub stop: ToolStop,
    /// The release to print as, if `--as-of` is missing.
    pub release: Option<String>,
    /// The brokers that `--zookeeper` stands for.
    pub servers: Option<String>,
    /// All randomness comes from here.
    pub seed: u64,
}

impl ToolContext<'_> {
    /// Prints a line of the old tool.
    pub(crate) fn line(&self, text: &str) {
        self.output.line(text);
    }

    /// Prints a remark of kgauge.
    pub(crate) fn note(&self, message: &str) {
        self.output.message(&format!("kgauge: {message}"));
    }

    /// Whether the tool should end now: the user wants it, or nobody reads its output.
    pub(crate) fn wants_end(&self) -> bool {
        self.stop.is_wanted() || !self.output.is_open()
    }
}

/// A context for tests, which records the output.
#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Stdout and stderr, line by line.
    #[derive(Default)]
    pub(crate) struct RecordedOutput {
        pub(crate) lines: RefCell<Vec<String>>,
        pub(crate) messages: RefCell<Vec<String>>,
    }

    impl ToolOutput for RecordedOutput {
        fn line(&self, text: &str) {
            self.lines.borrow_mut().push(text.to_owned());
        }

        fn unchanged_line(&self, text: &str) {
            self.line(text);
        }

        fn message(&self, text: &str) {
            self.messages.borrow_mut().push(text.to_owned());
        }

        fn is_open(&self) -> bool {
            true
        }
    }

    pub(crate) fn context(output: &RecordedOutput) -> ToolContext<'_> {
        ToolContext {
            output,
            stop: ToolStop::default(),
            release: None,
            servers: None,
            seed: 1,
        }
    }

    #[test]
    fn a_load_that_the_tool_ends_is_no_interrupt() {
        let stop = ToolStop::default();
        stop.end_load();
        assert!(stop.first.is_raised() && !stop.is_wanted());
        stop.second.raise();
        assert!(stop.is_wanted());

        let stop = ToolStop::default();
        stop.first.raise();
        stop.end_load();
        assert!(stop.is_wanted(), "the user was first");
    }
}

//! The scenarios of the suite, from the files next to this one. They run as any user's would.

/// A scenario that ships with the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TruthScenario {
    /// Its name, and that of its run folder.
    pub(crate) name: &'static str,
    /// The file.
    pub(crate) text: &'static str,
}

/// Declares each scenario by the name of its file.
macro_rules! shipped {
    ($($constant:ident $file:literal,)+) => {
        $(pub(crate) const $constant: TruthScenario = TruthScenario {
            name: $file,
            text: include_str!(concat!("scenarios/", $file, ".yaml")),
        };)+

        /// All of them, in the order in which they run.
        #[cfg(test)]
        pub(crate) const ALL: &[TruthScenario] = &[$($constant,)+];
    };
}

shipped! {
    STALL "stall",
    TWO_STALLS "two-stalls",
    BORDER_STALLS "border-stalls",
    CAPACITY "capacity",
    CAPACITY_FETCH "capacity-fetch",
    DELAY_PRODUCE "delay-produce",
    DELAY_FETCH "delay-fetch",
    COUNTS "counts",
    BESIDE "beside",
}

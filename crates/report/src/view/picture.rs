//! What shows an answer at a glance.

/// The picture beside an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum AnswerPicture {
    /// A figure of each trial.
    Bars {
        /// What the bars are: `records/s by batch.size`.
        title: String,
        /// The unit of all values: `records/s`, `ms`.
        unit: String,
        /// At least one.
        bars: Vec<AnswerBar>,
    },
    /// Latency against the achieved rate, of the scenario's sweep.
    Curve,
    /// Throughput over time, with the fault.
    Outage,
    /// None: the answer is a count, or nothing was measured.
    #[default]
    None,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerBar {
    /// The trial.
    pub(crate) label: String,
    /// The figure, in the picture's unit.
    pub(crate) value: f64,
    /// Lower end of its 95 % interval.
    pub(crate) low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub(crate) high: Option<f64>,
    /// What others published for it, if it can be compared.
    pub(crate) published: Option<f64>,
    /// Whether it is the best of several that differ.
    pub(crate) is_best: bool,
    /// Whether others are compared with it.
    pub(crate) is_base: bool,
    /// Whether the target was steady, and a change would have shown.
    pub(crate) is_steady: bool,
}

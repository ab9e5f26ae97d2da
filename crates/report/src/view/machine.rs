//! What the machine did while a repeat ran.

/// The machine during one repeat.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineTimeline {
    /// What is drawn, panel by panel.
    pub(crate) lines: Vec<MachineLine>,
    /// Seconds that one point stands for.
    pub(crate) seconds_per_point: u64,
    /// Which disks hold the target's data, and what could not be seen.
    pub(crate) notes: Vec<String>,
}

/// One figure of the machine over time.
#[derive(Debug, Clone)]
pub(crate) struct MachineLine {
    /// The chart that it belongs to.
    pub(crate) panel: Panel,
    /// Its name there.
    pub(crate) name: String,
    /// (seconds since the start of the repeat, value); without a value there is a gap.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// The charts of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Panel {
    /// What the machine has free, and its page cache.
    Memory,
    /// What the processes hold.
    ProcessMemory,
    /// What no disk has yet.
    Unwritten,
    /// Bytes to and from disks.
    DiskBytes,
    /// How long disks had anything to do.
    DiskUse,
    /// How many reads and writes were under way.
    DiskQueue,
    /// How long reads, writes and flushes took.
    DiskTimes,
    /// Bytes in and out.
    Network,
    /// Packets that were lost.
    Drops,
    /// How long tasks stood still.
    Waits,
}

impl Panel {
    /// In the order of the page.
    pub(crate) const ALL: [Panel; 10] = [
        Panel::DiskBytes,
        Panel::DiskUse,
        Panel::DiskTimes,
        Panel::DiskQueue,
        Panel::Unwritten,
        Panel::Memory,
        Panel::ProcessMemory,
        Panel::Network,
        Panel::Drops,
        Panel::Waits,
    ];
}

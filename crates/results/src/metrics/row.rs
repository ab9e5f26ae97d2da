//! A row of the table.

use super::Panel;

/// What the table knows of one metric.
#[derive(Debug, Clone, Copy)]
pub struct MetricRow {
    /// Where its value lies in a line of evidence.
    pub group: MetricGroup,
    /// Its name there, with the unit last.
    pub name: &'static str,
    /// What two readings of it make.
    pub kind: MetricKind,
    /// Where it comes from.
    pub origin: MetricOrigin,
    /// The counter of a node of the embedded cluster.
    pub embedded: Option<&'static str>,
    /// Only the active controller's value counts. Other brokers have the metric too, always with 0.
    pub is_controllers: bool,
    /// Where the report shows it.
    pub display: MetricDisplay,
}

/// The object in a line of evidence that has a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricGroup {
    /// An entry of `requests`, one for each kind of request.
    Requests,
    /// Threads and queues.
    Threads,
    /// What went through the broker.
    Traffic,
    /// Replicas.
    Replicas,
    /// The log.
    Log,
    /// Java.
    Jvm,
    /// A line of what the host's processors did not use.
    Idle,
    /// A line of the host's memory.
    HostMemory,
    /// A line of a process.
    Process,
    /// A line of a disk.
    Disk,
    /// A line of a network interface.
    Network,
    /// A line of what tasks waited for.
    Pressure,
}

impl MetricGroup {
    /// Those with one value for a broker, in the order of a line.
    pub const OF_BROKERS: [MetricGroup; 5] = [
        MetricGroup::Threads,
        MetricGroup::Traffic,
        MetricGroup::Replicas,
        MetricGroup::Log,
        MetricGroup::Jvm,
    ];

    /// Its name in a line, or that of the line.
    pub fn key(self) -> &'static str {
        match self {
            MetricGroup::Requests => "requests",
            MetricGroup::Threads => "threads",
            MetricGroup::Traffic => "traffic",
            MetricGroup::Replicas => "replicas",
            MetricGroup::Log => "log",
            MetricGroup::Jvm => "jvm",
            MetricGroup::Idle => "idle",
            MetricGroup::HostMemory => "host-memory",
            MetricGroup::Process => "process",
            MetricGroup::Disk => "disk",
            MetricGroup::Network => "network",
            MetricGroup::Pressure => "pressure",
        }
    }
}

/// What two readings make of the time between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A value of now: the later reading.
    Gauge,
    /// A gauge in millionths: the later reading as a share.
    Millionths,
    /// It only rises: its rise per second.
    Counter,
    /// Nanoseconds that only rise: their share of the time, 0 to 1.
    BusyTime,
    /// The same of several things at a time: how many, on average.
    Cores,
    /// Nanoseconds that the events of this counter of the same group took: their mean time.
    TimeSum(&'static str),
}

/// Where a metric comes from. Of MBeans the first counts that the broker has; `{request}` stands for a kind of request.
/// jmx_exporter's names follow from the MBean's: `kafka.server:type=ReplicaManager,name=LeaderCount` is
/// `kafka_server_replicamanager_leadercount`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricOrigin {
    /// A special reading finds it.
    Special,
    /// The `Count` of a meter or histogram.
    Count(&'static [&'static str]),
    /// The `Value` of a gauge; for evidence times this factor.
    Value(&'static [&'static str], f64),
    /// The sum of a histogram's values, `Mean` times `Count`, times this factor.
    Sum(&'static str, f64),
    /// Java itself, not Kafka.
    Java(JavaSource),
    /// The line `name: value` of a file in `/proc`, times this factor.
    Line(&'static str, u64),
    /// This number of a line in `/proc/diskstats` or `/proc/net/dev`, from 0 after the name, times this factor.
    Field(usize, u64),
}

/// A metric of Java, which exporters name differently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JavaSource {
    /// The MBean, or a pattern for several whose values add up.
    pub mbean: &'static str,
    /// Its attribute; of one that is an object, `used`.
    pub attribute: &'static str,
    /// For evidence, times this.
    pub factor: f64,
    /// Names in Prometheus's format; the first existing one counts. Its lines add up.
    pub lines: &'static [&'static str],
    /// A label that counts of those lines.
    pub label: Option<(&'static str, &'static str)>,
    /// For evidence, times this.
    pub line_factor: f64,
}

/// Where the report shows a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricDisplay {
    /// A line for each broker, disk, interface ...
    Line {
        /// The panel.
        panel: Panel,
        /// What the line's name has after the thing's.
        name: &'static str,
        /// The same of a node of the embedded cluster.
        embedded: &'static str,
    },
    /// A phase of the time of requests, all brokers together, in the panel of each kind of request.
    Phase {
        /// The line's name.
        name: &'static str,
        /// The same of nodes of the embedded cluster, which have one thread for everything.
        embedded: &'static str,
    },
    /// The time of requests broker by broker, in the panel of each kind of request.
    RequestTime,
    /// Not shown as a line; the reason why it is kept as evidence.
    Evidence(&'static str),
}

impl MetricRow {
    /// A row without a source, which no report shows.
    pub(super) const fn new(group: MetricGroup, name: &'static str, kind: MetricKind) -> MetricRow {
        MetricRow {
            group,
            name,
            kind,
            origin: MetricOrigin::Special,
            embedded: None,
            is_controllers: false,
            display: MetricDisplay::Evidence(""),
        }
    }

    pub(super) const fn count(self, mbeans: &'static [&'static str]) -> MetricRow {
        let origin = MetricOrigin::Count(mbeans);
        MetricRow { origin, ..self }
    }

    pub(super) const fn value(self, mbeans: &'static [&'static str]) -> MetricRow {
        let origin = MetricOrigin::Value(mbeans, 1.0);
        MetricRow { origin, ..self }
    }

    pub(super) const fn from(self, origin: MetricOrigin) -> MetricRow {
        MetricRow { origin, ..self }
    }

    pub(super) const fn of_controller(self) -> MetricRow {
        MetricRow {
            is_controllers: true,
            ..self
        }
    }

    pub(super) const fn embedded(self, counter: &'static str) -> MetricRow {
        MetricRow {
            embedded: Some(counter),
            ..self
        }
    }

    pub(super) const fn line(self, panel: Panel, name: &'static str) -> MetricRow {
        self.lines(panel, name, name)
    }

    pub(super) const fn lines(
        self,
        panel: Panel,
        name: &'static str,
        embedded: &'static str,
    ) -> MetricRow {
        let display = MetricDisplay::Line {
            panel,
            name,
            embedded,
        };
        MetricRow { display, ..self }
    }

    pub(super) const fn phase(self, name: &'static str, embedded: &'static str) -> MetricRow {
        let display = MetricDisplay::Phase { name, embedded };
        MetricRow { display, ..self }
    }

    pub(super) const fn request_time(self) -> MetricRow {
        let display = MetricDisplay::RequestTime;
        MetricRow { display, ..self }
    }

    pub(super) const fn evidence(self, why: &'static str) -> MetricRow {
        let display = MetricDisplay::Evidence(why);
        MetricRow { display, ..self }
    }
}

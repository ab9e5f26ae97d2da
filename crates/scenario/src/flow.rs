//! Flows as planned: who writes what, who reads what, and when each has done enough.

use crate::flow_values::{ConsumeEnd, PartitionShare, StartOffset};
use crate::keys::flow::{ConsumeFlow, EchoFlow, FlowPlan, ProduceFlow};
use crate::keys::stages::Stages;
use crate::schedule::Pacing;
use crate::settings::Acks;
use crate::shape::Shape;

impl FlowPlan {
    /// The flow's name, unique in its scenario.
    pub fn name(&self) -> &str {
        match self {
            FlowPlan::Produce(flow) => &flow.name,
            FlowPlan::Consume(flow) => &flow.name,
            FlowPlan::Echo(flow) => &flow.produce.name,
        }
    }

    /// What it writes, if it writes.
    pub fn produces(&self) -> Option<&ProduceFlow> {
        match self {
            FlowPlan::Produce(flow) => Some(flow),
            FlowPlan::Echo(flow) => Some(&flow.produce),
            FlowPlan::Consume(_) => None,
        }
    }

    /// Whether it has one rate throughout: then a change over time is a change of the system.
    pub fn has_level(&self) -> bool {
        self.produces().is_none_or(|flow| match flow.shape {
            Shape::Max | Shape::Constant { .. } | Shape::Poisson { .. } => true,
            Shape::Ramp { .. }
            | Shape::Step { .. }
            | Shape::Wave { .. }
            | Shape::Burst { .. }
            | Shape::Replay { .. } => false,
        })
    }

    /// As [`FlowPlan::produces`], to change it.
    pub(crate) fn produces_mut(&mut self) -> Option<&mut ProduceFlow> {
        match self {
            FlowPlan::Produce(flow) => Some(flow),
            FlowPlan::Echo(flow) => Some(&mut flow.produce),
            FlowPlan::Consume(_) => None,
        }
    }
}

impl ProduceFlow {
    /// What its schedule is made of.
    pub fn pace(&self, stages: &Stages) -> Pacing<'_> {
        Pacing {
            shape: &self.shape,
            arrivals: self.arrivals,
            warm_up_ns: stages.warm_up_ns,
        }
    }
}

impl EchoFlow {
    /// The size of a value that contains its timestamps and the record's identity.
    pub const VALUE_BYTES_MIN: u32 = 48;

    /// Why its records cannot be read back and distinguished, if so.
    pub fn fault(&self) -> Option<&'static str> {
        let (record, settings) = (&self.produce.record, &self.produce.settings);
        if record.value_bytes_min() < EchoFlow::VALUE_BYTES_MIN {
            return Some("values too small for their timestamps");
        }
        if record.file.is_some() || record.null_values > 0.0 {
            return Some("values that kgauge does not generate");
        }
        if settings.acks == Acks::None {
            return Some("an echo flow without acks");
        }
        (self.produce.transaction.is_some() && !self.consumer_settings.read_committed)
            .then_some("an echo flow with transactions that reads uncommitted records")
    }

    /// Its consumers as a separate flow.
    pub fn consume(&self) -> ConsumeFlow {
        ConsumeFlow {
            name: self.produce.name.clone(),
            consumers: self.consumers,
            partitions: PartitionShare::Split,
            from: StartOffset::Latest,
            records: ConsumeEnd::StageEnd,
            settings: self.consumer_settings.clone(),
            group: None,
            groups: 1,
        }
    }
}

impl ConsumeFlow {
    /// All consumers, those of every group.
    pub fn consumers_all(&self) -> u32 {
        self.consumers.saturating_mul(self.groups.max(1))
    }

    /// What the `group.id` of each of its groups ends with.
    pub fn group_labels(&self) -> Vec<String> {
        let Some(group) = &self.group else {
            return Vec::new();
        };
        match self.groups {
            0 | 1 => vec![group.label.clone()],
            count => (1..=count)
                .map(|number| format!("{}-{number}", group.label))
                .collect(),
        }
    }

    /// The partitions that one consumer (0-based) of this flow reads out of `partitions`.
    ///
    /// With [`PartitionShare::Split`] consumer `i` of `k` reads `i`, `i + k`, `i + 2k`, ...
    pub fn partitions_of(&self, consumer: u32, partitions: u32) -> impl Iterator<Item = u32> {
        let (first, step) = match self.partitions {
            PartitionShare::All => (0, 1),
            PartitionShare::Split => (consumer, self.consumers.max(1)),
        };
        (first..partitions).step_by(step as usize)
    }
}

//! What a trial promises about acked records: the settings that decide what an ack means, and what survives a failure.

use crate::keys::flow::FlowPlan;
use crate::plan::Trial;
use crate::tune::TuneSetting;

impl Trial {
    /// What decides what an ack means, and what survives a failure: names and values. Trials with equal ones promise
    /// the same, whatever else differs.
    pub fn durability(&self) -> Vec<(String, String)> {
        let mut terms = vec![(
            "topic.replication".to_owned(),
            self.topic.replication.to_string(),
        )];
        for flow in self.flows.iter().filter_map(FlowPlan::produces) {
            let settings = &flow.settings;
            let mut add = |name: &str, value: String| {
                terms.push((format!("{}.{name}", flow.name), value));
            };
            add("acks", settings.acks.wire().to_string());
            add("enable.idempotence", settings.idempotence.to_string());
            add("retries", settings.retries.to_string());
            add(
                "delivery.timeout.ms",
                settings.delivery_timeout_ns.to_string(),
            );
            add("transaction", format!("{:?}", flow.transaction));
        }
        let configs = [
            ("topic.config.", &self.topic.config),
            ("broker.", &self.cluster.config),
        ];
        for (prefix, config) in configs {
            let named = config
                .iter()
                .map(|(name, value)| (format!("{prefix}{name}"), value.clone()));
            terms.extend(named.filter(|(path, _)| TuneSetting::is_of_durability(path)));
        }
        terms
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use crate::{Scenario, Size};

    #[test]
    fn the_terms_of_durability_show_every_way_to_change_them() {
        let text = "kgauge: 1\nname: s\nquestion: Q?\ntarget: {brokers: 3}\n\
                    topic: {partitions: 1, replication: 3}\n\
                    flows: [{name: w, kind: produce, shape: max, record: {size: 10 B}}]\n\
                    stages: {hold: 1 s}\n";
        let changed = |path: &str, value: &str| {
            let mut scenario = Scenario::parse("s.yaml", text).unwrap();
            scenario.set(path, value).unwrap();
            scenario.trials(Size::Default).remove(0).durability()
        };
        let now = changed("linger.ms", "20");
        assert_eq!(now, changed("topic.partitions", "8"));
        assert_eq!(now, changed("w.settings", "{batch.size: 65536}"));
        for (path, value) in [
            ("acks", "1"),
            ("w.settings", "{acks: 1}"),
            ("enable.idempotence", "false"),
            ("retries", "0"),
            ("topic.replication", "1"),
            ("topic.config.min.insync.replicas", "1"),
            ("topic.config", "{min.insync.replicas: 1}"),
            ("topic.config.flush.messages", "1"),
            ("broker.unclean.leader.election.enable", "true"),
        ] {
            assert_ne!(now, changed(path, value), "{path}={value}");
        }
    }
}

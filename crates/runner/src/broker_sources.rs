//! The sources of brokers' own metrics during a repeat: agents of brokers that kgauge started, the nodes of the
//! embedded cluster, or the endpoints that the user names.

use kgauge_observe::{BrokerSource, Jolokia, MetricsEndpoint, MetricsUrl, metrics_not_seen};
use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject};
use kgauge_target::MetricsPlace;

use crate::embedded_nodes::EmbeddedNodes;
use crate::ids::unix_ms;
use crate::session::Session;

/// The sources that can be polled. If there are none, an event records why.
pub(crate) fn sources(session: &Session<'_>, key: RepeatKey) -> Vec<Box<dyn BrokerSource>> {
    match open_sources(session) {
        Ok(sources) => sources,
        Err(why) => {
            let seen = Evidence {
                at_unix_ms: unix_ms(),
                repeat: Some(key),
                at_ns: Some(0),
                subject: Subject::Target { broker: None },
                kind: EvidenceKind::NotSeen(metrics_not_seen("the brokers", why)),
            };
            // A folder that takes no evidence any more ends the run through its slices.
            let _ = session.folder.evidence().write(&seen);
            Vec::new()
        }
    }
}

fn open_sources(session: &Session<'_>) -> Result<Vec<Box<dyn BrokerSource>>, String> {
    let mut sources: Vec<Box<dyn BrokerSource>> = Vec::new();
    for one in &session.metrics {
        sources.push(Box::new(MetricsEndpoint::new(one.url.clone(), one.broker)));
    }
    if sources.is_empty() {
        match session.target.metrics()? {
            MetricsPlace::Agents(agents) => {
                for (broker, address) in agents {
                    let url: MetricsUrl = address.parse().map_err(|error| format!("{error}"))?;
                    sources.push(Box::new(Jolokia::new(url, Some(broker))));
                }
            }
            // Its first answer is as fast as the others.
            MetricsPlace::Cluster => {
                return Ok(vec![Box::new(EmbeddedNodes::new(session.target.clone()))]);
            }
        }
    }
    warm(&mut sources);
    Ok(sources)
}

/// The first response of an agent may take longer than later ones, because the agent loads its classes.
fn warm(sources: &mut [Box<dyn BrokerSource>]) {
    std::thread::scope(|scope| {
        for source in sources {
            // What it says is not of the repeat yet.
            scope.spawn(|| drop(source.sample()));
        }
    });
}

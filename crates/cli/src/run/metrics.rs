//! Who is asked for brokers' own metrics during a repeat.

use kgauge_observe::{BrokerSource, Jolokia, MetricsUrl, metrics_not_seen};
use kgauge_results::run::{Evidence, EvidenceKind, RepeatKey, Subject};

use super::session::Session;
use crate::place::unix_ms;

/// Those who are asked; where nobody can be, that is written down.
pub(super) fn sources(session: &Session, key: RepeatKey) -> Vec<Box<dyn BrokerSource>> {
    match asked(session) {
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

fn asked(session: &Session) -> Result<Vec<Box<dyn BrokerSource>>, String> {
    let mut sources: Vec<Box<dyn BrokerSource>> = Vec::new();
    for (broker, address) in session.target.metrics()? {
        let url: MetricsUrl = address.parse().map_err(|error| format!("{error}"))?;
        sources.push(Box::new(Jolokia::new(url, Some(broker))));
    }
    warm(&mut sources);
    Ok(sources)
}

/// The first answer of an agent may take longer than a look may: it loads what it needs.
fn warm(sources: &mut [Box<dyn BrokerSource>]) {
    std::thread::scope(|scope| {
        for source in sources {
            // What it says is not of the repeat yet.
            scope.spawn(|| drop(source.look()));
        }
    });
}

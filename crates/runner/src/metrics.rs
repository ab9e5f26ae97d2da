//! Metrics endpoints that the user names: parses them, and finds the broker of each.

use std::collections::BTreeSet;

use kgauge_observe::{MetricsEndpoint, MetricsUrl};
use kgauge_target::BrokerFacts;

use crate::error::RunError;

/// An address that the user gave, with its broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsAddress {
    pub(crate) broker: Option<i32>,
    pub(crate) url: MetricsUrl,
}

/// Parses the value of `--metrics`: `URL` or `ID=URL`, separated by commas. Errors do not repeat the value, which may
/// contain a password.
pub(crate) fn read_addresses(texts: &[String]) -> Result<Vec<MetricsAddress>, RunError> {
    let pieces = texts.iter().flat_map(|text| text.split(','));
    let given = pieces.enumerate().map(|(index, piece)| {
        let (id, url) = match piece.trim().split_once('=') {
            // A question in the address may have one too.
            Some((id, url)) if !id.contains('/') => (Some(id), url),
            _ => (None, piece.trim()),
        };
        let place = index + 1;
        let broker = match id.map(str::parse::<i32>) {
            Some(Err(_)) => {
                let words = format!(
                    "--metrics: address {place} has an invalid broker id: write \
                     1=http://HOST:PORT/PATH"
                );
                return Err(RunError::input(words));
            }
            Some(Ok(id)) => Some(id),
            None => None,
        };
        let url = url.parse().map_err(|error| {
            RunError::input(format!(
                "--metrics: address {place} cannot be used: {error}"
            ))
        })?;
        Ok(MetricsAddress { broker, url })
    });
    given.collect()
}

/// An argument without the credentials in addresses of metrics, as it may be stored.
pub fn without_secrets(argument: &str) -> String {
    if !argument.to_ascii_lowercase().contains("http://") {
        return argument.to_owned();
    }
    let shown = argument.split(',').map(|piece| {
        let at = piece.to_ascii_lowercase().find("http://").unwrap_or(0);
        let (before, url) = piece.split_at(at);
        // What is no address is not kept at all.
        let url = url.trim().parse::<MetricsUrl>();
        format!(
            "{before}{}",
            url.map_or_else(|_| "...".to_owned(), |url| url.to_string())
        )
    });
    shown.collect::<Vec<_>>().join(",")
}

/// Finds the broker of each address: the id in front of it, the id that the endpoint reports, the broker with that
/// host name, or the only broker.
pub(crate) fn known(
    mut given: Vec<MetricsAddress>,
    brokers: &[BrokerFacts],
) -> Result<Vec<MetricsAddress>, RunError> {
    let refuse = |words: String| Err(RunError::input(words));
    let reported_ids = ask_all(&given);
    let hosts: Vec<String> = given.iter().map(|one| one.url.host().to_owned()).collect();
    for (one, reported) in given.iter_mut().zip(&reported_ids) {
        let by_name = || {
            let is_host =
                |broker: &&BrokerFacts| host(&broker.address).eq_ignore_ascii_case(one.url.host());
            let mut there = brokers.iter().filter(is_host);
            let of_this_host = hosts.iter().filter(|host| *host == one.url.host()).count();
            match (there.next(), there.next(), brokers, hosts.len()) {
                (Some(broker), None, ..) if of_this_host == 1 => Some(broker.id),
                (_, _, [broker], 1) => Some(broker.id),
                _ => None,
            }
        };
        let itself = reported.as_ref().ok().copied().flatten();
        one.broker = one.broker.or(itself).or_else(by_name);
    }
    let mut known = BTreeSet::new();
    for (one, reported) in given.iter().zip(&reported_ids) {
        let Some(id) = one.broker else {
            let why = reported
                .as_ref()
                .err()
                .map_or_else(String::new, |why| format!(" ({why})"));
            return refuse(format!(
                "--metrics: {} does not identify its broker{why}\n  put the broker id in front: \
                 1={}",
                one.url, one.url
            ));
        };
        if !brokers.iter().any(|broker| broker.id == id) {
            let ids: Vec<String> = brokers.iter().map(|broker| broker.id.to_string()).collect();
            return refuse(format!(
                "--metrics: {} belongs to broker {id}, but the cluster has {}",
                one.url,
                ids.join(", ")
            ));
        }
        if !known.insert(id) {
            return refuse(format!("--metrics: broker {id} is listed twice"));
        }
    }
    Ok(given)
}

fn ask_all(given: &[MetricsAddress]) -> Vec<Result<Option<i32>, String>> {
    std::thread::scope(|scope| {
        let ask = |one: &MetricsAddress| {
            let mut endpoint = MetricsEndpoint::new(one.url.clone(), None);
            let has_id = one.broker.is_some();
            scope.spawn(move || {
                if has_id {
                    Ok(None)
                } else {
                    endpoint.broker_id()
                }
            })
        };
        let asking: Vec<_> = given.iter().map(ask).collect();
        let answers = asking.into_iter().map(|asked| asked.join());
        answers.map(|answer| answer.unwrap_or(Ok(None))).collect()
    })
}

fn host(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn given(text: &str) -> Result<Vec<MetricsAddress>, RunError> {
        read_addresses(&[text.to_owned()])
    }

    fn brokers(addresses: &[(i32, &str)]) -> Vec<BrokerFacts> {
        let broker = |(id, address): &(i32, &str)| BrokerFacts {
            id: *id,
            address: (*address).to_owned(),
            rack: None,
            settings: Default::default(),
        };
        addresses.iter().map(broker).collect()
    }

    #[test]
    fn no_word_has_a_password_in_it() {
        let kept = without_secrets(
            "--metrics=1=http://me:hush@b1:80/metrics?token=hush,HTTP://u:hush@b2/",
        );
        assert_eq!(kept, "--metrics=1=http://b1:80/metrics,http://b2/");
        assert_eq!(without_secrets("http://me:hush@"), "...");
        assert_eq!(without_secrets("--set"), "--set");
        for wrong in [
            "x=http://me:hush@b1",
            "https://me:hush@b1",
            "http://me:hush@b1:0",
            "me:hush",
        ] {
            let words = given(wrong).unwrap_err().to_string();
            assert!(
                words.contains("--metrics") && !words.contains("hush"),
                "{words}"
            );
        }
    }

    #[test]
    fn a_broker_is_known_by_its_host_or_by_the_id_in_front() {
        // Nobody listens on port 1, so nobody says an id.
        let all = brokers(&[(1, "b1.invalid:9092"), (2, "b2.invalid:9092")]);
        let found = known(
            given("http://b2.invalid:1/,http://B1.invalid:1/").unwrap(),
            &all,
        )
        .unwrap();
        assert_eq!(
            found.iter().map(|one| one.broker).collect::<Vec<_>>(),
            [Some(2), Some(1)]
        );
        let with_id = known(given("2=http://127.0.0.1:1/?a=b").unwrap(), &all).unwrap();
        assert_eq!(with_id[0].broker, Some(2));
        let one = brokers(&[(7, "elsewhere:9092")]);
        assert_eq!(
            known(given("http://127.0.0.1:1/").unwrap(), &one).unwrap()[0].broker,
            Some(7)
        );
        let refused = |text: &str| known(given(text).unwrap(), &all).unwrap_err().to_string();
        assert!(
            refused("http://127.0.0.1:1/")
                .contains("http://127.0.0.1:1/ does not identify its broker (connection refused)")
        );
        assert!(refused("3=http://127.0.0.1:1/").contains("the cluster has 1, 2"));
        assert!(
            refused("1=http://127.0.0.1:1/,1=http://127.0.0.1:2/")
                .contains("broker 1 is listed twice")
        );
    }
}

//! What limited a trial, and what that rests on.

use kgauge_analyze::summary::{
    Bottleneck, BrokerOutage, BrokerSkew, BrokerThreads, LatenessCause, LimitFact, LimitVerdict,
    LimitedProcess, NetworkDirection, OutageFact, RequestTimes, TrialSummary,
};
use kgauge_results::metrics::RequestKind;
use kgauge_results::run::OutageCause;

use super::generator;
use crate::format;

/// Shorter parts of a request's time are not named.
const PART_MS_MIN: f64 = 0.005;

/// What limited the trial, in a sentence.
pub fn sentence(limit: &LimitVerdict, trial: &TrialSummary) -> String {
    match limit.word {
        Bottleneck::Load => kept_up(limit, trial),
        _ => format!("Bottleneck: {}", bottleneck(limit, trial)),
    }
}

/// The same below the heading "Bottleneck", after the name of the trial: `undetermined (candidates: disk).`
pub fn below_heading(limit: &LimitVerdict, trial: &TrialSummary) -> String {
    match limit.word {
        Bottleneck::Load => kept_up(limit, trial),
        _ => bottleneck(limit, trial),
    }
}

/// ` (candidates: disk, producer buffer)`; empty without any.
pub(crate) fn candidates(limit: &LimitVerdict) -> String {
    let candidates: Vec<&str> = limit.candidates.iter().map(|one| name(*one)).collect();
    match candidates.is_empty() {
        true => String::new(),
        false => format!(" (candidates: {})", candidates.join(", ")),
    }
}

fn bottleneck(limit: &LimitVerdict, trial: &TrialSummary) -> String {
    let candidates = candidates(limit);
    match (limit.word, &limit.outage) {
        (Bottleneck::Undecided, _) => match &limit.idle_flow {
            Some(flow) => format!("undetermined; {flow} did nothing during the hold."),
            None => format!("undetermined{candidates}."),
        },
        (Bottleneck::OtherPrograms, _) => {
            "other load on this host took CPU. Stop it or use an idle host, and rerun.".to_owned()
        }
        (Bottleneck::Hypervisor, _) => {
            let stolen = trial.cpu.stolen_cores.zip(trial.cpu.processors);
            let taken = stolen.map_or_else(String::new, |(cores, processors)| {
                format!("{} of ", format::percent(cores / f64::from(processors)))
            });
            format!(
                "the hypervisor took {taken}the CPU. Use a machine with dedicated CPUs, and rerun."
            )
        }
        (Bottleneck::Target, _) => {
            let faults = match limit.faults {
                0 => "",
                _ => " The injected faults may be the cause.",
            };
            format!("the target responded too slowly for the offered load{candidates}.{faults}")
        }
        (Bottleneck::Broker, Some(outage)) => match limit.faults {
            0 => format!("an outage ({}).", of_outage(outage)),
            _ => format!(
                "the fault that the scenario injected ({}).",
                of_outage(outage)
            ),
        },
        (word, _) => format!("{}.", name(word)),
    }
}

/// A load that was done, with what is to be known of how.
fn kept_up(limit: &LimitVerdict, trial: &TrialSummary) -> String {
    const LASTING: &str =
        "No lasting bottleneck: all records due were acked by the end of the hold";
    match (&limit.outage, trial.generator.blame) {
        _ if limit.faults > 0 => format!("{LASTING}, despite the injected faults."),
        (Some(outage), _) => format!("{LASTING}, although {}.", of_outage(outage)),
        (None, LatenessCause::None) => {
            "No bottleneck: the target kept up with the offered load, so it may sustain more."
                .to_owned()
        }
        (None, blame) => format!(
            "No throughput bottleneck: all records due were acked, but some were sent late. \
             Cause: {}.",
            generator::subject(blame)
        ),
    }
}

/// What a candidate is called.
pub(crate) fn name(word: Bottleneck) -> &'static str {
    match word {
        Bottleneck::Load => "the offered load",
        Bottleneck::Generator => "load generator",
        Bottleneck::Broker => "unresponsive broker",
        Bottleneck::OtherPrograms => "other load on this host",
        Bottleneck::Hypervisor => "hypervisor",
        Bottleneck::Target => "slow responses from the target",
        Bottleneck::Quota => "client quota",
        Bottleneck::Processors => "CPU on this machine",
        Bottleneck::CpuLimit => "broker CPU limit",
        Bottleneck::Disk => "disk",
        Bottleneck::NetworkCard => "network card",
        Bottleneck::HotBroker => "hot broker (uneven leadership)",
        Bottleneck::Replication => "replication (waiting for followers)",
        Bottleneck::Batching => "small requests",
        Bottleneck::Buffer => "producer buffer",
        Bottleneck::RequestHandlers => "broker request handlers",
        Bottleneck::NetworkThreads => "broker network threads",
        Bottleneck::Consumer => "slow consumers",
        Bottleneck::Undecided => "undetermined",
    }
}

/// The verdict in one to three words, for tables.
pub(crate) fn brief(limit: &LimitVerdict) -> &'static str {
    match limit.word {
        Bottleneck::Load => "none",
        Bottleneck::Broker if limit.faults > 0 => "injected fault",
        Bottleneck::Broker => "broker outage",
        Bottleneck::OtherPrograms => "other load",
        Bottleneck::Target => "slow target",
        Bottleneck::Processors => "CPU",
        Bottleneck::HotBroker => "hot broker",
        Bottleneck::Replication => "followers",
        Bottleneck::RequestHandlers => "request handlers",
        Bottleneck::NetworkThreads => "network threads",
        Bottleneck::Generator
        | Bottleneck::Hypervisor
        | Bottleneck::Quota
        | Bottleneck::CpuLimit
        | Bottleneck::Disk
        | Bottleneck::NetworkCard
        | Bottleneck::Batching
        | Bottleneck::Buffer
        | Bottleneck::Consumer
        | Bottleneck::Undecided => name(limit.word),
    }
}

/// The facts that a verdict rests on, each once.
pub fn evidence(limit: &LimitVerdict, trial: &TrialSummary) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for sentence in limit
        .evidence
        .iter()
        .flat_map(|fact| of_fact(fact, limit, trial))
    {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

fn of_fact(fact: &LimitFact, limit: &LimitVerdict, trial: &TrialSummary) -> Vec<String> {
    let sentence = match fact {
        LimitFact::Generator => return generator::evidence(trial),
        LimitFact::AllDone { is_late, .. } => {
            let mut sentences = vec![of_load(fact).unwrap_or_default()];
            if *is_late {
                sentences.extend(generator::evidence(trial));
            }
            return vec![sentences.join(" ")];
        }
        LimitFact::Processors => generator::processors(&trial.cpu),
        LimitFact::Faults => Some(faults(limit)),
        _ => of_load(fact)
            .or_else(|| of_clients(fact))
            .or_else(|| of_machine(fact))
            .or_else(|| of_network(fact))
            .or_else(|| of_outages(fact))
            .or_else(|| of_brokers(fact)),
    };
    sentence.into_iter().collect()
}

fn faults(limit: &LimitVerdict) -> String {
    let faults = format::counted(limit.faults.into(), "fault");
    let effect = match limit.word {
        Bottleneck::Load => "; records due then may have waited",
        _ => ", which may explain these findings",
    };
    format!("The scenario injected {faults} during the hold{effect}.")
}

/// What was done of the load.
fn of_load(fact: &LimitFact) -> Option<String> {
    let sentences: Vec<String> = match fact {
        LimitFact::AllDone { flows, .. } => flows
            .iter()
            .map(|one| {
                format!(
                    "{}: {} of {} due in the hold were acked.",
                    one.flow,
                    format::count(one.acked),
                    format::counted(one.scheduled, "record")
                )
            })
            .collect(),
        LimitFact::SlowAnswers { flows } => flows
            .iter()
            .map(|one| {
                let round_trip = one.round_trip_ns_mean.map_or_else(String::new, |mean| {
                    let mean = format::nanoseconds(mean);
                    format!("; the mean request round trip was {mean}")
                });
                format!(
                    "{}: {} of {} due in the hold were acked, some of them after its end; the \
                     client buffer was full for {} of the time{round_trip}.",
                    one.flow,
                    format::count(one.acked),
                    format::counted(one.scheduled, "record"),
                    format::percent(one.waiting_part),
                )
            })
            .collect(),
        _ => return None,
    };
    Some(sentences.join(" "))
}

/// kgauge's own clients.
fn of_clients(fact: &LimitFact) -> Option<String> {
    Some(match fact {
        LimitFact::ConsumerLag {
            flow,
            records_mean,
            records_max,
            grows,
        } => {
            let course = match grows {
                true => "and growing until the end",
                false => "and not growing",
            };
            format!(
                "{flow}: consumer lag was {} records on average, {} at most, {course}.",
                format::figure(*records_mean),
                format::figure(*records_max),
            )
        }
        LimitFact::Pauses {
            flow,
            count,
            time_part,
        } => format!(
            "{flow}: brokers requested {}, {} of its connection time in the hold.",
            format::counted(*count, "pause"),
            format::percent(*time_part)
        ),
        LimitFact::SmallRequests {
            flow,
            records_per_request,
            requests_per_s,
            bytes_per_request,
        } => format!(
            "{flow}: {} records per request, {} requests per second of {} bytes each.",
            format::short(*records_per_request),
            format::figure(*requests_per_s),
            format::figure(*bytes_per_request)
        ),
        LimitFact::BufferUse {
            flow,
            buffer_part,
            in_flight_part,
        } => format!(
            "{flow}: {} of buffer.memory and {} of the allowed in-flight requests were in use.",
            format::percent(*buffer_part),
            format::percent(*in_flight_part)
        ),
        LimitFact::Lingering {
            flow,
            service_ns_p50,
            linger_ns,
        } => format!(
            "{flow}: the median service time is {} with linger.ms at {}, so most of it is \
             lingering.",
            format::nanoseconds(*service_ns_p50 as f64),
            format::nanoseconds(*linger_ns as f64)
        ),
        LimitFact::AckWaits {
            flow,
            replicas,
            time_part,
        } => {
            let of_time = time_part.map_or_else(String::new, |part| {
                format!(", {} of the produce request time", format::percent(part))
            });
            format!("{flow}: each ack waits for {replicas} replicas (acks=all){of_time}.")
        }
        _ => return None,
    })
}

/// The machine that makes the load, and limits on processes.
fn of_machine(fact: &LimitFact) -> Option<String> {
    Some(match fact {
        LimitFact::CpuLimit {
            process,
            cores,
            held_part,
        } => {
            let process = match process {
                LimitedProcess::Broker(id) => format!("Broker {id}"),
                LimitedProcess::Target => "The target".to_owned(),
                LimitedProcess::Generator => "The generator".to_owned(),
            };
            format!(
                "{process} is limited to {} of a core and was throttled in {} of the periods.",
                format::percent(*cores),
                format::percent(*held_part)
            )
        }
        LimitFact::Disk {
            disk,
            busy_part,
            queue_mean,
        } => format!(
            "Disk {disk}, which holds the target's data, was busy for {} of the time, with {} \
             reads and writes in flight.",
            format::percent(*busy_part),
            format::short(*queue_mean)
        ),
        _ => return None,
    })
}

/// The network interfaces of the machine that makes the load.
fn of_network(fact: &LimitFact) -> Option<String> {
    Some(match fact {
        LimitFact::NetworkCard {
            interface,
            direction,
            bytes_per_s,
            speed_bytes_per_s,
            used_part,
            full_time_part,
            ..
        } => {
            let full = match *full_time_part > 0.0 {
                true => format!(
                    ", and was saturated for {} of the time",
                    format::percent(*full_time_part)
                ),
                false => String::new(),
            };
            format!(
                "{interface} {} of its {} ({}){full}.",
                traffic(*direction, *bytes_per_s),
                rate(*speed_bytes_per_s),
                format::percent(*used_part)
            )
        }
        LimitFact::WrongSpeed {
            interface,
            direction,
            bytes_per_s,
            speed_bytes_per_s,
            is_speed_set,
        } => {
            let source = match is_speed_set {
                true => "--network-speed sets",
                false => "its driver reports",
            };
            format!(
                "{interface} {}, more than the {} that {source}, so that speed is wrong.",
                traffic(*direction, *bytes_per_s),
                rate(*speed_bytes_per_s)
            )
        }
        LimitFact::UnknownSpeed {
            interface,
            direction,
            bytes_per_s,
        } => format!(
            "{interface} {}. Its driver does not report a speed; set it with --network-speed \
             {interface}=10Gbit.",
            traffic(*direction, *bytes_per_s)
        ),
        _ => return None,
    })
}

fn traffic(direction: NetworkDirection, bytes_per_s: f64) -> String {
    let direction = match direction {
        NetworkDirection::Received => "received",
        NetworkDirection::Sent => "sent",
        NetworkDirection::Both => "carried in both directions",
    };
    format!("{direction} {}", rate(bytes_per_s))
}

/// `1.17 GB/s`
fn rate(bytes_per_s: f64) -> String {
    format!("{}/s", format::decimal_bytes(bytes_per_s))
}

/// Brokers that did not respond.
fn of_outages(fact: &LimitFact) -> Option<String> {
    Some(match fact {
        LimitFact::Outage { outage } => {
            format!("{}.", format::capital(&of_broker_outage(outage)))
        }
        LimitFact::NothingAcked { silent_ns, hold_ns } => format!(
            "No record was acked for {} of {} although records were waiting.",
            format::nanoseconds(*silent_ns as f64),
            format::nanoseconds(*hold_ns as f64)
        ),
        LimitFact::Unreachable { time_part } => format!(
            "For {} of the time, clients lacked a connection to a required broker or a partition \
             had no leader.",
            format::percent(*time_part)
        ),
        LimitFact::RepeatFailed { repeat, why } => format!("Repeat {repeat} failed: {why}"),
        _ => return None,
    })
}

/// What brokers report of themselves.
fn of_brokers(fact: &LimitFact) -> Option<String> {
    Some(match fact {
        LimitFact::Threads {
            broker,
            threads,
            listener,
            idle_part,
            request,
        } => {
            let listener = listener.as_ref();
            let listener = listener.map_or_else(String::new, |name| format!(" of listener {name}"));
            let threads = match threads {
                BrokerThreads::Single => "single thread was".to_owned(),
                BrokerThreads::RequestHandlers => "request handlers were".to_owned(),
                BrokerThreads::Network => format!("network threads{listener} were"),
            };
            format!(
                "Broker {broker}: its {threads} idle for {} of the time{}.",
                format::percent(*idle_part),
                request.as_ref().map_or_else(String::new, times)
            )
        }
        LimitFact::Flushes {
            broker,
            per_s,
            mean_ms,
            time_part,
        } => format!(
            "Broker {broker}: it flushed {} times per second, {} ms each: {} of one thread's time.",
            format::short(*per_s),
            format::short(*mean_ms),
            format::percent(*time_part)
        ),
        LimitFact::FollowersBehind { grew: true } => {
            "Followers fell further behind until the end of the hold.".to_owned()
        }
        LimitFact::FollowersBehind { grew: false } => {
            "Followers had not caught up at the end.".to_owned()
        }
        LimitFact::HotBroker { skew: of } => {
            let (opening, rest) = skew(of);
            format!("{opening} {rest}").trim_end().to_owned()
        }
        LimitFact::AllDone { .. }
        | LimitFact::SlowAnswers { .. }
        | LimitFact::Generator
        | LimitFact::Processors
        | LimitFact::ConsumerLag { .. }
        | LimitFact::Pauses { .. }
        | LimitFact::SmallRequests { .. }
        | LimitFact::BufferUse { .. }
        | LimitFact::Lingering { .. }
        | LimitFact::CpuLimit { .. }
        | LimitFact::Disk { .. }
        | LimitFact::NetworkCard { .. }
        | LimitFact::WrongSpeed { .. }
        | LimitFact::UnknownSpeed { .. }
        | LimitFact::AckWaits { .. }
        | LimitFact::Outage { .. }
        | LimitFact::NothingAcked { .. }
        | LimitFact::Unreachable { .. }
        | LimitFact::RepeatFailed { .. }
        | LimitFact::Faults => return None,
    })
}

/// Where the time of a broker's requests went.
fn times(request: &RequestTimes) -> String {
    let name = match request.kind == RequestKind::Produce {
        true => "produce request",
        false => "fetch",
    };
    let parts = [
        ("in the request queue", request.request_queue_ms),
        ("local", request.local_ms),
        ("remote", request.remote_ms),
        ("in the response queue", request.response_queue_ms),
        ("being sent", request.response_send_ms),
    ];
    let parts = parts.into_iter().filter_map(|(name, part)| {
        let part = part.filter(|part| *part >= PART_MS_MIN)?;
        Some(format!("{} ms {name}", format::short(part)))
    });
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(
            "; a {name} took {} ms: {}",
            format::short(request.total_ms),
            parts.join(", ")
        ),
    }
}

fn of_outage(outage: &OutageFact) -> String {
    match outage {
        OutageFact::Brokers { brokers } => {
            let brokers: Vec<String> = brokers.iter().map(of_broker_outage).collect();
            brokers.join(", and ")
        }
        OutageFact::Target { silent_ns, hold_ns } => format!(
            "the target did not respond for {} of {}",
            format::nanoseconds(*silent_ns as f64),
            format::nanoseconds(*hold_ns as f64)
        ),
        OutageFact::Unreachable => "a broker was unreachable".to_owned(),
    }
}

/// `broker 1 at 127.0.0.1:9092 did not respond for 4.00 s of 8.00 s`.
fn of_broker_outage(outage: &BrokerOutage) -> String {
    let how = match outage.cause {
        OutageCause::Unconnected => " (connections failed)",
        OutageCause::Silent => " (connections stayed open)",
        OutageCause::Unknown => "",
    };
    format!(
        "broker {} at {} did not respond for {} of {}{how}",
        outage.broker,
        outage.address,
        format::nanoseconds(outage.length_ns as f64),
        format::nanoseconds(outage.hold_ns as f64)
    )
}

/// How much more than its part a broker led.
pub(crate) fn led(skew: &BrokerSkew) -> String {
    format!(
        "Broker {} led {} of the records instead of an even {}",
        skew.broker,
        format::percent(skew.part),
        format::percent(1.0 / f64::from(skew.brokers.max(1)))
    )
}

/// The same with its cause, and what the other brokers did.
pub(crate) fn skew(skew: &BrokerSkew) -> (String, String) {
    let BrokerSkew { brokers, idle, .. } = skew;
    let because = match (skew.partitions, idle) {
        (Some(partitions), 1..) if partitions < *brokers => format!(
            "the topic has {}",
            format::counted(partitions.into(), "partition")
        ),
        (_, 1..) => "the others lead no partition that was written to".to_owned(),
        _ => "it leads more partitions, or busier ones".to_owned(),
    };
    // Each partition has its replicas on brokers of their own: enough of them reach every broker.
    let reaches_all = u32::from(skew.replication.unwrap_or(1)) >= *brokers;
    let others = match idle {
        0 => String::new(),
        _ if reaches_all => format!("{idle} of {brokers} brokers only replicated."),
        _ => format!("{idle} of {brokers} brokers led nothing."),
    };
    (format!("{}: {because}.", led(skew)), others)
}

//! Agents that are killed, stopped or cut off at random moments: every run ends in time, and the brokers have every
//! record whose ack reached the lead, once and at the offset of its ack.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kgauge_scenario::derive_seed;
use rustix::process::Signal;
use serde_json::Value;

use super::cable::{CabledAgent, HERE};
use super::process::{AgentServer, TOKEN_FILE, write_token};
use super::proxy::{ProxyDelays, SlowProxy};
use super::sums::counted;
use crate::kafka::{ChildProcess, poll};
use crate::kgauge::{Background, Kgauge};
use crate::say::{print_line, remark};

/// Every run ends within this time after the loss.
const END_MAX: Duration = Duration::from_secs(10);

/// The loss comes at the latest that long after the start was announced.
const MOMENT_MAX_MS: u64 = 5_000;

/// By then, slices of acked records have arrived.
const ACKED_MS: u64 = 2_500;

/// The rate of the load.
const RATE: u64 = 6_000;

/// The number of a run's agents.
const AGENTS: u64 = 3;

/// The number of the agent that is lost.
const VICTIM: usize = 1;

const SCENARIO: &str = "\
kgauge: 1
name: losses
question: What remains when an agent is lost?
verify: true
topic: {partitions: 6}
flows:
  - {name: writers, kind: produce, producers: 6, shape: {constant: 6k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 30 s}
repeats: 1
";

/// How an agent is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Kill,
    Stop,
    /// What agent and lead send does not arrive any more.
    Cut,
    /// The agent's machine has no network any more.
    Unplug,
}

/// All of them. The last one needs root.
const LOSSES: [Loss; 4] = [Loss::Kill, Loss::Stop, Loss::Cut, Loss::Unplug];

/// The agent that will be lost.
enum Victim {
    /// A process that the lead reaches through a proxy.
    Proxied(AgentServer, SlowProxy),
    /// A process in a network of its own.
    Cabled(CabledAgent),
}

impl Victim {
    fn start(kgauge: &Kgauge<'_>, name: &str, loss: Loss) -> Result<Self> {
        if loss == Loss::Unplug {
            return Ok(Self::Cabled(CabledAgent::start(kgauge, name)?));
        }
        let agent = AgentServer::start(kgauge, name)?;
        let proxy = SlowProxy::start(&agent.address, ProxyDelays::default())?;
        Ok(Self::Proxied(agent, proxy))
    }

    /// Where the lead reaches it.
    fn address(&self) -> &str {
        match self {
            Self::Proxied(_, proxy) => &proxy.address,
            Self::Cabled(agent) => &agent.address,
        }
    }

    fn process(&self) -> &ChildProcess {
        match self {
            Self::Proxied(agent, _) => &agent.process.running,
            Self::Cabled(agent) => &agent.process.running,
        }
    }

    fn lose(&self, loss: Loss) -> Result<()> {
        match (self, loss) {
            (Self::Cabled(agent), _) => agent.pull(),
            (Self::Proxied(_, proxy), Loss::Cut) => {
                proxy.cut();
                Ok(())
            }
            (_, Loss::Stop) => self.process().signal(Signal::STOP),
            (_, Loss::Kill | Loss::Unplug) => self.process().signal(Signal::KILL),
        }
    }
}

/// What all runs use.
struct LossBench<'a> {
    kgauge: &'a Kgauge<'a>,
    /// A cluster that agents in other networks reach; `None` if there can be none.
    cluster: Option<ReachableCluster>,
}

/// A cluster that advertises the address of this machine's end of the cable.
struct ReachableCluster {
    target: String,
    _process: Background,
}

impl ReachableCluster {
    fn start(kgauge: &Kgauge<'_>) -> Result<Self> {
        let up = [
            "cluster",
            "up",
            "embedded",
            "--listen",
            "0.0.0.0",
            "--advertise",
            HERE,
        ];
        let process = kgauge.start("cluster", &up)?;
        let servers = process.servers()?;
        let (_, port) = servers.rsplit_once(':').context("a server has a port")?;
        Ok(Self {
            target: format!("{HERE}:{port}"),
            _process: process,
        })
    }
}

/// What became of a run.
struct LossResult {
    took: Duration,
    status: Option<i32>,
    acked: u64,
    on_broker: u64,
    /// The numbers of the lost agents.
    lost: Vec<usize>,
    /// `None` if the lead did not compare them.
    acks: Option<AckCheck>,
}

impl LossResult {
    /// Whether the ledgers have the acks of the lost agent too: it had sent those up to a second before its end, and at
    /// most as long before that the lead heard of them.
    fn has_all_ledgers(&self) -> bool {
        let unsent = 2 * RATE / AGENTS;
        self.acks
            .is_some_and(|acks| acks.acked.saturating_add(unsent) >= self.acked)
    }
}

/// What the lead found when it compared the acks of all agents, as far as it has them, with the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AckCheck {
    /// Acked records in the ledgers.
    acked: u64,
    /// Those of them that were read back.
    confirmed: u64,
    /// Classes of anomalies.
    anomalies: usize,
}

impl AckCheck {
    fn of(repeat: &Value) -> Option<Self> {
        let verification = &repeat["verification"];
        Some(Self {
            acked: verification["acked"].as_u64()?,
            confirmed: verification["confirmed"].as_u64()?,
            anomalies: verification["anomalies"].as_array()?.len(),
        })
    }

    /// Whether the brokers have what they acked.
    fn is_whole(self) -> bool {
        self.acked == self.confirmed && self.anomalies == 0
    }
}

/// The record of the only repeat; null if there is none.
fn repeat_of(run: &Path) -> Value {
    let text = fs::read_to_string(run.join("repeats/0000-00/repeat.json"));
    let repeat = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    repeat.unwrap_or_default()
}

/// The numbers of the agents that a repeat lost.
fn lost_agents(repeat: &Value) -> Vec<usize> {
    let agents = repeat["agents"].as_array().into_iter().flatten();
    let lost = agents
        .enumerate()
        .filter(|(_, agent)| !agent["lost"].is_null());
    lost.map(|(index, _)| index).collect()
}

/// Runs the part.
pub(super) fn run(kgauge: &Kgauge<'_>, losses: u32, seed: u64) -> Result<bool> {
    fs::write(kgauge.folder.join("losses.yaml"), SCENARIO)?;
    write_token(kgauge.folder)?;
    let is_root = rustix::process::geteuid().is_root();
    let cluster = is_root.then(|| ReachableCluster::start(kgauge));
    let bench = LossBench {
        kgauge,
        cluster: cluster.transpose()?,
    };
    let kinds = LOSSES.len() - usize::from(!is_root);
    if !is_root {
        remark("losses: without root, no agent has a separate network");
    }
    let (mut longest, mut good, mut beyond_max) = (Duration::ZERO, 0, 0);
    let mut confirmed = 0;
    for (number, loss) in (0..losses).zip(LOSSES[..kinds].iter().copied().cycle()) {
        let moment_ms = derive_seed(seed, &format!("loss {number}")) % MOMENT_MAX_MS;
        let result = bench.lose(number, loss, Duration::from_millis(moment_ms))?;
        let beyond = result.on_broker.saturating_sub(result.acked);
        let of_run = result.acks.map_or(0, |acks| acks.confirmed);
        // What the agent sent after its last slices: a second of them, and until it, or the lead, noticed.
        let is_good = result.took <= END_MAX
            && result.status == Some(1)
            && (result.acked.min(of_run) > 0 || moment_ms < ACKED_MS)
            && result.acked <= result.on_broker
            && result.lost == [VICTIM]
            && result.acks.is_some_and(AckCheck::is_whole)
            && result.has_all_ledgers()
            && beyond <= 5 * RATE / AGENTS;
        longest = longest.max(result.took);
        beyond_max = beyond_max.max(beyond);
        confirmed += of_run;
        good += u32::from(is_good);
        if !is_good {
            print_line(&format!(
                "run {number}, {loss:?} after {moment_ms} ms: ended after {:.1} s with {:?}; lost agents {:?}; {} acked, \
                 {} on the brokers; {:?}",
                result.took.as_secs_f64(),
                result.status,
                result.lost,
                result.acked,
                result.on_broker,
                result.acks
            ));
        }
    }
    print_line(&format!(
        "{good} of {losses} losses: the longest took {:.1} s; {confirmed} acked records were found at their offsets; \
         at most {beyond_max} more than the acked ones were on the brokers",
        longest.as_secs_f64()
    ));
    Ok(good == losses)
}

impl LossBench<'_> {
    /// A run of three agents, the second of which is lost.
    fn lose(&self, number: u32, loss: Loss, moment: Duration) -> Result<LossResult> {
        let name = |index: u32| format!("agent-{number}-{index}");
        let first = AgentServer::start(self.kgauge, &name(0))?;
        let victim = Victim::start(self.kgauge, &name(1), loss)?;
        let last = AgentServer::start(self.kgauge, &name(2))?;
        let spec = [first.address.as_str(), victim.address(), &last.address].join(",");
        let out = format!("loss-{number}");
        let mut words = vec!["run", "losses.yaml", "--out", &out, "--agents", &spec];
        words.extend(["--agents-token-file", TOKEN_FILE]);
        if let (Loss::Unplug, Some(cluster)) = (loss, &self.cluster) {
            words.extend(["--yes", "--target", &cluster.target]);
        }
        let lead = self.kgauge.start(&format!("lead-{number}"), &words)?;
        let dir = self.kgauge.folder.join(&out);
        let slices = dir.join(format!("repeats/0000-00/slices-{VICTIM}.jsonl"));
        let seen = poll(Duration::from_secs(60), || {
            // The file of an agent is made when the start is announced.
            Ok((slices.exists() || lead.running.ended()?.is_some()).then_some(()))
        })?;
        seen.context("the run does not begin")?;
        std::thread::sleep(moment);
        let begin = Instant::now();
        victim.lose(loss)?;
        let ended = lead.running.wait(Duration::from_secs(60))?;
        let took = begin.elapsed();
        if loss == Loss::Stop {
            victim.process().signal(Signal::KILL)?;
        }
        let (acked, on_broker) = counted(&dir).unwrap_or((0, 0));
        let repeat = repeat_of(&dir);
        fs::remove_dir_all(&dir)?;
        Ok(LossResult {
            took,
            status: ended.and_then(|status| status.code()),
            acked,
            on_broker,
            lost: lost_agents(&repeat),
            acks: AckCheck::of(&repeat),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acks_are_whole_if_all_are_confirmed_and_nothing_else_was_found() {
        let text = r#"{"verification": {"acked": 7, "confirmed": 7, "anomalies": []}}"#;
        let found = |text: &str| AckCheck::of(&serde_json::from_str(text).unwrap());
        assert!(found(text).unwrap().is_whole());
        for (from, to) in [("7,", "8,"), ("[]", r#"[{"class": "lost-write"}]"#)] {
            assert!(!found(&text.replacen(from, to, 1)).unwrap().is_whole());
        }
        assert_eq!(found("{}"), None);
    }

    #[test]
    fn ledgers_without_those_of_the_lost_agent_are_noticed() {
        let result = |acked, in_ledgers| LossResult {
            took: Duration::ZERO,
            status: Some(1),
            acked,
            on_broker: acked,
            lost: vec![VICTIM],
            acks: Some(AckCheck {
                acked: in_ledgers,
                confirmed: in_ledgers,
                anomalies: 0,
            }),
        };
        // After four seconds, each of three agents has 8,000 acks.
        assert!(result(24_000, 22_000).has_all_ledgers());
        assert!(!result(24_000, 16_000).has_all_ledgers());
    }

    #[test]
    fn lost_agents_are_found_by_their_records() {
        let text = r#"{"agents": [{"index": 0}, {"index": 1, "lost": {"at_ns": 7, "why": "x"}}]}"#;
        assert_eq!(lost_agents(&serde_json::from_str(text).unwrap()), [1]);
        assert!(lost_agents(&Value::Null).is_empty());
    }
}

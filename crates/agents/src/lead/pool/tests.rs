//! Pools without a cluster: who joins, who leaves.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::TcpStream;
use std::thread::JoinHandle;

use kgauge_client::config::Address;

use super::*;
use crate::agent::{SessionEnd, join};
use crate::protocol::ProofSide;
use crate::tls;

#[test]
fn an_agent_of_another_version_is_named_with_both_versions() {
    let (mut pool, events) = AgentPool::unconnected(&["10.0.0.7:7700"]);
    let hello = AgentMessage::Hello {
        host: "load1".to_owned(),
        version: "0.0.9".to_owned(),
        pid: 1,
        processors: 2,
    };
    let event = AgentEvent::Message(Box::new(hello));
    events.send((0, event)).unwrap();
    let error = pool.await_hello(&Interrupt::new()).unwrap_err();
    let both = format!(
        "--agents: agent 0 (load1, 10.0.0.7:7700) runs kgauge 0.0.9, the lead {}; use the same \
         version on all machines",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(error.to_string(), both);
}

/// Gathers two agents that join. `report` gets each line, and the address that is known from the first one.
fn gather_two(
    token: &AgentToken,
    report: &mut dyn FnMut(&str, &str),
) -> Result<AgentPool, AgentsError> {
    let interrupt = Interrupt::new();
    let setup = AgentPoolSetup {
        spec: &AgentsSpec::Joining {
            count: 2,
            listen: "127.0.0.1:0".to_owned(),
        },
        lost: AgentsLost::Fail,
        token,
        program: PathBuf::new(),
        run_id: "joining",
        interrupt: &interrupt,
    };
    let mut address = String::new();
    AgentPool::gather(&setup, &mut |line| {
        if let Some(bound) = line.strip_prefix("waiting for 2 agents at ") {
            bound.clone_into(&mut address);
        }
        report(line, &address);
    })
}

/// An agent in a thread.
fn joining(address: &str, token: &AgentToken) -> JoinHandle<SessionEnd> {
    let (lead, token) = (Address::parse(address).unwrap(), token.clone());
    std::thread::spawn(move || join(&lead, &token, HELLO_MAX).unwrap())
}

#[test]
fn an_agent_stays_while_the_lead_waits_seconds_for_another_one() {
    let token = AgentToken::random().unwrap();
    let mut agents = Vec::new();
    let pool = gather_two(&token, &mut |line, address| match agents.len() {
        0 => agents.push(joining(address, &token)),
        // Reported after two seconds.
        1 if line == "waiting for agents: 1 of 2 joined" => agents.push(joining(address, &token)),
        _ => {}
    });
    assert_eq!(pool.unwrap().count(), 2);
    for agent in agents {
        assert!(matches!(agent.join().unwrap(), SessionEnd::RunOver));
    }
}

#[test]
fn the_place_of_an_agent_that_leaves_is_taken_by_the_next_one() {
    let token = AgentToken::random().unwrap();
    let mut lines: Vec<String> = Vec::new();
    let mut agents = Vec::new();
    let pool = gather_two(&token, &mut |line, address| {
        lines.push(line.to_owned());
        if lines.len() == 1 {
            let (address, token) = (address.to_owned(), token.clone());
            std::thread::spawn(move || {
                let socket = TcpStream::connect(address).unwrap();
                let config = tls::client().unwrap();
                let channel = AgentChannel::connected(socket, &config, &token, ProofSide::Agent);
                channel.unwrap().close();
            });
        } else if agents.is_empty() && line.contains(" left: ") {
            agents.extend([joining(address, &token), joining(address, &token)]);
        }
    });
    assert_eq!(pool.unwrap().count(), 2);
    assert_eq!(agents.len(), 2, "{lines:?}");
    for agent in agents {
        assert!(matches!(agent.join().unwrap(), SessionEnd::RunOver));
    }
}

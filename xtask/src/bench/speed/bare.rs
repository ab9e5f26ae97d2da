//! What the kernel alone takes for the same traffic: a client that writes requests of so many bytes and reads the
//! answers, and does nothing else. No client over sockets can cost less on this machine.
//!
//! Both sides are this program in separate processes (`cargo xtask bare ...`), so that the CPU is that of one process.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::say::print_line;

/// How a client without a client behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) requests: u64,
    pub(super) request_bytes: usize,
    pub(super) answer_bytes: usize,
    /// Requests under way at most.
    pub(super) in_flight: u64,
    /// How long the server is busy with each.
    pub(super) busy: Duration,
}

/// Nanoseconds of the client's CPU for each request.
pub(super) fn cpu_ns_each(traffic: Traffic) -> Result<f64> {
    let numbers = [
        traffic.requests,
        traffic.request_bytes as u64,
        traffic.answer_bytes as u64,
        traffic.in_flight,
        u64::try_from(traffic.busy.as_nanos())?,
    ];
    let output = Command::new(std::env::current_exe()?)
        .args(["bare", "client"])
        .args(numbers.map(|number| number.to_string()))
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the bare client failed");
    let cpu_ns: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(cpu_ns / traffic.requests.max(1) as f64)
}

/// The two sides, for [`cpu_ns_each`] alone.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (side, numbers) = arguments.split_first().context("bare needs a side")?;
    let numbers: Result<Vec<u64>, _> = numbers.iter().map(|number| number.parse()).collect();
    let numbers = numbers.context("bare takes numbers")?;
    match (side.as_str(), numbers.as_slice()) {
        ("client", &[requests, request_bytes, answer_bytes, in_flight, busy_ns]) => {
            client(Traffic {
                requests,
                request_bytes: usize::try_from(request_bytes)?,
                answer_bytes: usize::try_from(answer_bytes)?,
                in_flight,
                busy: Duration::from_nanos(busy_ns),
            })
        }
        ("server", &[request_bytes, answer_bytes, busy_ns]) => server(
            usize::try_from(request_bytes)?,
            usize::try_from(answer_bytes)?,
            Duration::from_nanos(busy_ns),
        ),
        _ => bail!("bare is for bench speed"),
    }
}

/// Ends the server with the client.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn client(traffic: Traffic) -> Result<()> {
    let numbers = [
        traffic.request_bytes.to_string(),
        traffic.answer_bytes.to_string(),
        traffic.busy.as_nanos().to_string(),
    ];
    let mut server = Server(
        Command::new(std::env::current_exe()?)
            .args(["bare", "server"])
            .args(numbers)
            .stdout(Stdio::piped())
            .spawn()?,
    );
    let stdout = server.0.stdout.take().context("no stdout")?;
    let mut port = String::new();
    BufReader::new(stdout).read_line(&mut port)?;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port.trim().parse()?))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let request = vec![1_u8; traffic.request_bytes];
    let mut answer = vec![0_u8; traffic.answer_bytes.clamp(65_536, 1 << 20)];
    let (mut sent, mut read_bytes) = (0, 0_u64);
    let before_ns = own_cpu_ns()?;
    loop {
        let answered = read_bytes / traffic.answer_bytes.max(1) as u64;
        if answered >= traffic.requests {
            break;
        }
        while sent < traffic.requests && sent - answered < traffic.in_flight {
            stream.write_all(&request)?;
            sent += 1;
        }
        match stream.read(&mut answer)? {
            0 => bail!("the bare server is gone"),
            bytes => read_bytes += bytes as u64,
        }
    }
    print_line(&(own_cpu_ns()? - before_ns).to_string());
    Ok(())
}

fn server(request_bytes: usize, answer_bytes: usize, busy: Duration) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    print_line(&listener.local_addr()?.port().to_string());
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let answer = vec![1_u8; answer_bytes];
    let mut bytes = vec![0_u8; 1 << 20];
    let mut there = 0;
    loop {
        match stream.read(&mut bytes)? {
            0 => return Ok(()),
            read => there += read,
        }
        while there >= request_bytes {
            there -= request_bytes;
            let start = Instant::now();
            while start.elapsed() < busy {
                std::hint::spin_loop();
            }
            stream.write_all(&answer)?;
        }
    }
}

/// CPU time of this process, which has one thread: first field of schedstat, nanoseconds (the kernel's documentation of
/// sched-stats).
fn own_cpu_ns() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/schedstat").context("no schedstat: only on Linux")?;
    let first = text.split_whitespace().next().context("empty schedstat")?;
    Ok(first.parse()?)
}

//! Another program as the producer, such as Kafka's verifiable producer: it prints a line of JSON
//! about each record that was acknowledged.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::ledger::{Note, Place, parse};
use super::{Acks, Failure, Notes, TOPIC};

/// Time between two checks whether the program is to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A program that runs. It is ended when this goes.
pub(super) struct Outside {
    child: Child,
}

impl Outside {
    /// Starts the program with its words filled in.
    pub(super) fn start(
        words: &[String],
        servers: &str,
        acks: Acks,
        number: u32,
    ) -> Result<Self, Failure> {
        let (acks, number) = (acks.number().to_string(), number.to_string());
        let mut filled = words.iter().map(|word| {
            word.replace("{servers}", servers)
                .replace("{topic}", TOPIC)
                .replace("{acks}", &acks)
                .replace("{number}", &number)
        });
        let program = filled.next().ok_or("no program is named")?;
        let mut command = Command::new(&program);
        command
            .args(filled)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let child = command
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        Ok(Self { child })
    }

    /// Notes the program's output; asks it to end when it is time.
    pub(super) fn run(mut self, notes: &Notes, ending: &AtomicBool) -> Result<(), Failure> {
        let stdout = self.child.stdout.take().ok_or("it has no output")?;
        let pid = Pid::from_child(&self.child);
        let reading = AtomicBool::new(true);
        let ended_by_us = thread::scope(|scope| -> Result<bool, Failure> {
            let asking = scope.spawn(|| {
                while reading.load(Ordering::Acquire) {
                    if ending.load(Ordering::Acquire) {
                        // The program is not waited for yet, so the number is still its own.
                        return kill_process(pid, Signal::TERM).is_ok();
                    }
                    thread::sleep(CHECK_INTERVAL);
                }
                false
            });
            let read = note_all(BufReader::new(stdout), notes);
            reading.store(false, Ordering::Release);
            let asked = asking.join().map_err(|_| "a thread panicked")?;
            read.map(|()| asked)
        })?;
        let status = self.child.wait()?;
        if ended_by_us {
            Ok(())
        } else {
            Err(format!("the producing program ended by itself: {status}").into())
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // It has ended already unless something went wrong.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn note_all(lines: impl BufRead, notes: &Notes) -> Result<(), Failure> {
    for line in lines.lines() {
        let line = line?;
        let Ok(event) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let note = match event["name"].as_str() {
            Some("producer_send_success") => acked(&event).ok_or(line)?,
            Some("producer_send_error") => Note::Refused(format!(
                "the producing program gave up: {}",
                event["exception"].as_str().unwrap_or_default()
            )),
            _ => continue,
        };
        // Whoever counts has gone when the trial has failed.
        let _ = notes.send(note);
    }
    Ok(())
}

fn acked(event: &Value) -> Option<Note> {
    let (stream, first) = parse(event["value"].as_str()?.as_bytes())?;
    let partition = i32::try_from(event["partition"].as_i64()?).ok()?;
    let offset = event["offset"].as_i64()?;
    Some(Note::Acked {
        stream,
        first,
        count: 1,
        place: Place { partition, offset },
    })
}

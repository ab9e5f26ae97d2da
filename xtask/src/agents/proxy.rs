//! A connection between lead and agent that is slow, or cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

/// Forwards connections to an address. A cut one stays open, and nothing passes.
pub(super) struct SlowProxy {
    pub(super) address: String,
    is_cut: Arc<AtomicBool>,
}

/// The delays of the two directions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProxyDelays {
    /// From whoever connects.
    pub(super) there: Duration,
    /// To whoever connects.
    pub(super) back: Duration,
}

impl SlowProxy {
    /// Its threads end with the process.
    pub(super) fn start(to: &str, delays: ProxyDelays) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let (to, is_cut) = (to.to_owned(), Arc::new(AtomicBool::new(false)));
        let cut = Arc::clone(&is_cut);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // Without a server, the client finds its connection closed and tries again.
                if let Ok(server) = TcpStream::connect(&to) {
                    let _ = forward(&client, &server, delays, &cut);
                }
            }
        });
        Ok(Self { address, is_cut })
    }

    /// From now on, nothing passes.
    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }
}

fn forward(
    client: &TcpStream,
    server: &TcpStream,
    delays: ProxyDelays,
    cut: &Arc<AtomicBool>,
) -> std::io::Result<()> {
    for socket in [client, server] {
        socket.set_nodelay(true)?;
    }
    copy(client.try_clone()?, server.try_clone()?, delays.there, cut);
    copy(server.try_clone()?, client.try_clone()?, delays.back, cut);
    Ok(())
}

/// Passes bytes on after a delay; whatever arrives within it waits behind them.
fn copy(mut from: TcpStream, mut to: TcpStream, delay: Duration, cut: &Arc<AtomicBool>) {
    let (pieces, delayed) = channel::<(Instant, Vec<u8>)>();
    let cut = Arc::clone(cut);
    thread::spawn(move || {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            match from.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    let piece = (Instant::now() + delay, bytes[..count].to_vec());
                    if pieces.send(piece).is_err() {
                        break;
                    }
                }
            }
        }
    });
    thread::spawn(move || {
        for (due, piece) in delayed {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if cut.load(Ordering::Relaxed) {
                continue;
            }
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        if !cut.load(Ordering::Relaxed) {
            let _ = to.shutdown(Shutdown::Write);
        }
    });
}

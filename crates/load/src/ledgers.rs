//! The ledgers of verified clients: their names, and where they go.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use kgauge_scenario::{Share, derive_seed};
use kgauge_verify::StampKey;

/// How the records of a load are verified.
pub struct VerifySetup {
    /// The key of the repeat.
    pub key: StampKey,
    /// Where the clients' ledgers go.
    pub ledgers: Box<dyn LedgerStore>,
}

impl VerifySetup {
    /// The setup of a share.
    pub fn of(share: &Share, ledgers: impl LedgerStore + 'static) -> Self {
        Self {
            key: stamp_key(share),
            ledgers: Box::new(ledgers),
        }
    }
}

/// The key of a share's repeat. All agents have the same one, and no other repeat has it.
pub fn stamp_key(share: &Share) -> StampKey {
    let place = format!("{} {} {}", share.run_id, share.trial.index, share.repeat);
    StampKey::new(derive_seed(share.seed, &place))
}

/// Whose ledger it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LedgerOwner {
    /// A producer: the outcomes of its batches.
    Producer,
    /// A consumer: what it read.
    Consumer,
}

/// The name of a ledger, which only one client of a repeat has. Displayed, it is the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LedgerName {
    /// Producer or consumer.
    pub owner: LedgerOwner,
    /// The position of the client's flow in the trial.
    pub flow: usize,
    /// The client's index in the whole flow, over all agents.
    pub member: u32,
}

impl LedgerName {
    /// The ledger of a flow's producer.
    pub fn of_producer(flow: usize, member: u32) -> Self {
        Self {
            owner: LedgerOwner::Producer,
            flow,
            member,
        }
    }

    /// The log of what a flow's consumer reads.
    pub fn of_consumer(flow: usize, member: u32) -> Self {
        Self {
            owner: LedgerOwner::Consumer,
            flow,
            member,
        }
    }
}

impl fmt::Display for LedgerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flow, member) = (self.flow, self.member);
        match self.owner {
            LedgerOwner::Producer => write!(formatter, "flow{flow}-producer{member}.ledger"),
            LedgerOwner::Consumer => write!(formatter, "flow{flow}-consumer{member}.polls"),
        }
    }
}

/// Takes the bytes of a ledger, in whole entries. Load threads write to it and must not wait there; only the flush at
/// the end of a ledger may take time.
pub trait LedgerSink: Write + Send + fmt::Debug {}

impl<T: Write + Send + fmt::Debug> LedgerSink for T {}

/// Where ledgers go.
pub trait LedgerStore {
    /// Begins the ledger of a client.
    ///
    /// # Errors
    /// It cannot be written.
    fn begin(&self, name: LedgerName) -> io::Result<Box<dyn LedgerSink>>;
}

/// Ledgers as files in an existing folder.
#[derive(Debug, Clone)]
pub struct LedgerFolder(pub PathBuf);

impl LedgerFolder {
    /// The file of a ledger.
    pub fn path(&self, name: LedgerName) -> PathBuf {
        self.0.join(name.to_string())
    }

    /// Adds entries of a client in another process. Either all of them are in the file afterwards, or none.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&self, name: LedgerName, entries: &[u8]) -> io::Result<()> {
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(self.path(name))?;
        let bytes = file.metadata()?.len();
        file.write_all(entries).inspect_err(|_| {
            let _ = file.set_len(bytes);
        })
    }
}

impl LedgerStore for LedgerFolder {
    fn begin(&self, name: LedgerName) -> io::Result<Box<dyn LedgerSink>> {
        let path = self.path(name);
        match File::create(&path) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => {
                let why = format!("{}: {error}", path.display());
                Err(io::Error::new(error.kind(), why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_in_parts_is_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = LedgerFolder(dir.path().to_owned());
        let name = LedgerName::of_consumer(1, 20);
        folder.append(name, b"head").unwrap();
        folder.append(name, b"entries").unwrap();
        let path = dir.path().join("flow1-consumer20.polls");
        assert_eq!(std::fs::read(path).unwrap(), b"headentries");
        let mut other = folder.begin(LedgerName::of_producer(1, 20)).unwrap();
        other.write_all(b"ledger").unwrap();
        let path = dir.path().join("flow1-producer20.ledger");
        assert_eq!(std::fs::read(path).unwrap(), b"ledger");
        let missing = LedgerFolder(dir.path().join("missing"));
        let refused = missing.begin(name).unwrap_err();
        assert!(refused.to_string().contains("flow1-consumer20.polls"));
        assert!(missing.append(name, b"entries").is_err());
    }
}

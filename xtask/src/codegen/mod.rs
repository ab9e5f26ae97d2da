//! `cargo xtask codegen`: writes the messages of `crates/wire` from Kafka's JSON definitions.
//!
//! The way: fetch the definitions ([`maven`]), parse them ([`definition`]), [`merge`] those of two
//! releases into one model, [`emit`] Rust, and [`write`] or compare the files. No text of the
//! definitions' comments gets into the output.

mod apis;
mod definition;
mod emit;
pub(crate) mod golden;
pub(crate) mod maven;
mod merge;
mod model;
mod names;
mod versions;
mod write;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::folders::root;
use definition::Definition;
use model::{MessageModel, MessageModule};

/// The release whose definitions are followed in every version that it still has.
pub(crate) const RELEASE_NEW: &str = "4.3.1";
/// The release that still defines the versions which 4.x dropped.
const RELEASE_OLD: &str = "3.9.1";

/// Whether files are written or compared.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckOptions {
    /// Only tell whether the checked-in files are the same
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub(crate) fn run(options: &CheckOptions) -> Result<()> {
    let groups = load_groups()?;
    let files = emit::files(&groups)?;
    write::write_or_compare(
        &root().join("crates/wire"),
        files,
        write::MARK,
        options.check,
    )
}

fn load_groups() -> Result<Vec<MessageModule>> {
    let new = maven::definitions(RELEASE_NEW)?;
    let old = maven::definitions(RELEASE_OLD)?;
    let mut groups = Vec::new();
    for api in apis::APIS {
        let request = load_message(&new, &old, &format!("{api}Request"))?;
        let response = load_message(&new, &old, &format!("{api}Response"))?;
        if request.versions != response.versions || request.key.is_none() {
            bail!("{api}: request and response differ in versions, or the key is missing");
        }
        groups.push(MessageModule::new(api, vec![request, response])?);
    }
    groups.sort_by_key(|group| group.messages[0].key);
    for (name, members) in apis::DATA {
        let messages = members
            .iter()
            .map(|member| load_message(&new, &old, member));
        groups.push(MessageModule::new(name, messages.collect::<Result<_>>()?)?);
    }
    Ok(groups)
}

fn load_message(new: &Path, old: &Path, name: &str) -> Result<MessageModel> {
    let read = |folder: &Path| Definition::read(&folder.join(format!("{name}.json")));
    let new = read(new)?.with_context(|| format!("{RELEASE_NEW} has no {name}"))?;
    merge::merge(new, read(old)?).with_context(|| format!("in {name}"))
}

//! `cargo xtask crashes`: nodes of the embedded cluster crash while producers write, and every acknowledged
//! record must be found afterwards. The producers are ours, and Kafka's verifiable producer.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::built::ProgramOption;
use crate::folders::root;
use crate::kafka::{self, ChildProcess, HEAP, RELEASE};
use crate::say::{print_line, remark};

const VERIFIABLE_PRODUCER: &str = "org.apache.kafka.tools.VerifiableProducer";
/// How many of them run at once.
const PRODUCERS: &str = "2";
/// Records a second of each.
const THROUGHPUT: &str = "1000";

/// Whose producers write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Producers {
    Kgauge,
    Kafka,
}

/// What crashes, and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct CrashOptions {
    #[arg(long, value_name = "N", default_value_t = 300)]
    seconds: u64,
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[arg(long, default_values = ["all", "1"], value_parser = ["all", "1"])]
    acks: Vec<String>,
    #[arg(long, value_enum, default_values = ["kgauge", "kafka"])]
    producers: Vec<Producers>,
    #[command(flatten)]
    program: ProgramOption,
}

/// Runs the command. Returns false when a record is missing.
pub(crate) fn run(options: &CrashOptions) -> Result<bool> {
    let binary = options.program.example("kgauge-broker", "crashes")?;
    let (seconds, seed) = (options.seconds.to_string(), options.seed.to_string());
    let folder = tempfile::tempdir()?;
    let mut is_good = true;
    for producers in &options.producers {
        for acks in &options.acks {
            let mut command = Command::new(&binary);
            command.args(["--seconds", &seconds, "--seed", &seed]);
            let data = tempfile::tempdir()?;
            command.args(["--acks", acks, "--data"]).arg(data.path());
            match producers {
                Producers::Kgauge => print_line("kgauge's producers"),
                Producers::Kafka => {
                    print_line(&format!(
                        "the verifiable producer of Apache Kafka {RELEASE}"
                    ));
                    command.args(["--producers", PRODUCERS]);
                    outside(&mut command, acks, folder.path())?;
                }
            }
            remark(&format!("for {seconds} s"));
            // A signal ends it before it has ended Kafka's producers.
            let running = ChildProcess::start_group("crashes", &mut command)?;
            is_good &= running.finish()?.success();
        }
    }
    Ok(is_good)
}

/// Lets Kafka's producer write, configured as in applications: by default, the tool does not retry.
fn outside(command: &mut Command, acks: &str, folder: &Path) -> Result<()> {
    let idempotence = acks == "all";
    let config = format!(
        "enable.idempotence={idempotence}\nretries=2147483647\nrequest.timeout.ms=5000\n\
         delivery.timeout.ms=300000\nmax.block.ms=300000\nlinger.ms=5\n\
         reconnect.backoff.max.ms=200\nmetadata.max.age.ms=2000\n"
    );
    let file = folder.join(format!("producer-{acks}.properties"));
    fs::write(&file, config)?;
    let java = kafka::tools(RELEASE)?.command_with_heap(HEAP, VERIFIABLE_PRODUCER);
    command.arg("--outside").arg(java.get_program());
    command.args(java.get_args()).current_dir(root());
    command.args(["--bootstrap-server", "{servers}", "--topic", "{topic}"]);
    command.args(["--acks", "{acks}", "--value-prefix", "{number}"]);
    command.args(["--throughput", THROUGHPUT, "--command-config"]);
    command.arg(file);
    Ok(())
}

//! A network of a cell's own, whose loopback carries 300 Mbit/s: what all clusters on one machine talk through.
//!
//! It takes the right to make network namespaces (root has it), and iproute2 with `tc`.

use std::process::{Command, Stdio};

use super::within_words;

/// The value of `--network-speed` for `kgauge run`.
pub(super) const SPEED: &str = "lo=300Mbit";
/// The same in the words of `tc`, whose bits are decimal too; then what is given. A burst holds several packets of the
/// loopback, which are up to 64 KiB.
const SCRIPT: &str = "ip link set lo up && tc qdisc add dev lo root tbf rate 300mbit burst 256kb latency 100ms && exec \"$@\"";

/// The command within such a network. Processes that it starts are in it, too; the network ends with the last of them.
pub(super) fn within(command: &Command) -> Command {
    within_words(&["unshare", "--net", "sh", "-c", SCRIPT, "sh"], command)
}

/// Why it cannot be had here.
pub(super) fn why_not() -> Option<String> {
    let tried = within(&Command::new("true")).stdin(Stdio::null()).output();
    let stderr = match tried {
        Ok(tried) if tried.status.success() => return None,
        Ok(tried) => String::from_utf8_lossy(&tried.stderr).trim().to_owned(),
        Err(error) => format!("unshare: {error}"),
    };
    let reason = stderr.lines().next().unwrap_or("no reason was given");
    Some(format!(
        "a network with a slow loopback needs root, unshare and tc ({reason})"
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_command_keeps_its_words_and_its_folder() {
        let mut command = Command::new("/some where/kgauge");
        command.args(["run", "a b.yaml", "--target", "embedded:1"]);
        command.current_dir("/tmp");
        let within = within(&command);
        let words: Vec<_> = within.get_args().filter_map(|word| word.to_str()).collect();
        let (_, given) = words.split_at(5);
        assert_eq!(
            given,
            [
                "/some where/kgauge",
                "run",
                "a b.yaml",
                "--target",
                "embedded:1"
            ]
        );
        assert_eq!(within.get_current_dir(), Some(Path::new("/tmp")));
    }
}

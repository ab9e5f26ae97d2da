//! Prometheus's text format, as jmx_exporter and similar exporters write it for Kafka's MBeans.
//!
//! The exporter's rules give an MBean various names. These are supported: the names of jmx_exporter's Kafka rules, in
//! upper or lower case; names without rules; and the usual suffixes `_count`, `_mean` and `_total` of both.

use std::collections::{BTreeMap, HashMap};

use super::http::text;

/// A response, sorted by names in lower case.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    of: HashMap<String, Vec<Sample>>,
    /// Names with the type gauge.
    gauges: Vec<String>,
}

/// One line.
#[derive(Debug)]
pub(super) struct Sample {
    /// Name in lower case.
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

/// A bean, `kafka.<domain>:type=<kind>,name=<name>`, as the rules name it.
#[derive(Debug)]
pub(super) struct Bean {
    /// Such as `kafka_server_brokertopicmetrics`.
    base: String,
    /// In lower case.
    name: String,
    /// An additional key besides type and name, in lower case, with its value.
    key: Option<(String, String)>,
}

impl Bean {
    /// `None` for an MBean without type or name.
    pub(super) fn of(mbean: &str) -> Option<Bean> {
        let (domain, keys) = mbean.split_once(':')?;
        let (mut kind, mut name, mut key) = (None, None, None);
        for (label, value) in keys.split(',').filter_map(|pair| pair.split_once('=')) {
            match label {
                "type" => kind = Some(value.to_ascii_lowercase()),
                "name" => name = Some(value.to_ascii_lowercase()),
                _ => key = Some((label.to_ascii_lowercase(), value.to_owned())),
            }
        }
        Some(Bean {
            base: format!("{}_{}", domain.replace('.', "_"), kind?),
            name: name?,
            key,
        })
    }

    fn key(&self) -> Option<(&str, &str)> {
        let (label, value) = self.key.as_ref()?;
        Some((label, value))
    }
}

/// Labels of parts of a broker: a line with one of these does not describe the whole broker, unless it is requested.
const PARTS: [&str; 8] = [
    "topic",
    "partition",
    "quantile",
    "request",
    "processor",
    "networkprocessor",
    "delayedoperation",
    "version",
];

impl Exposition {
    /// # Errors
    /// The text has another format.
    pub(super) fn parse(body: &[u8]) -> Result<Exposition, String> {
        let strange = || {
            format!(
                "its response is neither Prometheus nor Jolokia format{}",
                text(body)
            )
        };
        let text = std::str::from_utf8(body).map_err(|_| strange())?;
        let (mut metrics, mut lines) = (Exposition::default(), 0_u64);
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(comment) = line.strip_prefix('#') {
                let mut words = comment.split_whitespace();
                if let (Some("TYPE"), Some(name), Some("gauge")) =
                    (words.next(), words.next(), words.next())
                    && is_used(name)
                {
                    metrics.gauges.push(name.to_ascii_lowercase());
                }
                continue;
            }
            let (name, sample) = sample(line).ok_or_else(strange)?;
            lines += 1;
            if is_used(name) {
                let known = metrics.of.entry(name.to_ascii_lowercase());
                known.or_default().push(sample);
            }
        }
        match lines {
            0 => Err(strange()),
            _ => Ok(metrics),
        }
    }

    /// All lines of a name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &Sample> {
        self.of.get(name).into_iter().flatten()
    }

    /// All lines whose names have this prefix.
    pub(super) fn beginning<'a>(
        &'a self,
        beginning: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Sample)> {
        let found = self
            .of
            .iter()
            .filter(move |(name, _)| name.starts_with(beginning));
        found.flat_map(|(name, samples)| samples.iter().map(move |sample| (name.as_str(), sample)))
    }

    /// The value of a name without labels of a part.
    pub(super) fn plain(&self, name: &str, key: Option<(&str, &str)>) -> Option<f64> {
        self.all(name)
            .find(|one| one.is_whole(key))
            .map(|one| one.value)
    }

    /// An attribute of an MBean that is in a label: names without rules.
    fn by_label(&self, bean: &Bean, attribute: &str) -> Option<f64> {
        let lines = format!("{}_{attribute}", bean.base);
        let mut lines = self.all(&lines).filter(|one| {
            let name = one.labels.get("name");
            name.is_some_and(|name| name.eq_ignore_ascii_case(&bean.name))
                && one.is_whole(bean.key())
        });
        lines.next().map(|one| one.value)
    }

    fn first(&self, bean: &Bean, names: &[String]) -> Option<f64> {
        names.iter().find_map(|name| self.plain(name, bean.key()))
    }

    /// A meter's or histogram's count.
    pub(super) fn count_of(&self, bean: &Bean) -> Option<f64> {
        let Bean { base, name, .. } = bean;
        let short = name.strip_suffix("persec").unwrap_or(name);
        let names = [
            format!("{base}_{name}_count"),
            // Newer exporters use this suffix for every counter.
            format!("{base}_{name}_count_total"),
            format!("{base}_{short}_total"),
            format!("{base}_{name}_total"),
            format!("{base}_{short}_count"),
        ];
        let found = self
            .first(bean, &names)
            .or_else(|| self.by_label(bean, "count"));
        found.or_else(|| {
            // The rules for 0.8.2 omit the attribute and the type.
            let bare = format!("{base}_{name}");
            let is_gauge = self.gauges.contains(&bare);
            self.plain(&bare, bean.key()).filter(|_| !is_gauge)
        })
    }

    /// A histogram's mean.
    pub(super) fn mean_of(&self, bean: &Bean) -> Option<f64> {
        let name = format!("{}_{}_mean", bean.base, bean.name);
        self.plain(&name, bean.key())
            .or_else(|| self.by_label(bean, "mean"))
    }

    /// A gauge's value.
    pub(super) fn value_of(&self, bean: &Bean) -> Option<f64> {
        let Bean { base, name, .. } = bean;
        let names = [format!("{base}_{name}"), format!("{base}_{name}_value")];
        let percent = name
            .strip_suffix("percent")
            .map(|short| format!("{base}_{short}_percent"));
        let found = self
            .first(bean, &names)
            .or_else(|| self.by_label(bean, "value"));
        found.or_else(|| self.plain(&percent?, bean.key()))
    }
}

impl Sample {
    /// Whether it has a label with this value, if one is requested.
    pub(super) fn has(&self, label: Option<(&str, &str)>) -> bool {
        label.is_none_or(|(label, value)| self.labels.get(label).is_some_and(|is| is == value))
    }

    /// Whether it describes the whole broker, or the requested part.
    fn is_whole(&self, key: Option<(&str, &str)>) -> bool {
        let is_requested = |label: &str| key.is_some_and(|(requested, _)| requested == label);
        let others = PARTS.iter().filter(|part| !is_requested(part));
        self.has(key)
            && others
                .into_iter()
                .all(|part| !self.labels.contains_key(*part))
    }
}

/// Whether kgauge uses metrics with such a name. Other lines are skipped without a copy.
fn is_used(name: &str) -> bool {
    let has_prefix = |prefix: &str| {
        name.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    ["kafka_", "jvm_", "process_start"]
        .into_iter()
        .any(has_prefix)
}

/// `name{label="value",...} 1.5 [time]`.
fn sample(line: &str) -> Option<(&str, Sample)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    let end = line.find(|c: char| !is_name(c)).filter(|end| *end > 0)?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(rest) => labels(rest, is_used(name))?,
        None => (BTreeMap::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some((name, Sample { labels, value }))
}

/// The text between the braces, and the rest.
fn labels(mut rest: &str, is_kept: bool) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start().strip_prefix('"')?;
        let end = quoted_end(after)?;
        if is_kept {
            let value = after[..end]
                .replace("\\\"", "\"")
                .replace("\\n", "\n")
                .replace("\\\\", "\\");
            labels.insert(name.trim().to_ascii_lowercase(), value);
        }
        rest = &after[end + 1..];
    }
}

/// The end of the current quoted string.
fn quoted_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

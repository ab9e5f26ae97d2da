//! Settings as the user writes them: `PATH=VALUE`.

use crate::error::RunError;

/// Paths and values of `--set`.
///
/// # Errors
/// A text has no `=`.
pub fn read_settings(texts: &[String]) -> Result<Vec<(String, String)>, RunError> {
    let pairs = texts.iter().map(|pair| match pair.split_once('=') {
        Some((path, value)) => Ok((path.trim().to_owned(), value.to_owned())),
        None => Err(RunError::input(format!(
            "--set {pair}: write it as PATH=VALUE, such as stages.hold='5 s'"
        ))),
    });
    pairs.collect()
}

/// The settings of texts that may hold several; a comma separates them only where another path follows, because values
/// may have commas too.
pub fn split_settings(texts: &[String]) -> Vec<String> {
    let mut settings: Vec<String> = Vec::new();
    for text in texts {
        let mut is_first = true;
        for part in text.split(',') {
            let begins = is_first || part.split_once('=').is_some_and(|(path, _)| is_path(path));
            match settings.last_mut().filter(|_| !begins) {
                Some(last) => {
                    last.push(',');
                    last.push_str(part);
                }
                None => settings.push(part.trim().to_owned()),
            }
            is_first = false;
        }
    }
    settings
}

/// Whether a text looks like the path of a setting.
fn is_path(text: &str) -> bool {
    let text = text.trim();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._-[]".contains(letter);
    !text.is_empty() && text.chars().all(is_part)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn commas_separate_settings_but_not_values() {
        let of = |texts: &[&str]| split_settings(&owned(texts));
        assert_eq!(
            of(&["linger.ms=0,batch.size=64 KiB", "acks=1"]),
            ["linger.ms=0", "batch.size=64 KiB", "acks=1"]
        );
        assert_eq!(
            of(&["ssl.protocols=TLSv1.2,TLSv1.3"]),
            ["ssl.protocols=TLSv1.2,TLSv1.3"]
        );
        assert_eq!(of(&["linger.ms=0, acks=1"]), ["linger.ms=0", "acks=1"]);
        assert_eq!(of(&["linger.ms"]), ["linger.ms"]);
    }

    #[test]
    fn a_setting_is_a_path_and_a_value() {
        let read = read_settings(&owned(&["acks = 1", "a=b=c"])).unwrap();
        let pairs: Vec<(&str, &str)> = read
            .iter()
            .map(|(path, value)| (path.as_str(), value.as_str()))
            .collect();
        assert_eq!(pairs, [("acks", " 1"), ("a", "b=c")]);
        let error = read_settings(&owned(&["acks"])).unwrap_err();
        assert!(error.to_string().starts_with("--set acks: "), "{error}");
    }
}

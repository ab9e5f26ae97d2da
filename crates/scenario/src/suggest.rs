//! "Did you mean ...": finds the known word nearest to an unknown one; quotes unknown words.

/// Returns the word of `known` nearest to `word`, if it is near enough to be a typo.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Longer words are skipped to save time: no key has half as many characters.
    const WORD_CHARS_MAX: usize = 100;
    let word: Vec<char> = word.chars().take(WORD_CHARS_MAX + 1).collect();
    if word.len() > WORD_CHARS_MAX {
        return None;
    }
    // One typo per three characters, at least one, at most three.
    let far = (word.len() / 3).clamp(1, 3);
    let known: Vec<&'k str> = known.into_iter().collect();
    let typos = known
        .iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= far)
        .map(|candidate| (distance(&word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance);
    typos
        .map(|(_, candidate)| candidate)
        .or_else(|| continued(&word, &known))
}

/// The only word that goes on behind a dash: `linger` is short for `linger.ms`.
fn continued<'k>(word: &[char], known: &[&'k str]) -> Option<&'k str> {
    let mut longer = known.iter().filter(|candidate| {
        let (mut letters, mut start) = (candidate.chars(), word.iter());
        let is_start = start.all(|one| letters.next().is_some_and(|next| next == *one));
        is_start && letters.next().is_some_and(is_dash)
    });
    let first = longer.next()?;
    longer.next().is_none().then_some(*first)
}

/// The part of a text of any length that a message quotes.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain("...".chars()).collect()
}

/// Edit distance, ignoring case, in which swapping two neighbours counts as one typo.
fn distance(word: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.chars().collect();
    let same = |a: char, b: char| a.eq_ignore_ascii_case(&b) || is_dash(a) && is_dash(b);
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=candidate.len()).collect();
    for (i, &a) in word.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in candidate.iter().enumerate() {
            let replace = above[j] + usize::from(!same(a, b));
            let mut best = replace.min(above[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && same(a, candidate[j - 1]) && same(word[i - 1], b);
            if swapped {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(usize::MAX)
}

/// `batch_size` and `batch-size` count as equal to `batch.size`.
fn is_dash(character: char) -> bool {
    matches!(character, '.' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["batch.size", "linger.ms", "acks", "buffer.memory"];

    #[test]
    fn slips_are_recognised() {
        for (word, meant) in [
            ("batch.sise", "batch.size"),
            ("batch_size", "batch.size"),
            ("BATCH.SIZE", "batch.size"),
            ("batchsize", "batch.size"),
            ("lingre.ms", "linger.ms"),
            ("ack", "acks"),
            ("linger", "linger.ms"),
            ("acsk", "acks"),
            ("bufer.memroy", "buffer.memory"),
        ] {
            assert_eq!(nearest(word, KNOWN), Some(meant), "{word}");
        }
    }

    #[test]
    fn a_wrong_guess_is_worse_than_none() {
        for word in [
            "",
            "x",
            "compression.type",
            "memory",
            &"batch.size".repeat(100),
        ] {
            assert_eq!(nearest(word, KNOWN), None, "{word}");
        }
    }
}

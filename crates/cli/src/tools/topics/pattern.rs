//! `--topic` as a regular expression: the part of Java's that people write for topics. Letters, `.`,
//! classes in brackets, groups, `|`, `*`, `+`, `?` and a backslash before any of them.

/// A name pattern; the whole name has to fit.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Node);

#[derive(Debug, Clone)]
enum Node {
    Any,
    Letter(char),
    /// Ranges, and whether they are those that do not fit.
    Class(Vec<(char, char)>, bool),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    /// At least so often, and whether more often too.
    Repeat(Box<Node>, u32, Option<u32>),
}

/// Deeper groups are no topic's pattern.
const DEPTH_MAX: u32 = 50;

impl Pattern {
    /// Reads a pattern. As in Kafka's tools commas separate alternatives, and blanks and quotes do not
    /// count.
    pub(super) fn parse(text: &str) -> Result<Pattern, String> {
        let text = text.trim().replace(',', "|").replace(' ', "");
        let text = text.trim_matches(|c| c == '"' || c == '\'');
        let mut parser = Parser {
            rest: text.chars().collect(),
            at: 0,
            depth: 0,
        };
        let node = parser.choice()?;
        match parser.peek() {
            None => Ok(Pattern(node)),
            Some(letter) => Err(format!("{text:?}: {letter:?} stands there for nothing")),
        }
    }

    /// Whether a name fits.
    pub(super) fn fits(&self, name: &str) -> bool {
        let letters: Vec<char> = name.chars().collect();
        ends(&self.0, &letters, &[0]).contains(&letters.len())
    }
}

struct Parser {
    rest: Vec<char>,
    at: usize,
    depth: u32,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn choice(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("the pattern has too many groups inside each other".to_owned());
        }
        let mut ways = vec![self.sequence()?];
        while self.peek() == Some('|') {
            self.at += 1;
            ways.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(Node::Choice(ways))
    }

    fn sequence(&mut self) -> Result<Node, String> {
        let mut parts = Vec::new();
        while let Some(letter) = self.peek().filter(|&letter| letter != '|' && letter != ')') {
            self.at += 1;
            let node = match letter {
                '.' => Node::Any,
                // The whole name has to fit anyway.
                '^' | '$' => continue,
                '[' => self.class()?,
                '(' => self.group()?,
                '\\' => Node::Letter(self.take().ok_or("a backslash stands at the end")?),
                '*' | '+' | '?' | '{' => return Err(format!("{letter:?} repeats nothing")),
                letter => Node::Letter(letter),
            };
            parts.push(self.repeated(node));
        }
        Ok(Node::Sequence(parts))
    }

    fn group(&mut self) -> Result<Node, String> {
        if self.rest[self.at..].starts_with(&['?', ':']) {
            self.at += 2;
        }
        let inside = self.choice()?;
        match self.take() {
            Some(')') => Ok(inside),
            _ => Err("a group is not closed".to_owned()),
        }
    }

    fn class(&mut self) -> Result<Node, String> {
        let is_negated = self.peek() == Some('^');
        self.at += usize::from(is_negated);
        let mut ranges = Vec::new();
        loop {
            let from = match self.take() {
                None => return Err("a bracket is not closed".to_owned()),
                Some(']') if !ranges.is_empty() => return Ok(Node::Class(ranges, is_negated)),
                Some('\\') => self.take().ok_or("a backslash stands at the end")?,
                Some(letter) => letter,
            };
            let is_range = self.peek() == Some('-')
                && self.rest.get(self.at + 1).is_some_and(|&next| next != ']');
            let to = if is_range {
                self.at += 1;
                self.take().unwrap_or(from)
            } else {
                from
            };
            ranges.push((from, to));
        }
    }

    fn repeated(&mut self, node: Node) -> Node {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            _ => return node,
        };
        self.at += 1;
        Node::Repeat(Box::new(node), least, most)
    }
}

/// Where a node can end when it begins at one of these places. The places are sorted, and each stands
/// there once: the time is bounded by the name's length, whatever the pattern.
fn ends(node: &Node, name: &[char], starts: &[usize]) -> Vec<usize> {
    let step = |fits: &dyn Fn(char) -> bool| {
        let next = starts
            .iter()
            .filter(|&&at| name.get(at).is_some_and(|&letter| fits(letter)));
        next.map(|at| at + 1).collect()
    };
    match node {
        Node::Any => step(&|_| true),
        Node::Letter(wanted) => step(&|letter| letter == *wanted),
        Node::Class(ranges, is_negated) => step(&|letter| {
            ranges
                .iter()
                .any(|&(from, to)| (from..=to).contains(&letter))
                != *is_negated
        }),
        Node::Sequence(parts) => parts
            .iter()
            .fold(starts.to_vec(), |at, part| ends(part, name, &at)),
        Node::Choice(ways) => merged(ways.iter().flat_map(|way| ends(way, name, starts))),
        Node::Repeat(inside, least, most) => {
            let mut all = if *least == 0 {
                starts.to_vec()
            } else {
                Vec::new()
            };
            let mut at = starts.to_vec();
            for _ in 0..most.map_or(name.len() + 1, |most| most as usize) {
                at = ends(inside, name, &at);
                let before = all.len();
                all = merged(all.into_iter().chain(at.iter().copied()));
                if all.len() == before {
                    break;
                }
            }
            all
        }
    }
}

fn merged(places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut places: Vec<usize> = places.collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        Pattern::parse(pattern).unwrap().fits(name)
    }

    #[test]
    fn a_plain_name_is_itself() {
        assert!(fits("my-topic_1", "my-topic_1"));
        assert!(!fits("my-topic", "my-topic_1"));
        assert!(!fits("", "a"));
    }

    #[test]
    fn patterns_mean_what_they_mean_in_java() {
        for (pattern, yes, no) in [
            ("t.*", &["t", "t2", "topic"][..], &["at", ""][..]),
            ("a|b", &["a", "b"], &["ab"]),
            ("a,b", &["a", "b"], &["a,b"]),
            ("test-[0-9]+", &["test-1", "test-42"], &["test-", "test-x"]),
            ("x(ab)?y", &["xy", "xaby"], &["xabaay"]),
            ("(a*)*b", &["b", "aaab"], &["aaa"]),
            ("a\\.b", &["a.b"], &["axb"]),
            ("[^a]", &["b"], &["a"]),
            ("(?:one|two)-.+", &["one-1", "two-x"], &["one-", "three-1"]),
        ] {
            for name in yes {
                assert!(fits(pattern, name), "{pattern} {name}");
            }
            for name in no {
                assert!(!fits(pattern, name), "{pattern} {name}");
            }
        }
    }

    #[test]
    fn a_pattern_that_would_take_others_for_ever_takes_no_time() {
        let name = "a".repeat(249);
        assert!(!fits("(a*)*(a*)*(a*)*c", &name));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for wrong in ["(a", "[a", "*", "a)", "a\\", &"(".repeat(100)] {
            assert!(Pattern::parse(wrong).is_err(), "{wrong}");
        }
    }
}

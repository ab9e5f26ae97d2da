//! `sasl.jaas.config`: one login module with its options, as Java's JAAS writes it.
//!
//! No message of this file contains any part of the text.

use std::collections::BTreeMap;

use kgauge_wire::Secret;

/// A login module and its options.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Jaas {
    /// The class, without its package.
    pub(super) module: String,
    /// The options, unescaped.
    pub(super) options: BTreeMap<String, Secret>,
}

/// What is wrong, without any part of the text.
pub(super) fn parse(text: &str) -> Result<Jaas, &'static str> {
    let mut tokens = Tokens { rest: text };
    let class = match tokens.next()? {
        Some(Token::Word(class)) => class,
        _ => return Err("does not begin with the class of a login module"),
    };
    match tokens.next()? {
        Some(Token::Word(flag))
            if ["required", "requisite", "sufficient", "optional"]
                .iter()
                .any(|known| flag.eq_ignore_ascii_case(known)) => {}
        _ => return Err("has no \"required\" after the class of its login module"),
    }
    let mut options = BTreeMap::new();
    loop {
        match tokens.next()? {
            Some(Token::End) => break,
            None => return Err("does not end with a semicolon"),
            Some(Token::Word(key)) => {
                if !matches!(tokens.next()?, Some(Token::Equals)) {
                    return Err("has an option without an equals sign");
                }
                match tokens.next()? {
                    Some(Token::Word(value) | Token::Quoted(value)) => {
                        options.insert(key, Secret::new(value));
                    }
                    _ => return Err("has an option without a value"),
                }
            }
            Some(Token::Quoted(_) | Token::Equals) => {
                return Err("has a value without the name of an option before it");
            }
        }
    }
    if tokens.next()?.is_some() {
        return Err("has more than one login module, or text after its semicolon");
    }
    let module = class.rsplit('.').next().unwrap_or_default().to_owned();
    Ok(Jaas { module, options })
}

enum Token {
    Word(String),
    Quoted(String),
    Equals,
    End,
}

struct Tokens<'a> {
    rest: &'a str,
}

impl Tokens<'_> {
    /// Java's StreamTokenizer: quotes are " or ', backslash escapes as in C.
    fn next(&mut self) -> Result<Option<Token>, &'static str> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        match first {
            ';' => self.take(1, Token::End),
            '=' => self.take(1, Token::Equals),
            '"' | '\'' => self.quoted(first),
            _ => {
                let end = self
                    .rest
                    .find(|c: char| c.is_whitespace() || matches!(c, ';' | '=' | '"' | '\''))
                    .unwrap_or(self.rest.len());
                let word = self.rest[..end].to_owned();
                self.take(end, Token::Word(word))
            }
        }
    }

    fn take(&mut self, bytes: usize, token: Token) -> Result<Option<Token>, &'static str> {
        self.rest = &self.rest[bytes..];
        Ok(Some(token))
    }

    fn quoted(&mut self, quote: char) -> Result<Option<Token>, &'static str> {
        let mut value = String::new();
        let mut characters = self.rest.char_indices().skip(1).peekable();
        while let Some((at, character)) = characters.next() {
            match character {
                c if c == quote => return self.take(at + 1, Token::Quoted(value)),
                '\n' | '\r' => break,
                '\\' => match characters.next().map(|(_, escaped)| escaped) {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('r') => value.push('\r'),
                    Some('f') => value.push('\u{c}'),
                    Some('b') => value.push('\u{8}'),
                    Some(digit @ '0'..='7') => {
                        let mut code = digit.to_digit(8).unwrap_or(0);
                        while let Some(&(_, next)) = characters.peek()
                            && let Some(more) = next.to_digit(8)
                            && code * 8 + more < 256
                        {
                            code = code * 8 + more;
                            characters.next();
                        }
                        value.push(char::from_u32(code).unwrap_or_default());
                    }
                    Some(other) => value.push(other),
                    None => break,
                },
                other => value.push(other),
            }
        }
        Err("has a quotation mark that is not closed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_with_options_is_read_with_its_escapes() {
        let text = "org.apache.kafka.common.security.plain.PlainLoginModule required \
                    username=\"al\\\"ice\" password='a;b=\\\\c' x=1;";
        let jaas = parse(text).unwrap();
        assert_eq!(jaas.module, "PlainLoginModule");
        assert_eq!(jaas.options["username"].expose(), "al\"ice");
        assert_eq!(jaas.options["password"].expose(), "a;b=\\c");
        assert_eq!(jaas.options["x"].expose(), "1");
    }

    #[test]
    fn mistakes_have_words_without_the_text() {
        for text in [
            "",
            "hunter2",
            "M hunter2",
            "M required hunter2",
            "M required password=\"hunter2",
            "M required password=\"hunter2\"",
            "M required password=;",
            "M required \"hunter2\";",
            "M required a=b; N required hunter2=1;",
        ] {
            let words = parse(text).unwrap_err();
            assert!(!words.contains("hunter2"), "{words}");
        }
    }
}

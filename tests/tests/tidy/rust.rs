//! Rust's tokens as far as the rules need them: names, punctuation and where they stand. Comments
//! are dropped, literals are one token without content.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or keyword; of a raw name, the part after `r#`.
    Name(String),
    /// One character of punctuation; `::` is two.
    Mark(char),
    /// A number, character or string.
    Literal,
}

/// A token and its line, counted from 1.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// Its first line.
    pub line: usize,
}

impl Placed {
    /// The name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match &self.token {
            Token::Name(name) => Some(name),
            Token::Mark(_) | Token::Literal => None,
        }
    }

    /// Whether it is this name or keyword.
    pub fn is(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    /// Whether it is this punctuation.
    pub fn marks(&self, mark: char) -> bool {
        self.token == Token::Mark(mark)
    }
}

/// The tokens of a source. Several rules read each, again and again.
pub fn tokens(text: &str) -> Rc<[Placed]> {
    thread_local! {
        static READ: RefCell<HashMap<String, Rc<[Placed]>>> = RefCell::default();
    }
    READ.with_borrow_mut(|read| {
        if !read.contains_key(text) {
            read.insert(text.to_owned(), read_tokens(text).into());
        }
        Rc::clone(&read[text])
    })
}

fn read_tokens(text: &str) -> Vec<Placed> {
    let mut reader = Reader { text, at: 0, line: 1 };
    let mut tokens = Vec::new();
    while let Some(first) = reader.peek() {
        let line = reader.line;
        if let Some(token) = reader.next_token(first) {
            tokens.push(Placed { token, line });
        }
    }
    tokens
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.line += self.rest()[..bytes].matches('\n').count();
        self.at += bytes;
    }

    fn skip_while(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let word: String = self.rest().chars().take_while(|&c| belongs(c)).collect();
        self.skip(word.len());
        word
    }

    /// Reads one token, or what lies between tokens.
    fn next_token(&mut self, first: char) -> Option<Token> {
        if first.is_whitespace() {
            self.skip_while(char::is_whitespace);
            None
        } else if self.rest().starts_with("//") {
            self.skip_while(|c| c != '\n');
            None
        } else if self.rest().starts_with("/*") {
            self.skip_block_comment();
            None
        } else if let Some((prefix, hashes)) = self.raw_string() {
            self.skip_raw_string(prefix, hashes);
            Some(Token::Literal)
        } else if first == '"' || ["b\"", "c\""].iter().any(|start| self.rest().starts_with(start))
        {
            self.skip(self.rest().find('"').expect("it starts so") + 1);
            self.skip_to_end_of('"');
            Some(Token::Literal)
        } else if first == '\'' || self.rest().starts_with("b'") {
            self.quote()
        } else if first.is_ascii_digit() {
            self.skip_while(|c| c.is_alphanumeric() || c == '_');
            Some(Token::Literal)
        } else if is_name(first) {
            let name = self.skip_while(is_name);
            if name == "r" && self.rest().starts_with('#') {
                self.skip(1);
                return Some(Token::Name(self.skip_while(is_name)));
            }
            Some(Token::Name(name))
        } else {
            self.skip(first.len_utf8());
            Some(Token::Mark(first))
        }
    }

    /// Block comments nest.
    fn skip_block_comment(&mut self) {
        let mut depth = 0;
        loop {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.skip(2);
            } else if let Some(c) = self.peek() {
                self.skip(c.len_utf8());
            }
            if depth == 0 || self.peek().is_none() {
                return;
            }
        }
    }

    /// How many bytes open a raw string, and with how many hashes.
    fn raw_string(&self) -> Option<(usize, usize)> {
        let letters =
            ["br", "cr", "r"].iter().find(|start| self.rest().starts_with(**start))?.len();
        let hashes = self.rest()[letters..].chars().take_while(|&c| c == '#').count();
        self.rest()[letters + hashes..].starts_with('"').then_some((letters + hashes + 1, hashes))
    }

    fn skip_raw_string(&mut self, prefix: usize, hashes: usize) {
        self.skip(prefix);
        let end = format!("\"{}", "#".repeat(hashes));
        let length = self.rest().find(&end).map_or(self.rest().len(), |found| found + end.len());
        self.skip(length);
    }

    /// Skips what is left of a literal with escapes.
    fn skip_to_end_of(&mut self, quote: char) {
        while let Some(c) = self.peek() {
            self.skip(c.len_utf8());
            match self.peek() {
                Some(escaped) if c == '\\' => self.skip(escaped.len_utf8()),
                _ if c == quote => return,
                _ => {}
            }
        }
    }

    /// A character, or the name of a lifetime or label, which no rule needs.
    fn quote(&mut self) -> Option<Token> {
        let start = self.rest().find('\'').expect("it starts so") + 1;
        let mut inside = self.rest()[start..].chars();
        let (first, second) = (inside.next(), inside.next());
        if first.is_some_and(is_name) && second != Some('\'') {
            self.skip(start);
            self.skip_while(is_name);
            return None;
        }
        self.skip(start);
        self.skip_to_end_of('\'');
        Some(Token::Literal)
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The tokens without items that exist for tests only.
pub fn without_tests(tokens: &[Placed]) -> Vec<Placed> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(after) = end_of_test_attribute(&tokens[at..]) {
            if tokens[at + 1].marks('!') {
                return Vec::new();
            }
            at += after;
            at += end_of_item(&tokens[at..]);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// The length of `#[cfg(…test…)]` or `#![cfg(…test…)]`, if the tokens begin with one.
fn end_of_test_attribute(tokens: &[Placed]) -> Option<usize> {
    let inner = usize::from(tokens.get(1)?.marks('!'));
    let start = 1 + inner;
    if !(tokens[0].marks('#') && tokens.get(start)?.marks('[') && tokens.get(start + 1)?.is("cfg"))
    {
        return None;
    }
    let end = start + tokens[start..].iter().position(|token| token.marks(']'))?;
    let condition = &tokens[start + 2..end];
    let for_tests = condition.iter().any(|token| token.is("test"));
    (for_tests && !condition.iter().any(|token| token.is("not"))).then_some(end + 1)
}

/// Words that begin an item in which a comma separates no fields or cases.
const ITEMS: [&str; 9] = ["fn", "mod", "use", "impl", "struct", "enum", "trait", "static", "type"];

/// Items that end with a semicolon even behind braces.
const VALUES: [&str; 4] = ["use", "const", "static", "let"];

/// The length of an item, field or case: to its semicolon or comma, or to the end of its braces.
fn end_of_item(tokens: &[Placed]) -> usize {
    let begins = |words: &[&str]| tokens.iter().take(5).any(|t| words.iter().any(|w| t.is(w)));
    let (item, value) = (begins(&ITEMS), begins(&VALUES) && !begins(&["fn"]));
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']') => depth -= 1,
            Token::Mark('}') => {
                depth -= 1;
                if depth == 0 && !value {
                    return index + 1;
                }
            }
            Token::Mark(';') if depth == 0 => return index + 1,
            Token::Mark(',') if depth == 0 && !item => return index + 1,
            _ => {}
        }
    }
    tokens.len()
}

//! `{name}` in a command: where it stands, and what is put there.
//!
//! Only names that have a value are placeholders, so that `awk '{print}'` stays what it is. A value
//! is put in as it is, for `cc {flags} x.c` must see several words; but behind `=` and outside
//! quotation marks (`make CFLAGS={flags}`) as one word, and so is a path everywhere.
#![forbid(unsafe_code)]

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The name, without braces.
    pub name: String,
    /// What is put in its place.
    pub text: String,
    /// Whether it is one word wherever it stands, as a path is.
    pub one_word: bool,
}

impl Value {
    /// A text that the command may split into words.
    #[must_use]
    pub fn text(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), one_word: false }
    }

    /// A path.
    #[must_use]
    pub fn path(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), one_word: true }
    }
}

/// Whether `command` has `{name}`.
#[must_use]
pub fn mentions(command: &str, name: &str) -> bool {
    command.contains(&format!("{{{name}}}"))
}

/// `command` with every placeholder replaced; values are not searched for placeholders again.
#[must_use]
pub fn substitute(command: &str, values: &[Value]) -> String {
    let mut result = String::new();
    let mut quote = None;
    let mut rest = command;
    while let Some(character) = rest.chars().next() {
        let found = values.iter().find_map(|value| {
            let after = rest.strip_prefix('{')?.strip_prefix(value.name.as_str())?;
            Some((value, after.strip_prefix('}')?))
        });
        if let Some((value, after)) = found {
            let whole = quote.is_none() && (value.one_word || result.ends_with('='));
            if whole {
                result.push_str(&quoted(&value.text));
            } else {
                result.push_str(&value.text);
            }
            rest = after;
            continue;
        }
        let mut length = character.len_utf8();
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None | Some('"'), '\\') => {
                length += rest[length..].chars().next().map_or(0, char::len_utf8);
            }
            _ => {}
        }
        result.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    result
}

/// `text` as one word of a shell; unchanged if it is one.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./+,:@%=".contains(character);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with_flags(command: &str, flags: &str) -> String {
        substitute(command, &[Value::text("flags", flags), Value::path("out", "/a b")])
    }

    #[test]
    fn values_are_several_words_or_one_as_their_place_demands() {
        assert_eq!(with_flags("cc {flags} x.c", "-O2 -g"), "cc -O2 -g x.c");
        assert_eq!(with_flags("make CFLAGS={flags}", "-O2 -g"), "make CFLAGS='-O2 -g'");
        assert_eq!(with_flags("make CFLAGS={flags}", "-O2"), "make CFLAGS=-O2");
        assert_eq!(with_flags("make 'CFLAGS={flags}'", "-O2 -g"), "make 'CFLAGS=-O2 -g'");
        assert_eq!(with_flags("make CFLAGS=\"{flags} -g\"", "-O2 -f"), "make CFLAGS=\"-O2 -f -g\"");
        assert_eq!(with_flags("{out}/a \"{out}\" \\'{out}", ""), "'/a b'/a \"/a b\" \\''/a b'");
    }

    #[test]
    fn other_braces_stay() {
        for command in ["awk '{print $1}'", "${X}", "{flag}", "{flags", "{{}}", "a {"] {
            assert_eq!(with_flags(command, "-O2"), command);
        }
        assert_eq!(with_flags("{{flags}}", "-O2"), "{-O2}");
    }

    #[test]
    fn a_value_is_not_searched_for_placeholders() {
        assert_eq!(with_flags("{flags}", "{out}{flags}"), "{out}{flags}");
    }

    proptest! {
        #[test]
        fn any_command_is_taken(command in ".{0,60}", flags in ".{0,20}") {
            let result = with_flags(&command, &flags);
            if !mentions(&command, "flags") && !mentions(&command, "out") {
                prop_assert_eq!(result, command);
            }
        }

        #[test]
        fn a_quoted_text_is_one_word_of_a_shell(text in "[^\0]{0,30}") {
            let output = std::process::Command::new("/bin/sh")
                .args(["-c", &format!("printf %s {}", quoted(&text))])
                .output()
                .unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&output.stdout).into_owned(), text);
        }
    }
}

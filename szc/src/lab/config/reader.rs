//! Reads typed values out of a TOML table, and collects everything that is wrong with the place
//! where it stands.
#![forbid(unsafe_code)]

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problems::{Problem, Problems, nearest};

/// A reader of the tables of a file.
pub(super) struct Reader<'a> {
    problems: Problems<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        Self { problems: Problems::new(file, text) }
    }

    /// All problems in the order of the file.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems.in_order()
    }

    pub(super) fn problem(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.problems.add(span, message);
    }

    /// Notes every key of `table` that is none of `known`, with the one that was probably meant.
    pub(super) fn known(&mut self, table: &DeTable<'_>, known: &[&str]) {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let meant = nearest(name, known).map_or_else(
                || format!("known here: {}", known.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            self.problem(key.span(), format!("unknown key `{}`; {meant}", shown(name)));
        }
    }

    pub(super) fn text(&mut self, table: &DeTable<'_>, key: &str) -> Option<String> {
        let value = table.get(key)?;
        self.string(value, key)
    }

    /// A string that is not empty.
    fn string(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.to_string()),
            DeValue::String(_) => {
                self.problem(value.span(), format!("`{key}` is empty"));
                None
            }
            other => self.mismatch(value, other, key, "a string in quotation marks"),
        }
    }

    /// One or more strings or numbers as strings, each with its place.
    pub(super) fn texts(&mut self, table: &DeTable<'_>, key: &str) -> Vec<(String, Range<usize>)> {
        let Some(value) = table.get(key) else {
            return Vec::new();
        };
        let DeValue::Array(array) = value.get_ref() else {
            let needed = "a list such as [\"a\", \"b\"]";
            self.mismatch::<()>(value, value.get_ref(), key, needed);
            return Vec::new();
        };
        if array.is_empty() {
            self.problem(value.span(), format!("`{key}` is an empty list: leave it out"));
        }
        let mut texts = Vec::new();
        for item in array {
            let text = match item.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                DeValue::Integer(number) => Some(number.as_str().to_owned()),
                DeValue::Float(number) => Some(number.as_str().to_owned()),
                other => self.mismatch(item, other, key, "a list of strings or numbers"),
            };
            texts.extend(text.map(|text| (text, item.span())));
        }
        texts
    }

    pub(super) fn whole(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let value = table.get(key)?;
        let DeValue::Integer(number) = value.get_ref() else {
            return self.mismatch(value, value.get_ref(), key, "a whole number");
        };
        let found = u64::from_str_radix(&number.as_str().replace('_', ""), number.radix());
        let fitting = found.ok().filter(|found| range.contains(found));
        if fitting.is_none() {
            let (least, most) = (range.start(), range.end());
            let message = format!("`{key}` is {}: {least} to {most} is needed", number.as_str());
            self.problem(value.span(), message);
        }
        fitting
    }

    /// A positive number.
    pub(super) fn positive(&mut self, table: &DeTable<'_>, key: &str) -> Option<f64> {
        let value = table.get(key)?;
        let text = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            other => return self.mismatch(value, other, key, "a number"),
        };
        let found: Option<f64> = text.replace('_', "").parse().ok();
        let fitting = found.filter(|number| number.is_finite() && *number > 0.0);
        if fitting.is_none() {
            self.problem(value.span(), format!("`{key}` is {text}: a positive number is needed"));
        }
        fitting
    }

    pub(super) fn flag(&mut self, table: &DeTable<'_>, key: &str) -> Option<bool> {
        let value = table.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            other => self.mismatch(value, other, key, "true or false"),
        }
    }

    pub(super) fn table<'t, 'i>(
        &mut self,
        table: &'t DeTable<'i>,
        key: &str,
    ) -> Option<&'t DeTable<'i>> {
        let value = table.get(key)?;
        match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            other => self.mismatch(value, other, key, &format!("a table, [{key}]")),
        }
    }

    /// The tables `[[key]]`, each with its place.
    pub(super) fn tables<'t, 'i>(
        &mut self,
        table: &'t DeTable<'i>,
        key: &str,
    ) -> Vec<(&'t DeTable<'i>, Range<usize>)> {
        let Some(value) = table.get(key) else {
            return Vec::new();
        };
        let needed = format!("tables, [[{key}]]");
        let DeValue::Array(array) = value.get_ref() else {
            self.mismatch::<()>(value, value.get_ref(), key, &needed);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in array {
            match item.get_ref() {
                DeValue::Table(inner) => tables.push((inner, item.span())),
                other => {
                    self.mismatch::<()>(item, other, key, &needed);
                }
            }
        }
        tables
    }

    fn mismatch<T>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        found: &DeValue<'_>,
        key: &str,
        needed: &str,
    ) -> Option<T> {
        let kind = match found {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.problem(value.span(), format!("`{}` is {kind}: {needed} is needed", shown(key)));
        None
    }
}

/// A name of the user's without control characters, and not too long for a line.
fn shown(name: &str) -> String {
    let cut: String = name.chars().take(60).collect();
    let dots = if cut.len() < name.len() { "…" } else { "" };
    format!("{}{dots}", cut.escape_debug())
}

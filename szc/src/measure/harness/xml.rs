//! Catch2's XML: `BenchmarkResults` in test cases and sections, versions 2 and 3.
#![forbid(unsafe_code)]

use regex::Regex;

use super::row::Row;

/// The mean of each benchmark, in nanoseconds, named with its test case and sections.
pub(super) fn catch2(text: &str) -> Vec<Row> {
    let tag = Regex::new(r#"<(/?)([A-Za-z]+)((?:\s+[A-Za-z]+="[^"]*")*)\s*(/?)>"#);
    let value = Regex::new(r#"\s(name|value)="([^"]*)""#);
    let (Ok(tag), Ok(value)) = (tag, value) else { return Vec::new() };
    let attribute = |text: &str, wanted: &str| {
        let mut all = value.captures_iter(text);
        all.find(|found| &found[1] == wanted).map(|found| unescaped(&found[2]))
    };
    let mut rows = Vec::new();
    let mut inside: Vec<String> = Vec::new();
    for found in tag.captures_iter(text) {
        let (closes, name, attributes) = (!found[1].is_empty(), &found[2], &found[3]);
        match name {
            "TestCase" | "Section" | "BenchmarkResults" if closes => {
                inside.pop();
            }
            "TestCase" | "Section" | "BenchmarkResults" if found[4].is_empty() => {
                inside.push(attribute(attributes, "name").unwrap_or_default());
            }
            "mean" => {
                let time = attribute(attributes, "value").and_then(|text| text.parse::<f64>().ok());
                let row = |time: f64| Row { name: inside.join("/"), seconds: time * 1e-9 };
                rows.extend(time.map(row));
            }
            _ => {}
        }
    }
    rows
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

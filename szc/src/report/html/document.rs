//! What every page has around its contents: policy, style, choice of a theme, its data as JSON.
#![forbid(unsafe_code)]

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::style;
use crate::report::plot::svg::undisguised;

/// A page without its contents.
pub struct Document<'a> {
    /// Title of the window.
    pub title: &'a str,
    /// Heading of the page.
    pub heading: &'a str,
    /// What those who hear the page can go to at once: its id, and the words of the link.
    pub skip: (&'a str, &'a str),
    /// What the page was made from.
    pub source: &'a str,
    /// JSON.
    pub data: String,
}

impl Document<'_> {
    /// The page around its contents.
    #[must_use]
    pub fn html(&self, contents: &Markup) -> String {
        let style = style::style();
        let version = env!("CARGO_PKG_VERSION");
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(style::policy(&style));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content={ "szc " (version) };
                    link rel="icon" href="data:,";
                    title { (self.title) }
                    style { (PreEscaped(style)) }
                }
                body {
                    a.skip href={ "#" (self.skip.0) } { (self.skip.1) }
                    header {
                        h1 { (self.heading) }
                        button id="theme" type="button" hidden { "Theme" }
                    }
                    main { (contents) }
                    footer {
                        "Made by szc " (version) " from " (self.source) ". Every number in it is \
                         in the JSON at its end, "
                        code { "document.getElementById(\"data\")" } "."
                    }
                    script id="data" type="application/json" { (PreEscaped(harmless(&self.data))) }
                    script { (PreEscaped(style::SCRIPT)) }
                }
            }
        };
        undisguised(&page.into_string()) + "\n"
    }
}

/// JSON that no HTML parser mistakes for markup, and whose text disguises nothing in the page's
/// source: such characters only occur inside JSON strings, where an escape means the same.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<'
            | '>'
            | '&'
            | '\u{7f}'..='\u{9f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => text.push(other),
        }
    }
    text
}

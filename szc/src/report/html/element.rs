//! Parts of a page: numbers that name their place in the data, tables, figures.
#![forbid(unsafe_code)]

use maud::{Markup, PreEscaped, Render, html};

use crate::report::plot::svg::Alternative;
use crate::report::plot::{NARROW, WIDE};

/// A number as it is read, with its full value and the JSON pointer (RFC 6901) of that value in the
/// page's data, so that programs, and the page's own tests, need not parse rounded text.
#[must_use]
pub fn number(pointer: &str, value: impl Render, shown: &str) -> Markup {
    html! { data value=(value) data-json=(pointer) { (shown) } }
}

/// A number that is read as it is.
#[must_use]
pub fn count(pointer: &str, count: usize) -> Markup {
    number(pointer, count, &count.to_string())
}

/// Text as a cell of a table.
#[must_use]
pub fn text(text: &str) -> Markup {
    html! { (text) }
}

/// Sentences; a percent sign stays with its number.
#[must_use]
pub fn sentence(text: &str) -> Markup {
    html! { (text.replace(" %", "\u{a0}%")) }
}

/// Sentences as a list.
#[must_use]
pub fn sentences<'a>(list: impl IntoIterator<Item = &'a String>) -> Markup {
    html! { ul.remarks { @for text in list { li { (sentence(text)) } } } }
}

/// Contents behind their title, which the reader opens; or as they are, where there is little.
#[must_use]
pub fn folded(title: &str, folds: bool, contents: &Markup) -> Markup {
    html! {
        @if folds { details { summary { (title) } (contents) } } @else { (contents) }
    }
}

/// A table under a caption; the first cell of each row is its header.
#[must_use]
pub fn table(caption: &str, head: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        div.scroll role="region" aria-label=(caption) tabindex="0" {
            table {
                caption { (caption) }
                thead {
                    tr {
                        @for title in head {
                            // A header must not be empty for those who hear it.
                            @if title.is_empty() { td {} } @else { th scope="col" { (title) } }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @if let Some((first, rest)) = row.split_first() {
                                th scope="row" { (first) }
                                @for cell in rest { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A plot with its words.
pub struct Figure<'a> {
    /// Unique in the page.
    pub id: String,
    /// What is shown.
    pub title: String,
    /// What can be seen in it, with the numbers that matter: for those who do not see it.
    pub description: String,
    /// How to read it.
    pub caption: String,
    /// Draws it at a width.
    pub draw: &'a dyn Fn(f64, &Alternative) -> String,
}

/// How much of a line a figure takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A whole line, if there is one.
    Wide,
    /// It shares one with others.
    Small,
}

impl Figure<'_> {
    /// The forms of the plot, of which the style shows the one that fits.
    #[must_use]
    pub fn html(&self, span: Span) -> Markup {
        let class = if span == Span::Wide { "wide" } else { "small" };
        let form = |name: &str, width: f64| {
            let alternative = Alternative {
                id: format!("{}-{name}", self.id),
                title: self.title.clone(),
                description: self.description.clone(),
            };
            let plot = PreEscaped((self.draw)(width, &alternative));
            html! { div class={ "form-" (name) } { (plot) } }
        };
        html! {
            figure class=(class) id=(self.id) {
                h4 { (self.title) }
                (form("narrow", NARROW))
                @if span == Span::Wide { (form("wide", WIDE)) }
                figcaption { (sentence(&self.caption)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_where_it_is_from() {
        assert_eq!(
            number("/a/0/b", 0.1, "0.10").into_string(),
            "<data value=\"0.1\" data-json=\"/a/0/b\">0.10</data>"
        );
    }

    #[test]
    fn captions_and_heads_are_escaped() {
        let html = table("a<b", &["", "<i>"], &[vec![text("<b>"), text("1")]]).into_string();
        assert!(html.contains("<caption>a&lt;b</caption>") && html.contains("&lt;i&gt;"), "{html}");
        assert!(html.contains("<th scope=\"row\">&lt;b&gt;</th><td>1</td>"), "{html}");
    }
}

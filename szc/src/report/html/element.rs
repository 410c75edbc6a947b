//! Parts of a page: numbers that name their place in the data, tables, figures.
#![forbid(unsafe_code)]

use crate::report::plot::svg::{Alternative, escape};
use crate::report::plot::{NARROW, WIDE};

/// A number as it is read, with its full value and the JSON pointer (RFC 6901) of that value in the
/// page's data, so that programs, and the page's own tests, need not parse rounded text.
#[must_use]
pub fn number(pointer: &str, value: f64, shown: &str) -> String {
    let (pointer, shown) = (escape(pointer), escape(shown));
    format!("<data value=\"{value}\" data-json=\"{pointer}\">{shown}</data>")
}

/// Sentences as HTML; a percent sign stays with its number.
#[must_use]
pub fn sentence(text: &str) -> String {
    escape(text).replace(" %", "\u{a0}%")
}

/// A table under a caption; the first cell of each row is its header. Cells are HTML.
#[must_use]
pub fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let caption = escape(caption);
    let head: String = head
        .iter()
        .map(|title| match escape(title) {
            // A header must not be empty for those who hear it.
            title if title.is_empty() => "<td></td>".to_owned(),
            title => format!("<th scope=\"col\">{title}</th>"),
        })
        .collect();
    let rows: String = rows
        .iter()
        .map(|row| {
            let (first, rest) = row.split_first().map_or(("", &[][..]), |(a, b)| (a.as_str(), b));
            let cells: String = rest.iter().map(|cell| format!("<td>{cell}</td>")).collect();
            format!("<tr><th scope=\"row\">{first}</th>{cells}</tr>\n")
        })
        .collect();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\"><table>\n\
         <caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
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

impl Figure<'_> {
    /// Both forms of the plot, of which the style shows the one that fits. `class` is "wide" for
    /// figures that may take a whole line, "small" for those that share one.
    #[must_use]
    pub fn html(&self, class: &str) -> String {
        let form = |name: &str, width: f64| {
            let alternative = Alternative {
                id: format!("{}-{name}", self.id),
                title: self.title.clone(),
                description: self.description.clone(),
            };
            format!("<div class=\"form-{name}\">{}</div>\n", (self.draw)(width, &alternative))
        };
        let mut forms = form("narrow", NARROW);
        if class == "wide" {
            forms.push_str(&form("wide", WIDE));
        }
        format!(
            "<figure class=\"{class}\" id=\"{}\">\n<h4>{}</h4>\n{forms}<figcaption>{}</figcaption>\n</figure>\n",
            self.id,
            escape(&self.title),
            sentence(&self.caption)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_says_where_it_is_from() {
        assert_eq!(
            number("/a/0/b", 0.1, "0.10"),
            "<data value=\"0.1\" data-json=\"/a/0/b\">0.10</data>"
        );
    }

    #[test]
    fn captions_and_heads_are_escaped() {
        let html = table("a<b", &["", "<i>"], &[vec!["<b>x</b>".to_owned(), "1".to_owned()]]);
        assert!(html.contains("<caption>a&lt;b</caption>") && html.contains("&lt;i&gt;"), "{html}");
        assert!(html.contains("<th scope=\"row\"><b>x</b></th><td>1</td>"), "{html}");
    }
}

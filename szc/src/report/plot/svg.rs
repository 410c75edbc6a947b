//! The text of an SVG image: elements with escaped text and short coordinates.
#![forbid(unsafe_code)]

use std::fmt::Write;

/// How a plot is named to those who do not see it (SVG 2, section 5.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Unique in the document; letters, digits and hyphens.
    pub id: String,
    /// What is shown.
    pub title: String,
    /// What can be seen in it, with the numbers that matter.
    pub description: String,
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// Ends there.
    End,
}

/// An image under construction.
#[derive(Clone, Debug, PartialEq)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// An empty image of this size in user units.
    #[must_use]
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// Natural width in user units.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Height in user units.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.height
    }

    /// A straight line from `from` to `to`.
    pub fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        let [x1, y1] = from.map(short);
        let [x2, y2] = to.map(short);
        self.push(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// A rectangle with its upper left corner at `corner`; nothing if it has no extent.
    pub fn rectangle(&mut self, class: &str, corner: [f64; 2], size: [f64; 2]) {
        let [x, y] = corner.map(short);
        let [width, height] = size.map(|length| short(length.max(0.0)));
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    /// A path; nothing if `data` is empty.
    pub fn path(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            self.push(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
        }
    }

    /// One line of text with its baseline at `place`.
    pub fn text(&mut self, class: &str, anchor: Anchor, place: [f64; 2], text: &str) {
        let [x, y] = place.map(short);
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// Another image, its upper left corner at `corner`.
    pub fn inset(&mut self, corner: [f64; 2], image: &Self) {
        let [x, y] = corner.map(short);
        self.push(format_args!("<g transform=\"translate({x} {y})\">\n{}</g>", image.body));
    }

    /// The image as an element. `class` is that of the element.
    #[must_use]
    pub fn finish(self, class: &str, alternative: &Alternative) -> String {
        let [width, height] = [self.width, self.height].map(short);
        let Alternative { id, title, description } = alternative;
        let (title, description) = (escape(title), escape(description));
        format!(
            "<svg class=\"{class}\" xmlns=\"http://www.w3.org/2000/svg\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{title}</title>\n\
             <desc id=\"{id}-d\">{description}</desc>\n{}</svg>\n",
            self.body
        )
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a String takes all text");
    }
}

/// A coordinate with one decimal, which is finer than a pixel; 0 for what is no number.
#[must_use]
pub fn short(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_owned(),
        digits => digits.to_owned(),
    }
}

/// Text for the content of an element or a quoted attribute, in HTML and in XML; see
/// [`undisguised`].
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in undisguised(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// `text` with U+FFFD for what neither HTML nor XML may hold, and for characters that change the
/// direction of what follows (Unicode TR 36, section 2.5), so that a name cannot disguise the words
/// around it.
#[must_use]
pub fn undisguised(text: &str) -> String {
    let replaced = |character: char| match character {
        '\n' | '\t' => character,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        control if control.is_control() => '\u{fffd}',
        other => other,
    };
    text.chars().map(replaced).collect()
}

/// Width of a character in the bold form of a wide font (DejaVu Sans), so that what is cut by it
/// fits with others, too.
fn width_of(character: char, size: f64) -> f64 {
    let share = match character {
        'i' | 'l' | 'j' | 't' | 'f' | '.' | ',' | ':' | ';' | '\'' | '|' | '/' | ' ' => 0.48,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.1,
        '<' | '>' | '=' | '+' | '~' | '#' | '&' | 'A'..='Z' => 0.87,
        character if character.is_ascii() => 0.72,
        _ => 1.1,
    };
    share * size
}

/// About the width of `text` in a bold font of `size`, estimated on the safe side.
#[must_use]
pub fn width_of_text(text: &str, size: f64) -> f64 {
    text.chars().map(|character| width_of(character, size)).sum()
}

/// `text` cut to about `width` user units of a font of `size`, with an ellipsis where something is
/// missing.
#[must_use]
pub fn fit(text: &str, width: f64, size: f64) -> String {
    let mut used = 0.0;
    if width_of_text(text, size) <= width {
        return text.to_owned();
    }
    let mut kept: String = text
        .chars()
        .take_while(|character| {
            used += width_of(*character, size);
            used <= width - size
        })
        .collect();
    kept.push('…');
    kept
}

/// As [`fit`], where what is missing was in the middle: names of benchmarks begin alike and differ
/// at their ends.
#[must_use]
pub fn fit_with_end(text: &str, width: f64, size: f64) -> String {
    if width_of_text(text, size) <= width {
        return text.to_owned();
    }
    let backwards: String = text.chars().rev().collect();
    let half = |text: &str| fit(text, width / 2.0, size).trim_end_matches('…').to_owned();
    let end: String = half(&backwards).chars().rev().collect();
    format!("{}…{end}", half(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        assert_eq!(short(12.0), "12");
        assert_eq!(short(-0.04), "0");
        assert_eq!(short(3.12345), "3.1");
        assert_eq!(short(f64::NAN), "0");
    }

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(
            escape("</text><script>alert('&\"')</script>\u{0}\u{1b}\u{202e}"),
            "&lt;/text&gt;&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;\
             \u{fffd}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn an_image_has_a_name_and_a_description() {
        let mut svg = Svg::new(10.0, 20.5);
        svg.text("label", Anchor::End, [1.0, 2.0], "a<b");
        let alternative = Alternative {
            id: "p1".to_owned(),
            title: "T\"".to_owned(),
            description: "D".to_owned(),
        };
        let text = svg.finish("plot", &alternative);
        assert!(text.contains("role=\"img\" aria-labelledby=\"p1-t p1-d\""), "{text}");
        assert!(text.contains("<title id=\"p1-t\">T&quot;</title>"), "{text}");
        assert!(text.contains("a&lt;b") && text.contains("viewBox=\"0 0 10 20.5\""), "{text}");
    }

    #[test]
    fn long_text_is_cut_where_room_ends() {
        assert_eq!(fit("short", 100.0, 12.0), "short");
        let long = format!("first{}last", "x".repeat(1000));
        let middle = fit_with_end(&long, 100.0, 12.0);
        assert!(middle.starts_with("first") && middle.ends_with("last"), "{middle}");
        assert!(width_of_text(&middle, 12.0) <= 100.0, "{middle}");
        assert_eq!(fit_with_end("short", 100.0, 12.0), "short");
        let cut = fit(&"x".repeat(1000), 100.0, 12.0);
        assert!(cut.ends_with('…') && cut.chars().count() < 16, "{cut}");
    }

    proptest! {
        #[test]
        fn escaped_text_holds_nothing_that_ends_an_element_or_attribute(text: String) {
            let escaped = escape(&text);
            let unsafe_character = |c: char| {
                matches!(c, '<' | '>' | '"' | '\'') || (c.is_control() && !matches!(c, '\n' | '\t'))
            };
            prop_assert!(!escaped.contains(unsafe_character), "{}", escaped);
        }
    }
}

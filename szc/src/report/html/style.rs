//! Style and script of a page, its colours, and the policy that allows them and nothing else.
//!
//! Colours after Okabe and Ito (2008, "Color universal design"), which people with colour-blindness
//! can tell apart, lighter or darker where the background asks for it. Whatever a colour says is
//! said by a word or a shape, too.
#![forbid(unsafe_code)]

use sha2::{Digest, Sha256};

/// The script of a page: choice of the theme.
pub(super) const SCRIPT: &str = include_str!("script.js");

const RULES: &str = include_str!("style.css");

const LIGHT: &str = "color-scheme: light; --page: #f7f7f5; --card: #ffffff; --text: #1b1d21; \
    --quiet: #5a606b; --edge: #d9dbe0; --grid: #e7e8ec; --link: #0b5cad; --blue: #0b67a8; \
    --vermilion: #b84a00; --green: #007a5a; --purple: #a8477f; --orange: #b97a00; --sky: #2b8cc4; \
    --yellow: #8a7b00; --grey: #6b7280;";

const DARK: &str = "color-scheme: dark; --page: #14161a; --card: #1c1f25; --text: #e8eaee; \
    --quiet: #a3a9b5; --edge: #343943; --grid: #2b2f38; --link: #7cc0ff; --blue: #58b4ee; \
    --vermilion: #ff8a4c; --green: #35c79a; --purple: #e08fbf; --orange: #f0b040; --sky: #8fd3ff; \
    --yellow: #e6d84a; --grey: #9aa3b2;";

/// The whole style sheet: the reader's choice of a theme goes before the system's.
#[must_use]
pub(super) fn style() -> String {
    format!(
        ":root {{ {LIGHT} }}\n\
         @media (prefers-color-scheme: dark) {{ :root:not([data-theme=\"light\"]) {{ {DARK} }} }}\n\
         :root[data-theme=\"dark\"] {{ {DARK} }}\n{RULES}"
    )
}

/// The content security policy (CSP level 3) of a page with this style sheet.
#[must_use]
pub(super) fn policy(style: &str) -> String {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        source(style),
        source(SCRIPT)
    )
}

fn source(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

/// Base 64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut word = 0_usize;
        for place in 0..3 {
            word = word << 8 | usize::from(group.get(place).copied().unwrap_or(0));
        }
        for digit in 0..4 {
            if digit <= group.len() {
                text.push(char::from(DIGITS[word >> (18 - 6 * digit) & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_examples_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    /// Relative luminance and contrast of WCAG 2.2, section 1.4.3.
    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |colour: &str| {
            let part = |at: usize| {
                let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn colour<'a>(theme: &'a str, name: &str) -> &'a str {
        let start = theme.find(&format!("--{name}: ")).unwrap() + name.len() + 4;
        &theme[start..start + 7]
    }

    #[test]
    fn text_and_marks_stand_out_from_the_background_in_both_themes() {
        for theme in [LIGHT, DARK] {
            for background in ["page", "card"] {
                let against = |name| contrast(colour(theme, name), colour(theme, background));
                for text in ["text", "quiet", "link", "blue", "vermilion", "green", "grey"] {
                    assert!(against(text) >= 4.5, "{text} on {background}: {}", against(text));
                }
                for mark in ["purple", "orange", "sky", "yellow"] {
                    assert!(against(mark) >= 3.0, "{mark} on {background}: {}", against(mark));
                }
            }
        }
    }
}

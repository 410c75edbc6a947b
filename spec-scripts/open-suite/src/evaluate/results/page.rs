//! The page: tables between marks, everything else written by people.
#![forbid(unsafe_code)]

use std::path::Path;

use anyhow::{Result, bail};

/// Whether `page` has a place for the table called `name`, or a part of one.
pub fn has_place(page: &str, name: &str) -> bool {
    [begin(name), end(name)].iter().any(|mark| page.contains(mark))
}

fn begin(name: &str) -> String {
    format!("<!-- begin {name} -->")
}

fn end(name: &str) -> String {
    format!("<!-- end {name} -->")
}

/// `page` with `content` between `<!-- begin NAME -->` and `<!-- end NAME -->`.
///
/// # Errors
/// When the marks are not there once each, in this order.
pub fn replaced(page: &str, name: &str, content: &str) -> Result<String> {
    let (begin, end) = (begin(name), end(name));
    let once = |mark: &str| page.matches(mark).count() == 1;
    if !once(&begin) || !once(&end) {
        bail!("it must have the lines `{begin}` and `{end}` once each");
    }
    let Some((before, rest)) = page.split_once(&begin) else {
        bail!("`{begin}` is gone");
    };
    let Some((_, after)) = rest.split_once(&end) else {
        bail!("`{end}` stands before `{begin}`");
    };
    Ok(format!("{before}{begin}\n{}\n{end}{after}", content.trim_end()))
}

/// How `page` refers to a file: relative, if that is beside or below it.
pub fn link(page: &Path, file: &Path) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (page, file) = (absolute(page), absolute(file));
    let folder = page.parent().unwrap_or(Path::new("/"));
    file.strip_prefix(folder).unwrap_or(&file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_replaced_and_prose_stays() {
        let page = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n";
        let new = replaced(page, "x", "new\n\n").unwrap();
        assert_eq!(new, "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n");
        assert_eq!(replaced(&new, "x", "new").unwrap(), new);
    }

    #[test]
    fn a_page_without_its_marks_is_refused() {
        for page in ["", "<!-- end x --><!-- begin x -->", "<!-- begin x -->"] {
            assert!(replaced(page, "x", "new").is_err(), "{page}");
        }
        assert!(has_place("<!-- end x -->", "x"));
        assert!(!has_place("<!-- end xy --> begin x", "x"));
    }

    #[test]
    fn files_below_the_page_are_named_relative_to_it() {
        assert_eq!(link(Path::new("/a/R.md"), Path::new("/a/b/c.svg")), "b/c.svg");
        assert_eq!(link(Path::new("/a/R.md"), Path::new("/b/c.svg")), "/b/c.svg");
    }
}

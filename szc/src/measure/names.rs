//! Names of functions and variables.
#![forbid(unsafe_code)]

use std::borrow::Cow;

use addr2line::demangle_auto;

/// A symbol's name as people read it. What is not mangled stays: as the code of a type `f` would be
/// `float`.
#[must_use]
pub fn readable(name: &str) -> String {
    if ["_Z", "_R", "__Z"].iter().any(|prefix| name.starts_with(prefix)) {
        return demangle_auto(Cow::from(name), None).into_owned();
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_the_code_of_a_type_is_no_type() {
        assert_eq!(["f", "i", "_ZN3foo3barEv"].map(readable), ["f", "i", "foo::bar()"]);
    }
}

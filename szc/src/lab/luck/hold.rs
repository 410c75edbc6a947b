//! The variables that hold a function, a pair of functions or a frame at an offset, or blocks at a
//! draw.
#![forbid(unsafe_code)]

use crate::measure::places::draws;
use crate::results::luck::held_in;
use crate::samples::luck::{Feature, NamedRecord};

/// A variable of a program's environment.
pub(super) fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The variable that holds a function, or its frame, there, or blocks whose draws are made from
/// `seed`; as long at each offset, so that it moves no stack.
pub(super) fn hold(named: &NamedRecord, offset: u32, seed: u64) -> (String, String) {
    let NamedRecord { function, feature, .. } = named;
    if *feature == Feature::Draw {
        let least = function.split('-').next().unwrap_or(function);
        return draws(seed, Some((least, offset)));
    }
    let modulus = held_in(*feature);
    if let Some(from) = &named.from {
        return (
            "SZC_PLACE".to_owned(),
            format!("{from}:0000/{modulus},{function}:{offset:04}/{modulus}"),
        );
    }
    let (name, suffix) = match modulus {
        _ if feature.is_of_pad() => ("SZC_PAD", String::new()),
        _ if feature.is_of_frame() => ("SZC_PAD", format!("/{modulus}")),
        64 => ("SZC_PLACE", String::new()),
        _ => ("SZC_PLACE", format!("/{modulus}")),
    };
    (name.to_owned(), format!("{function}:{offset:04}{suffix}"))
}

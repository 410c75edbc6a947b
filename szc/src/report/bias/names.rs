//! What factors and setups are called.
#![forbid(unsafe_code)]

use crate::samples::bias::{Factor, SetupRecord};
use crate::samples::{SamplesFile, printable};

/// A factor in words.
#[must_use]
pub const fn factor_name(factor: Factor) -> &'static str {
    match factor {
        Factor::Env => "size of the environment",
        Factor::Link => "order of objects",
        Factor::Code => "places of functions",
        Factor::Stack => "pads of frames",
        Factor::Heap => "places of blocks",
    }
}

/// A setup in words.
#[must_use]
pub fn setup_name(file: &SamplesFile, setup: &SetupRecord) -> String {
    if let Some(layout) = setup.layout {
        return format!("layout {}", layout + 1);
    }
    let Some(order) = setup.order else { return format!("+{} bytes", setup.size_bytes) };
    let of_program = file.programs.first().map(|program| &program.orders[..]);
    let found = of_program.zip(usize::try_from(order).ok());
    match found.and_then(|(orders, order)| orders.get(order)).map(|order| printable(&order.name)) {
        Some(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => format!("seed {name}"),
        Some(name) => name,
        None => format!("order {order}"),
    }
}

//! ELF files and objects that say what lies in layouts. Bytes in, bytes out.

pub mod file;
mod headers;
pub mod needs;
pub mod object;
pub mod sink;
pub mod source;

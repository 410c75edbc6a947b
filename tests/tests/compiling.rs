//! What the driver, the pass and the link step make of programs.

mod compilers;
mod driver;
mod hidden_symbols;
mod inspect;
mod ir;
mod plugin;
mod resolver;
mod table;

//! Why the functions of an image are pinned, all of them.
#![forbid(unsafe_code)]

use crate::arena::Unavailable;
use crate::table;

/// Why code is not randomized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The image has no relocation table.
    Table(table::Missing),
    /// No function of the image may move.
    NothingMovable,
    /// There is no arena.
    Arena(Unavailable),
    /// The kernel cannot make threads see new code.
    Membarrier,
    /// The kernel does not let a program change its own text.
    Text,
    /// What executes the program does not see its code change.
    Emulated,
    /// Not enough memory.
    Memory,
    /// The processor compares return addresses with a stack of its own.
    ShadowStack,
    /// The unwinder would not find copies.
    HiddenSearch,
    /// A library has brought an unwinder that everybody uses, and that finds no copies.
    OtherUnwinder,
    /// A library's: exceptions would be looked for in a place that knows no copies.
    OwnUnwinder,
}

impl Refused {
    /// What a person reads.
    pub fn text(self) -> &'static str {
        match self {
            Self::Table(table::Missing::File) => "the program's file cannot be read",
            Self::Table(table::Missing::Section) => {
                "its relocation table was stripped, by --strip-sections or sstrip perhaps \
                 (strip and llvm-strip keep it)"
            }
            Self::Table(table::Missing::Malformed) => "the relocation table cannot be read",
            Self::Table(table::Missing::OtherImage) => {
                "the relocation table belongs to another image"
            }
            Self::NothingMovable => "no function of the program may move",
            Self::Arena(Unavailable::Memory(_)) => "the kernel gave no memory for copies of code",
            Self::Arena(Unavailable::Addresses) => "no addresses are free within reach of the code",
            Self::Arena(Unavailable::Budget) => "one layout is larger than SZC_CODE_BUDGET_MIB",
            Self::Arena(Unavailable::FileLimit) => {
                "the limit on file sizes (ulimit -f) is lower than SZC_CODE_BUDGET_MIB"
            }
            Self::Membarrier => "the kernel has no membarrier for code",
            Self::Text => "the kernel does not allow writing to /proc/self/mem",
            Self::Emulated => {
                "changes of code are not seen, by an emulator perhaps \
                 (qemu-user; valgrind needs --smc-check=all)"
            }
            Self::Memory => "not enough memory",
            Self::ShadowStack => "the program runs with a shadow stack (CET)",
            Self::HiddenSearch => {
                "the program hides _Unwind_Find_FDE from the unwinder, by a version script perhaps"
            }
            Self::OtherUnwinder => {
                "something else than libgcc unwinds (libunwind perhaps), which finds no copies"
            }
            Self::OwnUnwinder => {
                "the program has an unwinder of its own, which libraries do not use"
            }
        }
    }
}

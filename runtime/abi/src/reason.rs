//! Why functions are pinned, and why frames keep their size.

use crate::stack::Stay;

macro_rules! reasons {
    ($(#[$about:meta])* $kind:ident
        $($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum $kind { $($(#[$doc])* $name = $code,)* }

        impl $kind {
            /// Every reason, in the order of its codes.
            pub const ALL: &'static [$kind] = &[$($kind::$name,)*];

            /// The reason of a code, if the code has one.
            #[must_use]
            pub fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// What a person reads.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

// 11 was a reason once and means nothing else.
reasons! {
    /// Why a function is pinned.
    Reason
    /// Fewer bytes than the jump that would replace its entry.
    TooShort = 1, "shorter than the jump that would replace its entry";
    /// Two symbols describe overlapping ranges of different extent.
    Overlaps = 2, "overlaps another function";
    /// Some byte does not begin an instruction that can be decoded.
    Undecodable = 3, "has bytes that do not decode as instructions";
    /// A short branch leaves the function.
    ShortBranchOut = 4, "leaves by a branch of 8 bits, which cannot reach a moved target";
    /// The last instruction continues into whatever follows.
    FallsThrough = 5, "runs on past its end";
    /// A relocation does not coincide with a decoded field.
    RelocationMismatch = 6, "has a relocation that does not match its instructions";
    /// A relocation of a kind that is not understood.
    RelocationUnknown = 7, "has a relocation of a kind that szc does not know";
    /// Code or data outside refers to its middle in a way that cannot be retargeted.
    InteriorReferenced = 8, "its middle is referred to from outside";
    /// An address of its middle lies in data that cannot be retargeted.
    InteriorInData = 9, "an address of its middle lies in data that cannot be retargeted";
    /// It calls into its own middle to learn its own address.
    CallsItsMiddle = 10, "calls into its own middle";
    /// The image's entry point runs before the runtime.
    EntryPoint = 12, "runs before the runtime starts";
    /// It lies in a section that the C runtime start-up falls through.
    StartupSection = 13, "lies in a section that start-up code runs through";
    /// The runtime itself, or something it calls.
    Runtime = 14, "is part of szc's runtime or called by it";
    /// The C library runs parts of itself before the runtime starts, and holds locks of its own
    /// where it calls others.
    CLibrary = 15, "belongs to the C library, parts of which run before the runtime";
    /// Chosen by the dynamic loader before the runtime starts.
    IfuncResolver = 16, "is an ifunc resolver, which the loader calls";
    /// libc looks at the return address of its caller and would not know a copy.
    CallerMatters = 18, "asks the loader for the next symbol behind the caller";
    /// The loader and libc call the allocator before the runtime starts, and when threads begin and
    /// end.
    Allocator = 19, "is an allocator, which the C library calls before the runtime starts";
    /// It lies too far from the image's start for the table.
    OutOfRange = 17, "lies more than 1 GiB from the start of the image";
    /// `naked` in the source.
    Naked = 20, "is naked: its body is the author's assembly";
    /// Something else patches its entry (`-fpatchable-function-entry`, XRay, `fentry`).
    PatchedByOthers = 21, "has a patchable entry of its own, for something else";
    /// The hardware enters it.
    Interrupt = 22, "is an interrupt handler";
    /// Its inline assembly reaches outside of it.
    Assembly = 23, "has inline assembly that defines symbols or writes to other sections";
    /// The linker or a tool dropped the relocations of a jump table.
    TableUnexplained = 24, "jumps by a table whose entries no relocation explains";
    /// Its language's runtime looks return addresses up in a table of its own, which has none of
    /// copies.
    PcTable = 25, "is in Go's table of return addresses (.gopclntab), which has none of copies";
}

reasons! {
    /// Why a frame that the compiler prepared for it cannot have another size in copies.
    FixedFrame
    /// No instruction takes the frame by a constant of 4 bytes.
    NoSite = 1, "its frame is not taken by a constant of 4 bytes";
    /// The frame is given back by a constant of one byte.
    ShortConstant = 2, "its frame is given back by a constant of one byte";
    /// An address above the frame is formed from the stack pointer.
    Above = 3, "it reaches above its frame by the stack pointer";
    /// Two ways lead to an instruction with different frames.
    Ambiguous = 4, "its frame is not the same on all ways to an instruction";
    /// The stack pointer is used in a way that is not understood.
    Unusual = 5, "it uses the stack pointer in a way that szc does not know";
    /// The FDE does not say what the instructions do, or is in an unusual form.
    Unwinding = 6, "its FDE does not agree with its instructions";
    /// Another function jumps into its middle, or it into another's.
    Parts = 7, "it is a part of a function of several parts";
    /// The program may jump to one of its labels from another copy.
    Labels = 8, "the program can read addresses of its labels";
    /// The pad would lie above variables.
    Addressed = 9, "addresses of its variables escape, and no frame pointer leads to them";
    /// An indirect jump with the frame taken.
    Jump = 10, "it jumps with its frame taken to places that are not all known";
    /// Go takes 32 KiB below the frame in which C calls it for the stack, and pads could lead out
    /// of them.
    StackBounds = 11, "Go assumes bounds of the stack in which C calls it";
}

impl From<Stay> for Reason {
    fn from(stay: Stay) -> Self {
        match stay {
            Stay::Naked => Self::Naked,
            Stay::Patched => Self::PatchedByOthers,
            Stay::Interrupt => Self::Interrupt,
            Stay::Assembly => Self::Assembly,
        }
    }
}

//! What a piece of inline assembly does that a pad or a move would disturb, as far as its text
//! says.

/// Registers for operands that LLVM finds for sure beside a frame pointer and a base pointer.
const SAFE_REGISTERS: usize = 10;

/// Directives of the GNU assembler that switch to another section or define symbols.
const OUTWARD_DIRECTIVES: [&str; 21] = [
    ".section",
    ".pushsection",
    ".popsection",
    ".previous",
    ".subsection",
    ".text",
    ".data",
    ".bss",
    ".globl",
    ".global",
    ".local",
    ".weak",
    ".hidden",
    ".set",
    ".equ",
    ".symver",
    ".type",
    ".size",
    ".comm",
    ".lcomm",
    ".weakref",
];

/// A piece of inline assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Assembly {
    /// It names the stack or the frame pointer.
    pub names_stack: bool,
    /// It puts something into another section or defines a symbol.
    pub leaves_function: bool,
    /// It names the register that frames with large alignments and a variable size need.
    names_base: bool,
    /// Registers that it may need at once.
    registers: usize,
}

impl Assembly {
    /// Reads the text and the constraints as they stand in LLVM's IR.
    pub(super) fn read(text: &str, constraints: &str) -> Self {
        let names = |registers: &[&str]| {
            identifiers(text).chain(identifiers(constraints)).any(|name| registers.contains(&name))
        };
        Self {
            names_stack: names(&["rsp", "esp", "sp", "spl", "rbp", "ebp", "bp", "bpl"]),
            leaves_function: text.split(['\n', ';']).any(defines_or_switches),
            names_base: names(&["rbx", "ebx", "bx", "bl", "bh"]),
            registers: constraints.split(',').map(registers_of).sum(),
        }
    }

    /// Whether it could need registers that a padded frame takes for itself.
    pub(super) fn needs_registers(&self, realigned: bool) -> bool {
        self.registers > SAFE_REGISTERS || (realigned && self.names_base)
    }
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| !name.is_empty())
}

/// Whether a statement switches sections or defines a symbol that others can see.
fn defines_or_switches(statement: &str) -> bool {
    let mut statement = statement.trim_start();
    // Labels, of which there may be several in front of the statement itself.
    while let Some((label, rest)) = statement.split_once(':') {
        // `%=` of the source; its own colon is no label's.
        if label.ends_with("${") {
            break;
        }
        if !label.chars().all(|c| c.is_ascii_alphanumeric() || "_.$@".contains(c)) {
            break;
        }
        let local = label.starts_with(".L") || label.chars().all(|c| c.is_ascii_digit());
        if !local && !label.is_empty() {
            return true;
        }
        statement = rest.trim_start();
    }
    let first = statement.split_whitespace().next().unwrap_or("");
    if OUTWARD_DIRECTIVES.contains(&first) {
        return true;
    }
    let rest = statement[first.len()..].trim_start();
    let is_name = first.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_name && rest.starts_with('=') && !first.starts_with(".L")
}

/// How many general registers an operand or clobber may take; too many rather than too few.
fn registers_of(constraint: &str) -> usize {
    let constraint = constraint.trim_start_matches(['=', '+', '&', '*', '%', '!']);
    if let Some(clobber) = constraint.strip_prefix("~{") {
        let name = clobber.trim_end_matches('}');
        let general = name.starts_with(['r', 'e'])
            || matches!(name, "ax" | "bx" | "cx" | "dx" | "si" | "di" | "al" | "bl" | "cl" | "dl");
        return usize::from(general);
    }
    match constraint {
        // The same register as another operand.
        _ if constraint.chars().all(|c| c.is_ascii_digit()) => 0,
        "i" | "n" | "s" | "X" | "x" | "v" | "y" | "t" | "u" | "f" => 0,
        // Base and index.
        _ if constraint.contains('m') || constraint.contains('o') => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::Assembly;

    const CLOBBERS: &str = "~{dirflag},~{fpsr},~{flags}";

    #[test]
    fn the_stack_and_frame_pointers_are_found_in_text_and_constraints() {
        for (text, constraints) in [
            ("movq %rsp, $0", "=r"),
            ("push %rbp; pop %rbp", CLOBBERS),
            ("", "={rbp}"),
            ("", "~{ebp}"),
            ("mov $0, rsp", "r"),
        ] {
            assert!(Assembly::read(text, constraints).names_stack, "{text} {constraints}");
        }
        for (text, constraints) in
            [("pushfq; popq $0", "=r"), ("bsr $1, $0", "=r,r"), ("", CLOBBERS)]
        {
            assert!(!Assembly::read(text, constraints).names_stack, "{text} {constraints}");
        }
    }

    #[test]
    fn directives_and_labels_that_leave_the_function_are_found() {
        for text in [
            ".pushsection .discard\n.popsection",
            "nop; .globl entry",
            "entry: nop",
            "1: entry: nop",
            ".set here, .",
            "here = .",
            "\t.symver f,f@V1\n",
        ] {
            assert!(Assembly::read(text, "").leaves_function, "{text}");
        }
        for text in [
            "1: jmp 1b",
            ".Llocal: nop",
            "again${:uid}: jmp again${:uid}",
            ".p2align 4\n nop",
            ".byte 0x0f, 0x0b",
            "movl %fs:0, $0",
            "lock; cmpxchg $0, $1",
        ] {
            assert!(!Assembly::read(text, "").leaves_function, "{text}");
        }
    }

    #[test]
    fn a_piece_that_takes_nearly_all_registers_is_left_alone() {
        let many = ["=r"; 11].join(",");
        assert!(Assembly::read("", &many).needs_registers(false));
        let few = format!("=r,r,0,{CLOBBERS},~{{memory}},~{{xmm0}},~{{rax}}");
        assert!(!Assembly::read("", &few).needs_registers(true));
    }

    #[test]
    fn the_base_pointer_matters_in_realigned_frames_only() {
        let cpuid = Assembly::read("cpuid", "={ax},={bx},={cx},={dx},0");
        assert!(cpuid.needs_registers(true));
        assert!(!cpuid.needs_registers(false));
    }
}

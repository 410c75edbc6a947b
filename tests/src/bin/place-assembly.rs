//! Puts into clang's assembly what randomization does to placement, by constants: for
//! `campaign/placement.sh`, which asks what that costs where nothing of szc runs.
//!
//! *Pads*: frames are larger by 0 to 4080 bytes, which follow from the seed and the function's
//! name. Only frames get one that are taken by pushes and one subtraction and given back by one
//! addition and as many pops, in functions that call something and reach no argument on the stack:
//! about half of all functions, where szc pads two in three.
//!
//! *Entries*: pointers to functions lead to a jump in a cache line of its own, by way of a word. A
//! function's address must not change when it moves, nor may text, so whatever moves functions has
//! such a jump.
//!
//! Unwind rules stay as they were, so the program must not unwind.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};

use anyhow::{Context, Result};
use clap::Parser;

/// Reads assembly, and writes it with pads or entries.
#[derive(Parser)]
#[command(name = "place-assembly")]
struct Options {
    /// Frames get pads that follow from this number
    #[arg(long)]
    pads: Option<u64>,
    /// Pointers to functions lead to a jump
    #[arg(long)]
    entries: bool,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the assembly")?;
    if let Some(seed) = options.pads {
        let (padded, count, functions) = with_pads(&text, |name| pad(seed, name));
        eprintln!("{count} of {functions} functions have pads");
        text = padded;
    }
    if options.entries {
        let (entered, count) = with_entries(&text);
        eprintln!("{count} functions have entries");
        text = entered;
    }
    std::io::stdout().write_all(text.as_bytes()).context("cannot write the assembly")
}

/// Bytes that a function's frame grows by.
fn pad(seed: u64, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, name).hash(&mut hasher);
    16 * (hasher.finish() % 256)
}

/// The text with pads, how many functions have one, and how many functions there are.
fn with_pads(text: &str, pad_of: impl Fn(&str) -> u64) -> (String, usize, usize) {
    let (mut out, mut padded, mut functions) = (Vec::new(), 0, 0);
    let mut lines = text.lines();
    let mut name = "";
    while let Some(line) = lines.next() {
        out.push(line.to_owned());
        if let Some(label) = line.split(':').next().filter(|label| is_name(label)) {
            name = label;
        }
        if line.trim() != ".cfi_startproc" {
            continue;
        }
        let body: Vec<&str> =
            lines.by_ref().take_while(|line| line.trim() != ".cfi_endproc").collect();
        functions += 1;
        if let Some(frame) = Frame::of(&body) {
            padded += 1;
            out.extend(frame.grown(&body, pad_of(name)));
        } else {
            out.extend(body.into_iter().map(str::to_owned));
        }
        out.push("\t.cfi_endproc".to_owned());
    }
    (out.join("\n") + "\n", padded, functions)
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    !text.is_empty()
        && text.chars().all(is_part)
        && !text.starts_with(|c: char| c == '.' || c.is_ascii_digit())
}

/// An instruction: mnemonic and operands, as clang writes them.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix('\t')?.split('#').next()?.trim_end();
    let (mnemonic, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    mnemonic.starts_with(|c: char| c.is_ascii_lowercase()).then_some((mnemonic, operands.trim()))
}

/// Where a frame is taken and given back, as lines of the function.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    /// The line that a pad is taken in front of, and the subtraction there, if there is one
    /// already.
    take: (usize, bool),
    /// The same for each end.
    gives: Vec<(usize, bool)>,
    /// Bytes below what is pushed.
    bytes: u64,
}

impl Frame {
    /// That of a function, if it can have another size.
    fn of(body: &[&str]) -> Option<Self> {
        let lines = body.iter().enumerate();
        let code: Vec<(usize, &str, &str)> = lines
            .filter_map(|(at, line)| instruction(line).map(|(name, operands)| (at, name, operands)))
            .collect();
        code.iter().any(|&(_, name, _)| name == "callq").then_some(())?;
        let takes = |operands: &str| {
            operands.strip_prefix('$')?.strip_suffix(", %rsp")?.parse::<u64>().ok()
        };
        let first = code.iter().position(|&(_, name, operands)| {
            name == "pushq" || name == "subq" && takes(operands).is_some()
        })?;
        let pushes = code[first..].iter().take_while(|&&(_, name, _)| name == "pushq").count();
        let &(behind_pushes, name, operands) = code.get(first + pushes)?;
        let subtracts = if name == "subq" { takes(operands) } else { None };
        let bytes = subtracts.unwrap_or(0);
        let rest = &code[first + pushes + usize::from(subtracts.is_some())..];
        let whole = 8 * pushes as u64 + bytes;
        if rest.iter().any(|&(_, name, operands)| moves_otherwise(name, operands))
            || code.iter().any(|&(_, _, operands)| reaches(operands, whole))
        {
            return None;
        }
        let mut gives = Vec::new();
        let mut index = 0;
        while let Some(&(at, name, operands)) = rest.get(index) {
            let adds = name == "addq" && operands.ends_with(", %rsp");
            if adds {
                // One push without a subtraction may also end in an addition.
                let only = bytes == 0 && pushes == 1 && takes(operands) == Some(8);
                if !only && (bytes == 0 || takes(operands) != Some(bytes)) {
                    return None;
                }
                index += 1;
                if only {
                    gives.push((at, false));
                    continue;
                }
            }
            let pops = rest[index..].iter().take_while(|&&(_, name, _)| name == "popq").count();
            if adds || pops > 0 {
                if pops != pushes || adds != (bytes > 0) {
                    return None;
                }
                gives.push((at, adds));
                index += pops;
            } else {
                index += 1;
            }
        }
        Some(Self { take: (behind_pushes, subtracts.is_some()), gives, bytes })
    }

    /// The function with a frame that is larger by so many bytes. All constants have four, so that
    /// the pad does not change how long the code is.
    fn grown(&self, body: &[&str], pad: u64) -> Vec<String> {
        let mut out: Vec<Vec<String>> = body.iter().map(|line| vec![(*line).to_owned()]).collect();
        let mut put = |(at, replaces): (usize, bool), modrm: u8| {
            let constant = if replaces { self.bytes + pad } else { pad };
            let code = format!("\t.byte 0x48, 0x81, {modrm:#x}\n\t.long {constant}");
            if replaces {
                out[at] = vec![code];
            } else {
                out[at].insert(0, code);
            }
        };
        put(self.take, 0xec); // sub
        for &give in &self.gives {
            put(give, 0xc4); // add
        }
        out.concat()
    }
}

/// Whether an instruction behind the beginning moves the stack pointer, or takes its value, as an
/// ordinary frame does not.
fn moves_otherwise(name: &str, operands: &str) -> bool {
    let writes = operands.ends_with(", %rsp");
    name == "pushq"
        || name == "leave"
        || writes && !name.starts_with("addq") && !name.starts_with("cmp")
        || name == "movq" && operands == "%rsp, %rbp"
}

/// Whether an operand lies so many bytes above the stack pointer, or farther.
fn reaches(operands: &str, whole: u64) -> bool {
    operands.match_indices("(%rsp").any(|(end, _)| {
        let digits = |c: char| !c.is_ascii_digit() && c != '-';
        let start = operands[..end].rfind(digits).map_or(0, |before| before + 1);
        let distance = if start == end { Ok(0) } else { operands[start..end].parse::<i64>() };
        distance.map_or(true, |distance| distance >= whole.cast_signed())
    })
}

/// The text in which pointers to its functions lead to entries, and how many there are.
fn with_entries(text: &str) -> (String, usize) {
    let functions: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("\t.type\t")?.strip_suffix(",@function"))
        .collect();
    let mut entered = BTreeSet::new();
    let mut out = String::new();
    for line in text.lines() {
        match pointer(line).filter(|(name, _)| functions.contains(name)) {
            Some((name, end)) => {
                entered.insert(name);
                out.push_str(&line[..end]);
                out.push_str(".entry");
                out.push_str(&line[end..]);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    for name in &entered {
        out.push_str(&format!(
            "\t.section\t.text.entry.{name},\"ax\",@progbits\n\t.p2align\t6\n\
             \t.type\t{name}.entry,@function\n{name}.entry:\n\tjmpq\t*.Lto.{name}(%rip)\n\
             \t.section\t.data.entries,\"aw\",@progbits\n\t.p2align\t3\n.Lto.{name}:\n\t.quad\t{name}\n\t.text\n"
        ));
    }
    (out, entered.len())
}

/// The name whose address a line takes, and where in the line it ends.
fn pointer(line: &str) -> Option<(&str, usize)> {
    let behind = |from: usize| {
        let name = |c: char| !c.is_ascii_alphanumeric() && !"_.$".contains(c);
        let length = line[from..].find(name).unwrap_or(line.len() - from);
        (&line[from..from + length], from + length)
    };
    const DATA: &str = "\t.quad\t";
    let (mnemonic, operands) = match instruction(line) {
        Some(found) => found,
        None if line.starts_with(DATA) => return Some(behind(DATA.len())),
        None => return None,
    };
    // In front of operands lie a tab, the mnemonic and white space.
    let behind_mnemonic = 1 + mnemonic.len();
    let space = line[behind_mnemonic..].find(|c: char| !c.is_whitespace())?;
    let (name, end) = behind(behind_mnemonic + space);
    let takes = mnemonic == "leaq" && line[end..].starts_with("(%rip)")
        || operands.contains("@GOTPCREL(%rip)");
    takes.then_some((name, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTION: &str = "f:\n\t.cfi_startproc\n\tpushq\t%rbx\n\tsubq\t$32, %rsp\n\tmovl\t%edi, 8(%rsp)\n\
        \tcallq\tg\n\taddq\t$32, %rsp\n\tpopq\t%rbx\n\tretq\n\t.cfi_endproc\n";

    fn padded(text: &str) -> Option<String> {
        let (text, count, functions) = with_pads(text, |name| if name == "f" { 160 } else { 0 });
        assert_eq!(functions, 1);
        (count == 1).then_some(text)
    }

    #[test]
    fn a_frame_grows_where_it_is_taken_and_given_back() {
        let text = padded(FUNCTION).unwrap();
        assert!(
            text.contains("\tpushq\t%rbx\n\t.byte 0x48, 0x81, 0xec\n\t.long 192\n\tmovl"),
            "{text}"
        );
        assert!(
            text.contains("\tcallq\tg\n\t.byte 0x48, 0x81, 0xc4\n\t.long 192\n\tpopq"),
            "{text}"
        );
    }

    #[test]
    fn a_frame_of_a_push_alone_gets_instructions_of_its_own() {
        let ends = [("\tpopq\t%rax\n", "popq"), ("\taddq\t$8, %rsp\n", "addq")];
        for (end, name) in ends {
            let text = format!(
                "f:\n\t.cfi_startproc\n\tpushq\t%rax\n\tcallq\tg\n{end}\tretq\n\t.cfi_endproc\n"
            );
            let text = padded(&text).unwrap();
            assert!(
                text.contains("\tpushq\t%rax\n\t.byte 0x48, 0x81, 0xec\n\t.long 160\n\tcallq"),
                "{text}"
            );
            assert!(
                text.contains(&format!("\t.byte 0x48, 0x81, 0xc4\n\t.long 160\n\t{name}")),
                "{text}"
            );
        }
    }

    #[test]
    fn frames_that_are_not_understood_keep_their_size() {
        let reaches_argument = FUNCTION.replace("8(%rsp)", "48(%rsp)");
        let pushes_argument = FUNCTION.replace("\tcallq\tg\n", "\tpushq\t%rax\n\tcallq\tg\n");
        let calls_nothing = FUNCTION.replace("\tcallq\tg\n", "");
        let copies = FUNCTION.replace("\tcallq\tg\n", "\tmovq\t%rsp, %rbp\n\tcallq\tg\n");
        let ends_otherwise = FUNCTION.replace("\tpopq\t%rbx\n", "");
        for text in [reaches_argument, pushes_argument, calls_nothing, copies, ends_otherwise] {
            assert_eq!(padded(&text), None, "{text}");
        }
    }

    #[test]
    fn pointers_lead_to_an_entry_and_calls_do_not() {
        let text = "\t.type\tf,@function\n\t.quad\tf\n\t.quad\tother\n\tleaq\tf(%rip), %rdi\n\
            \tmovq\tf@GOTPCREL(%rip), %rax\n\tcallq\tf\n\tjmp\tf\n\tretq\n";
        let (text, count) = with_entries(text);
        assert_eq!(count, 1);
        let expected = "\t.quad\tf.entry\n\t.quad\tother\n\tleaq\tf.entry(%rip), %rdi\n\
            \tmovq\tf.entry@GOTPCREL(%rip), %rax\n\tcallq\tf\n\tjmp\tf\n\tretq\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("f.entry:\n\tjmpq\t*.Lto.f(%rip)\n"), "{text}");
        assert!(text.contains(".Lto.f:\n\t.quad\tf\n"), "{text}");
    }

    #[test]
    fn pads_cover_their_range() {
        let pads: BTreeSet<u64> = (0..4096).map(|seed| pad(seed, "f")).collect();
        assert_eq!((pads.len(), pads.first(), pads.last()), (256, Some(&0), Some(&4080)));
    }
}

//! What a build may randomize, and how a user says so: `-Rcode`, `-Rstack`, `-Rheap`, `-Rlink`,
//! `-Rall`, `-Rnone`, or the same without `-R` in `SZC_BUILD`. `-Rstack=per-function` is `-Rstack`
//! by the scheme of the STABILIZER paper. `-Rpaths` makes a program for `szc paths`: code moves,
//! and tells of its blocks, but the stack is left alone.
//!
//! Without any of these flags a build randomizes code, stack and heap. With some, it
//! randomizes the union of what they name; `-Rnone` cancels those before it. `SZC_BUILD`
//! replaces the flags on the command line, for build systems that cannot pass any. clang's own
//! `-R…` (optimization remarks) are other flags.

use anyhow::bail;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The environment variable that overrides the flags.
pub const BUILD_VARIABLE: &str = "SZC_BUILD";

/// One thing that changes while a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Functions move while the program runs.
    Code,
    /// Random padding between stack frames.
    Stack,
    /// Heap blocks are handed out in random order.
    Heap,
}

impl Feature {
    const ALL: [Feature; 3] = [Feature::Code, Feature::Stack, Feature::Heap];

    const fn name(self) -> &'static str {
        match self {
            Feature::Code => "code",
            Feature::Stack => "stack",
            Feature::Heap => "heap",
        }
    }
}

/// One choice of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Randomize this too.
    One(Feature),
    /// Randomize the stack with a pad table for each image, and a pad for each call.
    StackPerCall,
    /// Randomize the stack with a pad table and an index for each function.
    StackPerFunction,
    /// Link object files in random order.
    Link,
    /// Tell the runtime of blocks that are executed.
    Paths,
    /// Randomize code, stack and heap.
    All,
    /// Forget the choices so far and randomize nothing.
    None,
}

impl Choice {
    fn parse(text: &[u8]) -> Option<Self> {
        match text {
            b"all" => Some(Choice::All),
            b"paths" => Some(Choice::Paths),
            b"none" => Some(Choice::None),
            b"link" => Some(Choice::Link),
            b"stack=per-call" => Some(Choice::StackPerCall),
            b"stack=per-function" => Some(Choice::StackPerFunction),
            _ => Feature::ALL
                .into_iter()
                .find(|feature| feature.name().as_bytes() == text)
                .map(Choice::One),
        }
    }

    /// The meaning of an argument, if it is one of the driver's own.
    #[must_use]
    pub fn from_flag(flag: &[u8]) -> Option<Self> {
        flag.strip_prefix(b"-R").and_then(Self::parse)
    }
}

/// Where the pads of frames come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PadSource {
    /// From the copies of moving code: one for each function and layout.
    Copies,
    /// From a table of the image, by an index of the thread: another one for each call.
    ImageTable,
    /// From a table and an index of each function: the scheme of STABILIZER's paper.
    FunctionTables,
}

/// What a build is asked to randomize.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    choices: Vec<Choice>,
}

impl Request {
    /// The request to randomize nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self { choices: vec![Choice::None] }
    }

    /// Adds a choice; a later [`Choice::None`] cancels it.
    pub fn add(&mut self, choice: Choice) {
        if choice == Choice::None {
            self.choices.clear();
        }
        self.choices.push(choice);
    }

    /// Reads the value of [`BUILD_VARIABLE`]; an empty value counts as absent.
    ///
    /// # Errors
    /// A value that is none of the allowed ones.
    pub fn from_environment(value: Option<&OsStr>) -> anyhow::Result<Option<Self>> {
        let Some(value) = value else { return Ok(None) };
        let mut request = Request::default();
        let values = value
            .as_bytes()
            .split(|byte| *byte == b',' || byte.is_ascii_whitespace())
            .filter(|text| !text.is_empty());
        for text in values {
            match Choice::parse(text) {
                Some(choice) => request.add(choice),
                None => bail!(
                    "{BUILD_VARIABLE}={}: '{}' is none of its values; use code, stack, \
                     stack=per-call, stack=per-function, heap, link, paths, all or none, \
                     separated by commas",
                    value.display(),
                    String::from_utf8_lossy(text),
                ),
            }
        }
        Ok((!request.choices.is_empty()).then_some(request))
    }

    /// Whether the build randomizes this.
    #[must_use]
    pub fn includes(&self, feature: Feature) -> bool {
        match feature {
            // The runtime comes with moving code.
            Feature::Code if self.tells_of_blocks() => true,
            Feature::Stack if self.tells_of_blocks() => false,
            _ => {
                self.choices.is_empty()
                    || self.choices.contains(&Choice::All)
                    || self.choices.contains(&Choice::One(feature))
                    || (feature == Feature::Stack && self.stack_choice().is_some())
            }
        }
    }

    /// Whether objects are to be linked in random order.
    #[must_use]
    pub fn shuffles_objects(&self) -> bool {
        self.choices.contains(&Choice::Link)
    }

    /// Whether code is to tell the runtime of the blocks that it executes.
    #[must_use]
    pub fn tells_of_blocks(&self) -> bool {
        self.choices.contains(&Choice::Paths)
    }

    /// Where pads come from.
    #[must_use]
    pub fn pads(&self) -> PadSource {
        match self.stack_choice() {
            Some(Choice::StackPerFunction) => PadSource::FunctionTables,
            None if self.includes(Feature::Code) => PadSource::Copies,
            _ => PadSource::ImageTable,
        }
    }

    /// The last choice that says where pads come from.
    fn stack_choice(&self) -> Option<Choice> {
        let says =
            |choice: &Choice| matches!(choice, Choice::StackPerCall | Choice::StackPerFunction);
        self.choices.iter().copied().rfind(says)
    }

    /// Whether nothing changes while the program runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !Feature::ALL.into_iter().any(|feature| self.includes(feature))
    }

    /// The request without one thing.
    #[must_use]
    pub fn without(&self, excluded: Feature) -> Self {
        let mut choices = vec![Choice::None];
        choices.extend(
            Feature::ALL
                .into_iter()
                .filter(|&feature| feature != excluded && self.includes(feature))
                .map(Choice::One),
        );
        if excluded != Feature::Code && self.tells_of_blocks() {
            choices.push(Choice::Paths);
        }
        if excluded != Feature::Stack {
            choices.extend(self.stack_choice());
        }
        Self { choices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_flags(flags: &[&str]) -> Request {
        let mut request = Request::default();
        for flag in flags {
            request.add(Choice::from_flag(flag.as_bytes()).expect("an own flag"));
        }
        request
    }

    fn from_variable(value: &str) -> anyhow::Result<Option<Request>> {
        Request::from_environment(Some(OsStr::new(value)))
    }

    #[test]
    fn the_request_is_the_union_of_the_flags_after_the_last_none() {
        for (flags, code) in [
            (&[][..], true),
            (&["-Rcode"], true),
            (&["-Rall"], true),
            (&["-Rnone"], false),
            (&["-Rstack"], false),
            (&["-Rstack", "-Rcode"], true),
            (&["-Rcode", "-Rnone"], false),
            (&["-Rnone", "-Rcode"], true),
            (&["-Rnone", "-Rall"], true),
        ] {
            assert_eq!(from_flags(flags).includes(Feature::Code), code, "{flags:?}");
        }
    }

    #[test]
    fn the_order_of_objects_is_a_thing_of_its_own() {
        let request = from_flags(&["-Rlink"]);
        assert!(request.shuffles_objects() && request.is_empty());
        assert!(!from_flags(&["-Rall"]).shuffles_objects());
        assert!(!from_flags(&["-Rlink", "-Rnone", "-Rstack"]).shuffles_objects());
        let both = from_flags(&["-Rall", "-Rlink"]);
        assert!(both.shuffles_objects() && both.includes(Feature::Code));
    }

    #[test]
    fn pads_per_function_are_a_way_of_randomizing_the_stack() {
        let request = from_flags(&["-Rstack=per-function"]);
        assert!(request.includes(Feature::Stack) && !request.includes(Feature::Code));
        let all = from_flags(&["-Rall", "-Rstack=per-function"]);
        assert!(all.includes(Feature::Heap));
        assert_eq!(all.pads(), PadSource::FunctionTables);
        for (flags, pads) in [
            (&["-Rstack"][..], PadSource::ImageTable),
            (&[], PadSource::Copies),
            (&["-Rcode", "-Rstack"], PadSource::Copies),
            (&["-Rall", "-Rstack=per-call"], PadSource::ImageTable),
            (&["-Rstack=per-function", "-Rstack=per-call"], PadSource::ImageTable),
        ] {
            assert_eq!(from_flags(flags).pads(), pads, "{flags:?}");
        }
    }

    #[test]
    fn taking_one_thing_out_leaves_the_others() {
        for flags in [&[][..], &["-Rall"], &["-Rcode", "-Rheap", "-Rstack=per-function"]] {
            let rest = from_flags(flags).without(Feature::Code);
            assert!(!rest.includes(Feature::Code), "{flags:?}");
            assert!(rest.includes(Feature::Heap) && rest.includes(Feature::Stack), "{flags:?}");
        }
        let nothing = from_flags(&["-Rcode"]).without(Feature::Code);
        assert!(nothing.is_empty());
        assert!(from_flags(&["-Rstack=per-function"]).without(Feature::Stack).is_empty());
    }

    #[test]
    fn remark_flags_of_clang_are_not_own_flags() {
        for flag in [
            "-R",
            "-Rpass",
            "-Rpass=inline",
            "-Rpass-missed=loop",
            "-Reverything",
            "-Rcode-gen",
            "-Rno-code",
            "-Rstack=",
            "-Rstack=shared",
            "--Rcode",
        ] {
            assert_eq!(Choice::from_flag(flag.as_bytes()), None, "{flag}");
        }
    }

    #[test]
    fn the_variable_takes_values_separated_by_commas_or_spaces() {
        let request = from_variable("none, code  heap").expect("valid");
        assert_eq!(request, Some(from_flags(&["-Rnone", "-Rcode", "-Rheap"])));
    }

    #[test]
    fn an_empty_variable_counts_as_absent() {
        assert_eq!(from_variable(" , ").expect("valid"), None);
        assert_eq!(Request::from_environment(None).expect("valid"), None);
    }

    #[test]
    fn a_malformed_variable_is_an_error_that_names_variable_value_and_choices() {
        let message = from_variable("code,Stack").expect_err("malformed").to_string();
        assert!(message.contains("SZC_BUILD=code,Stack"), "{message}");
        assert!(message.contains("'Stack'"), "{message}");
        assert!(
            message.contains(
                "code, stack, stack=per-call, stack=per-function, heap, link, paths, all or none"
            ),
            "{message}"
        );
    }
}

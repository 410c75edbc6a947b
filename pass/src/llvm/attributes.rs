//! Attributes of functions and of their parameters, by name.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::values::FunctionValue;

/// What a function is asked about its attributes.
pub(crate) trait Attributes: Copy {
    /// Whether it has an attribute that LLVM knows by number.
    fn has(self, attribute: &str) -> bool;
    /// Whether a parameter has an attribute that LLVM knows by number.
    fn any_parameter_has(self, attribute: &str) -> bool;
    /// Takes an attribute away that LLVM knows by number.
    fn remove(self, attribute: &str);
    /// The value of an attribute that LLVM knows by its text.
    fn text_attribute(self, name: &str) -> Option<String>;

    /// Whether the value of an attribute that LLVM knows by its text is this one.
    fn text_attribute_is(self, name: &str, value: &str) -> bool {
        self.text_attribute(name).is_some_and(|present| present == value)
    }

    /// Whether it is to have a frame pointer if it calls anything.
    fn keeps_frame_pointer(self) -> bool {
        let wanted = self.text_attribute("frame-pointer");
        wanted.is_some_and(|wanted| wanted != "none" && wanted != "reserved")
    }
}

impl Attributes for FunctionValue<'_> {
    fn has(self, attribute: &str) -> bool {
        self.get_enum_attribute(AttributeLoc::Function, kind(attribute)).is_some()
    }

    fn any_parameter_has(self, attribute: &str) -> bool {
        let kind = kind(attribute);
        (0..self.count_params())
            .any(|index| self.get_enum_attribute(AttributeLoc::Param(index), kind).is_some())
    }

    fn remove(self, attribute: &str) {
        self.remove_enum_attribute(AttributeLoc::Function, kind(attribute));
    }

    fn text_attribute(self, name: &str) -> Option<String> {
        let attribute = self.get_string_attribute(AttributeLoc::Function, name)?;
        Some(attribute.get_string_value().to_string_lossy().into_owned())
    }
}

/// The number of an attribute.
pub(super) fn kind(attribute: &str) -> u32 {
    let kind = Attribute::get_named_enum_kind_id(attribute);
    assert_ne!(kind, 0, "LLVM knows no attribute {attribute}");
    kind
}

//! Which functions can meet no check: those without loops that call nothing else. Whether the
//! runtime is to be told of blocks does not change while they run.

use super::checks::{Check, loops};
use crate::llvm::{Attributes, Call, Callee, instructions, is_emitted, raw};
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;
use std::collections::HashSet;

/// These functions of a module.
pub(super) struct Checkless<'ctx>(HashSet<FunctionValue<'ctx>>);

impl<'ctx> Checkless<'ctx> {
    pub(super) fn of(module: &Module<'ctx>) -> Self {
        let without_loops = |function: &FunctionValue<'ctx>| {
            function
                .get_first_basic_block()
                .is_some_and(|entry| loops(entry, &HashSet::new()).is_empty())
        };
        let emitted = module.get_functions().filter(|function| is_emitted(*function));
        let mut rest: Vec<_> = emitted.filter(without_loops).collect();
        let mut found = Self(HashSet::new());
        loop {
            let calls_others = |function: &FunctionValue<'ctx>| {
                let mut calls = instructions(*function).filter_map(Call::of);
                calls.any(|call| found.may_meet_check(call))
            };
            let (kept, new): (Vec<_>, Vec<_>) = rest.into_iter().partition(calls_others);
            if new.is_empty() {
                return found;
            }
            found.0.extend(new);
            rest = kept;
        }
    }

    /// What a function does first.
    pub(super) fn entry(&self, function: FunctionValue<'ctx>) -> Check {
        if self.0.contains(&function) { Check::Seen } else { Check::Counted }
    }

    /// Whether a check may be met while a call lasts.
    pub(super) fn may_meet_check(&self, call: Call<'ctx>) -> bool {
        match call.callee() {
            Callee::Intrinsic(_) | Callee::Constant | Callee::Assembly(..) => false,
            Callee::Indirect => true,
            Callee::Direct => {
                raw::called_function(call).is_none_or(|callee| !self.is_known(callee))
            }
        }
    }

    /// Whether what runs is a function without checks: one of this module that no other definition
    /// takes the place of, or one of a library that calls nothing of the program.
    fn is_known(&self, callee: FunctionValue<'ctx>) -> bool {
        if callee.as_global_value().is_declaration() {
            return callee.has("nocallback");
        }
        let is_final = matches!(
            callee.get_linkage(),
            Linkage::External | Linkage::Internal | Linkage::Private
        );
        is_final && self.0.contains(&callee)
    }
}

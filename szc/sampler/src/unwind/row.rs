//! A row of unwind tables: from the registers of a frame to those of its caller.
#![forbid(unsafe_code)]

use gimli::{
    CfaRule, EhFrame, Encoding, EndianSlice, EvaluationResult, Expression, Format, LittleEndian,
    RegisterRule, UnwindExpression, UnwindTableRow, Value,
};

use super::cut::Cut;
use crate::stack::{RA, SP, Stack};

/// What tables are read from.
pub type Bytes<'a> = EndianSlice<'a, LittleEndian>;
/// Tables with the expressions of their rows.
pub type Section<'a> = EhFrame<Bytes<'a>>;

/// A row, as far as it concerns the registers of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    cfa: Cfa,
    registers: Vec<(usize, Rule)>,
    /// A signal came, and the caller is where it came.
    pub is_signal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cfa {
    Register(usize, i64),
    Expression(UnwindExpression<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Undefined,
    /// Saved at this distance from the CFA.
    SavedAt(i64),
    /// The CFA and this.
    Is(i64),
    InRegister(usize),
    SavedAtExpression(UnwindExpression<usize>),
    IsExpression(UnwindExpression<usize>),
}

/// Registers of a frame, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    values: [Option<u64>; Stack::REGISTERS],
    is_of_caller: bool,
}

const ENCODING: Encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 5 };

impl Row {
    /// That of a function that was called and has done nothing, with so many bytes on the stack.
    pub fn called(bytes: u64) -> Self {
        Self {
            cfa: Cfa::Register(SP, 8_i64.saturating_add_unsigned(bytes)),
            registers: vec![(RA, Rule::SavedAt(-8))],
            is_signal: false,
        }
    }

    /// Whether the frame begins at a fixed distance from the stack pointer.
    pub fn counts_from_sp(&self) -> bool {
        matches!(self.cfa, Cfa::Register(SP, _))
    }

    /// A row as it was read. Nothing if a profile's tables have no such rules.
    pub fn of(row: &UnwindTableRow<usize>, is_signal: bool) -> Option<Self> {
        let number = |register: gimli::Register| {
            Some(usize::from(register.0)).filter(|&number| number < Stack::REGISTERS)
        };
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                Cfa::Register(number(*register)?, *offset)
            }
            CfaRule::Expression(expression) => Cfa::Expression(*expression),
        };
        let mut registers = Vec::new();
        for (register, rule) in row.registers() {
            let Some(register) = number(*register) else { continue };
            let rule = match rule {
                RegisterRule::SameValue => continue,
                RegisterRule::Offset(offset) => Rule::SavedAt(*offset),
                RegisterRule::ValOffset(offset) => Rule::Is(*offset),
                RegisterRule::Register(other) => Rule::InRegister(number(*other)?),
                RegisterRule::Expression(expression) => Rule::SavedAtExpression(*expression),
                RegisterRule::ValExpression(expression) => Rule::IsExpression(*expression),
                _ => Rule::Undefined,
            };
            registers.push((register, rule));
        }
        Some(Self { cfa, registers, is_signal })
    }

    /// Whether anything has to be evaluated for it.
    pub fn has_expressions(&self) -> bool {
        let is_expression =
            |rule: &Rule| matches!(rule, Rule::SavedAtExpression(_) | Rule::IsExpression(_));
        matches!(self.cfa, Cfa::Expression(_))
            || self.registers.iter().any(|(_, rule)| is_expression(rule))
    }
}

impl Registers {
    /// Those of a sample.
    pub fn of(stack: &Stack) -> Self {
        Self { values: stack.registers.map(Some), is_of_caller: false }
    }

    /// The instruction pointer; nothing where a return address says that there is no caller.
    pub fn ip(&self) -> Option<u64> {
        self.values[RA].filter(|&ip| ip != 0)
    }

    /// One of them.
    #[cfg(test)]
    pub fn value(&self, register: usize) -> Option<u64> {
        self.values[register]
    }

    /// Whether it is no longer the frame of the sample itself.
    pub fn is_of_caller(&self) -> bool {
        self.is_of_caller
    }

    /// The stack pointer and the instruction pointer alone.
    pub fn of_two(stack: &Stack) -> Self {
        let mut values = [None; Stack::REGISTERS];
        (values[SP], values[RA]) = (Some(stack.sp()), Some(stack.ip()));
        Self { values, is_of_caller: false }
    }

    /// The stack pointer, if it is known.
    pub fn sp(&self) -> Option<u64> {
        self.values[SP]
    }

    /// The caller's stack pointer behind the return.
    ///
    /// # Errors
    /// What is needed for that is not there.
    pub fn cfa(&self, row: &Row, section: Option<&Section<'_>>, stack: &Stack) -> Result<u64, Cut> {
        match row.cfa {
            Cfa::Register(register, offset) => {
                let base = self.values[register].ok_or(Cut::Tables)?;
                Ok(base.wrapping_add_signed(offset))
            }
            Cfa::Expression(expression) => {
                Context { registers: self, section, stack }.evaluate(expression, None)
            }
        }
    }

    /// Those of the caller; nothing if the thread began here.
    ///
    /// # Errors
    /// What is needed for that is not there.
    pub fn caller(
        &self,
        row: &Row,
        section: Option<&Section<'_>>,
        stack: &Stack,
    ) -> Result<Option<Self>, Cut> {
        let context = Context { registers: self, section, stack };
        let cfa = self.cfa(row, section, stack)?;
        let sp = self.values[SP].ok_or(Cut::Tables)?;
        if cfa <= sp && !row.is_signal {
            return Err(Cut::Tables);
        }
        let mut values = self.values;
        values[SP] = Some(cfa);
        values[RA] = None;
        let mut returns = Err(Cut::Tables);
        for &(register, rule) in &row.registers {
            let address = match rule {
                Rule::SavedAt(offset) => Ok(Some(cfa.wrapping_add_signed(offset))),
                Rule::SavedAtExpression(expression) => {
                    context.evaluate(expression, Some(cfa)).map(Some)
                }
                _ => Ok(None),
            };
            let value = match (rule, address) {
                (_, Err(cut)) => Err(cut),
                // Some tables say nothing of a `pop`: what lies below the stack pointer by then is
                // in the register.
                (_, Ok(Some(address))) if address < sp && register != RA => {
                    Ok(self.values[register])
                }
                (_, Ok(Some(address))) => stack.word(address).map(Some).ok_or(Cut::Stack),
                (Rule::Is(offset), _) => Ok(Some(cfa.wrapping_add_signed(offset))),
                (Rule::InRegister(other), _) => Ok(self.values[other]),
                (Rule::IsExpression(expression), _) => {
                    context.evaluate(expression, Some(cfa)).map(Some)
                }
                _ => Ok(None),
            };
            if register == RA {
                returns = value;
            } else {
                // One that is not needed cuts nothing.
                values[register] = value.unwrap_or(None);
            }
        }
        let has_rule = row.registers.iter().any(|(register, _)| *register == RA);
        if !has_rule {
            return Ok(None);
        }
        match returns? {
            None => Ok(None),
            Some(address) => {
                values[RA] = Some(address);
                Ok(Some(Self { values, is_of_caller: true }))
            }
        }
    }
}

/// What expressions are about.
struct Context<'a> {
    registers: &'a Registers,
    section: Option<&'a Section<'a>>,
    stack: &'a Stack,
}

impl Context<'_> {
    fn evaluate(
        &self,
        expression: UnwindExpression<usize>,
        initial: Option<u64>,
    ) -> Result<u64, Cut> {
        let expression: Expression<Bytes<'_>> =
            expression.get(self.section.ok_or(Cut::Tables)?).map_err(|_| Cut::Tables)?;
        let mut evaluation = expression.evaluation(ENCODING);
        if let Some(value) = initial {
            evaluation.set_initial_value(value);
        }
        let mut result = evaluation.evaluate();
        loop {
            result = match result.map_err(|_| Cut::Tables)? {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                    let word = self.stack.word(address).ok_or(Cut::Stack)?;
                    evaluation.resume_with_memory(Value::Generic(word))
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    let known = self.registers.values.get(usize::from(register.0));
                    let value = known.copied().flatten().ok_or(Cut::Tables)?;
                    evaluation.resume_with_register(Value::Generic(value))
                }
                _ => return Err(Cut::Tables),
            };
        }
        match evaluation.value_result() {
            Some(Value::Generic(value)) => Ok(value),
            _ => Err(Cut::Tables),
        }
    }
}

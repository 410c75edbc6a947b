//! The programs of an experiment whose setups differ in the order of objects: each built once for
//! each order, and what shows that the orders were followed.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use sha2::{Digest, Sha256};

use super::options::Options;
use crate::lab::build::{BuildOptions, Value, Version, substitute};
use crate::lab::failure::Failure;
use crate::lab::options::name_programs;
use crate::lab::versions;
use crate::measure::program::Program;

/// What the driver reads the order from.
const ORDER_VARIABLE: &str = "SZC_LINK_ORDER";

/// The parameter that is varied.
const PARAMETER: &str = "link-order";

/// The orders by name: the build's own, alphabetical, and random ones.
fn names(orders: u32) -> Vec<String> {
    let random = (1..).map(|seed: u32| seed.to_string());
    let named = ["given", "alphabetical"].map(str::to_owned);
    named.into_iter().chain(random).take(orders as usize).collect()
}

/// Builds the programs, in each order of objects if that is a factor.
///
/// # Errors
/// [`Failure`] of a build; usage, if there are too many programs, or the build follows no order.
pub(super) fn programs(options: &Options, orders: u32) -> Result<Vec<Program>, Failure> {
    let Some(command) = &options.build.build else {
        return Err(Failure::Usage(anyhow!(
            "--factors link needs --build, the command that builds the programs with a compiler \
             that takes part: --build 'make CC={{cc}}'"
        )));
    };
    let compilers =
        [Value::text("cc", &compiler(&options.cc)), Value::text("cxx", &compiler(&options.cxx))];
    let command = substitute(command, &compilers);
    let build = if orders == 0 {
        BuildOptions { build: Some(command), ..options.build.clone() }
    } else {
        let mut parameters = options.build.parameters.clone();
        parameters.push(format!("{PARAMETER}={}", names(orders).join(",")));
        let command = format!("export {ORDER_VARIABLE}={{{PARAMETER}}} && {command}");
        BuildOptions { build: Some(command), parameters, ..options.build.clone() }
    };
    let built = versions::build(&build, &options.commands, options.common.quiet)?;
    let per_program = if orders == 0 { 1 } else { orders as usize };
    let mut programs = Vec::new();
    for command in &options.commands {
        for linked in built.chunks(per_program) {
            let program = in_orders(programs.len(), linked, command, orders)?;
            programs.push(program);
        }
    }
    name_programs(&mut programs, &options.names).map_err(Failure::Usage)?;
    if orders > 0 {
        programs.iter().try_for_each(check_orders).map_err(Failure::Usage)?;
    }
    Ok(programs)
}

/// The command of a compiler that reads the order: szc's own do so, others need to be led.
fn compiler(command: &str) -> String {
    let first = command.split_whitespace().next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    if name.starts_with("szc") { command.to_owned() } else { format!("szc link-order {command}") }
}

/// A program with its versions by order, the first of which it is itself.
fn in_orders(
    index: usize,
    linked: &[Version],
    command: &str,
    orders: u32,
) -> Result<Program, Failure> {
    let mut program = versions::program(index, &linked[0], command)?;
    if orders == 0 {
        return Ok(program);
    }
    let label = program.name.take().unwrap_or_default();
    let own = label.rsplit_once(PARAMETER).map_or("", |(own, _)| own.trim_end());
    program.name = (!own.is_empty()).then(|| own.to_owned());
    for (version, name) in linked.iter().zip(names(orders)) {
        let linked = versions::program(index, version, command)?;
        program.orders.push(Program { name: Some(name), ..linked });
    }
    Ok(program)
}

/// Whether at least one order made another program of it than the build's own.
fn check_orders(program: &Program) -> Result<()> {
    let seen: BTreeSet<String> =
        program.orders.iter().map(order_of_functions).collect::<Result<_>>()?;
    if seen.len() < 2 {
        bail!(
            "the functions of {} lie in the same order in all {} builds, so the order of objects \
             was not followed\n  needed: a link of several objects by {{cc}} or {{cxx}}, of which \
             none is in an archive\n  next: write --build 'make CC={{cc}} CXX={{cxx}}', or set the \
             variable that the build takes its linking compiler from",
            program.title(),
            program.orders.len()
        );
    }
    Ok(())
}

/// A digest of the order of functions; of the text of a program without symbols.
///
/// Not that of the file: paths of where it was built differ in any case.
fn order_of_functions(program: &Program) -> Result<String> {
    let path = program.executable_path().with_context(|| {
        format!(
            "the program of {:?} cannot be found: the build has to make what the command runs",
            program.command
        )
    })?;
    let context = || format!("cannot read {}", path.display());
    let bytes = fs::read(&path).with_context(context)?;
    let file = object::File::parse(&*bytes).with_context(context)?;
    let mut functions: Vec<(u64, &[u8])> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .filter_map(|symbol| Some((symbol.address(), symbol.name_bytes().ok()?)))
        .collect();
    functions.sort_unstable();
    let mut hash = Sha256::new();
    for (_, name) in &functions {
        hash.update(name);
        hash.update([0]);
    }
    if functions.is_empty() {
        let text = file.section_by_name(".text");
        hash.update(text.and_then(|text| text.data().ok()).unwrap_or_default());
    }
    Ok(format!("{:x}", hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_the_builds_own_the_alphabetical_one_and_random_ones() {
        assert_eq!(names(2), ["given", "alphabetical"]);
        assert_eq!(names(4), ["given", "alphabetical", "1", "2"]);
        assert_eq!(names(33).last().map(String::as_str), Some("31"));
    }

    #[test]
    fn compilers_of_others_are_led_to_the_order() {
        assert_eq!(compiler("szc"), "szc");
        assert_eq!(compiler("/opt/bin/szc++ -Rall"), "/opt/bin/szc++ -Rall");
        assert_eq!(compiler("gcc -pipe"), "szc link-order gcc -pipe");
    }
}

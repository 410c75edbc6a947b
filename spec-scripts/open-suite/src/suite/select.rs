//! Which programs of a suite a command is about.
#![forbid(unsafe_code)]

use anyhow::{Result, bail};
use szc::lab::config::nearest;

use super::records::{Program, Suite, Workload};

impl Suite {
    /// The programs of these names, or all that are not only taken by name; `ci` keeps those of the
    /// selection for continuous integration.
    ///
    /// # Errors
    /// When there is no program of a name.
    pub fn select(&self, names: &[String], ci: bool) -> Result<Vec<&Program>> {
        if names.is_empty() {
            let usual = self.programs.iter().filter(|program| !program.only_by_name);
            return Ok(usual.filter(|program| program.ci || !ci).collect());
        }
        names.iter().map(|name| self.program(name)).collect()
    }

    /// The program of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn program(&self, name: &str) -> Result<&Program> {
        match self.programs.iter().find(|program| program.name() == name) {
            Some(program) => Ok(program),
            None => bail!("there is no program {name:?}{}", self.advice(name)),
        }
    }

    /// The program and its workload of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn workload(&self, name: &str) -> Result<(&Program, &Workload)> {
        let mut all = self.programs.iter();
        match all.find_map(|program| Some((program, program.workload(name)?))) {
            Some(found) => Ok(found),
            None => bail!("there is no workload {name:?}{}", self.advice(name)),
        }
    }

    fn advice(&self, name: &str) -> String {
        let names: Vec<&str> = self.programs.iter().map(Program::name).collect();
        match nearest(name, &names) {
            Some(near) => format!("; did you mean {near:?}?"),
            None => format!("; known: {}", names.join(", ")),
        }
    }
}

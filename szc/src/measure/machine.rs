//! The machine a measurement was made on, and what about it makes measurements noisy.
//!
//! Everything is read from `/proc` and `/sys` (proc(5), sysfs(5)). What is not
//! there, as in many containers and virtual machines, is `None` and never an error.
#![forbid(unsafe_code)]

use std::fs;

use crate::samples::machine::{Machine, cpus};

/// `ADDR_NO_RANDOMIZE` of personality(2).
const ADDR_NO_RANDOMIZE: u32 = 0x0004_0000;

/// Less steal time is what any shared host has.
const NOTABLE_STEAL_SHARE: f64 = 0.01;

/// Less is what a kernel swaps out of idle programs with memory to spare.
const NOTABLE_SWAP_KIB: u64 = 64 << 10;

/// Describes this machine now.
#[must_use]
pub fn current() -> Machine {
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    Machine {
        hostname: read("/proc/sys/kernel/hostname"),
        kernel: read("/proc/sys/kernel/osrelease"),
        architecture: std::env::consts::ARCH.to_owned(),
        cpu: cpu_model(&cpuinfo),
        cores: std::thread::available_parallelism().ok().map(usize::from),
        memory_kib: read("/proc/meminfo").and_then(|text| total_memory_kib(&text)),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtual_machine: has_hypervisor_flag(&cpuinfo),
        aslr: read("/proc/sys/kernel/randomize_va_space").and_then(|text| text.parse().ok()),
        aslr_off_for_process: read("/proc/self/personality")
            .and_then(|text| u32::from_str_radix(&text, 16).ok())
            .map(|flags| flags & ADDR_NO_RANDOMIZE != 0),
        load: read("/proc/loadavg").and_then(|text| load_averages(&text)),
        steal_share: read("/proc/stat").and_then(|text| steal_share(&text)),
        swap_used_kib: read("/proc/meminfo").and_then(|text| swap_used_kib(&text)),
        turbo: turbo(),
    }
}

/// One line for each thing that makes measurements noisy, each with what to do.
#[must_use]
pub fn advice(machine: &Machine) -> Vec<String> {
    let mut advice = Vec::new();
    if let (Some([load, ..]), Some(cores)) = (machine.load, machine.cores)
        && load > cores as f64
    {
        advice.push(format!(
            "the load average is {load:.1} on {}, so other programs compete with the measured \
             ones: stop them or wait; CPU time suffers less than wall time",
            cpus(cores)
        ));
    }
    if machine.aslr_off_for_process == Some(true) {
        advice.push(
            "address randomization is off for this process, so stack and libraries stay in one \
             place: run without `setarch -R`"
                .to_owned(),
        );
    } else if matches!(machine.aslr, Some(0 | 1)) {
        advice.push(
            "the kernel's address randomization is not fully on, so stack, heap or libraries stay \
             in one place: `sysctl kernel.randomize_va_space=2`"
                .to_owned(),
        );
    }
    if let Some(governor @ ("powersave" | "ondemand" | "conservative")) =
        machine.governor.as_deref()
    {
        advice.push(format!(
            "the CPU frequency governor is {governor}, so the clock follows the load: `cpupower \
             frequency-set -g performance`"
        ));
    }
    if let Some(share) = machine.steal_share.filter(|share| *share > NOTABLE_STEAL_SHARE) {
        advice.push(format!(
            "the hypervisor has given {:.1} % of the CPU time to other virtual machines: measure \
             on a machine of your own, or expect wide intervals",
            100.0 * share
        ));
    }
    if let Some(swapped) = machine.swap_used_kib.filter(|swapped| *swapped > NOTABLE_SWAP_KIB) {
        advice.push(format!(
            "{} MiB are swapped out, so memory is short and runs may wait for the disk: stop other \
             programs, or `swapoff -a` if there is room",
            swapped / 1024
        ));
    }
    if machine.turbo == Some(true) {
        advice.push(
            "turbo is on, so the clock depends on temperature and neighbours: `echo 1 > \
             /sys/devices/system/cpu/intel_pstate/no_turbo`, or `echo 0 > \
             /sys/devices/system/cpu/cpufreq/boost`"
                .to_owned(),
        );
    }
    advice
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Value of a `key : value` line.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

/// x86 and others name a model; ARM gives only numbers.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    if let Some(model) = field(cpuinfo, "model name").or_else(|| field(cpuinfo, "cpu model")) {
        return Some(model.to_owned());
    }
    let implementer = field(cpuinfo, "CPU implementer")?;
    let part = field(cpuinfo, "CPU part")?;
    Some(format!("implementer {implementer} part {part}"))
}

/// Only x86 lists the flag, so its absence elsewhere says nothing.
fn has_hypervisor_flag(cpuinfo: &str) -> Option<bool> {
    let flags = field(cpuinfo, "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn total_memory_kib(meminfo: &str) -> Option<u64> {
    field(meminfo, "MemTotal")?.strip_suffix("kB")?.trim().parse().ok()
}

fn swap_used_kib(meminfo: &str) -> Option<u64> {
    let kib = |key| field(meminfo, key)?.strip_suffix("kB")?.trim().parse::<u64>().ok();
    kib("SwapTotal")?.checked_sub(kib("SwapFree")?)
}

/// The eighth number of the line `cpu` over the sum of the first eight (guest time is part of the
/// first).
fn steal_share(stat: &str) -> Option<f64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<f64> =
        line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let total: f64 = ticks.iter().sum();
    (ticks.len() == 8 && total > 0.0).then(|| ticks[7] / total)
}

/// From intel_pstate, where the file says "off", or from cpufreq.
fn turbo() -> Option<bool> {
    let flag = |path| read(path).map(|text| text == "1");
    flag("/sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|off| !off)
        .or_else(|| flag("/sys/devices/system/cpu/cpufreq/boost"))
}

fn load_averages(text: &str) -> Option<[f64; 3]> {
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_models_of_x86_and_arm_are_read() {
        let x86 = "processor\t: 0\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu hypervisor\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("AMD EPYC 7763"));
        assert_eq!(has_hypervisor_flag(x86), Some(true));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(arm).as_deref(), Some("implementer 0x41 part 0xd0c"));
        assert_eq!(has_hypervisor_flag(arm), None);
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn memory_and_load_are_read() {
        let meminfo = "MemTotal:        8123456 kB\nMemFree:  1 kB\n";
        assert_eq!(total_memory_kib(meminfo), Some(8_123_456));
        assert_eq!(load_averages("0.52 1.00 2.25 1/123 4567"), Some([0.52, 1.0, 2.25]));
        assert_eq!(load_averages("0.52 x"), None);
        let swap = "SwapTotal:  2000 kB\nSwapFree:  500 kB\n";
        assert_eq!((swap_used_kib(swap), swap_used_kib(meminfo)), (Some(1500), None));
    }

    #[test]
    fn steal_time_is_a_share_of_all_time() {
        let stat = "cpu  50 0 20 20 0 0 0 10 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(steal_share(stat), Some(0.1));
        assert_eq!(steal_share("cpu  0 0 0 0 0 0 0 0\n"), None);
        assert_eq!(steal_share("cpu  1 2 3\n"), None);
    }

    #[test]
    fn a_quiet_machine_gets_no_advice() {
        let quiet = Machine {
            cores: Some(4),
            load: Some([0.3, 0.2, 0.1]),
            aslr: Some(2),
            aslr_off_for_process: Some(false),
            governor: Some("performance".to_owned()),
            steal_share: Some(0.001),
            swap_used_kib: Some(100),
            turbo: Some(false),
            ..Machine::default()
        };
        assert!(advice(&quiet).is_empty());
    }

    #[test]
    fn every_advice_names_a_next_step() {
        let noisy = Machine {
            cores: Some(2),
            load: Some([5.0, 2.0, 1.0]),
            aslr: Some(0),
            governor: Some("powersave".to_owned()),
            steal_share: Some(0.2),
            swap_used_kib: Some(1 << 20),
            turbo: Some(true),
            ..Machine::default()
        };
        let advice = advice(&noisy);
        assert_eq!(advice.len(), 6);
        assert!(advice.iter().all(|line| line.contains(": ")), "{advice:?}");
    }

    #[test]
    fn this_machine_can_be_described() {
        let machine = current();
        assert!(!machine.architecture.is_empty());
        assert!(machine.kernel.is_some());
    }
}

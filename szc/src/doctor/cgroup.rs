//! The control group of this process: whether it can be divided, and whether it is throttled.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst of Linux.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use super::finding::{Area, Finding};

/// Both.
pub(super) fn control_group() -> Vec<Finding> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let Some(folder) = own_folder(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup")) else {
        return vec![Finding::limited(
            Area::Measuring,
            "cgroup v2",
            "there is none",
            "limits of cgroup v1 are not looked at: boot with systemd.unified_cgroup_hierarchy=1",
        )];
    };
    let quota = fs::read_to_string(folder.join("cpu.max")).ok();
    vec![delegation(&folder), throttling(quota.as_deref())]
}

fn delegation(folder: &Path) -> Finding {
    const NAME: &str = "cgroup v2 delegation";
    let place = folder.display();
    if access(folder, AccessFlags::W_OK).is_ok() {
        Finding::ok(Area::Measuring, NAME, format!("{place} can be divided"))
    } else {
        Finding::limited(
            Area::Measuring,
            NAME,
            format!("{place} cannot be divided by this user"),
            "only matters if runs shall have processors or memory of their own: \
             systemd-run --user --scope -p Delegate=yes szc …",
        )
    }
}

/// What `cpu.max` says: "max 100000", or microseconds in each period.
fn throttling(quota: Option<&str>) -> Finding {
    const NAME: &str = "quota of CPU time";
    let mut words = quota.unwrap_or("max").split_whitespace();
    let granted = words.next().and_then(|word| word.parse::<f64>().ok());
    let period = words.next().and_then(|word| word.parse::<f64>().ok());
    match granted.zip(period) {
        None => Finding::ok(Area::Measuring, NAME, "none"),
        Some((granted, period)) => Finding::limited(
            Area::Measuring,
            NAME,
            format!("{:.2} processors, by stopping programs now and then", granted / period),
            "measure by CPU time, or raise it (docker run --cpus, CPUQuota= of systemd)",
        ),
    }
}

/// Where the files of the group are in which this process is.
fn own_folder(mounts: &str, groups: &str) -> Option<PathBuf> {
    // Fields of mountinfo: proc_pid_mountinfo(5). The type follows a dash of its own.
    let mount = mounts.lines().find_map(|line| {
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        kind.starts_with("cgroup2 ").then_some((root, point))
    })?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let below = own.strip_prefix(mount.0).unwrap_or(own).trim_start_matches('/');
    Some(Path::new(mount.1).join(below))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Status;
    use super::*;

    #[test]
    fn the_folder_of_a_group_follows_from_mount_and_group() {
        let host = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        let user = "0::/user.slice/user-1000.slice/session-2.scope\n";
        let folder = own_folder(host, user).expect("there");
        assert_eq!(folder, Path::new("/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope"));
        let container = "99 1 0:26 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        assert_eq!(own_folder(container, "0::/docker/ab\n"), Some("/sys/fs/cgroup".into()));
        assert_eq!(own_folder(container, "0::/\n"), Some("/sys/fs/cgroup".into()));
        let old = "31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        assert_eq!(own_folder(old, "1:cpu:/\n"), None);
        assert_eq!(own_folder("", ""), None);
    }

    #[test]
    fn a_quota_is_a_number_of_processors() {
        assert_eq!(throttling(Some("max 100000\n")).status, Status::Ok);
        assert_eq!(throttling(None).status, Status::Ok);
        let finding = throttling(Some("150000 100000\n"));
        assert_eq!(finding.status, Status::Limited);
        assert!(finding.found.starts_with("1.50 processors"), "{finding:?}");
    }
}

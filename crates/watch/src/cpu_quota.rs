//! The limit on CPU time that the control groups of this process set (cgroups(7)).
//!
//! The second version of control groups has it in `cpu.max`, the first in `cpu.cfs_quota_us` and
//! `cpu.cfs_period_us`. The limits of all groups further up hold too. In a container a group's path
//! may begin outside of what is mounted there: files that are not found are ignored.

use crate::proc::{Proc, text};
use std::path::{Path, PathBuf};

/// The mount points of the hierarchies, below `/sys`.
const SECOND: [&str; 2] = ["fs/cgroup", "fs/cgroup/unified"];
const FIRST: [&str; 2] = ["fs/cgroup/cpu", "fs/cgroup/cpu,cpuacct"];

/// Returns the lowest limit of the groups, in cores; `None` without a limit, or if none can be
/// read.
pub(crate) fn cpu_quota(proc: &Proc) -> Option<f64> {
    let groups = text(&proc.path("self/cgroup")).ok()?;
    let quotas = groups.lines().flat_map(|group| quotas(proc, group));
    quotas.min_by(f64::total_cmp)
}

/// Returns the limits of one hierarchy: of the group in this line, `number:controllers:path`, and
/// of the groups above it.
fn quotas(proc: &Proc, group: &str) -> Vec<f64> {
    let mut parts = group.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next().unwrap_or("-"), parts.next().unwrap_or("/"));
    let is_cpus = controllers.split(',').any(|name| name == "cpu");
    let (mounts, quota): (_, fn(&Path) -> Option<f64>) = match controllers {
        "" => (SECOND, of_second_version),
        _ if is_cpus => (FIRST, of_first_version),
        _ => return Vec::new(),
    };
    let folders = mounts.into_iter().flat_map(|mount| {
        let above = Path::new(path).ancestors();
        let below_root = above.map(|path| path.strip_prefix("/").unwrap_or(path));
        below_root.map(move |path| proc.sys(mount).join(path))
    });
    folders
        .filter_map(|folder: PathBuf| quota(&folder))
        .collect()
}

/// Reads `cpu.max`: a quota and a period in microseconds; the quota may be `max`.
fn of_second_version(folder: &Path) -> Option<f64> {
    let max = text(&folder.join("cpu.max")).ok()?;
    let mut numbers = max.split_whitespace().map(|number| number.parse().ok());
    in_cores(numbers.next()??, numbers.next()??)
}

/// Reads the quota and the period; without a limit the quota is -1.
fn of_first_version(folder: &Path) -> Option<f64> {
    let number = |file: &str| -> Option<f64> {
        let number = text(&folder.join(file)).ok()?;
        number.trim().parse().ok()
    };
    in_cores(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
}

fn in_cores(quota_us: f64, period_us: f64) -> Option<f64> {
    (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn the_least_of_all_groups_holds() {
        let machine = Fixture::new();
        machine.write("self/cgroup", "0::/a/b\n");
        machine.write_sys("fs/cgroup/a/b/cpu.max", "max 100000\n");
        assert_eq!(cpu_quota(&machine.proc()), None);
        machine.write_sys("fs/cgroup/a/cpu.max", "50000 100000\n");
        machine.write_sys("fs/cgroup/cpu.max", "400000 100000\n");
        assert_eq!(cpu_quota(&machine.proc()), Some(0.5));
    }

    #[test]
    fn a_container_has_its_own_group_at_the_root() {
        let machine = Fixture::new();
        machine.write("self/cgroup", "0::/../../docker/1234\n");
        machine.write_sys("fs/cgroup/cpu.max", "150000 100000\n");
        assert_eq!(cpu_quota(&machine.proc()), Some(1.5));
    }

    #[test]
    fn the_first_version_has_two_files() {
        let machine = Fixture::new();
        machine.write("self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/x\n0::/\n");
        machine.write_sys("fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
        machine.write_sys("fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
        assert_eq!(cpu_quota(&machine.proc()), None);
        machine.write_sys("fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
        assert_eq!(cpu_quota(&machine.proc()), Some(2.0));
    }

    #[test]
    fn what_is_not_there_is_no_limit() {
        let machine = Fixture::new();
        assert_eq!(cpu_quota(&machine.proc()), None);
        machine.write("self/cgroup", "nonsense\n0::/\n");
        machine.write_sys("fs/cgroup/cpu.max", "50000\n");
        assert_eq!(cpu_quota(&machine.proc()), None);
    }
}

//! How much is under way between two progress points, as a mean over time.
//!
//! It is exact where the points tell the time of each visit, as those of szc's coz.h do: the
//! integral of the number under way is the sum of what has passed since visits of the beginning,
//! less that of the end. Times are without delays. Points that the program counts by itself, as
//! those of coz's header, are looked at now and then.
#![forbid(unsafe_code)]

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::thread;

use szc_abi::causal::{BEGIN, END, Memory, NAMED, Point};
use szc_sampler::clock::now;

/// How often a visit that is just being counted is waited for.
const TRIES: usize = 100;

/// Visits of all points at one time.
pub struct Visits {
    /// The time, less all delays up to it.
    time_ns: u64,
    /// Each with the sum of their times, if that is known.
    counted: Vec<Result<(u64, u64), u64>>,
}

impl Visits {
    /// Now.
    pub fn count(memory: &Memory) -> Self {
        let time_ns = now().wrapping_sub(memory.delay_ns.load(Relaxed));
        Self { time_ns, counted: memory.points.iter().map(counted).collect() }
    }

    /// Of the point with an index.
    pub fn of(&self, point: usize) -> u64 {
        self.counted[point].map_or_else(|visits| visits, |(visits, _)| visits)
    }

    /// The integral of the number under way from before all visits up to `time_ns`, modulo 2^64.
    fn integral(&self, (begin, end): (usize, usize), time_ns: u64) -> Option<u64> {
        let (began, begin_times) = self.counted[begin].ok()?;
        let (ended, end_times) = self.counted[end].ok()?;
        let times = begin_times.wrapping_sub(end_times);
        Some(began.wrapping_sub(ended).wrapping_mul(time_ns).wrapping_sub(times))
    }
}

fn counted(point: &Point) -> Result<(u64, u64), u64> {
    let mut tries = (0..TRIES).map(|_| {
        point.counted().inspect_err(|_| {
            if point.begun.load(Relaxed) != 0 {
                thread::yield_now();
            }
        })
    });
    tries.find(Result::is_ok).unwrap_or_else(|| point.counted())
}

/// A point and its index.
pub type Indexed<'a> = (usize, &'a Point);

/// Points of which one begins what the other ends.
pub fn queues(memory: &Memory) -> Vec<(Indexed<'_>, Indexed<'_>)> {
    let of_kind = |kind| {
        let named = move |(_, point): &Indexed<'_>| {
            // Pairs with the program's release, behind kind and name.
            point.state.load(Acquire) == NAMED && point.kind.load(Relaxed) == kind
        };
        memory.points.iter().enumerate().filter(named).collect::<Vec<_>>()
    };
    let ends = of_kind(END);
    let pair = |begin: Indexed<'_>| {
        let end = ends.iter().find(|end| name(end.1) == name(begin.1))?;
        Some(((begin.0, &memory.points[begin.0]), (end.0, &memory.points[end.0])))
    };
    of_kind(BEGIN).into_iter().filter_map(pair).collect()
}

/// Whether there is anything whose number has to be looked at.
pub fn needs_looks(memory: &Memory) -> bool {
    let is_untimed = |point: &Point| point.begun.load(Relaxed) < point.visits.load(Relaxed);
    queues(memory).into_iter().any(|(begin, end)| is_untimed(begin.1) || is_untimed(end.1))
}

/// A point's name.
pub fn name(point: &Point) -> String {
    let bytes: Vec<u8> =
        point.name.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Looks at what is under way, since a beginning.
#[derive(Default)]
pub struct Looks(Vec<Look>);

struct Look {
    /// The index of the point that begins it.
    begin: usize,
    first_ns: u64,
    area: f64,
    last: f64,
    last_ns: u64,
}

impl Looks {
    /// Looks at all. Means are good if this comes at random times.
    pub fn look(&mut self, memory: &Memory) {
        let time = now();
        for (begin, end) in queues(memory) {
            // The end first: what ends meanwhile is not subtracted from what had not begun.
            let ended = end.1.visits.load(Relaxed);
            let length = begin.1.visits.load(Relaxed).saturating_sub(ended) as f64;
            match self.0.iter_mut().find(|look| look.begin == begin.0) {
                None => self.0.push(Look {
                    begin: begin.0,
                    first_ns: time,
                    area: 0.0,
                    last: length,
                    last_ns: time,
                }),
                Some(look) => {
                    let passed = time.saturating_sub(look.last_ns) as f64;
                    look.area += passed * f64::midpoint(look.last, length);
                    (look.last, look.last_ns) = (length, time);
                }
            }
        }
    }

    /// The mean between two counts, up to `end_ns`, less delays: exact if it can be.
    pub fn mean(
        &self,
        (begin, end): (usize, usize),
        (from, to): (&Visits, &Visits),
        end_ns: u64,
    ) -> f64 {
        let points = (begin, end);
        let integrals = from.integral(points, from.time_ns).zip(to.integral(points, end_ns));
        if let Some((before, after)) = integrals {
            // A visit that comes while it is counted may make a little less than nothing of it.
            let area = after.wrapping_sub(before).cast_signed().max(0) as f64;
            return area / end_ns.saturating_sub(from.time_ns).max(1) as f64;
        }
        let looked = self.0.iter().find(|look| look.begin == begin);
        looked.map_or(0.0, |look| {
            let time = look.last_ns.saturating_sub(look.first_ns);
            if time == 0 { look.last } else { look.area / time as f64 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two points, of which the first one begins what the second one ends.
    fn visits(time_ns: u64, began: &[u64], ended: &[u64]) -> Visits {
        let counted = |times: &[u64]| Ok((times.len() as u64, times.iter().sum()));
        Visits { time_ns, counted: vec![counted(began), counted(ended)] }
    }

    #[test]
    fn the_mean_is_exact_where_the_times_of_visits_are_known() {
        // Two are under way from 100 to 110, one to 130, and none to 140.
        let from = visits(100, &[70, 90], &[]);
        let to = visits(140, &[70, 90], &[110, 130]);
        let mean = Looks::default().mean((0, 1), (&from, &to), 140);
        assert!((mean - (2.0 * 10.0 + 20.0) / 40.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn times_are_added_modulo_2_to_the_64() {
        let far = u64::MAX - 50;
        let sum = |times: &[u64]| times.iter().fold(0, |sum: u64, time| sum.wrapping_add(*time));
        let at = |time_ns, ended: &[u64]| Visits {
            time_ns,
            counted: vec![
                Ok((2, sum(&[far - 10, far - 20]))),
                Ok((ended.len() as u64, sum(ended))),
            ],
        };
        let (from, to) = (at(far, &[far - 5]), at(far + 40, &[far - 5, far + 20]));
        let mean = Looks::default().mean((0, 1), (&from, &to), far + 40);
        assert!((mean - 0.5).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn without_times_the_looks_count() {
        let untimed = || Visits { time_ns: 0, counted: vec![Err(3), Err(1)] };
        let look = Look { begin: 0, first_ns: 10, area: 30.0, last: 2.0, last_ns: 30 };
        let mean = Looks(vec![look]).mean((0, 1), (&untimed(), &untimed()), 30);
        assert!((mean - 1.5).abs() < 1e-12);
    }
}

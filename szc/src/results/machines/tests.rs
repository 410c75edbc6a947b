//! Suites of several machines made of known times.

use crate::examples::suite_on;

#[test]
fn nothing_is_compared_across_machines() {
    // The second machine is ten times slower, and all levels take the same on each.
    let file = suite_on(&[("a", 0, &[1000, 1001]), ("a", 1, &[10_000, 10_010])]);
    let pairs: Vec<(usize, usize)> =
        file.deciding_results().map(|result| (result.reference, result.program)).collect();
    assert_eq!(pairs, [(0, 1), (2, 3)]);
    assert!(file.results.iter().all(|result| (result.ratio - 1.0).abs() < 0.01));
    let record = &file.over_machines[0];
    assert_eq!((record.machines.as_slice(), record.n), (&[0, 1][..], 40));
    assert!((record.ratio - 1.001).abs() < 0.005, "{record:?}");
}

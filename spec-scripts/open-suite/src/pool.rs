//! Does something with every program, several at a time, and tells of each as soon as it is done.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// `work` on every item by `threads` threads; `say` hears of each in the order they end. The
/// results are in the order of the items.
pub fn each<I: Sync, R: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&I) -> R + Sync,
    mut say: impl FnMut(&I, &R),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<R>> = Vec::new();
    results.resize_with(items.len(), || None);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    // Relaxed: the number alone is shared, results go through the channel.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    if sender.send((index, work(item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (index, result) in receiver {
            say(&items[index], &result);
            results[index] = Some(result);
        }
    });
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};

    #[test]
    fn every_item_is_worked_on_once_and_results_keep_their_order() {
        let items: Vec<u32> = (0..100).collect();
        let seen = Mutex::new(Vec::new());
        let results = each(&items, 4, |item| item * 2, |item, _| seen.lock().unwrap().push(*item));
        assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        let mut seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        seen.sort_unstable();
        assert_eq!(seen, items);
    }
}

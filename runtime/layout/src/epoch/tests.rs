//! The sequence of epochs, with cycles that free at once.

use super::*;

fn step(epochs: &mut Epochs<&mut [Use]>) -> Option<u32> {
    let (_, place) = epochs.next().ok()?;
    epochs.advance(place);
    Some(place)
}

fn cycle(epochs: &mut Epochs<&mut [Use]>) {
    epochs.begin_cycle();
    epochs.end_cycle();
    while let Some(place) = epochs.unreachable() {
        epochs.free(place);
    }
}

#[test]
fn epochs_take_places_in_order_until_all_are_kept() {
    let mut places = [Use::Fresh; 3];
    let mut epochs = Epochs::first(&mut places[..], 3);
    assert_eq!((epochs.current, epochs.place()), (0, 0));
    assert_eq!((step(&mut epochs), step(&mut epochs)), (Some(1), Some(2)));
    assert_eq!(epochs.next(), Err(Exhausted));
    assert_eq!((epochs.current, epochs.kept(), epochs.opened()), (2, 2, 3));
    assert_eq!((epochs.left(), epochs.preferred_left()), (0, 0));
}

#[test]
fn a_place_without_references_is_used_again_and_one_with_references_is_not() {
    let mut places = [Use::Fresh; 3];
    let mut epochs = Epochs::first(&mut places[..], 3);
    step(&mut epochs);
    step(&mut epochs);
    assert!(epochs.wants_cycle());
    assert_eq!(epochs.begin_cycle(), 2);
    assert!(epochs.is_in_use(0) && epochs.is_in_use(1));
    assert_eq!(epochs.next(), Err(Exhausted), "white places are in use");
    epochs.mark(0);
    assert_eq!(epochs.end_cycle(), 1);
    assert!(epochs.is_in_use(0) && !epochs.is_in_use(1));
    assert_eq!(epochs.next(), Err(Exhausted), "not before it was filled with traps");
    assert_eq!(epochs.unreachable(), Some(1));
    epochs.free(1);
    assert_eq!((epochs.unreachable(), epochs.next()), (None, Ok((3, 1))));
    assert_eq!((epochs.left(), epochs.preferred_left()), (1, 1));
    assert_eq!((epochs.take_traps(1), epochs.take_traps(1)), (true, false));
    assert_eq!((step(&mut epochs), epochs.kept()), (Some(1), 2));
}

#[test]
fn few_places_are_used_in_turn_if_they_become_free_in_time() {
    let mut places = [Use::Fresh; 100];
    let mut epochs = Epochs::first(&mut places[..], 4);
    let mut taken = Vec::new();
    for _ in 0..12 {
        taken.extend(step(&mut epochs));
        if epochs.wants_cycle() {
            cycle(&mut epochs);
        }
    }
    assert_eq!(taken, [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]);
    assert_eq!(epochs.opened(), 4);
    // Without reclaiming the others are used, too.
    while step(&mut epochs).is_some() {}
    assert_eq!(epochs.opened(), 100);
}

#[test]
fn where_places_do_not_become_free_in_time_more_are_used_at_once() {
    let mut places = [Use::Fresh; 100];
    let mut epochs = Epochs::first(&mut places[..], 8);
    while epochs.opened() < 9 {
        step(&mut epochs);
    }
    for _ in 0..20 {
        cycle(&mut epochs);
        step(&mut epochs);
    }
    assert_eq!(epochs.opened(), 12);
}

#[test]
fn places_that_were_needed_for_a_moment_are_given_back() {
    let mut places = [Use::Fresh; 100];
    let mut epochs = Epochs::first(&mut places[..], 16);
    while epochs.opened() < 40 {
        step(&mut epochs);
    }
    assert_eq!((epochs.preferred, epochs.surplus()), (54, 40..40));
    let mut closed = 0;
    for _ in 0..2000 {
        step(&mut epochs).unwrap();
        if epochs.wants_cycle() {
            cycle(&mut epochs);
        }
        let surplus = epochs.surplus();
        closed += surplus.len();
        epochs.close(surplus);
    }
    assert_eq!((epochs.preferred, epochs.opened(), epochs.most_opened()), (16, 16, 54));
    assert_eq!(closed, 54 - 16);
    assert!(epochs.places[16..].iter().all(|&place| place == Use::Fresh));
    // If they are needed again, they are there.
    while epochs.opened() < 40 {
        step(&mut epochs);
    }
}

#[test]
fn places_that_are_needed_again_and_again_are_kept() {
    let mut places = [Use::Fresh; 100];
    let mut epochs = Epochs::first(&mut places[..], 16);
    let mut opened = 0;
    for epoch in 0..5000 {
        step(&mut epochs).unwrap();
        // A cycle that takes longer than half of the places last.
        if epoch % 30 == 0 {
            cycle(&mut epochs);
        }
        let surplus = epochs.surplus();
        epochs.close(surplus);
        if epoch == 100 {
            opened = epochs.opened();
        }
    }
    assert!(opened > 16);
    assert_eq!(epochs.opened(), opened);
}

#[test]
fn where_few_places_are_preferred_the_others_stay_open() {
    let mut places = [Use::Fresh; 10];
    let mut epochs = Epochs::first(&mut places[..], MIN_PLACES);
    while epochs.opened() < 6 {
        step(&mut epochs);
    }
    cycle(&mut epochs);
    step(&mut epochs);
    assert!(epochs.surplus().is_empty());
}

#[test]
fn a_child_keeps_what_its_parent_was_looking_at_and_frees_what_its_parent_was_freeing() {
    let mut places = [Use::Fresh; 5];
    let mut epochs = Epochs::first(&mut places[..], 5);
    step(&mut epochs);
    epochs.begin_cycle();
    epochs.end_cycle();
    step(&mut epochs);
    step(&mut epochs);
    epochs.begin_cycle();
    epochs.become_child();
    assert_eq!(epochs.places, [Use::Bare, Use::Kept, Use::Kept, Use::Current, Use::Fresh]);
    assert_eq!(epochs.kept(), 2);
    assert_eq!((epochs.next(), step(&mut epochs)), (Ok((4, 4)), Some(4)));
    assert_eq!((epochs.next(), epochs.take_traps(0)), (Ok((5, 0)), false));
}

#[test]
fn a_child_of_a_parent_that_was_giving_places_back_counts_anew() {
    let mut places = [Use::Fresh; 6];
    let mut epochs = Epochs::first(&mut places[..], 2);
    step(&mut epochs);
    step(&mut epochs);
    step(&mut epochs);
    assert_eq!((epochs.opened(), epochs.begin_cycle(), epochs.end_cycle()), (4, 3, 3));
    // In the middle of `free`, and of `close`.
    epochs.places[0] = Use::Free;
    epochs.places[1] = Use::Fresh;
    epochs.become_child();
    assert_eq!(epochs.places[..4], [Use::Bare, Use::Bare, Use::Bare, Use::Current]);
    assert_eq!((epochs.kept(), epochs.busy), (0, 1));
    assert_eq!((step(&mut epochs), step(&mut epochs)), (Some(0), Some(1)));
}

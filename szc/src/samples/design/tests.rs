//! Plans: orders, seeds, repetition.

use std::collections::HashSet;

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use super::*;

fn design(seed: u64) -> Design {
    Design { runs_per_position: 2, warmup: 3, ..Design::mirrored(2, 200, seed) }
}

fn programs(design: Design, block: u32) -> Vec<usize> {
    design.block_runs(block).iter().map(|run| run.program).collect()
}

#[test]
fn random_numbers_are_those_of_splitmix64() {
    let mut reference = SplitMix64::seed_from_u64(1_234_567);
    for index in 0..100 {
        assert_eq!(splitmix64_at(1_234_567, index), reference.next_u64());
    }
}

#[test]
fn a_block_of_two_is_abba_or_baab_and_both_occur() {
    let mut starts_with_b = 0;
    for block in 0..200 {
        let order = programs(design(5), block);
        if order[0] == 1 {
            starts_with_b += 1;
            assert_eq!(order, [1, 1, 0, 0, 0, 0, 1, 1]);
        } else {
            assert_eq!(order, [0, 0, 1, 1, 1, 1, 0, 0]);
        }
    }
    // 200 fair coins: five standard deviations are 35.
    assert!((65..=135).contains(&starts_with_b), "{starts_with_b}");
}

#[test]
fn a_block_of_three_is_any_order_and_its_reverse() {
    let three = Design::mirrored(3, 600, 5);
    let mut counts = std::collections::HashMap::new();
    for block in 0..600 {
        let order = programs(three, block);
        assert!(order.iter().eq(order.iter().rev()), "{order:?}");
        *counts.entry(order[..3].to_vec()).or_insert(0) += 1;
    }
    // Six orders, 100 each on average: five standard deviations are 46.
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|count| (54..=146).contains(count)), "{counts:?}");
}

#[test]
fn without_shuffling_every_block_has_the_order_of_the_list() {
    let listed = Design { shuffle: false, ..Design::mirrored(3, 20, 5) };
    for block in 0..20 {
        assert_eq!(programs(listed, block), [0, 1, 2, 2, 1, 0]);
    }
}

#[test]
fn every_run_of_a_comparison_has_a_layout_seed_of_its_own() {
    let mut seeds = HashSet::new();
    let design = design(9);
    for run in design.warm_up_runs() {
        assert!(seeds.insert(run.seed));
    }
    for block in 0..design.blocks {
        for run in design.block_runs(block) {
            assert!(seeds.insert(run.seed));
        }
    }
    assert_eq!(seeds.len() as u64, design.total_runs());
}

#[test]
fn every_second_layout_is_run_again_with_the_same_seed_and_environment() {
    let design = Design::layouts(7, 3, 4);
    let mut seeds = HashSet::new();
    let mut runs = 1;
    for block in 0..7 {
        let of_block = design.block_runs(block);
        assert_eq!(of_block.len(), if block % 2 == 0 { 3 } else { 1 });
        assert_eq!(of_block.len() as u64, design.block_size(block));
        assert!(seeds.insert(of_block[0].seed));
        assert!(of_block.iter().all(|run| run.seed == of_block[0].seed));
        assert!(of_block.iter().all(|run| run.padding_bytes == of_block[0].padding_bytes));
        runs += of_block.len() as u64;
        assert_eq!(design.runs_until(block + 1), runs);
    }
}

#[test]
fn beside_each_run_of_a_layout_a_second_program_has_the_same_layout_in_all_blocks() {
    let design = Design { programs: 2, ..Design::layouts(6, 2, 4) };
    let mut of_second = HashSet::new();
    for block in 0..6 {
        let of_block = design.block_runs(block);
        assert_eq!(of_block.len() as u64, design.block_size(block));
        for pair in of_block.chunks(2) {
            let [first, second] = [0, 1].map(|program| {
                *pair.iter().find(|run| run.program == program).expect("both are there")
            });
            of_second.insert(second.seed);
            assert!(first.seed != second.seed && first.padding_bytes == second.padding_bytes);
        }
    }
    assert_eq!(of_second.len(), 1);
    let by_turns = Design { by_turns: true, ..design };
    assert_eq!([0, 1].map(|block| by_turns.block_rounds(block).len()), [2, 1]);
}

#[test]
fn positions_count_from_zero_without_gaps() {
    let positions: Vec<u32> = design(1).block_runs(3).iter().map(|run| run.position).collect();
    assert_eq!(positions, (0..8).collect::<Vec<u32>>());
}

#[test]
fn the_environment_has_all_sizes_below_a_page_or_one() {
    let design = design(2);
    let sizes: Vec<u32> = (0..200)
        .flat_map(|block| design.block_runs(block))
        .map(|run| run.padding_bytes.unwrap())
        .collect();
    assert!(sizes.iter().all(|size| *size < PADDING_LIMIT_BYTES));
    assert!(sizes.iter().any(|size| *size < 100) && sizes.iter().any(|size| *size > 3996));
    let fixed = Design { environment: EnvironmentSize::Fixed, ..design };
    assert!(fixed.block_runs(0).iter().all(|run| run.padding_bytes.is_none()));
}

#[test]
fn the_ends_of_the_random_range_give_layout_seeds_of_sixteen_digits() {
    assert_eq!(layout_seed(0), MIN_LAYOUT_SEED);
    assert_eq!(layout_seed(u64::MAX), LAYOUT_SEED_LIMIT - 1);
    assert_eq!(MIN_LAYOUT_SEED.to_string().len(), 16);
    assert_eq!((LAYOUT_SEED_LIMIT - 1).to_string().len(), 16);
}

#[test]
fn the_largest_design_fits_into_the_index_of_a_run() {
    let positions = 2 * MAX_PROGRAMS as u64 * u64::from(MAX_RUNS_PER_POSITION);
    assert!(positions <= u64::from(u16::MAX), "{positions}");
}

proptest! {
    #[test]
    fn the_same_seed_gives_the_same_plan(seed: u64, block in 0_u32..1000) {
        prop_assert_eq!(design(seed).block_runs(block), design(seed).block_runs(block));
        prop_assert_ne!(
            design(seed).block_runs(block),
            design(seed.wrapping_add(1)).block_runs(block)
        );
    }

    #[test]
    fn the_plan_does_not_depend_on_how_many_blocks_are_planned(
        seed: u64, blocks in 1_u32..100, block in 0_u32..100,
    ) {
        let longer = Design { blocks, ..design(seed) };
        prop_assert_eq!(longer.block_runs(block), design(seed).block_runs(block));
    }
}

#[test]
fn by_turns_a_block_has_each_program_once_and_all_at_once_in_either_order() {
    let design = Design { by_turns: true, ..Design::mirrored(2, 200, 5) };
    let mut starts_with_b = 0;
    for block in 0..design.blocks {
        let rounds = design.block_rounds(block);
        let [round] = &rounds[..] else { panic!("{rounds:?}") };
        let mut order: Vec<usize> = round.iter().map(|run| run.program).collect();
        starts_with_b += u32::from(order[0] == 1);
        order.sort_unstable();
        assert_eq!(order, [0, 1]);
    }
    // 200 fair coins: five standard deviations are 35.
    assert!((65..=135).contains(&starts_with_b), "{starts_with_b}");
    assert_eq!(design.runs_until(200), 2 + 400);
}

#[test]
fn a_round_of_turns_is_as_long_as_there_are_programs_and_its_order_is_drawn_anew() {
    let design = Design { by_turns: true, runs_per_position: 40, ..Design::mirrored(3, 1, 5) };
    let rounds = design.block_rounds(0);
    assert_eq!(rounds.len(), 40);
    assert!(rounds.iter().all(|round| round.len() == 3));
    let orders: HashSet<Vec<usize>> =
        rounds.iter().map(|round| round.iter().map(|run| run.program).collect()).collect();
    // Six orders in forty draws: fewer than five have a chance below one in a million.
    assert!(orders.len() >= 5, "{orders:?}");
    let positions: Vec<u32> = rounds.concat().iter().map(|run| run.position).collect();
    assert_eq!(positions, (0..120).collect::<Vec<u32>>());
}

#[test]
fn without_turns_every_run_is_a_round_of_its_own() {
    assert_eq!(design(5).block_rounds(3).concat(), design(5).block_runs(3));
    assert!(design(5).block_rounds(3).iter().all(|round| round.len() == 1));
}

#[test]
fn coupled_programs_have_the_same_seeds_each_in_its_first_run_and_in_its_second() {
    for by_turns in [false, true] {
        let design = Design { coupled: true, by_turns, ..design(9) };
        let mut seeds = HashSet::new();
        for block in 0..design.blocks {
            let runs = design.block_runs(block);
            let of = |program| {
                let runs = runs.iter().filter(move |run| run.program == program);
                runs.map(|run| run.seed).collect::<Vec<u64>>()
            };
            assert_eq!(of(0), of(1));
            assert!(of(0).into_iter().all(|seed| seeds.insert(seed)));
        }
    }
}

#[test]
fn drawn_bases_are_alike_for_the_programs_of_a_block_and_take_every_position() {
    for coupled in [false, true] {
        let design = Design { bases: Bases::Drawn, coupled, ..Design::mirrored(2, 4000, 3) };
        let (mut stack, mut mappings) = (HashSet::new(), HashSet::new());
        for block in 0..design.blocks {
            let runs = design.block_runs(block);
            for nth in 0..2 {
                let of = |program| {
                    let mut runs = runs.iter().filter(|run| run.program == program);
                    let run = runs.nth(nth).unwrap();
                    (run.padding_bytes.unwrap(), run.addresses.unwrap().mapping_pages.unwrap())
                };
                assert_eq!(of(0), of(1));
                let (padding, pages) = of(0);
                assert!(padding % 16 == 0 && padding < 4096 && pages < 1 << 16);
                stack.insert(padding);
                mappings.insert(pages);
            }
        }
        // 8000 draws: a position is missed with a chance of e^-31 each. Of the pages about
        // 7530 differ, with a standard deviation of about 20.
        assert_eq!(stack.len(), 256);
        assert!(mappings.len() > 7400, "{}", mappings.len());
    }
}

#[test]
fn files_from_before_know_of_no_bases_and_no_coupling() {
    let mut old = serde_json::to_value(design(5)).unwrap();
    let fields = old.as_object_mut().unwrap();
    fields.remove("coupled").unwrap();
    fields.remove("bases").unwrap();
    let read: Design = serde_json::from_value(old).unwrap();
    assert_eq!(read, design(5));
    assert_eq!(read.block_runs(1)[0].addresses, None);
}

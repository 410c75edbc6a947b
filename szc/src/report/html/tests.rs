//! Pages of made-up and of hostile samples, read back as text.

use std::collections::HashSet;

use serde_json::Value;

use super::checked::data_of;
use super::*;
use crate::examples::{
    analysed, comparison, experiment, file_of, layouts_of, rows_file, sample_of, suite_of,
};
use crate::samples::bias::{EventRecord, Factor, PlaceRecord, SimulatedRecord};
use crate::samples::setups::{Contrast, Setups};
use crate::samples::{Command, EndedRecord, RowTolerance};

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x \
                       onerror='alert(2)'>\"&amp;\u{0}\u{1b}[31m\u{202e}";

fn hostile() -> Experiment {
    let mut file = comparison(1000, 900);
    file.results.clear();
    file.programs[0].name = Some(HOSTILE.to_owned());
    file.programs[1].name = Some("x".repeat(20_000));
    file.programs[0].command = HOSTILE.to_owned();
    file.command_line.push(HOSTILE.to_owned());
    file.created = HOSTILE.to_owned();
    file.machine.cpu = Some(HOSTILE.to_owned());
    file.advice.push(HOSTILE.to_owned());
    Experiment::new(format!("/tmp/{}.json", HOSTILE.replace('/', "\u{2215}")), file)
}

/// Values of an attribute.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!(" {name}=\"");
    page.match_indices(&mark)
        .map(|(at, _)| {
            let rest = &page[at + mark.len()..];
            &rest[..rest.find('"').unwrap()]
        })
        .collect()
}

#[test]
fn every_number_is_the_one_that_its_pointer_leads_to() {
    let page = page(&[
        experiment(comparison(1000, 900)),
        experiment(file_of(&[50, 60, 70], 12)),
        experiment(suite_of(&[&[1000, 900], &[500, 480], &[2000, 1700]])),
    ])
    .unwrap();
    let data = data_of(&page);
    let pointers = attributes(&page, "data-json");
    let values = attributes(&page, "value");
    assert!(pointers.len() > 60 && pointers.len() == values.len());
    for (pointer, shown) in pointers.iter().zip(values) {
        let value = data.pointer(pointer).and_then(Value::as_f64);
        assert_eq!(value, shown.parse().ok(), "{pointer}");
    }
}

#[test]
fn the_data_of_a_page_are_the_samples() {
    let one = hostile();
    let page = page(std::slice::from_ref(&one)).unwrap();
    let samples = data_of(&page)["experiments"][0]["samples"].clone();
    assert_eq!(serde_json::from_value::<SamplesFile>(samples).unwrap(), one.file);
}

#[test]
fn hostile_names_stay_text() {
    let page = page(&[hostile()]).unwrap();
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img"));
    let control = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!page.contains(control));
}

#[test]
fn ids_are_unique_and_all_plots_have_a_name_that_is_there() {
    let page = page(&[experiment(comparison(1000, 900)), hostile()]).unwrap();
    let ids = attributes(&page, "id");
    let known: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len());
    let named = attributes(&page, "aria-labelledby");
    assert!(named.len() > 20);
    for name in named.iter().flat_map(|names| names.split(' ')) {
        assert!(known.contains(name), "{name}");
    }
    assert_eq!(page.matches("role=\"img\"").count(), page.matches("<desc ").count());
    for kind in ["interval", "violin", "run-order", "shares", "sequence", "qq"] {
        assert!(page.contains(&format!("plot {kind}-plot")), "{kind}");
    }
}

#[test]
fn elements_are_closed_in_the_order_in_which_they_were_opened() {
    let page = page(&[hostile()]).unwrap();
    let body = &page[page.find("<body>").unwrap()..page.find("<script id").unwrap()];
    let mut open = Vec::new();
    for tag in body.split('<').skip(1) {
        let tag = &tag[..tag.find('>').expect("a tag ends")];
        let name = tag.trim_end_matches('/').split([' ', '\n']).next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, ["body"]);
}

/// Sixty rows, of which every tenth is slower, with tolerances of their own.
fn sixty_rows() -> Experiment {
    let names: Vec<String> = (0..60).map(|row| format!("parse<int>/{row:02}")).collect();
    let ratio = |row: usize| if row.is_multiple_of(10) { 1.1 } else { 1.0 };
    let rows: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(row, name)| (name.as_str(), ratio(row))).collect();
    let mut file = rows_file(&rows, 20);
    file.design.row_tolerances = vec![RowTolerance { name: "*/0?".to_owned(), tolerance: 0.05 }];
    experiment(analysed(file))
}

#[test]
fn of_many_rows_the_counts_come_first_then_one_picture_and_the_rest_is_folded() {
    let page = page(&[sixty_rows()]).unwrap();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    let order = [
        "6 of 60 slower",
        "Of 60 rows: 6 slower",
        "interval-plot",
        "<summary>Every row of lua in a sentence",
        "<summary>Table of all 63 ratios",
        "<summary>Figures of all rows together, and of the 6 that differ most",
    ];
    let places = order.map(at);
    assert!(places.is_sorted(), "{places:?}");
    // One picture in its two forms, with a band for each row; and plots of few single rows.
    assert_eq!(page.matches("<svg class=\"plot interval-plot\"").count(), 2);
    assert_eq!(page.matches("class=\"tolerance\"").count(), 2 * 60 + 2 * 6);
    assert_eq!(page.matches("<svg class=\"plot sequence-plot\"").count(), 2 * 6);
    assert!(page.contains("parse&lt;int&gt;/10: B (-O3) is 1.10"));
    let open = page.split("<details").next().unwrap();
    assert_eq!(open.matches("<article").count(), 1, "one card is open");
    assert!(page.len() < 1_500_000, "{}", page.len());
    let pointers = attributes(&page, "data-json");
    assert_eq!(pointers.iter().filter(|pointer| pointer.ends_with("/tolerance")).count(), 60);
}

#[test]
fn headings_go_down_by_one_level_and_cells_of_heads_say_of_what_they_are_the_head() {
    for experiments in [vec![sixty_rows()], vec![experiment(comparison(1000, 900)), hostile()]] {
        let page = page(&experiments).unwrap();
        let levels = page.match_indices("<h").filter_map(|(at, _)| page[at + 2..].chars().next());
        let levels: Vec<u32> = levels.filter_map(|level| level.to_digit(10)).collect();
        assert!(levels[0] == 1 && levels.len() > 8);
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
        assert_eq!(
            page.matches("<th").count() - page.matches("<thead").count(),
            page.matches("<th scope=\"").count()
        );
        assert_eq!(page.matches("<summary>").count(), page.matches("<details").count());
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = page(&[experiment(comparison(1000, 900))]).unwrap();
    let without_names = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!without_names.contains("http:") && !without_names.contains("https:"));
    assert!(!page.contains(" src=") && !page.contains("@import") && !page.contains("url("));
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
}

#[test]
fn an_experiment_of_one_program_has_a_summary_instead_of_a_verdict() {
    let times: Vec<(u64, u64)> = (0..12).map(|i| (1000 + 100 * i, 1 + i % 3)).collect();
    let page = page(&[experiment(layouts_of(&times))]).unwrap();
    assert!(page.contains(">measured<") && page.contains("between layouts"));
    assert!(!page.contains("interval-plot"));
}

#[test]
fn a_refused_or_empty_experiment_says_why_there_is_no_verdict() {
    let mut refused = file_of(&[1000, 900], 2);
    refused.ended = EndedRecord::Refused { reason: "A exited with 3".to_owned() };
    let text = page(&[experiment(refused)]).unwrap();
    assert!(text.contains("no verdict") && text.contains("A exited with 3"), "{text}");
    let mut empty = file_of(&[1000, 900], 0);
    empty.runs.clear();
    let text = page(&[experiment(empty)]).unwrap();
    assert!(text.contains("0 complete blocks"));
    assert!(!text.contains("NaN"));
}

#[test]
fn a_sweep_shows_its_levels_and_its_analysis_of_variance() {
    let mut file = suite_of(&[&[1000, 900, 800], &[500, 480, 470], &[2000, 1700, 1650]]);
    let with = page(&[experiment(file.clone())]).unwrap();
    for text in [
        "Over all programs",
        "<caption>Analysis of variance within programs, of mean log values</caption>",
        "<data value=\"2\" \
         data-json=\"/experiments/0/samples/suite/degrees_of_freedom/0\">2</data>, ",
        "<data value=\"4\" \
         data-json=\"/experiments/0/samples/suite/degrees_of_freedom/1\">4</data>",
        "-O3 against -O1",
        "program 2 -O3",
    ] {
        assert!(with.contains(text), "{text}");
    }
    // One that was cut off has no analysis in its file: it is made again.
    file.suite = None;
    assert_eq!(with, page(&[experiment(file)]).unwrap());
    let alone = page(&[experiment(suite_of(&[&[1000, 900]]))]).unwrap();
    assert!(
        alone.contains("No analysis of variance"),
        "one program has none, and the page says so"
    );
    assert!(!page(&[experiment(comparison(1000, 900))]).unwrap().contains("Over all programs"));
}

#[test]
fn a_picture_is_the_plot_with_the_style_of_the_page_in_it() {
    let mut svg = crate::report::plot::svg::Svg::new(10.0, 10.0);
    svg.rectangle("part part-0", [0.0, 0.0], [5.0, 5.0]);
    let plot = svg.finish(
        "plot",
        &crate::report::plot::svg::Alternative {
            id: "p".to_owned(),
            title: "t".to_owned(),
            description: "d".to_owned(),
        },
    );
    let picture = picture(&plot);
    assert!(picture.starts_with("<svg class=\"plot\"") && picture.trim_end().ends_with("</svg>"));
    let rest = picture.split_once("]]></style>\n").map(|(_, rest)| rest);
    assert_eq!(rest, plot.split_once(">\n").map(|(_, rest)| rest));
    assert_eq!(picture.matches("]]>").count(), 1);
}

/// An experiment on bias with both factors and causes, or with setups drawn at random.
fn bias_of(drawn: bool) -> Experiment {
    let contrast = Contrast { sizes_bytes: [0, 512], stack: true, heap: true };
    let setups = Setups {
        sizes: 16,
        step_bytes: 256,
        drawn,
        repeats: 2,
        orders: 4,
        layouts: [0; 3],
        contrast: (!drawn).then_some(contrast),
    };
    let mut file = file_of(&[1000, 1000], 1);
    file.command = Command::Bias;
    file.design.plan.setups = Some(setups);
    file.design.plan.blocks = 60;
    file.design.complete_blocks = 60;
    file.runs.clear();
    for block in 0..60 {
        for run in file.design.plan.block_runs(block) {
            let setup = run.setup.unwrap();
            let slow = (setup.lowered_bytes() + setup.variables_bytes()[0]) % 4096 == 512;
            let time = if run.program == 1 && slow { 1100 } else { 1000 };
            let noise = u64::from((block * 7 + run.position * 5) % 11);
            file.runs.push(sample_of(block, run.position, run.program, time + noise));
        }
    }
    experiment(file)
}

#[test]
fn setups_have_violins_a_plot_of_positions_and_numbers_of_the_data() {
    for drawn in [false, true] {
        let page = page(&[bias_of(drawn)]).unwrap();
        let data = data_of(&page);
        let pointers = attributes(&page, "data-json");
        for (pointer, shown) in pointers.iter().zip(attributes(&page, "value")) {
            let value = data.pointer(pointer).and_then(Value::as_f64);
            assert_eq!(value, shown.parse().ok(), "{pointer}");
        }
        assert!(pointers.len() >= 7, "{pointers:?}");
        for kind in ["violin-plot", "offsets-plot", "order-plot"] {
            assert!(page.contains(kind), "{kind}");
        }
        assert!(!page.contains("NaN") && !page.contains("no drift"));
    }
    let mut simulated = bias_of(false);
    let bias = simulated.file.bias.as_mut().unwrap();
    let setup = bias.factors[0].setups[0];
    bias.simulated = vec![SimulatedRecord {
        program: 1,
        factor: Factor::Env,
        setups: vec![setup; 2],
        stack: [Some(0x120), Some(0xb40)],
        is_aligned: true,
        events: vec![EventRecord { name: "Bcm".to_owned(), counts: [2000.0, 6000.0] }],
        functions: vec![PlaceRecord { name: "<b>".to_owned(), share: 0.5, places: [16, 32] }],
        near_stack: [vec!["counter".to_owned()], Vec::new()],
    }];
    let page = page(&[simulated]).unwrap();
    assert!(page.contains("mispredicted 3.000 times") && page.contains("counter"), "{page}");
    assert!(page.contains(">6000</data>") && page.contains("0x010") && !page.contains("<b>"));
    assert!(page.contains("which is faster depends on the setup"));
    assert!(page.contains("start of the stack") && page.contains(">confirmed<"));
}

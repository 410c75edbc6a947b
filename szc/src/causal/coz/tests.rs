//! Profiles in both forms of coz, as its documentation and its viewer have them, and ours in it.

use super::*;
use crate::causal::analysis::tests::{profile, simulated};
use crate::causal::analysis::{Question, analyse};
use crate::causal::file::tests::{experiment, line};
use szc_stats::calibration::noise::Noise;

/// Of coz 0.2 and before, with an experiment at a negative duration.
const TABS: &str = "startup\ttime=1000\n\
    experiment\tselected=/src/a b.cpp:19\tspeedup=0.00\tduration=2000\tselected-samples=12\n\
    progress-point\tname=a.cpp:40\ttype=source\tdelta=9\n\
    experiment\tselected=/src/a b.cpp:19\tspeedup=0.45\tduration=-5\tselected-samples=3\n\
    throughput-point\tname=a.cpp:40\tdelta=7\n\
    latency-point\tname=request\tarrivals=5\tdepartures=4\tdifference=2\n\
    runtime\ttime=4000\n\
    samples\tlocation=/src/a b.cpp:19\tcount=20\n\
    runtime\ttime=9000\n\
    samples\tlocation=/src/a b.cpp:19\tcount=50\n\
    startup\ttime=2000\n\
    experiment\tselected=main\tspeedup=0.05\tduration=3000\tselected-samples=1\n\
    throughput-point\tname=a.cpp:40\tdel";

/// Of newer ones.
const JSON: &str = "{\"type\":\"startup\",\"time\":1}\n\
    {\"type\":\"experiment\",\"selected\":\"a.c:7\",\"speedup\":0.25,\"duration\":800,\
    \"selected_samples\":4}\n\
    {\"type\":\"throughput_point\",\"name\":\"p\",\"delta\":3}\n\
    {\"type\":\"latency_point\",\"name\":\"q\",\"arrivals\":5,\"departures\":6,\
    \"difference\":1.5}\n\
    {\"type\":\"samples\",\"location\":\"a.c:7\",\"count\":2}\n\
    {\"type\":\"runtime\",\"time\":7}\n";

#[test]
fn profiles_with_tabs_are_read() {
    assert!(is_coz(TABS));
    let found = read(TABS, "FILE").unwrap();
    let [first, second, third] = &found.experiments[..] else { panic!("{found:?}") };
    assert_eq!(first.selected, line("/src/a b.cpp", 19));
    assert_eq!((first.duration_ns, first.selected_samples, first.run), (2000, 12, 0));
    assert_eq!(first.points[0].progress, Progress::Throughput { visits: 9 });
    assert_eq!((second.speedup, second.duration_ns, second.points.len()), (0.45, 0, 2));
    let latency = Progress::Latency { arrivals: 5, departures: 4, mean_length: 2.0 };
    assert_eq!(second.points[1].progress, latency);
    assert_eq!(
        (third.run, third.points.len(), third.selected.to_string().as_str()),
        (1, 0, "main")
    );
    // The second time that samples are told, those of the first are among them.
    assert_eq!(found.runs[0].samples[0].count, 50);
}

#[test]
fn a_duration_that_lost_its_sign_is_none() {
    for (written, read_as) in [("18446744073709549568", 0), ("-7", 0), ("9000", 9_000)] {
        let text =
            format!("startup\ttime=1\nexperiment\tselected=a:1\tspeedup=1\tduration={written}\n");
        assert_eq!(read(&text, "FILE").unwrap().experiments[0].duration_ns, read_as);
    }
}

#[test]
fn profiles_of_json_lines_are_read() {
    assert!(is_coz(JSON));
    let found = read(JSON, "FILE").unwrap();
    let [one] = &found.experiments[..] else { panic!("{found:?}") };
    assert_eq!((one.selected_samples, one.points.len()), (4, 2));
    assert_eq!(one.points[0].name, "p");
    assert_eq!(found.runs[0].samples[0].count, 2);
}

#[test]
fn what_is_no_profile_of_coz_is_refused() {
    for other in ["", "hello\n", "{\"type\":\"header\",\"version\":1,\"command\":[]}\n"] {
        assert!(!is_coz(other), "{other}");
    }
    let refused = |line: &str| {
        format!("{:#}", read(&format!("startup\ttime=1\n{line}\n"), "FILE").unwrap_err())
    };
    assert!(refused("weather\tsun=1").contains("line 2 of FILE"));
    assert!(refused("throughput-point\tname=p\tdelta=3").contains("without experiment"));
    assert!(refused("experiment\tselected=a:1\tspeedup=x\tduration=1").contains("no number"));
    assert!(refused("samples\tcount=1").contains("location is missing"));
}

#[test]
fn what_is_written_for_the_viewer_says_the_same_when_read_again() {
    let mut noise = Noise::new(8);
    let mut experiments = simulated(&mut noise, &line("a.c", 3), 0.4, 40);
    for (at, one) in experiments.iter_mut().enumerate() {
        one.delay_ns = 1_000;
        one.duration_ns += 1_000;
        one.run = u32::from(at >= 20);
        let progress = Progress::Latency { arrivals: 9, departures: 9, mean_length: 0.75 };
        one.points.push(Point { name: "q\tr".into(), progress });
    }
    let ours = profile(experiments);
    let text = text(&ours);
    assert_eq!(text.matches("startup\t").count(), 2);
    assert!(text.contains("latency-point\tname=q r\tarrivals=9\tdepartures=9\tdifference=750\n"));
    let again = read(&text, "FILE").unwrap();
    let question = Question::default();
    let [one, other] = [&ours, &again].map(|profile| analyse(profile, &question));
    for (one, other) in one.findings.iter().zip(&other.findings) {
        assert_eq!((&one.verdict, &one.slope), (&other.verdict, &other.slope));
    }
    assert_eq!(one.findings.len(), 2);
}

#[test]
fn a_function_is_written_by_its_name() {
    let mut one = experiment(line("a.c", 3), 0.5, 7, 2);
    one.selected = Location::Function { function: "std::f(int)".into() };
    let text = text(&profile(vec![one.clone()]));
    assert_eq!(
        text,
        "startup\ttime=0\n\
         experiment\tselected=std::f(int)\tspeedup=0.5\tduration=7\tselected-samples=0\n\
         throughput-point\tname=p\tdelta=2\n"
    );
    assert_eq!(read(&text, "FILE").unwrap().experiments[0].selected, one.selected);
}

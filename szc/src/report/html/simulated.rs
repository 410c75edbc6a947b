//! Events of a simulated processor in two setups, as tables of a page.
#![forbid(unsafe_code)]

use maud::{Markup, html};

use super::element::{number, table, text};
use crate::report::bias::names::setup_name;
use crate::report::bias::simulated::{count, event_name};
use crate::report::number::percent;
use crate::report::view::Experiment;
use crate::samples::bias::{EventRecord, PlaceRecord, SimulatedRecord};
use crate::samples::printable;

/// The tables of all programs; `base` is the JSON pointer of the results.
pub(super) fn tables(base: &str, experiment: &Experiment) -> Markup {
    let found = experiment.file.bias.iter().flat_map(|bias| &bias.simulated).enumerate();
    html! {
        @for (at, one) in found {
            (of_program(&format!("{base}/simulated/{at}"), experiment, one))
        }
    }
}

fn of_program(base: &str, experiment: &Experiment, found: &SimulatedRecord) -> Markup {
    let name = experiment.name(found.program);
    let [low, high] = [0, 1].map(|which| {
        found.setups.get(which).map_or_else(String::new, |one| setup_name(&experiment.file, one))
    });
    let event = |(at, event): (usize, &EventRecord)| {
        let shown = |which: usize| {
            let value = event.counts[which];
            number(&format!("{base}/events/{at}/counts/{which}"), value, &count(value))
        };
        let [low, high] = event.counts;
        let ratio = if low > 0.0 { format!("{:.3}", high / low) } else { "~".to_owned() };
        vec![text(event_name(&event.name)), shown(0), shown(1), text(&ratio)]
    };
    let events: Vec<Vec<Markup>> = found.events.iter().enumerate().map(event).collect();
    let place = |(at, one): (usize, &PlaceRecord)| {
        let share = number(&format!("{base}/functions/{at}/share"), one.share, &percent(one.share));
        let [low, high] = one.places.map(|place| text(&format!("{place:#05x}")));
        vec![text(&printable(&one.name)), share, low, high]
    };
    let places: Vec<Vec<Markup>> = found.functions.iter().enumerate().map(place).collect();
    let caption = format!("Simulated events of {name}: lowest against highest");
    let where_caption = format!("Low 12 bits of the addresses of functions of {name}");
    html! {
        (table(&caption, &["event", &low, &high, "ratio"], &events))
        @if !places.is_empty() {
            (table(&where_caption, &["function", "instructions", "lowest", "highest"], &places))
        }
    }
}

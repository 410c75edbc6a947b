//! The page of `szc report` in a real browser: at three widths, in both themes.
//!
//! `SZC_PICTURES=FOLDER` keeps a picture of each, in base 64 (`base64 -d` makes a PNG of it).

use std::env;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use szc_tests::browser::Browser;
use szc_tests::tools::{Place, is_long, szc};

/// Some work in a few functions, more of it with an argument.
const PROGRAM: &str = "
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static unsigned mix(unsigned x) { return x * 2654435761u ^ x >> 7; }
__attribute__((noinline)) static unsigned turn(unsigned x) { return mix(x) + (x << 3); }
int main(int count, char **args) {
    unsigned x = 1;
    for (int i = 0; i < atoi(args[1]); i++) x = turn(x);
    printf(\"%d\\n\", count);
    return x == 0;
}
";

/// A name that would run a script, and hide what stands behind it, if a page let it.
const HOSTILE: &str = "B=</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";

/// A page about real measurements.
fn page() -> (Place, PathBuf) {
    let place = Place::with("work.c", PROGRAM);
    place.run(szc(), &["-O2", "work.c", "-o", "work"]);
    let compare = |json: &str, name: &str, blocks: &str| {
        let args = [
            "compare",
            "--blocks",
            blocks,
            "--seed",
            "7",
            "--json",
            json,
            "--name",
            "A=plain",
            "--name",
            name,
            "--",
            "./work 400000",
            "./work 600000",
        ];
        place.run(szc(), &args);
    };
    compare("named.json", "B=half as much again", "12");
    compare("hostile.json", HOSTILE, "6");
    let levels =
        ["sweep", "--fixed=6", "--seed=7", "--param=n=400000,600000", "--json=levels.json"];
    let programs = ["--name=first", "--name=second", "--", "./work {n}", "./work {n} more"];
    place.run(szc(), &[&levels[..], &programs].concat());
    let files = ["named.json", "hostile.json", "levels.json"];
    place.run(szc(), &[&["report"][..], &files, &["--html", "page.html"]].concat());
    let path = place.path.join("page.html");
    (place, path)
}

/// Every number of the page against the JSON in it, full values and what is shown of them.
const NUMBERS: &str = r#"(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const follow = (pointer) => pointer.split("/").slice(1).reduce((at, key) => at[key], data);
    const wrong = [];
    const numbers = [...document.querySelectorAll("data[data-json]")];
    for (const one of numbers) {
        const value = follow(one.dataset.json), shown = parseFloat(one.textContent);
        if (Number(one.value) !== value) wrong.push(one.outerHTML);
        const percent = /\/(confidence|sd)$/.test(one.dataset.json);
        const decimals = (one.textContent.match(/\.(\d+)/) || ["", ""])[1].length;
        const plain = /^[\d.]+$/.test(one.textContent) && !percent;
        // Values with a unit are scaled; a ratio, a count, a p is what it is. Units stand behind.
        const scaled = /medians|mean|median|min|max|summaries.*interval/.test(one.dataset.json);
        if (plain && !scaled && Math.abs(shown - value) > 0.5000001 * 10 ** -decimals)
            wrong.push(one.outerHTML);
        const unit = (one.textContent.match(/ (s|ms|µs)$/) || [])[1];
        const size = { s: 1, ms: 1e-3, "µs": 1e-6 }[unit];
        if (size && Math.abs(shown * size - value) > 0.5000001 * size * 10 ** -decimals)
            wrong.push(one.outerHTML);
    }
    return { count: numbers.length, wrong };
})()"#;

/// What the plots look like where they are shown.
const PLOTS: &str = r#"(() => {
    const problems = [], kinds = new Set();
    for (const figure of document.querySelectorAll("figure")) {
        const all = [...figure.querySelectorAll("svg")];
        const shown = all.filter((svg) => svg.getBoundingClientRect().width > 0);
        if (shown.length !== 1) problems.push(`${figure.id}: ${shown.length} plots are shown`);
        for (const svg of shown) {
            kinds.add(svg.classList[1]);
            const box = svg.getBoundingClientRect();
            if (box.right > innerWidth || box.left < 0)
                problems.push(`${figure.id}: leaves the page`);
            if (svg.querySelectorAll("path, line").length < 1 && !svg.querySelector("rect"))
                problems.push(`${figure.id}: empty`);
            const scale = box.width / svg.viewBox.baseVal.width;
            for (const text of svg.querySelectorAll("text")) {
                const size = parseFloat(getComputedStyle(text).fontSize) * scale;
                const place = text.getBoundingClientRect();
                if (size < 9.5) problems.push(`${figure.id}: text of ${size} px`);
                if (place.left < box.left - 1 || place.right > box.right + 1)
                    problems.push(`${figure.id}: "${text.textContent}" is cut off`);
            }
            for (const id of svg.getAttribute("aria-labelledby").split(" "))
                if (!document.getElementById(id)?.textContent.trim())
                    problems.push(`${figure.id}: no ${id}`);
        }
    }
    const overflow = document.documentElement.scrollWidth - innerWidth;
    return { kinds: [...kinds].sort(), problems, overflow };
})()"#;

/// If somebody wants to see it.
fn keep_picture(browser: &mut Browser, name: &str) {
    if let Some(folder) = env::var_os("SZC_PICTURES") {
        let path = PathBuf::from(folder).join(format!("{name}.base64"));
        fs::write(path, browser.picture()).expect("writable");
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

#[test]
fn the_page_shows_its_numbers_and_plots_at_every_width_in_both_themes() {
    let (_place, path) = page();
    let mut browser = Browser::new();
    for width in [320, 768, 1280] {
        for scheme in ["light", "dark"] {
            browser.open(&path, width, scheme);
            let at = format!("{width} pixels, {scheme}");
            let numbers = browser.evaluate(NUMBERS);
            assert_eq!(texts(&numbers["wrong"]), [""; 0], "{at}");
            assert!(numbers["count"].as_u64() > Some(100), "{at}: {}", numbers["count"]);
            let plots = browser.evaluate(PLOTS);
            assert_eq!(texts(&plots["problems"]), [""; 0], "{at}");
            assert_eq!(plots["overflow"], 0, "{at}: the page scrolls sideways");
            assert_eq!(
                texts(&plots["kinds"]),
                [
                    "interval-plot",
                    "qq-plot",
                    "run-order-plot",
                    "sequence-plot",
                    "shares-plot",
                    "violin-plot"
                ],
                "{at}"
            );
            keep_picture(&mut browser, &format!("{width}-{scheme}"));
        }
    }
    let empty: [String; 0] = [];
    assert_eq!(browser.complaints, empty);
    // The name is there as text, and no element came of it.
    assert_eq!(browser.evaluate("document.body.innerText.includes('<script>alert(1)')"), true);
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.evaluate("document.scripts.length"), 2);
}

/// What of a page of many rows is wrong for those who hear it, or go through it by keys: headings
/// that leave out a level, parts without a name, tables without a caption, what cannot be reached.
const ACCESS: &str = r#"(() => {
    const problems = [];
    let level = 0;
    for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
        const next = Number(heading.tagName[1]);
        if (next > level + 1) problems.push(`${heading.textContent}: h${next} behind h${level}`);
        level = next;
    }
    for (const table of document.querySelectorAll("main .scroll table")) {
        if (!table.caption?.textContent.trim()) problems.push("a table without a caption");
        if ([...table.querySelectorAll("th")].some((cell) => !cell.scope))
            problems.push(`${table.caption?.textContent}: a head without scope`);
        if (table.parentElement.tabIndex !== 0 || !table.parentElement.ariaLabel)
            problems.push(`${table.caption?.textContent}: cannot be scrolled by keys`);
    }
    const order = [...document.querySelectorAll("a, button, summary, [tabindex]")];
    if (order.some((one) => one.tabIndex > 0)) problems.push("an order of its own");
    for (const svg of document.querySelectorAll("main figure svg"))
        if (svg.getAttribute("role") !== "img") problems.push("a plot that is no image");
    const first = (selector) => document.querySelector(selector).getBoundingClientRect().top;
    if (!(first(".verdict") < first("figure") && first("figure") < first("details")))
        problems.push("counts, picture, details: another order");
    if (document.querySelectorAll("details > summary").length < 6)
        problems.push("too little is folded");
    if (document.querySelectorAll("main details[open] .verdict").length > 0)
        problems.push("sentences are open");
    return problems;
})()"#;

#[test]
fn a_page_of_sixty_rows_shows_counts_and_picture_first_and_can_be_read_in_every_way() {
    let place = Place::new();
    place.run(szc(), &crate::imported::import(&place, true));
    place.run(szc(), &["report", "rows.json", "--html", "rows.html"]);
    let mut browser = Browser::new();
    for (width, scheme) in [
        (360, "light"),
        (800, "dark"),
        (1440, "light"),
        (360, "dark"),
        (800, "light"),
        (1440, "dark"),
    ]
    .into_iter()
    .take(if is_long() { 6 } else { 3 })
    {
        browser.open(&place.path.join("rows.html"), width, scheme);
        let at = format!("{width} pixels, {scheme}");
        assert_eq!(texts(&browser.evaluate(ACCESS)), [""; 0], "{at}");
        keep_picture(&mut browser, &format!("rows-{width}-{scheme}"));
        browser.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)");
        let plots = browser.evaluate(PLOTS);
        assert_eq!(texts(&plots["problems"]), [""; 0], "{at}");
        assert_eq!(plots["overflow"], 0, "{at}: the page scrolls sideways");
    }
    assert_eq!(texts(&browser.evaluate(NUMBERS)["wrong"]), [""; 0]);
    let empty: [String; 0] = [];
    assert_eq!(browser.complaints, empty);
}

/// Pages about setups and about one function's luck, by figures that the programs print.
fn pages_of_placement(place: &Place) -> [PathBuf; 2] {
    let programs = format!("{}/campaign/programs", env!("CARGO_MANIFEST_DIR"));
    for name in ["positions", "lucky-loop"] {
        place.run(szc(), &["-O2", &format!("{programs}/{name}.c"), "-o", name]);
    }
    let work =
        ["--metric", "user:work (\\d+)", "--no-check-output", "--warmup", "0", "--seed", "3"];
    let bias = ["bias", "--positions", "16", "--intervene", "stack", "--json", "bias.json"];
    let commands = ["--", "./positions none 20 work", "./positions stack 20 work"];
    place.run(szc(), &[&bias[..], &work, &commands].concat());
    place.run(szc(), &["report", "bias.json", "--html", "bias.html"]);
    let luck = ["luck", "--layouts", "60", "--budget", "12", "--html", "luck.html"];
    place.run(szc(), &[&luck[..], &work, &["--", "./lucky-loop 20 work"]].concat());
    ["bias.html", "luck.html"].map(|name| place.path.join(name))
}

#[test]
fn pages_about_placement_fit_every_width_in_both_themes() {
    let place = Place::new();
    let kinds = [&["offsets-plot", "run-order-plot", "violin-plot"][..], &["offsets-plot"]];
    let mut browser = Browser::new();
    for (path, expected) in pages_of_placement(&place).iter().zip(kinds) {
        for (width, scheme) in [(320, "light"), (768, "dark"), (1280, "light")] {
            browser.open(path, width, scheme);
            let at = format!("{}: {width} pixels, {scheme}", path.display());
            let numbers = browser.evaluate(NUMBERS);
            assert_eq!(texts(&numbers["wrong"]), [""; 0], "{at}");
            assert!(numbers["count"].as_u64() >= Some(10), "{at}: {}", numbers["count"]);
            let plots = browser.evaluate(PLOTS);
            assert_eq!(texts(&plots["problems"]), [""; 0], "{at}");
            assert_eq!(plots["overflow"], 0, "{at}: the page scrolls sideways");
            assert_eq!(texts(&plots["kinds"]), expected, "{at}");
            let name = path.file_stem().unwrap().display().to_string();
            keep_picture(&mut browser, &format!("{name}-{width}-{scheme}"));
        }
    }
    let empty: [String; 0] = [];
    assert_eq!(browser.complaints, empty);
}

#[test]
fn themes_and_details_can_be_reached_by_the_keyboard() {
    let (_place, path) = page();
    let mut browser = Browser::new();
    let background = "getComputedStyle(document.body).backgroundColor";
    browser.open(&path, 1280, "dark");
    let dark = browser.evaluate(background);
    browser.open(&path, 1280, "light");
    let light = browser.evaluate(background);
    assert_ne!(dark, light);

    let focused = "document.activeElement.id || document.activeElement.className || \
                   document.activeElement.tagName";
    browser.press("Tab");
    assert_eq!(browser.evaluate(focused), "skip");
    browser.press("Tab");
    assert_eq!(browser.evaluate(focused), "theme");
    browser.evaluate("document.activeElement.click()");
    assert_eq!(browser.evaluate(background), dark);
    assert_eq!(browser.evaluate("document.getElementById('theme').textContent"), "Light theme");

    let mut seen = Vec::new();
    for _ in 0..40 {
        browser.press("Tab");
        seen.push(browser.evaluate("document.activeElement.tagName").as_str().map(str::to_owned));
    }
    for element in ["A", "DIV", "SUMMARY"] {
        assert!(seen.iter().any(|one| one.as_deref() == Some(element)), "{element}: {seen:?}");
    }
    let empty: [String; 0] = [];
    assert_eq!(browser.complaints, empty);
}
